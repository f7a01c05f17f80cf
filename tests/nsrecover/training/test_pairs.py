"""Labels of node pairs follow section IV-C, and displaced copies follow the tolerance."""

import numpy as np
import pytest

from nsrecover.core.actions import Plan
from nsrecover.errors import InvalidConfiguration
from nsrecover.models.bundle import Bundle, BundleConfig
from nsrecover.training.demonstrations import Demonstration
from nsrecover.training.discriminator import PairBatches, node_pairs
from nsrecover.training.settings import PairSources

NAMES = ("a", "b", "c")


def demonstration() -> Demonstration:
    """b is put on a; c stands still."""
    start = np.array([[0.5, 0, 0.02], [0.5, 0.2, 0.02], [0.4, -0.2, 0.02]])
    after = start.copy()
    after[1] = [0.5, 0, 0.06]
    boxes = np.concatenate([np.stack([start, after]), np.full((2, 3, 3), 0.04)], axis=2).astype(np.float32)
    return Demonstration(
        names=NAMES,
        plan=Plan.parse("top(b, a)"),
        boxes=boxes,
        seen=np.ones((2, 3), bool),
        crops=np.zeros((0, 64, 64, 3), np.uint8),
        owners=np.zeros((0, 2), np.intp),
        pixels=np.zeros(0, np.float32),
    )


FEATURES = np.broadcast_to(np.eye(3, 16, dtype=np.float32), (2, 3, 16))


def test_labels_are_those_of_the_paper() -> None:
    sources = PairSources(imagined_steps=0, displaced=False)
    pairs = node_pairs([demonstration()], [FEATURES], Bundle(BundleConfig(feature_size=16)), sources)
    for index in range(len(pairs)):
        one, other = pairs.visual_a[index].argmax(), pairs.visual_b[index].argmax()
        apart = np.linalg.norm(pairs.boxes_a[index, :3] - pairs.boxes_b[index, :3])
        assert pairs.same[index] == float(one == other and apart < 0.02)
    # the moved object before and after is among them, as a negative
    moved = (pairs.visual_a.argmax(1) == 1) & (pairs.visual_b.argmax(1) == 1)
    assert pairs.same[moved].tolist() == [0.0]


def test_imagined_pairs_join_what_was_imagined_with_what_was_seen() -> None:
    bundle = Bundle(BundleConfig(feature_size=16))
    plain = node_pairs([demonstration()], [FEATURES], bundle, PairSources(imagined_steps=0))
    more = node_pairs([demonstration()], [FEATURES], bundle, PairSources(imagined_steps=2))
    assert len(more) == len(plain) + 1
    box, _ = bundle.predict(FEATURES[:1], demonstration().boxes[:1], [0], [1], [0])
    np.testing.assert_allclose(more.boxes_a[-1], box[0])
    np.testing.assert_allclose(more.boxes_b[-1], demonstration().boxes[1, 1])
    assert more.same[-1] == 1.0


def test_displaced_copies_are_labelled_by_the_tolerance() -> None:
    sources = PairSources(imagined_steps=0, tolerance_m=0.02)
    pairs = node_pairs([demonstration()], [FEATURES], Bundle(BundleConfig(feature_size=16)), sources)
    batch = next(iter(PairBatches(pairs, sources, batch_size=400, batches=1)))
    distance = np.linalg.norm((batch["boxes_b"] - batch["boxes_a"])[200:, :3].numpy(), axis=1)
    assert distance.max() < 0.061
    np.testing.assert_array_equal(batch["same"][200:].numpy(), (distance < 0.02).astype(np.float32))
    assert 0.2 < batch["same"].mean() < 0.8


def test_a_tolerance_that_cannot_be_learned_is_refused() -> None:
    with pytest.raises(InvalidConfiguration, match=r"up to 0.03 m.*found 0.05"):
        node_pairs([demonstration()], [FEATURES], Bundle(BundleConfig(feature_size=16)), PairSources(tolerance_m=0.05))
