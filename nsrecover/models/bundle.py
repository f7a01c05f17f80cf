"""The checkpoint: all learned parts, their sizes, the calibrated threshold; saved as safetensors and JSON."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from nsrecover.core.entrance import check_table
from nsrecover.core.geometry import near_enough
from nsrecover.core.scene import FloatArray
from nsrecover.domains.tabletop.operators import OPERATORS, TABLETOP
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.errors import InvalidCheckpoint, InvalidConfiguration, did_you_mean, require_known
from nsrecover.models.checkpoint import DEFAULT, CheckpointFormat, built, folder_of, restore
from nsrecover.models.conformal import Calibration
from nsrecover.models.discriminator import Discriminator
from nsrecover.models.encoder import ObjectEncoder
from nsrecover.models.free_space import FreeSpaceTransformer
from nsrecover.models.outcomes.model import OutcomeModel
from nsrecover.models.outcomes.scene import pushed_boxes
from nsrecover.models.same_place import ITSELF
from nsrecover.models.size_range import extended, limited
from nsrecover.models.transition import TransitionModel
from nsrecover.perception.objects import colours
from nsrecover.perception.objects.association import LooksGate
from nsrecover.util.untrusted_json import JsonMapping


@dataclass(frozen=True)
class BundleConfig:
    """Sizes of the learned parts and what was calibrated after training.

    Attributes:
        feature_size: length of the learned part of an appearance feature.
        crop_size: side of an object crop, pixels.
        encoder_blocks: residual blocks in each stage of the ResNet.
        width: length of node embeddings.
        rounds: rounds of message passing.
        free_width: size of the tokens of the free-space transformer.
        free_layers: its layers.
        free_hypotheses: places that it proposes for every box of a scene.
        operators: operator names in the order of the action embedding.
        threshold: probability under which an object counts as wrong.
        trained_tolerance_m: displacement from which on the discriminator was taught to see two places, metres.
        tolerance_m: the same in use; `Bundle.with_tolerance` changes it.
        calibration: the lowest scores of successful held-out steps, ascending; a step's score is the lowest P(as
            expected) of its objects.
        calibration_steps: how many such steps there were.
        sensors: the same for each sensor that held-out steps were seen through.
        workspace: x_min, y_min, x_max, y_max of the table, metres.
        reach_m: nearest and farthest distance from the robot's base at which it can grasp from the table, metres.
        trained_sides_m: shortest and longest side of boxes in the training data, metres.
        usual_sides_m: range of sides that occur there in any combination; see `nsrecover.models.size_range`.
        room_m: how much wider or higher than expected an object may be, see `RecoveryModels.room_m`.
        gate: how much two images of one object differ, see `LooksGate`.
        metrics: measurements on held-out data after training.
        provenance: data, seed, command and revision of the training.
    """

    feature_size: int = 64
    crop_size: int = 64
    encoder_blocks: tuple[int, ...] = (1, 1, 1)
    width: int = 96
    rounds: int = 2
    free_width: int = 64
    free_layers: int = 2
    free_hypotheses: int = 4
    operators: tuple[str, ...] = tuple(OPERATORS)
    threshold: float = 0.5
    trained_tolerance_m: float = 0.02
    tolerance_m: float = 0.02
    calibration: tuple[float, ...] = ()
    calibration_steps: int = 0
    sensors: Mapping[str, Calibration] = field(default_factory=dict)
    workspace: tuple[float, float, float, float] = (0.30, -0.35, 0.75, 0.35)
    reach_m: tuple[float, float] = (0.28, 0.81)
    trained_sides_m: tuple[float, float] = (0.033, 0.072)
    usual_sides_m: tuple[float, float] = (0.036, 0.047)
    room_m: float | None = None
    gate: LooksGate = field(default_factory=LooksGate)
    metrics: JsonMapping = field(default_factory=dict)
    provenance: JsonMapping = field(default_factory=dict)


RULED_PARTS = ("encoder", "transition", "discriminator", "outcomes")
"""Learned parts that a hand-written rule can replace, see `Bundle.with_rules`."""

AS_GOOD = RULED_PARTS[:3]
"""Those whose rule does as well wherever it was measured: `nsrecover.load` uses the rules."""

LEARNED_SHARE = 0.05
"""Weight of what the encoder has learned in the cosine of two objects; colours have the rest.

