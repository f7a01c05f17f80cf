"""Settings of `python -m train`; a key that is not here is refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from nsrecover.training.settings import TrainSettings


@dataclass
class RecordConfig:
    """Demonstrations that are recorded before the training.

    Attributes:
        commands: of `python -m`, run in their order in processes of their own; what an earlier run has done is kept.
        transitions: number of actions to learn from, for the commands.
        held_out: number of actions that are held out, for the commands.
    """

    commands: list[str] = field(default_factory=list)
    transitions: int = 0
    held_out: int = 0


@dataclass
class TrainConfig(TrainSettings):
    """Train nsrecover from recorded demonstrations, or continue an interrupted run.

      python -m train                              all stages from data/demos; 15 minutes on 2 CPU cores
      python -m train experiment=shipped           the default checkpoint from nothing: records, trains, calibrates
      python -m train experiment=smoke data.train=DIR data.held_out=DIR2 out=DIR3
                                                   every stage for moments, to check the setup: less than a minute
                                                   with about 100 transitions (`python -m sim.collect
                                                   transitions=90 out=DIR`, and 20 with another seed into DIR2)
      python -m train stage=transition             one stage, on the result of earlier stages in out=DIR
      python -m train trainer=ddp trainer.devices=4     several GPUs of this machine; conf/trainer/ddp.yaml explains
                                                   several machines and batch sizes
      python -m train logger=tensorboard           log for TensorBoard (tensorboard --logdir outputs/train/logs)
      python -m train logger=wandb                 log to Weights & Biases (set WANDB_MODE yourself)
      python -m train data.train=mine.h5 data.held_out=other.h5     your own recordings (see docs/recordings.md)
      python -m train domain=household --help      the learned parts of a household, with other settings
      python -m train pairs.imagined_steps=0 pairs.displaced=false     the paper's labels alone

    Stages: encoder, transition, discriminator, free_space; then two thirds of the held-out episodes calibrate the
    threshold. A GPU is used if there is one; the table at the end shows the device and the time. An encoder batch
    is one of episodes; `batches: 0` stands for one pass over the data.
    With the same out=DIR a run continues; restart=true starts again. The checkpoint is written to out/bundle;
    checkpoint=DIR copies it to another place as well.

    Attributes:
        logger: a group in conf/logger.
        optimizer: a group in conf/optimizer.
        record: demonstrations that are recorded first, by commands of the simulator; none by default.
    """

    logger: Any = None
    optimizer: Any = None
    record: RecordConfig = field(default_factory=RecordConfig)
