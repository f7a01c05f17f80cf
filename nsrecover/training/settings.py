"""Settings of a training."""

from dataclasses import dataclass, field

from nsrecover.util.python310 import StrEnum
from nsrecover.util.untrusted_json import JsonObject


class TrainingStage(StrEnum):
    """Which part to train."""

    all = "all"
    encoder = "encoder"
    transition = "transition"
    discriminator = "discriminator"
    free_space = "free_space"


@dataclass
class StageBudget:
    """How long one stage trains.

    Attributes:
        epochs: passes; with 0 the part stays as it is.
        batch_size: examples (episodes for the encoder, scenes for free space) in a batch; several processes split it.
        batches: batches in a pass, for stages that draw their examples; 0 for the others.
        learning_rate: peak; it goes with the batch size, however many processes there are.
    """

    epochs: int = 10
    batch_size: int = 64
    batches: int = 100
    learning_rate: float = 2e-3


@dataclass
class PairSources:
    """Which pairs the discriminator learns from.

    Attributes:
        imagined_steps: longest imagination whose outcome is paired with what was observed; 0 leaves such pairs out and
            keeps to the labels of Kalithasan et al., section IV-C.
        displaced: whether copies of positives are shifted by a random distance and labelled by the tolerance.
        tolerance_m: distance up to which an object counts as being in its place.
    """

    imagined_steps: int = 5
    displaced: bool = True
    tolerance_m: float = 0.02


@dataclass
class ModelConfig:
    """Sizes of the networks, and where they can be used.

    Attributes:
        feature_size: length of an appearance vector.
        crop_size: side of the picture of an object, pixels.
        encoder_blocks: residual blocks in each stage of the encoder (ResNet).
        width: features of a node in the transition model and the discriminator.
        rounds: rounds of message passing.
        workspace: least x, least y, greatest x and greatest y of the table that plans may use, metres.
        reach_m: least and greatest distance from its base at which the robot can grasp from the table, metres; these
            are a Panda's.
    """

    feature_size: int = 64
    crop_size: int = 48
    encoder_blocks: list[int] = field(default_factory=lambda: [1, 1, 1])
    width: int = 96
    rounds: int = 2
    workspace: list[float] = field(default_factory=lambda: [0.30, -0.35, 0.75, 0.35])
    reach_m: list[float] = field(default_factory=lambda: [0.28, 0.81])


@dataclass
class DataConfig:
    """Where the demonstrations come from.

    Attributes:
        train: HDF5 file of episodes, folder with one, or folder of .npz recordings.
        held_out: as `train`; demonstrations to calibrate and measure on.
        cache: folder for prepared training data.
        episodes: number of episodes of each, the first ones; all of them if None.
    """

    train: str
    held_out: str
    cache: str
    episodes: int | None = None


@dataclass
class TrainSettings:
    """All settings of a training; the budgets are those of the shipped checkpoint.

    Not frozen, because `python -m train` fills it in.

    Attributes:
        data: where the demonstrations come from.
        out: folder of the run; a second run with the same folder continues the first one.
        checkpoint: another folder to write the checkpoint to; only out/bundle if None.
        start: checkpoint to start from; an untrained one if None.
        stage: which part to train: all, encoder, transition, discriminator or free_space.
        seed: of everything random; the same one gives the same checkpoint on the same machine.
        alpha: largest rate of false alarms on successful steps; needs 1/alpha - 1 held-out steps to calibrate on
            (docs/training.md).
        restart: whether to start again instead of continuing.
        weights: torchvision weights for the encoder's backbone: None, `imagenet` (downloads; needs model=resnet18) or a
            file.
        model: sizes of the networks.
        pairs: what the discriminator learns from.
        encoder: budget of this stage.
        transition: budget of this stage.
        discriminator: budget of this stage.
        free_space: budget of this stage.
        trainer: further settings of `lightning.Trainer`.
    """

    data: DataConfig
    out: str
    checkpoint: str | None = None
    start: str | None = None
    stage: TrainingStage = TrainingStage.all
    seed: int = 0
    alpha: float = 0.01
    restart: bool = False
    weights: str | None = None
    model: ModelConfig = field(default_factory=ModelConfig)
    pairs: PairSources = field(default_factory=PairSources)
    encoder: StageBudget = field(default_factory=lambda: StageBudget(16, 32, 0, 1e-3))
    transition: StageBudget = field(default_factory=lambda: StageBudget(80, 64, 0, 2e-3))
    discriminator: StageBudget = field(default_factory=lambda: StageBudget(20, 1024, 100, 2e-3))
    free_space: StageBudget = field(default_factory=lambda: StageBudget(10, 128, 100, 2e-3))
    trainer: JsonObject = field(default_factory=dict)