The encoder tells simulated blocks apart in any pose and light, and hardly real objects.
"""

FORMAT = CheckpointFormat("a checkpoint of the tabletop", 2, BundleConfig, "python -m train")


class Bundle(nn.Module):
    """Encoder, transition model, discriminator and free-space transformer, with array-in, array-out methods.

    The methods take and return NumPy arrays, run without gradients and do not change the parameters.

    Attributes:
        ruled: learned parts that rules replace, see `with_rules`.
    """

    ruled: frozenset[str] = frozenset()

    def __init__(self, config: BundleConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or BundleConfig()
        self.encoder = ObjectEncoder(config.feature_size, config.encoder_blocks)
        self.transition = TransitionModel(len(config.operators), config.feature_size, config.width, config.rounds)
        self.discriminator = Discriminator(config.feature_size, config.width)
        self.free_space = FreeSpaceTransformer(config.free_width, config.free_layers, hypotheses=config.free_hypotheses)
        self.eval()

    @property
    def threshold(self) -> float:
        """Probability under which an object counts as wrong."""
        return self.config.threshold

    def _with(self, **changes: Any) -> Bundle:
        """The same learned parts, which are shared, with other settings."""
        other = copy(self)
        other.config = replace(self.config, **changes)
        return other

    def with_threshold(self, threshold: float) -> Bundle:
        """The same learned parts, which are shared, with another decision threshold."""
        return self._with(threshold=threshold)

    def with_rules(self, parts: Collection[str] = RULED_PARTS) -> Bundle:
        """The same, with hand-written rules in place of some learned parts.

        - encoder: the colours of an object under the light of the table are all of its looks.
        - transition: an action leads where its operator says (`SpatialOperator.place`).
        - discriminator: an object is in its place if `same_place` finds it there: its centre is at most `tolerance_m`
          away, its side is the same, it takes no more room where that counts, and its looks do not differ more than
          those of one object (`gate`, and `ITSELF` where no colours are known).
        - outcomes: a push moves its object to the target and nothing else, within `tolerance_m`.

        Args:
            parts: a selection of `RULED_PARTS`; for all others there are the networks.

        Raises:
            InvalidConfiguration: a part has no rule.
        """
        for part in parts:
            require_known(part, RULED_PARTS, "learned parts with a rule")
        other = copy(self)
        other.ruled = frozenset(parts)
        return other

    def with_calibration(self, calibration: Calibration) -> Bundle:
        """The same learned parts, which are shared, with the scores of other good steps."""
        return self._with(calibration=calibration.scores, calibration_steps=calibration.steps, sensors={})

    def with_tolerance(self, tolerance_m: float) -> Bundle:
        """The same learned parts, which are shared, with another tolerance.

        Raises:
            InvalidConfiguration: it is not from 2 to 100 mm.
        """
        if not 0.002 <= tolerance_m <= 0.1:
            raise InvalidConfiguration(f"expected a tolerance_m from 0.002 to 0.1 metres, found {tolerance_m}")
        return self._with(tolerance_m=tolerance_m)

    def with_table(self, workspace: tuple[float, float, float, float], room_m: float | None = None) -> Bundle:
        """The same learned parts, which are shared, for another table.

        Args:
            workspace: x_min, y_min, x_max, y_max of the table, metres.
            room_m: see `RecoveryModels.room_m`.
        """
        check_table(workspace, room_m)
        return self._with(workspace=workspace, room_m=room_m)

    @property
    def room_m(self) -> float | None:
        """How much wider or higher than expected an object may be, metres; None: that does not count."""
        return self.config.room_m

    @property
    def tolerance_m(self) -> float:
        """Displacement from which on an object is more likely than not to count as wrong, metres."""
        return self.config.tolerance_m

    @property
    def operators(self) -> tuple[str, ...]:
        """Names of the operators whose effect was learned, in the order of the action embedding."""
        return () if "transition" in self.ruled else self.config.operators

    @property
    def gate(self) -> LooksGate:
        """How much two images of one object differ."""
        return self.config.gate

    def with_gate(self, gate: LooksGate) -> Bundle:
        """The same learned parts, which are shared, with another gate for looks."""
        return self._with(gate=gate)

    @property
    def crop_size(self) -> int:
        """Side of an object crop, pixels."""
        return self.config.crop_size

    @property
    def feature_size(self) -> int:
        """D, length of an appearance feature: the learned part, and colours and texture."""
        return self.config.feature_size + colours.SIZE

    @property
    def learned_size(self) -> int:
        """Length of the learned part of an appearance feature."""
        return self.config.feature_size

    def calibration_for(self, sensor: str | None = None) -> Calibration:
        """The calibration scores, of one sensor if it is named.

        Raises:
            InvalidConfiguration: the checkpoint was not calibrated with this sensor.
        """
        if sensor is None:
            return Calibration(self.config.calibration, self.config.calibration_steps)
        known = self.config.sensors
        if sensor not in known:
            raise InvalidConfiguration(
                f"expected a sensor that the checkpoint was calibrated with ({', '.join(known) or 'none'}), found "
                f"{sensor!r}.{did_you_mean(sensor, known)} For another sensor use System.calibrated with good runs."
            )
        return known[sensor]

    def threshold_for(self, alpha: float, sensor: str | None = None) -> float:
        """The threshold that keeps false alarms to a rate `alpha` per step, by split-conformal calibration.

        Args:
            alpha: the rate.
            sensor: name of the sensor that will be used; all of the training's together if None.

        Raises:
            InvalidConfiguration: the rate is out of its range, or there is no such sensor.
            InvalidCheckpoint: the checkpoint was not calibrated, or on too few steps to promise so low a rate.
        """
        return self.calibration_for(sensor).threshold(alpha, f" through {sensor}" if sensor else "")

    @property
    def workspace(self) -> tuple[float, float, float, float]:
        """x_min, y_min, x_max, y_max of the table that things are put down on, metres."""
        return self.config.workspace

    @property
    def reach_m(self) -> tuple[float, float]:
        """Nearest and farthest distance from the robot's base at which it can grasp from the table, metres."""
        return self.config.reach_m

    def _tensor(self, array: npt.ArrayLike, dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.as_tensor(np.ascontiguousarray(array), dtype=dtype, device=self.free_space.skip.weight.device)

    def embed(self, crops: npt.NDArray[np.uint8], table_light: FloatArray | None = None) -> FloatArray:
        """Appearance features (B, D) of object crops (B, S, S, 3) uint8: what was learned, and colours.

        Args:
            crops: the crops.
            table_light: (B, 3) colour of the table near each, 0 to 255; grey if None.
        """
        looks = colours.colour_features(crops, table_light)
        shares = (LEARNED_SHARE, self.encode_learned(crops)), (1 - LEARNED_SHARE, looks)
        return np.concatenate([math.sqrt(share) * part for share, part in shares], axis=1, dtype=np.float32)

    @torch.inference_mode()
    def encode_learned(self, crops: npt.NDArray[np.uint8]) -> FloatArray:
        """The learned part (B, `config.feature_size`) of appearance features, unit length; constant by its rule."""
        if len(crops) == 0 or "encoder" in self.ruled:
            return np.eye(1, self.config.feature_size, dtype=np.float32).repeat(len(crops), axis=0)
        tensor = self._tensor(crops).permute(0, 3, 1, 2) / 255.0
        return np.asarray(self.encoder(tensor).cpu().numpy(), dtype=np.float32)

    def learned(self, visual: npt.ArrayLike) -> FloatArray:
        """The learned part of features (..., D), unit length; features without colours are returned as they are."""
        features, size = np.asarray(visual, dtype=np.float32), self.config.feature_size
        if features.shape[-1] <= size:
            return features
        part = features[..., :size]
        return np.asarray(part / np.maximum(np.linalg.norm(part, axis=-1, keepdims=True), 1e-9), dtype=np.float32)

    def _with_colours(self, learned: FloatArray, visual: FloatArray, moved: npt.NDArray[np.intp]) -> FloatArray:
        """Predicted features (B, D) of the moved objects, whose colours stay; `visual` is (N, D) or (B, N, D)."""
        if visual.shape[-1] <= self.config.feature_size:
            return learned
        whole = (visual[moved] if visual.ndim == 2 else visual[np.arange(len(moved)), moved]).copy()
        part = whole[:, : self.config.feature_size]
        part[:] = learned * np.linalg.norm(part, axis=1, keepdims=True)
        return whole

    @torch.inference_mode()
    def predict(
        self,
        visual: npt.ArrayLike,
        boxes: npt.ArrayLike,
        operators: npt.ArrayLike,
        moved: npt.ArrayLike,
        reference: npt.ArrayLike,
    ) -> tuple[FloatArray, FloatArray]:
        """The moved object after each of B actions: boxes (B, 6) and features (B, D), as in `Transitions.predict`.

        One scene for all actions, `visual` (N, D) and `boxes` (N, 6), is embedded once for each reference, not for each
        action.
        """
        given = np.asarray(boxes, dtype=np.float32)
        inside = limited(given, self.config.trained_sides_m, self.config.usual_sides_m)
        visuals, places = self._tensor(self.learned(visual)), self._tensor(inside)
        acts, movers, references = (self._tensor(array, torch.long) for array in (operators, moved, reference))
        if places.ndim == 3:
            box, feature = self.transition(visuals, places, acts, movers, references)
        else:
            anchors, seen_from = torch.unique(references, return_inverse=True)
            embedded, decoded = (
                (visuals.expand(n, -1, -1), places.expand(n, -1, -1)) for n in map(len, (anchors, acts))
            )
            x = self.transition.embedded(*embedded, anchors)
            box, feature = self.transition.decoded(x[seen_from], *decoded, acts, movers, references)
        found = box.cpu().numpy()
        if inside is not given:
            found = extended(found, given, inside, movers.cpu().numpy(), references.cpu().numpy())
        looks = np.asarray(visual, dtype=np.float32)
        return found, self._with_colours(feature.cpu().numpy(), looks, np.asarray(moved, np.intp))

    @torch.inference_mode()
    def same(
        self,
        visual_a: npt.ArrayLike,
        boxes_a: npt.ArrayLike,
        visual_b: npt.ArrayLike,
        boxes_b: npt.ArrayLike,
        tolerance_m: npt.ArrayLike | None = None,
    ) -> FloatArray:
        """P(same object in the same place) for M pairs of nodes: (M,), from (M, D), (M, 6), (M, D), (M, 6).

        The discriminator has learned one tolerance; for another one, it is shown the distances in proportion. Each pair
        may have its own, `tolerance_m` (M,) metres; if None, all have that of the bundle. It has seen boxes of some
        sizes only, so it is shown others with the nearest sides that it knows, at the same centres.
        """
        places_a, places_b = (np.array(boxes, dtype=np.float32) for boxes in (boxes_a, boxes_b))
        tolerance = np.asarray(self.config.tolerance_m if tolerance_m is None else tolerance_m, dtype=np.float32)
        if "discriminator" in self.ruled:
            a, b = (np.asarray(visual, dtype=np.float32) for visual in (visual_a, visual_b))
            alike = ITSELF if a.shape[-1] <= self.config.feature_size else 1 - self.gate.part
            lengths = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)  # 0: not known
            same = near_enough(places_b, places_a, tolerance)
            return np.where((a * b).sum(axis=-1) < alike * lengths, 0.0, same).astype(np.float32)
        ratio = self.config.trained_tolerance_m / tolerance[..., None]
        more = (ratio - 1) / 2 * (places_b - places_a)[..., :3]
        places_a[..., :3] -= more
        places_b[..., :3] += more
        for places in (places_a, places_b):
            places[..., 3:] = np.clip(places[..., 3:], *self.config.trained_sides_m)
        looks_a, looks_b = self.learned(visual_a), self.learned(visual_b)
        arrays = (self._tensor(array) for array in (looks_a, places_a, looks_b, places_b))
        return np.asarray(torch.sigmoid(self.discriminator(*arrays)).cpu().numpy(), dtype=np.float32)

    @cached_property
    def outcomes(self) -> OutcomeModel:
        """The shipped distributions of where pushes lead."""
        return OutcomeModel.load()

    def pushed(self, boxes: npt.ArrayLike, moved: int, target: npt.ArrayLike) -> FloatArray:
        """Expected boxes (N, 6) of all objects after a push, as in `PushOutcomes.pushed`."""
        found = np.array(boxes, dtype=np.float32)
        if "outcomes" in self.ruled:
            found[moved, :2] = np.asarray(target)[:2]
            return found
        scene, action = pushed_boxes(boxes, moved, target)
        found[:, :3] += self.outcomes.expected(scene, action)[0]
        return found

    def push_as_expected(
        self, boxes: npt.ArrayLike, moved: int, target: npt.ArrayLike, after: npt.ArrayLike
    ) -> FloatArray:
        """P(as expected) of all objects after a push, as in `PushOutcomes.push_as_expected`."""
        if "outcomes" in self.ruled:
            near = near_enough(np.asarray(after), self.pushed(boxes, moved, target), self.tolerance_m)
            return np.asarray(near, dtype=np.float32)
        scene, action = pushed_boxes(boxes, moved, target)
        return self.outcomes.as_expected(scene, action, np.asarray(after)[:, :3], self.threshold)

    @torch.inference_mode()
    def free_box(self, boxes: npt.ArrayLike, moved: npt.ArrayLike) -> FloatArray:
        """Proposed collision-free boxes (B, 6) for the moved objects (B,) of scenes (B, N, 6); not yet checked."""
        proposal = self.free_space(self._tensor(boxes), self._tensor(moved, torch.long), self._tensor(self.workspace))
        return np.asarray(proposal.cpu().numpy(), dtype=np.float32)

    def save(self, folder: str | Path, card: str = "") -> Path:
        """Write weights, configuration and model card into a folder.

        Args:
            folder: where; made if it does not exist.
            card: text of the model card (Markdown).

        Returns:
            The folder.
        """
        return FORMAT.save(folder, self.config, self.state_dict(), card)

    @classmethod
    def load(cls, folder: str | Path | None = None, domain: SpatialDomain = TABLETOP) -> Bundle:
        """Read a checkpoint.

        Args:
            folder: of a saved bundle, or the name of a shipped one: "tabletop_sensors", the default, was trained behind
                all models of sensors, "tabletop" on exact images.
            domain: has the operators that the checkpoint may have learned.

        Raises:
            InvalidCheckpoint: it is missing, damaged, of another version, or its weights have other sizes.
        """
        path = folder_of(DEFAULT if folder is None else folder)
        config, weights = FORMAT.load(path)
        known = tuple(domain.operators)
        if config.operators != known[: len(config.operators)]:
            raise InvalidCheckpoint(
                f"expected a checkpoint for the operators {', '.join(known)}, found one for "
                f"{', '.join(config.operators)}; train it again"
            )
        bundle = built(cls, config, path)
        restore(bundle, weights, path)
        return bundle
