"""Episodes of the kitchen's error datasets as scripts for films."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nsrecover.errors import InvalidConfiguration
from sim.datasets.household import HouseholdEpisode
from sim.datasets.household.spec import read_episodes
from sim.film.script import Script
from sim.kitchen.faults import START, Fault
from sim.kitchen.sounding import microphone_in
from sim.kitchen.world import KitchenWorld, OnFrame


@dataclass(frozen=True)
class FaultyScript(Script):
    """An episode with faults.

    Attributes:
        faults: what goes wrong, and when.
    """

    faults: tuple[Fault, ...] = ()

    @property
    def trouble(self) -> str:
        """The faults with their steps."""
        return "; ".join(f"{_words(fault)} {_when(fault)}: {fault.meaning}" for fault in self.faults)

    def world(self, on_frame: OnFrame | None, frame_steps: int) -> KitchenWorld:
        """The kitchen as it really is at the start, with a microphone."""
        kitchen = self.spec.kitchen
        return KitchenWorld(
            kitchen,
            on_frame=on_frame,
            frame_steps=frame_steps,
            faults=self.faults,
            plan=self.spec.plan,
            microphone=microphone_in(kitchen, self.spec.seed),
        )

    def struck(self, world: KitchenWorld) -> Sequence[str]:
        """The faults that struck at the last action."""
        return [fault.meaning for fault in world.last_faults]


def script_of(episode: HouseholdEpisode) -> FaultyScript:
    """The script of an episode: its faults all strike, in the order of the plan, and nothing is repaired."""
    kinds = "-".join(dict.fromkeys(fault.kind for fault in episode.faults)) or "none"
    name = f"{episode.dataset}-{episode.number:04}-{kinds.replace(' ', '_')}"
    return FaultyScript(name, episode.spec, episode.robots_plan, episode.faults)


def chosen(path: Path, numbers: Sequence[int]) -> list[HouseholdEpisode]:
    """Episodes of a dataset by their numbers; without numbers the first one of every kind of fault.

    Raises:
        InvalidConfiguration: there is no dataset, or it has no episode of a number.
    """
    episodes = {episode.number: episode for episode in read_episodes(path)}
    if numbers:
        missing = [number for number in numbers if number not in episodes]
        if missing:
            raise InvalidConfiguration(
                f"expected episodes among the {len(episodes)} of {path}, found no number {missing[0]}"
            )
        return [episodes[number] for number in numbers]
    firsts: dict[str, HouseholdEpisode] = {}
    for episode in episodes.values():
        for fault in episode.faults:
            firsts.setdefault(fault.kind, episode)
    return list({episode.number: episode for episode in firsts.values()}.values())


def _when(fault: Fault) -> str:
    return "before the start" if fault.at_step == START else f"at step {fault.at_step + 1}"


def _words(fault: Fault) -> str:
    return fault.kind.replace("_", " ")
