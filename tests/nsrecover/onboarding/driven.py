"""Scripted worlds of the contract of all drivers, driven by `nsrecover watch` and judged by `nsrecover check`."""

from __future__ import annotations

import contextlib
import io
import re
import signal
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from unittest import mock

from nsrecover.cli.app import app
from nsrecover.core import Episode, Plan
from nsrecover.core.sessions.requests import Answer, Question
from nsrecover.records import episode_log, scenes_recording
from tests.nsrecover.serving.live.live_worlds import Client, number_in
from tests.scenarios import LostConnection, Refusing, Scenario, ScriptedWorld

_worlds = list[ScriptedWorld]()


def world() -> ScriptedWorld:
    """The world of the current scenario, for the command line."""
    return _worlds[-1]


def system() -> Any:
    """Its system, for the command line."""
    return _worlds[-1].system()


class _Opening(io.StringIO):
    """Standard error of the command; a person opens the page whose address it says, lets the run begin, and decides."""

    def __init__(self, person: Refusing) -> None:
        super().__init__()
        self._person = person

    def write(self, text: str) -> int:
        if found := re.search(r"open (http\S+)", text):
            viewer = Client(found[1])
            viewer.do("approve")
            viewer.do("resume")  # before the run begins, which then need not look again
            threading.Thread(target=self._decide, args=(viewer,), daemon=True).start()
        return super().write(text)

    def _decide(self, viewer: Client) -> None:
        asked = viewer.wait_for_another("0", "decision")
        answer = self._person.decide(SimpleNamespace(question=Question.APPROVE))  # type: ignore[arg-type]
        assert answer is Answer.NO
        number = number_in(asked)
        viewer.do("answer", number=number, choice="another")
        asked = viewer.wait_for_another(number, "decision")  # there is none: the robot asks for help
        viewer.do("answer", number=number_in(asked), choice="stop")


def by_watch(made: ScriptedWorld, scenario: Scenario, person: Refusing) -> Episode[Any]:
    """The command, which Ctrl-C stops, and whose live page asks a person. It takes no session that was begun."""
    made.stop = lambda: signal.raise_signal(signal.SIGINT)
    _worlds.append(made)
    with TemporaryDirectory() as folder:
        log = str(Path(folder) / "watched.json")
        page = ["--live", "--port", "0"] if scenario.vetoes else []
        factories = [f"{__name__}:world", "--system", f"{__name__}:system"]
        arguments = ["watch", *factories, "--plan", str(made.plan()), "--budget-s", "30", "--out", log, *page]
        at_once = mock.patch("nsrecover.serving.live.live_page.UNDO_S", 0.0)
        with contextlib.redirect_stderr(_Opening(person)), contextlib.redirect_stdout(io.StringIO()), at_once:
            code = app(arguments, standalone_mode=False) or 0
        episode = episode_log.load(log)
    assert code == (episode.why is not None)
    return episode


def recorded(made: ScriptedWorld) -> tuple[Plan, tuple[Any, ...]]:
    """What an executor that looks at nothing carries out, until the robot fails, and what is seen before and after."""
    seen, actions = [made.observe()], []
    for action in made.plan():
        try:
            made.execute(action)
        except LostConnection:
            break
        actions.append(action)
        seen.append(made.observe())
    return Plan(tuple(actions)), tuple(seen)


def by_check(made: ScriptedWorld, plan: Plan, seen: tuple[Any, ...]) -> Episode[Any]:
    """The command on a recorded run."""
    _worlds.append(made)
    with TemporaryDirectory() as folder:
        run, log = Path(folder) / "run.json", Path(folder) / "checked.json"
        scenes_recording.save(scenes_recording.ScenesRecording(plan, seen), run)
        arguments = ["check", str(run), "--system", f"{__name__}:system", "--budget-s", "30", "--log", str(log)]
        with contextlib.redirect_stdout(io.StringIO()):
            code = app(arguments, standalone_mode=False) or 0
        episode = episode_log.load(log)
    assert code == any(record.discrepancy.deviates for record in episode.records)
    return episode
