"""The outcome model: distributions of displacements, how surprising one is, and whether an object is as expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from nsrecover.core.scene import FloatArray
from nsrecover.errors import InvalidConfiguration
from nsrecover.models.checkpoint import CheckpointFormat, built, folder_of, restore
from nsrecover.models.conformal import Calibration, lowest
from nsrecover.models.outcomes.calibration import ClassCalibration, classes_of
from nsrecover.models.outcomes.features import NodeFeatures, node_features
from nsrecover.models.outcomes.network import UNIT_M, OutcomeMixture, OutcomeNetwork
from nsrecover.models.outcomes.scene import OPERATORS, Array, ContactAction, ContactScene
from nsrecover.models.transition import every_pair
from nsrecover.util.untrusted_json import JsonMapping

OUTCOMES = "outcomes"
"""Name of the shipped checkpoint."""


@dataclass(frozen=True)
class OutcomeConfig:
    """Sizes of the networks, the sensor, and what was calibrated after training.

    Attributes:
        features: numbers of an object.
        width: of the hidden layers.
        components: of a mixture.
        rounds: rounds of message passing.
        networks: number of networks whose densities are averaged.
        sensor_m: standard deviation of one measurement of a centre along x, y and z, metres.
        operators: operators that were trained.
        classes: surprises of objects in good episodes, by class.
        scores: operator -> the lowest scores of other good episodes, ascending; a score is exp(-rarity) of the most
            surprising object.
        episodes: operator -> how many there were.
        alpha: share of good episodes that is reported.
        metrics: measurements after training.
        provenance: data, seed, command and revision of the training.
    """

    features: int
    width: int = 160
    components: int = 4
    rounds: int = 0
    networks: int = 2
    sensor_m: tuple[float, float, float] = (0.003, 0.003, 0.0015)
    operators: tuple[str, ...] = OPERATORS
    classes: ClassCalibration = field(default_factory=lambda: ClassCalibration({}, {}))
    scores: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    episodes: Mapping[str, int] = field(default_factory=dict)
    alpha: float = 0.01
    metrics: JsonMapping = field(default_factory=dict)
    provenance: JsonMapping = field(default_factory=dict)


HIGHEST, SCORES = "calibration.highest.", "calibration.scores."
"""Begin the names of tensors of what was calibrated, for each class and operator."""

FORMAT = CheckpointFormat("a checkpoint of outcomes", 2, OutcomeConfig, "python -m train.outcomes")


class OutcomeModel(nn.Module):
    """Distributions of where objects end up after actions whose outcome is no point.

    Args:
        config: sizes, and what was calibrated.
    """

    def __init__(self, config: OutcomeConfig) -> None:
        super().__init__()
        self.config = config
        self.networks = nn.ModuleList(
            OutcomeNetwork(config.features, config.width, config.components, config.rounds)
            for _ in range(config.networks)
        )
        self.eval()

    @property
    def variance(self) -> Tensor:
        """(3,) the sensor's variance of a displacement, in squared units of `UNIT_M`."""
        return 2 * (torch.tensor(self.config.sensor_m) / UNIT_M).square()

    @torch.inference_mode()
    def mixtures(self, nodes: Sequence[NodeFeatures]) -> list[OutcomeMixture]:
        """The distribution by each network, of all objects of some scenes together."""
        values, prior, boxes = (
            torch.as_tensor(np.concatenate([getattr(each, name) for each in nodes]))
            for name in ("values", "prior", "boxes")
        )
        edges = edges_within([len(each.values) for each in nodes]) if self.config.rounds else torch.zeros(2, 0).long()
        return [network(values, prior, boxes, edges) for network in self.networks]

    @torch.inference_mode()
    def surprise(self, mixtures: Sequence[OutcomeMixture], moved: npt.ArrayLike) -> tuple[Array, Array]:
        """-log density (M,) of seen displacements (M, 3), metres, and P(affected) (M,)."""
        seen = torch.as_tensor(np.asarray(moved, dtype=np.float32)) / UNIT_M
        parts = torch.stack([mixture.log_density(seen, self.variance) for mixture in mixtures])
        density = torch.logsumexp(parts, dim=0) - np.log(len(mixtures))
        affected = torch.stack([mixture.affected.sigmoid() for mixture in mixtures]).mean(dim=0)
        return -density.numpy().astype(np.float64), affected.numpy().astype(np.float64)

    def expected(self, scene: ContactScene, action: ContactAction) -> tuple[Array, Array]:
        """Expected displacements (N, 3) in the table's axes, metres, and P(affected) (N,)."""
        nodes = node_features(scene, action)
        mixtures = self.mixtures([nodes])
        with torch.inference_mode():
            moved = torch.stack([mixture.mean() for mixture in mixtures]).mean(dim=0).numpy() * UNIT_M
            affected = torch.stack([mixture.affected.sigmoid() for mixture in mixtures]).mean(dim=0).numpy()
        moved[nodes.fixed], affected[nodes.fixed] = 0.0, 0.0
        return action.to_table(moved), affected.astype(np.float64)

    def rarity(self, nodes: Sequence[NodeFeatures], actions: Sequence[ContactAction], moved: npt.ArrayLike) -> Array:
        """-log P(a good object of its class surprises as much) (M,), for the objects of some scenes together.

        Args:
            nodes: of each scene.
            actions: in each scene.
            moved: (M, 3) seen displacements in the axes of the actions, metres.
        """
        surprise, affected = self.surprise(self.mixtures(nodes), moved)
        found = self.config.classes.rarity(surprise, node_classes(nodes, actions, affected))
        found[np.concatenate([each.fixed for each in nodes])] = 0.0
        return found

    def threshold_for(self, operator: str, alpha: float | None = None) -> float:
        """The score below which at most a share `alpha` of good episodes falls.

        Raises:
            InvalidCheckpoint: it was calibrated on too few episodes for the rate.
        """
        known = Calibration(self.config.scores.get(operator, ()), self.config.episodes.get(operator, 0))
        return known.threshold(self.config.alpha if alpha is None else alpha, f" of {operator}")

    def as_expected(
        self, scene: ContactScene, action: ContactAction, after: npt.ArrayLike, threshold: float = 0.5
    ) -> FloatArray:
        """P(as expected) of every object: (N,); `threshold` where `alpha` of good episodes have one as surprising.

        Args:
            scene: before the action.
            action: what was done.
            after: (N, 3) seen centres afterwards, metres.
            threshold: probability under which an object counts as wrong.

        Raises:
            InvalidConfiguration: the operator was not trained.
        """
        if action.operator not in self.config.operators:
            raise InvalidConfiguration(
                f"expected one of {', '.join(self.config.operators)}, found the operator {action.operator!r}"
            )
        moved = action.to_action(np.asarray(after, dtype=np.float64) - scene.centres)
        score = np.exp(-self.rarity([node_features(scene, action)], [action], moved))
        limit = self.threshold_for(action.operator) * (1.0 - threshold) / threshold
        return np.asarray(score / (score + limit), dtype=np.float32)

    def calibrate(self, classes: ClassCalibration, scores: Mapping[str, Sequence[float]]) -> None:
        """Set what was calibrated: the classes, and the scores of other good episodes by operator."""
        self.config = replace(
            self.config,
            classes=classes,
            scores={name: lowest(found) for name, found in scores.items()},
            episodes={name: len(found) for name, found in scores.items()},
        )

    def save(self, folder: str | Path, card: str = "") -> Path:
        """Write weights, settings and card; what was calibrated is in the file of the weights."""
        config = self.config
        kept = _tensors(HIGHEST, config.classes.highest) | _tensors(SCORES, config.scores)
        settings = replace(config, classes=replace(config.classes, highest={}), scores={})
        return FORMAT.save(folder, settings, {**self.state_dict(), **kept}, card)

    @classmethod
    def load(cls, folder: str | Path = OUTCOMES) -> OutcomeModel:
        """Read a checkpoint; the shipped one if no folder is given.

        Raises:
            InvalidCheckpoint: it is missing, damaged or of another version.
        """
        path = folder_of(folder)
        config, weights = FORMAT.load(path)
        highest, scores = (
            {name: tuple(weights.pop(part + name, torch.zeros(0)).tolist()) for name in names}
            for part, names in ((HIGHEST, config.classes.counts), (SCORES, config.episodes))
        )
        model = built(cls, replace(config, classes=replace(config.classes, highest=highest), scores=scores), path)
        restore(model, weights, path)
        return model


def _tensors(part: str, groups: Mapping[str, Sequence[float]]) -> dict[str, Tensor]:
    return {part + name: torch.tensor(values, dtype=torch.float64) for name, values in groups.items()}


def node_classes(
    nodes: Sequence[NodeFeatures], actions: Sequence[ContactAction], affected: Array
) -> npt.NDArray[np.str_]:
    """The calibration class of every object of some scenes, (M,)."""
    found, first = list[str](), 0
    for each, action in zip(nodes, actions, strict=True):
        rows = slice(first, first + len(each.values))
        is_target = np.arange(len(each.values)) == action.target
        found += classes_of(affected[rows], is_target, each.rolls, action.operator)
        first = rows.stop
    return np.array(found)


def edges_within(counts: Sequence[int]) -> Tensor:
    """Edges (2, E) of complete graphs over the objects of each scene, without loops."""
    starts = np.cumsum([0, *counts[:-1]])
    return torch.cat([every_pair(1, count) + int(start) for count, start in zip(counts, starts, strict=True)], dim=1)
