"""Stage 3: the discriminator, on pairs of nodes whose labels follow from the demonstrations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.utils.data import IterableDataset

from nsrecover.core.scene import FloatArray
from nsrecover.domains.tabletop.operators import has_own_effect, reference_name
from nsrecover.errors import InvalidConfiguration
from nsrecover.models.bundle import Bundle
from nsrecover.models.discriminator import FARTHEST_M, Discriminator
from nsrecover.training.demonstrations import Demonstration
from nsrecover.training.schedule import Batch, CosineModule
from nsrecover.training.settings import PairSources


@dataclass(frozen=True, eq=False)
class NodePairs:
    """Pairs of nodes with labels: features (M, D), boxes (M, 6), twice, and whether they are the same (M,).

    `shiftable` marks positives of which a displaced copy makes a pair of known distance.
    """

    visual_a: FloatArray
    boxes_a: FloatArray
    visual_b: FloatArray
    boxes_b: FloatArray
    same: FloatArray
    shiftable: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.same)


def node_pairs(
    demonstrations: Sequence[Demonstration], visual: Sequence[FloatArray], bundle: Bundle, sources: PairSources
) -> NodePairs:
    """All labelled pairs of the demonstrations.

    Labels (Kalithasan et al., section IV-C): an object that was not moved, in two consecutive frames: 1; the moved
    object before and after: 0; two different objects: 0. With `imagined_steps`, the moved object as imagined and as
    observed: 1.

    Raises:
        InvalidConfiguration: the tolerance is larger than what the discriminator tells apart.
    """
    if not 0 < sources.tolerance_m <= FARTHEST_M / 2:
        raise InvalidConfiguration(
            f"expected pairs.tolerance_m above 0 and up to {FARTHEST_M / 2} m, since displacements of up to twice the "
            f"tolerance are told apart, found {sources.tolerance_m}; choose another tolerance when you load the model"
        )
    rows: list[tuple[FloatArray, FloatArray, FloatArray, FloatArray, float, bool]] = []
    for demo, features in zip(demonstrations, visual, strict=True):
        for step, action in enumerate(demo.plan):
            moved = demo.names.index(action.arguments[0])
            for i in range(len(demo.names)):
                if not (demo.seen[step, i] and demo.seen[step + 1, i]):
                    continue
                now, then = demo.boxes[step, i], demo.boxes[step + 1, i]
                if i != moved:
                    rows.append((features[step, i], now, features[step + 1, i], then, 1.0, True))
                    other = (i + 1 + step % (len(demo.names) - 1)) % len(demo.names)
                    rows.append((features[step, i], now, features[step, other], demo.boxes[step, other], 0.0, False))
                    # another object in this place: only appearance tells the two apart
                    rows.append((features[step, i], now, features[step, other], now, 0.0, False))
                elif np.linalg.norm(then[:3] - now[:3]) > sources.tolerance_m:
                    rows.append((features[step, i], now, features[step + 1, i], then, 0.0, False))
            rows += _imagined(demo, features, bundle, step, sources.imagined_steps)
    columns = list(zip(*rows, strict=True))
    first, place, second, other_place = (np.asarray(np.stack(column), dtype=np.float32) for column in columns[:4])
    return NodePairs(
        first, place, second, other_place, np.asarray(columns[4], np.float32), np.asarray(columns[5], np.bool_)
    )


def _imagined(
    demo: Demonstration, features: FloatArray, bundle: Bundle, step: int, longest: int
) -> Iterator[tuple[FloatArray, FloatArray, FloatArray, FloatArray, float, bool]]:
    """Pairs of each moved object as imagined from frame `step` and as observed, over up to `longest` steps."""
    boxes, visual = demo.boxes[step].copy(), features[step].copy()
    for done in range(step, min(step + longest, len(demo.plan))):
        action = demo.plan[done]
        moved = demo.names.index(action.arguments[0])
        if has_own_effect(action) and demo.seen[done + 1, moved]:
            number = bundle.config.operators.index(action.operator)
            reference = demo.names.index(reference_name(action))
            box, feature = bundle.predict(visual[None], boxes[None], [number], [moved], [reference])
            boxes[moved], visual[moved] = box[0], feature[0]
            yield (
                visual[moved].copy(),
                boxes[moved].copy(),
                features[done + 1, moved],
                demo.boxes[done + 1, moved],
                1.0,
                True,
            )
        else:
            boxes[moved], visual[moved] = demo.boxes[done + 1, moved], features[done + 1, moved]


class PairBatches(IterableDataset[dict[str, Tensor]]):
    """Balanced batches of node pairs: as many positives as negatives, and displaced copies of positives.

    Args:
        pairs: what to draw from.
        sources: whether and how far to displace.
        batch_size: pairs in a batch.
        batches: batches in an epoch.
        seed: of the draws.
    """

    def __init__(self, pairs: NodePairs, sources: PairSources, batch_size: int, batches: int, seed: int = 0) -> None:
        self._pairs = pairs
        self._sources = sources
        self._batch_size = batch_size
        self._batches = batches
        self._rng = np.random.default_rng(seed)

    def __len__(self) -> int:
        return self._batches

    def __iter__(self) -> Iterator[dict[str, Tensor]]:
        positive, negative = np.flatnonzero(self._pairs.same > 0.5), np.flatnonzero(self._pairs.same <= 0.5)
        shiftable = np.flatnonzero(self._pairs.shiftable)
        parts = 4 if self._sources.displaced else 2
        share = self._batch_size // parts
        for _ in range(self._batches):
            picks = [self._rng.choice(positive, share), self._rng.choice(negative, share)]
            labels = [np.ones(share), np.zeros(share)]
            shifts = [np.zeros((2 * share, 3))]
            if self._sources.displaced:
                picks.append(self._rng.choice(shiftable, 2 * share))
                distance = self._rng.uniform(0, 3 * self._sources.tolerance_m, 2 * share)
                direction = self._rng.normal(size=(2 * share, 3)) * self._rng.integers(0, 2, (2 * share, 3))
                direction[np.linalg.norm(direction, axis=1) == 0, 0] = 1.0
                shifts.append(direction / np.linalg.norm(direction, axis=1, keepdims=True) * distance[:, None])
                labels.append((distance < self._sources.tolerance_m).astype(float))
            chosen = np.concatenate(picks)
            boxes_b = self._pairs.boxes_b[chosen].copy()
            boxes_b[:, :3] += np.concatenate(shifts)
            yield {
                "visual_a": torch.from_numpy(self._pairs.visual_a[chosen]),
                "boxes_a": torch.from_numpy(self._pairs.boxes_a[chosen]),
                "visual_b": torch.from_numpy(self._pairs.visual_b[chosen]),
                "boxes_b": torch.from_numpy(boxes_b),
                "same": torch.from_numpy(np.concatenate(labels).astype(np.float32)),
            }


class DiscriminatorModule(CosineModule):
    """Trains a discriminator by cross-entropy (section IV-C).

    Args:
        model: the network.
        learning_rate: peak of the cosine schedule.
    """

    stage = "discriminator"

    def __init__(self, model: Discriminator, learning_rate: float = 2e-3) -> None:
        super().__init__(learning_rate)
        self.model = model

    def measure(self, batch: Batch, training: bool) -> dict[str, Tensor]:
        """Cross-entropy, and the share of pairs that are told right."""
        logits = self.model(batch["visual_a"], batch["boxes_a"], batch["visual_b"], batch["boxes_b"])
        loss = nn.functional.binary_cross_entropy_with_logits(logits, batch["same"])
        return {"loss": loss, "accuracy": ((logits > 0) == (batch["same"] > 0.5)).float().mean()}
