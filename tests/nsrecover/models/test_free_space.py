"""The free-space transformer: shapes, symmetry, padding, and that minutes of label-free training suffice."""

import pytest
import torch

from nsrecover.models.free_space import FreeSpaceTransformer, placement_energy
from nsrecover.training.free_space import FreeSpaceModule, FreeSpaceScenes, check_proposals


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
