"""The demo's scenario in a home: the fifth command of Shirasaka et al., about an apple that has to be found."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from eval.common.video import FRAME_SIZE, PLAIN, RECOVERING, WRONG, Picture, VideoWriter
from eval.demo.result import DemoResult, Turn, write_report
from eval.instructions.episodes import PAPER, ScriptedOperator
from nsrecover.core import Plan, StepRecord
from nsrecover.domains.service.home_file import load_home
from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.errors import InvalidConfiguration
from nsrecover.instructions.agent import ServiceAgent
from nsrecover.instructions.planning import StagePlan, TaskPlan, action_text
from nsrecover.instructions.understanding import Understanding
from nsrecover.serving.reports.media import Media, Photo
from nsrecover.testing.simulated_home import Failures, FastHome, drawn_world
from nsrecover.util.english import capital

_MARGIN = 30
_FLOOR, _FURNITURE, _TEXT = (244, 241, 234), (196, 184, 165), (60, 56, 50)
_ROBOT, _PERSON, _THING = (43, 108, 176), (98, 148, 96), (200, 40, 40)
_SIZE = 5


def floor_plan(world: FastHome, thing: str) -> Picture:
    """The home from above, as it truly is.

    Args:
        world: the home.
        thing: the object that is shown; it is where it lies, or with who holds it.
    """
    places = world.home.places
    spots = np.array([place.at for place in places.values()])
    low, high = spots.min(axis=0), spots.max(axis=0)
    scale = (np.array(FRAME_SIZE) - 2 * _MARGIN) / (high - low)
    image = Image.new("RGB", FRAME_SIZE, _FLOOR)
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(9)

    def at(place: str) -> tuple[float, float]:
        x, y = (np.array(places[place].at) - low) * scale
        return float(x + _MARGIN), float(FRAME_SIZE[1] - _MARGIN - y)

    def dot(x: float, y: float, size: int, colour: tuple[int, int, int]) -> None:
        draw.ellipse((x - size, y - size, x + size, y + size), fill=colour)

    for name in world.home.furniture:
        x, y = at(name)
        draw.rectangle((x - _SIZE, y - _SIZE, x + _SIZE, y + _SIZE), fill=_FURNITURE)
        draw.text((x, y + _SIZE), name, _TEXT, font, anchor="ma")
    for name, someone in world.people.items():
        x, y = at(someone.place)
        dot(x - 9, y - 9, _SIZE, _PERSON)
        draw.text((x - 9, y - 15), "you" if name == OPERATOR else name, _PERSON, font, anchor="mb")
    x, y = at(world.robot)
    dot(x + 9, y - 9, _SIZE + 2, _ROBOT)
    draw.text((x + 9, y - 17), "robot", _ROBOT, font, anchor="mb")
    holder = world.objects.get(thing, "")
    if world.held == thing:
        dot(x + 9, y - 9, 3, _THING)
    elif holder in places:
        dot(*at(holder), 3, _THING)
    elif holder in world.people:
        x, y = at(world.people[holder].place)
        dot(x - 9, y - 9, 3, _THING)
    return np.asarray(image)


NAME = "apple"
SENTENCE: str = PAPER[4]["say"]
DESCRIPTION = f'"{SENTENCE}" Ashley does not know, no place is named, and the first grasp misses.'
_SECONDS = 0.8
"""How long a turn is shown in the film."""


def script(seed: int) -> tuple[Understanding, FastHome, Plan]:
    """The home, and the plan for the command as long as nothing is known.

    Args:
        seed: another seed puts the apple elsewhere.

    Raises:
        InvalidConfiguration: the command is not understood.
    """
    understanding = Understanding(load_home("apartment"))
    world = drawn_world(understanding.home, seed, Failures(first_grasps=1), ["apple"])
    world.people["ashley"].knows = {}
    plan = understanding.plan(SENTENCE)
    if not isinstance(plan, TaskPlan):
        raise InvalidConfiguration(f"expected a plan for the demo's command, found the answer {plan.text!r}")
    return understanding, world, Plan(plan.actions)


def run_apple(
    seed: int, folder: Path, video: bool, turned: Callable[[str, StepRecord], None], said: Callable[[str], None]
) -> DemoResult:
    """Run the scenario and write report, film and metrics into a folder.

    Args:
        seed: where the apple is.
        folder: made if it does not exist.
        video: whether to film.
        turned: called after each turn with its label and record.
        said: called with each recovery, in words.
    """
    started = time.perf_counter()
    folder.mkdir(parents=True, exist_ok=True)
    understanding, world, plan = script(seed)
    film = folder / "episode.mp4" if video else None
    turns: dict[int, list[Turn]] = {}
    photo, logged = Photo(floor_plan(world, NAME)), 0
    with VideoWriter(film) if film is not None else contextlib.nullcontext() as writer:

        def take(stage: StagePlan, record: StepRecord) -> None:
            nonlocal photo, logged
            label = f"{'recovery' if record.recovering else 'step'} {record.discrepancy.step + 1} of {len(record.plan)}"
            before, photo = photo, Photo(floor_plan(world, NAME))
            film_s = writer.seconds + _SECONDS / 2 if writer is not None else None
            step = None if record.recovering else record.discrepancy.step + 1
            turns.setdefault(id(stage), []).append(Turn(label, record, Media(before, photo), film_s, step))
            turned(label, record)
            new, logged = agent.log[logged:], len(agent.log)
            for code, text in new:
                said(f"{code}: {text}")
            if writer is not None:
                colour = WRONG if record.discrepancy.deviates else RECOVERING if record.recovering else PLAIN
                title = action_text(record.action or record.discrepancy.action, stage.instance)
                writer.caption(capital(title), capital("; ".join(text for _, text in new)), colour)
                writer.add(photo.rgb, _SECONDS)

        agent = ServiceAgent(understanding, world, ScriptedOperator(), on_record=take)
        outcome = agent.run(SENTENCE)
    stage, episode = max(outcome.episodes, key=lambda each: len(each[1].records))
    reached = world.objects.get(NAME) == OPERATOR
    result = DemoResult(
        NAME,
        DESCRIPTION,
        seed,
        plan,
        episode.status.value,
        "" if reached else outcome.text,
        tuple(turns[id(stage)]),
        {} if reached else {NAME: "The operator does not have the apple"},
        seconds=time.perf_counter() - started,
        episode=episode,
        domain=stage.instance.domain,
        log=outcome.log,
    )
    write_report(result, folder, film)
    return result
