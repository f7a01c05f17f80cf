"""The free-space transformer: minutes of label-free training suffice."""

import pytest
import torch

from nsrecover.models.free_space import FreeSpaceTransformer
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
