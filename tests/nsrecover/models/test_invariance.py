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


@pytest.mark.parametrize("seed", range(5))
def test_transition_does_not_depend_on_the_order_of_the_objects(transition: TransitionModel, seed: int) -> None:
    visual, boxes = random_scene(seed)
    order = torch.randperm(OBJECTS, generator=torch.Generator().manual_seed(seed))
    place = torch.argsort(order)
    operator = torch.tensor([seed % len(OPERATORS)])
    box, feature = transition(visual, boxes, operator, torch.tensor([0]), torch.tensor([3]))
    other = transition(visual[:, order], boxes[:, order], operator, place[[0]], place[[3]])
    torch.testing.assert_close(box, other[0], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(feature, other[1], atol=1e-5, rtol=1e-4)


def test_transition_moves_with_the_scene(transition: TransitionModel) -> None:
    visual, boxes = random_scene(1)
    shift = torch.tensor([0.11, -0.23, 0.0, 0.0, 0.0, 0.0])
    arguments = torch.tensor([0]), torch.tensor([1]), torch.tensor([2])
    here, there = transition(visual, boxes, *arguments)[0], transition(visual, boxes + shift, *arguments)[0]
    torch.testing.assert_close(here + shift, there, atol=1e-5, rtol=1e-4)


def test_transition_depends_on_operator_reference_and_moved_object(transition: TransitionModel) -> None:
    visual, boxes = random_scene(2)

    def predict(operator: int, moved: int, reference: int) -> torch.Tensor:
        return transition(visual, boxes, torch.tensor([operator]), torch.tensor([moved]), torch.tensor([reference]))[0]

    base = predict(0, 0, 1)
    for other in (predict(1, 0, 1), predict(0, 2, 1), predict(0, 0, 2)):
        assert not torch.allclose(base, other, atol=1e-6, rtol=0)


def test_transition_of_a_batch_equals_one_by_one(transition: TransitionModel) -> None:
    scenes = [random_scene(seed) for seed in range(4)]
    visual, boxes = (torch.cat(parts) for parts in zip(*scenes, strict=True))
    arguments = [torch.tensor([0, 1, 2, 3]), torch.tensor([0, 1, 2, 3]), torch.tensor([4, 3, 1, 0])]
    together = transition(visual, boxes, *arguments)[0]
    for row, scene in enumerate(scenes):
        alone = transition(*scene, *(argument[[row]] for argument in arguments))[0]
        torch.testing.assert_close(together[[row]], alone, atol=1e-5, rtol=1e-4)


def test_discriminator_scores_pairs_independently_of_their_order_and_place(discriminator: Discriminator) -> None:
    (va, ba), (vb, bb) = random_scene(5), random_scene(6)
    order = torch.tensor(np.random.default_rng(0).permutation(OBJECTS))
    scores = discriminator(va[0], ba[0], vb[0], bb[0])
    permuted = discriminator(va[0, order], ba[0, order], vb[0, order], bb[0, order])
    torch.testing.assert_close(scores[order], permuted, atol=1e-5, rtol=1e-4)
    shift = torch.tensor([0.2, 0.1, 0.0, 0.0, 0.0, 0.0])
    torch.testing.assert_close(scores, discriminator(va[0], ba[0] + shift, vb[0], bb[0] + shift), atol=1e-4, rtol=1e-3)
