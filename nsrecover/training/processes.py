"""The processes that train together: one by default, several with `trainer=ddp`."""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import lightning
import torch
from lightning.fabric.utilities.exceptions import MisconfigurationException
from lightning.fabric.utilities.rank_zero import rank_zero_only
from torch.utils.data import Sampler

from nsrecover.errors import InvalidConfiguration, did_you_mean
from nsrecover.util.untrusted_json import JsonMapping

T = TypeVar("T")

SEED_STRIDE = 1_000_003
"""Between the seeds of two processes; larger than what the stages add to a seed."""

OWN_SETTINGS = ("max_epochs", "logger", "callbacks", "use_distributed_sampler", "enable_model_summary")
"""Arguments of `lightning.Trainer` that the stages set themselves."""


@dataclass(frozen=True)
class Processes:
    """The processes that train together, seen from one of them.

    A batch is split among the processes and the gradients are averaged, so batch sizes, learning rates and the number
    of steps mean the same whatever the number of processes, and no process ever waits for a step that another lacks.

    Attributes:
        fabric: started; knows the others.
    """

    fabric: lightning.Fabric

    @property
    def rank(self) -> int:
        """Number of this process, from 0."""
        return int(self.fabric.global_rank)

    @property
    def count(self) -> int:
        """Number of processes."""
        return int(self.fabric.world_size)

    @property
    def first(self) -> bool:
        """Whether this is the one that writes files."""
        return self.rank == 0

    @property
    def device(self) -> torch.device:
        """Device of this process."""
        return self.fabric.device

    def describe(self) -> str:
        """Description of the devices: `cpu, 2 threads`, `NVIDIA H100`, `4 x NVIDIA A100`."""
        if self.device.type == "cuda":
            name = torch.cuda.get_device_name(self.device)
        elif self.device.type == "cpu":
            threads = torch.get_num_threads()
            name = f"cpu, {threads} thread{'s' * (threads > 1)}"
        else:
            name = self.device.type
        return name if self.count == 1 else f"{self.count} x {name}"

    def wait(self) -> None:
        """Return when every process has come here."""
        self.fabric.barrier()

    def broadcast(self, value: T) -> T:
        """The first process's value, on every process; waits for all of them."""
        return self.fabric.broadcast(value)

    def seed(self, seed: int) -> int:
        """A different seed for every process; the first one keeps the given seed."""
        return seed + SEED_STRIDE * self.rank

    def share_of(self, batch_size: int) -> int:
        """How many examples of a batch this process draws: the same number everywhere, rounded up."""
        return -(-batch_size // self.count)

    def share(self, batch: Sequence[T]) -> list[T]:
        """This process's part of a batch: equally long everywhere, so a batch that cannot be split repeats examples."""
        return [batch[(self.rank + i * self.count) % len(batch)] for i in range(self.share_of(len(batch)))]


class SharedBatches(Sampler[list[int]]):
    """A batch sampler of which every process takes its share of every batch.

    Args:
        batches: yields the same batches, in the same order, in all processes.
        processes: which of them this one is.
    """

    def __init__(self, batches: Sampler[list[int]], processes: Processes) -> None:
        self._batches = batches
        self._processes = processes

    def __len__(self) -> int:
        return len(self._batches)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[list[int]]:
        for batch in self._batches:
            yield self._processes.share(batch)


def single_process() -> Processes:
    """This process alone, on the CPU."""
    return Processes(lightning.Fabric(accelerator="cpu", devices=1))


def check_trainer_settings(settings: JsonMapping) -> None:
    """Check the names of settings of `lightning.Trainer`.

    Raises:
        InvalidConfiguration: it has no such setting, or the stages set it themselves.
    """
    known = set(inspect.signature(lightning.Trainer).parameters) - set(OWN_SETTINGS)
    for name in settings:
        if name in OWN_SETTINGS:
            raise InvalidConfiguration(
                f"expected settings of lightning.Trainer that the stages leave open, found trainer.{name}; leave it out"
            )
        if name not in known:
            raise InvalidConfiguration(
                f"expected settings of lightning.Trainer, found trainer.{name}.{did_you_mean(name, known)}"
            )


def start_processes(settings: JsonMapping, multirun: bool = False) -> Processes:
    """Start all processes that the settings of `lightning.Trainer` ask for, and find the others.

    On one machine the first process starts the others, which run the same command from its beginning; under `torchrun`,
    SLURM and the like all of them exist already. What stands before this call is thus done by every process, at a time
    of its own, and must not write.

    Args:
        settings: of `lightning.Trainer`.
        multirun: whether this process runs one training after the other.

    Raises:
        InvalidConfiguration: the settings ask for what this machine lacks, or for several processes in a multirun.
    """
    chosen = {name: settings[name] for name in ("accelerator", "strategy", "devices", "num_nodes") if name in settings}
    try:
        fabric = lightning.Fabric(**chosen)
    except (MisconfigurationException, ValueError, RuntimeError) as error:
        described = " ".join(f"trainer.{name}={value}" for name, value in chosen.items())
        raise InvalidConfiguration(
            f"expected devices that this machine has, found {described} ({error}); trainer=default takes what there is"
        ) from error
    restarts = fabric.strategy.launcher is not None and fabric.world_size > 1
    if restarts and multirun:
        raise InvalidConfiguration(
            "expected one run, found a multirun (-m) with several processes, which restart the command and could not "
            "tell its runs apart; start the runs one by one"
        )
    fabric.launch()
    return Processes(fabric)


def is_first_process() -> bool:
    """Whether this process is the one that prints and writes."""
    return bool(rank_zero_only.rank == 0)  # type: ignore[attr-defined]
