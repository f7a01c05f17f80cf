"""Reports for tests: a real recording with sound, and kitchens of facts."""

from functools import lru_cache

import numpy as np

import nsrecover
from nsrecover.core.episode import Episode
from nsrecover.domains.service.home_file import load_home
from nsrecover.instructions.agent import ServiceAgent
from nsrecover.instructions.understanding import Understanding
from nsrecover.records.recording import example
from nsrecover.records.review import review
from nsrecover.records.runs import RecordedRun
from nsrecover.serving.reports.build import report_of
from nsrecover.serving.reports.media import Clip, Media, Photo
from nsrecover.serving.reports.model import Report
from nsrecover.testing.lifted import graph_of, lift
from nsrecover.testing.simulated_home import drawn_world
from tests.nsrecover.kitchen_facts import HOME, WATER, WATERED, FactWorld

RATE_HZ = 16_000


def tone(seconds: float, pitch_hz: float) -> Clip:
    """A sound."""
    at_s = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    return Clip((0.5 * np.sin(2 * np.pi * pitch_hz * at_s)).astype(np.float32), RATE_HZ, ("tone",))


@lru_cache(maxsize=1)
def recorded() -> Report:
    """The recording that comes with the package, judged by its boxes: a tower falls; with a tone at every step."""
    run = example()
    graphs = [graph_of(lift(each)) for each in run.observations]
    boxes = tuple(dict(zip(each.names, map(tuple, each.boxes.tolist()), strict=True)) for each in graphs)
    judged = RecordedRun("example", run.plan, boxes)
    episode = review(nsrecover.geometric(), judged)
    photos = [Photo(each.rgb[0], each.cameras[0]) for each in run.observations]
    media = [Media(photos[i], photos[i + 1], tone(0.5, 220.0 * (i + 1))) for i in range(len(run.plan))]
    return report_of(episode, "A tower falls", media=media)


def carried_out(world: FactWorld, plan: nsrecover.Plan = WATER, goal: tuple[tuple[str, ...], ...] = WATERED) -> Episode:
    """An episode in the kitchen of facts."""
    return nsrecover.RecoveryAgent(nsrecover.symbolic(HOME, goal), world).run(plan)


def in_kitchen(world: FactWorld) -> Report:
    """The report of a kitchen in which a plant is to be watered."""
    return report_of(carried_out(world), "Water the plant", domain=HOME.domain)


class _Silent:
    """A person who hears everything and answers nothing."""

    def tell(self, text: str) -> None: ...

    def ask(self, question: str) -> str:
        return ""


@lru_cache(maxsize=1)
def instructed() -> Report:
    """The report of a command: the apple is not where it is looked for first."""
    understanding = Understanding(load_home("apartment"))
    world = drawn_world(understanding.home, 0, nouns=[], fixed={"apple": "side table"})
    outcome = ServiceAgent(understanding, world, _Silent()).run("bring me the apple")
    stage, episode = max(outcome.episodes, key=lambda each: len(each[1].records))
    return report_of(episode, "Bring me the apple", domain=stage.instance.domain)
