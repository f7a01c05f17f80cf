"""The free-space transformer: shapes, symmetry, padding, and that minutes of label-free training suffice."""

import numpy as np
import pytest
import torch

from nsrecover.models.free_space import FreeSpaceTransformer, placement_energy
from nsrecover.training.free_space import FreeSpaceModule, FreeSpaceScenes, check_proposals

WORKSPACE = torch.tensor([0.3, -0.35, 0.75, 0.35])


@pytest.fixture(scope="module")
def trained() -> FreeSpaceTransformer:
    """A small one after 120 steps (some seconds)."""
    torch.manual_seed(0)
    module = FreeSpaceModule(FreeSpaceTransformer(width=32, layers=2), steps=120)
    setup = module.configure_optimizers()
    optimizer, schedule = setup["optimizer"], setup["lr_scheduler"]["scheduler"]
    for batch in FreeSpaceScenes(batch_size=64, batches=120, objects=(3, 10), seed=1):
        optimizer.zero_grad()
        module.loss(batch).backward()
        optimizer.step()
        schedule.step()
    return module.model


def test_box_keeps_its_size_and_stands_on_the_table(trained: FreeSpaceTransformer) -> None:
    batch = next(iter(FreeSpaceScenes(batch_size=16, batches=1, seed=5)))
    with torch.no_grad():
        box = trained(*batch)
    own = batch.boxes[torch.arange(16), batch.moved]
    torch.testing.assert_close(box[:, 3:], own[:, 3:])
    torch.testing.assert_close(box[:, 2], own[:, 5] / 2)


def test_order_of_the_others_and_padding_do_not_matter(trained: FreeSpaceTransformer) -> None:
    batch = next(iter(FreeSpaceScenes(batch_size=1, batches=1, objects=(7, 7), seed=3)))
    boxes, moved = batch.boxes, batch.moved
    n = boxes.shape[1]
    order = torch.randperm(n, generator=torch.Generator().manual_seed(0))
    padded = torch.cat([boxes, torch.zeros(1, 4, 6)], dim=1)
    present = torch.arange(n + 4)[None] < n
    with torch.no_grad():
        plain = trained(boxes, moved, WORKSPACE)
        shuffled = trained(boxes[:, order], (order == moved).nonzero()[0], WORKSPACE)
        masked = trained(padded, moved, WORKSPACE, present)
    torch.testing.assert_close(shuffled, plain, atol=1e-5, rtol=0)
    torch.testing.assert_close(masked, plain, atol=1e-5, rtol=0)


def test_the_nearest_hypothesis_that_keeps_the_gap_is_the_proposal(trained: FreeSpaceTransformer) -> None:
    batch = next(iter(FreeSpaceScenes(batch_size=64, batches=1, seed=8)))
    with torch.no_grad():
        proposals, chosen = trained.propose(*batch), trained(*batch)
    energy = placement_energy(proposals, *batch)
    for row in range(64):
        free = (energy.overlap[row] + energy.outside[row] == 0).nonzero()[:, 0]
        if len(free):
            nearest = free[energy.displacement[row, free].argmin()]
            torch.testing.assert_close(chosen[row], proposals[row, nearest])
        else:
            away = (energy.overlap[row] + energy.outside[row]).argmin()
            torch.testing.assert_close(chosen[row], proposals[row, away], atol=0.02, rtol=0)


def test_training_without_labels_finds_free_space_nearer_by(trained: FreeSpaceTransformer) -> None:
    batch = next(iter(FreeSpaceScenes(batch_size=300, batches=1, objects=(3, 10), seed=77)))
    torch.manual_seed(0)
    untrained = FreeSpaceTransformer(width=32, layers=2)
    with torch.no_grad():
        before, after = (
            [*check_proposals(model, batch), FreeSpaceModule(model).loss(batch)] for model in (untrained, trained)
        )
    assert float(after[0].float().mean()) > 0.97
    # there are many hypotheses, and some place is free by chance; what is learned is to be near
    assert float(after[1].mean()) < float(before[1].mean()) - 0.008
    assert float(after[2]) < 0.8 * float(before[2])


def test_scenes_are_sound_and_repeat_with_the_seed() -> None:
    recorded = [np.array([[0.5, 0.1, 0.02, 0.04, 0.04, 0.04], [0.6, -0.1, 0.02, 0.04, 0.04, 0.04]])]
    first, second = (FreeSpaceScenes(recorded, batch_size=8, batches=2, seed=9) for _ in range(2))
    for a, b in zip(first, second, strict=True):
        for left, right in zip(a, b, strict=True):
            torch.testing.assert_close(left, right)
        assert a.present[torch.arange(8), a.moved].all()
        assert (a.boxes[a.present][:, 3:] > 0).all()
    again = next(iter(first))  # the next epoch has other scenes
    assert again.boxes.shape != a.boxes.shape or not torch.equal(again.boxes, a.boxes)
