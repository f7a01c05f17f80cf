"""A batch is split among processes: all of it is used, and every process takes the same number of steps."""

from collections.abc import Iterator
from dataclasses import dataclass

import lightning
import numpy as np
import pytest

from nsrecover.errors import InvalidConfiguration
from nsrecover.training.processes import (
    Processes,
    check_trainer_settings,
    start_processes,
)


@dataclass
class Seat:
    """What `Processes` asks its fabric for, for one seat among several."""

    global_rank: int
    world_size: int


def among(count: int) -> Iterator[Processes]:
    return (Processes(Seat(rank, count)) for rank in range(count))  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_every_example_of_a_batch_is_in_equally_long_shares(count: int) -> None:
    for size in (1, 2, 5, 12, 64):
        batch = list(range(100, 100 + size))
        shares = [processes.share(batch) for processes in among(count)]
        assert {len(share) for share in shares} == {-(-size // count)}
        assert set().union(*shares) == set(batch)
        assert {processes.share_of(size) for processes in among(count)} == {len(shares[0])}


def test_seeds_differ_between_processes_and_stay_for_the_first() -> None:
    seeds = [processes.seed(7) for processes in among(4)]
    assert seeds[0] == 7
    assert len(set(seeds) | {seed + 1 for seed in seeds}) == 8, (
        "training and validation draws of two processes coincide"
    )
    assert all(0 <= seed < np.iinfo(np.uint32).max for seed in seeds)


def test_a_misspelt_trainer_setting_is_named() -> None:
    with pytest.raises(InvalidConfiguration, match=r"trainer\.num_node\..*Did you mean 'num_nodes'"):
        check_trainer_settings({"num_node": 2})
    with pytest.raises(InvalidConfiguration, match=r"trainer\.max_epochs"):
        check_trainer_settings({"max_epochs": 2})
    check_trainer_settings(
        {"accelerator": "cpu", "devices": 1, "num_nodes": 1, "strategy": "ddp", "precision": "16-mixed"}
    )


def test_devices_that_are_not_there_are_a_users_mistake() -> None:
    if lightning.pytorch.accelerators.CUDAAccelerator.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(InvalidConfiguration, match=r"trainer\.accelerator=cuda.*trainer=default"):
        start_processes({"accelerator": "cuda", "devices": 2})
