"""What the learned parts must not depend on: the order of the objects and where on the table the scene is."""

import numpy as np
import pytest
import torch

from nsrecover.domains.tabletop.operators import OPERATORS
from nsrecover.models.discriminator import Discriminator
from nsrecover.models.transition import TransitionModel

OBJECTS, FEATURES = 5, 16


def random_scene(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    visual = torch.nn.functional.normalize(torch.randn(1, OBJECTS, FEATURES, generator=generator), dim=-1)
    boxes = torch.cat(
        [torch.rand(1, OBJECTS, 3, generator=generator), 0.04 + 0.02 * torch.rand(1, OBJECTS, 3, generator=generator)],
        dim=-1,
    )
    return visual, boxes


@pytest.fixture
def transition() -> TransitionModel:
    torch.manual_seed(0)
    return TransitionModel(len(OPERATORS), FEATURES, width=32).eval()


@pytest.fixture
def discriminator() -> Discriminator:
    torch.manual_seed(0)
    return Discriminator(FEATURES, width=32).eval()


def test_transition_depends_neither_on_order_nor_on_place_nor_on_the_other_scenes_of_a_batch(
    transition: TransitionModel,
) -> None:
    scenes, order = [random_scene(seed) for seed in range(4)], torch.tensor([3, 0, 4, 1, 2])
    place, shift = torch.argsort(order), torch.tensor([0.11, -0.23, 0.0, 0.0, 0.0, 0.0])
    operator, moved, reference = torch.tensor([[0, 1, 2, 3], [0, 1, 2, 3], [4, 3, 1, 0]])
    box, feature = transition(*map(torch.cat, zip(*scenes, strict=True)), operator, moved, reference)
    for row, (visual, boxes) in enumerate(scenes):
        arguments = operator[[row]], place[moved[[row]]], place[reference[[row]]]
        alone = transition(visual[:, order], boxes[:, order] + shift, *arguments)
        torch.testing.assert_close(box[[row]] + shift, alone[0], atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(feature[[row]], alone[1], atol=1e-5, rtol=1e-4)


def test_discriminator_scores_pairs_independently_of_their_order_and_place(discriminator: Discriminator) -> None:
    (va, ba), (vb, bb) = random_scene(5), random_scene(6)
    order = torch.tensor(np.random.default_rng(0).permutation(OBJECTS))
    scores = discriminator(va[0], ba[0], vb[0], bb[0])
    permuted = discriminator(va[0, order], ba[0, order], vb[0, order], bb[0, order])
    torch.testing.assert_close(scores[order], permuted, atol=1e-5, rtol=1e-4)
    shift = torch.tensor([0.2, 0.1, 0.0, 0.0, 0.0, 0.0])
    torch.testing.assert_close(scores, discriminator(va[0], ba[0] + shift, vb[0], bb[0] + shift), atol=1e-4, rtol=1e-3)
