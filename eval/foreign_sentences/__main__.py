"""`python -m eval.foreign_sentences FILES`: the measurement and its tables."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval.common.statistics import share
from eval.common.tables import markdown_table, percent_of
from eval.foreign_sentences.frames import WORDS, wishes_of
from eval.foreign_sentences.judging import Verdict, home_of_map, verdict
from eval.run import Measurement, Run, Settings, run
from nsrecover.domains.service.home import Home, Item, Place, Resident
from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.errors import InvalidConfiguration
from nsrecover.instructions.planning import TaskPlan
from nsrecover.instructions.task import TaskQuestion
from nsrecover.instructions.understanding import Understanding


@dataclass(frozen=True)
class Scene:
    """A request in a scene.

    Attributes:
        request: the sentence.
        home: the scene.
        intended: the objects that may be meant.
        target: where one of them goes; "operator" for handing it over.
        ask: whether a question is due.
    """

    request: str
    home: Home
    intended: frozenset[str]
    target: str
    ask: bool


def scenes_of(path: Path) -> list[Scene]:
    """The scenes of a file."""
    blocks = re.split(r"\n\s*\n", path.read_text(encoding="utf-8").strip())
    return [scene for block in blocks if (scene := _scene(block)) is not None]


def _scene(block: str) -> Scene | None:
    fields = dict(re.findall(r"^([A-Z][\w ()]*): (.*)$", block, re.MULTILINE))
    if "Task" not in fields or "Scene objects" not in fields:
        return None
    objects = [each.strip().lower() for each in fields["Scene objects"].split(",") if each.strip()]
    intended = {each.strip().lower() for each in fields["User intent (object)"].split(",")}
    possible = {each.strip().lower() for each in fields["Possible objects"].split(",")}
    place = fields["User intent (location)"].split(",")[0].strip().lower()
    several = "," in fields.get("Possible locations", "")
    target = OPERATOR if place == "pick-up" else place
    kind = fields.get("Task category", "")
    ask = "ambiguous" in kind and "unambiguous" not in kind
    ask = ask or several or (kind.startswith(("singlelabel", "unsafe", "winograd")) and len(possible) > 1)
    return Scene(fields["Task"], _home(objects), frozenset(intended), target, ask)


def _home(objects: list[str]) -> Home:
    places = {"kitchen": Place("kitchen", "kitchen", (0.0, 0.0)), "counter": Place("counter", "kitchen", (1.0, 0.0))}
    places |= {name: Place(name, "kitchen", (2.0, float(k))) for k, name in enumerate(WORDS["targets"])}
    categories = {
        name: tuple(each for each in objects if re.search(words, each)) for name, words in WORDS["categories"].items()
    }
    items = {name: Item(name, name, "counter") for name in objects}
    people = {OPERATOR: Resident(OPERATOR, "kitchen")}
    return Home("scene", places, items, people, {k: v for k, v in categories.items() if v}, robot="kitchen")


ORDER = (Verdict.WRONG, Verdict.RIGHT, Verdict.ASKED, Verdict.NAMED, Verdict.REFUSED)


@dataclass
class ForeignConfig(Settings):
    """Read sentences of other people, and compare what is understood with their annotations.

    Read commands of other people, each in a home made from its own map, and compare what they lead to with the
    annotations: wrong plans first, then right ones, questions, and refusals that name what no skill does.

      python -m eval.foreign_sentences huric_dev.jsonl scenes.txt     about 20 ms for each command
      python -m eval.foreign_sentences huric_dev.jsonl out=DIR        the same, outputs exactly in DIR

    Writes metrics.json, table.md and every sentence with its verdict and answer (rows.jsonl) to out=DIR.

    Attributes:
        files: files of commands: lines of JSON with sentence, frames and map (HuRIC), or text blocks of scenes and
            tasks (IntroPlan).
    """

    files: list[str] = field(default_factory=lambda: [])


@dataclass(frozen=True)
class Judged:
    """A judged sentence: its id, the verdict, the kinds of its frames, the sentence, and what it led to."""

    name: str
    verdict: Verdict
    kinds: tuple[str, ...]
    sentence: str
    answer: str


def judged_commands(rows: Iterable[Mapping[str, Any]]) -> list[Judged]:
    """Judge commands with frames and a map each, in HuRIC's format as lines of JSON."""
    found = []
    for row in rows:
        home = home_of_map(row["map"], row["sentence"])
        answer = Understanding(home).plan(row["sentence"])
        kinds = tuple(dict.fromkeys(frame["frame"] for frame in row["frames"]))
        text = "; ".join(answer.text()) if isinstance(answer, TaskPlan) else answer.text
        ordered = sorted(row["frames"], key=lambda frame: row["sentence"].find(frame["verb"]))
        given = verdict(answer, wishes_of(ordered), home)
        found.append(Judged(str(row["id"]), given, kinds, row["sentence"], text))
    return found


def judged_scene(scene: Scene) -> tuple[str, bool]:
    """How a request is answered: right, wrong, asked or refused; and whether a question is due."""
    answer = Understanding(scene.home).plan(scene.request)
    if isinstance(answer, TaskQuestion):
        return "asked", scene.ask
    if not isinstance(answer, TaskPlan):
        return "refused", scene.ask
    goals = [fact for stage in answer.task.stages for fact in stage.goal if fact[0] == "at"]
    named = [fact for fact in goals if fact[2] == scene.target or scene.target == OPERATOR == fact[2]]
    meant = bool(named) and all(any(scene.home.could_mean(fact[1], each) for each in scene.intended) for fact in named)
    fits = meant and not scene.ask
    return ("right" if fits else "wrong"), scene.ask


@dataclass(frozen=True)
class JudgedFile:
    """A file: its commands, or how the requests of its scenes are answered and whether a question is due."""

    commands: list[Judged]
    answers: list[tuple[str, bool]]


def judged_file(name: str) -> JudgedFile:
    """Judge a file.

    Raises:
        InvalidConfiguration: it cannot be read.
    """
    path = Path(name)
    try:
        if path.suffix != ".jsonl":
            return JudgedFile([], [judged_scene(scene) for scene in scenes_of(path)])
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        return JudgedFile(judged_commands(lines), [])
    except (OSError, ValueError, KeyError) as problem:
        raise InvalidConfiguration(f"expected commands in {path}, found {problem!r}") from None


def measure(config: ForeignConfig, run: Run) -> dict[str, Any]:
    """Judge all files."""
    found = zip(config.files, run.each(judged_file, config.files, "file"), strict=True)
    return {
        Path(name).stem: _commands(each.commands) if each.commands else _scenes(each.answers) for name, each in found
    }


def check(config: ForeignConfig) -> None:
    """Refuse to judge nothing."""
    if not config.files:
        raise InvalidConfiguration("expected files with commands, found none; name HuRIC or IntroPlan files")


def _commands(judged: Sequence[Judged]) -> dict[str, Any]:
    counted = Counter(each.verdict for each in judged)
    kinds = sorted({kind for each in judged for kind in each.kinds})
    return {
        "shares": {each.value: share(counted[each], len(judged)) for each in ORDER},
        "by_frame": {
            kind: {each.value: sum(kind in one.kinds and one.verdict is each for one in judged) for each in ORDER}
            for kind in kinds
        },
    }


def _scenes(answers: Sequence[tuple[str, bool]]) -> dict[str, Any]:
    groups = {"a question is due": True, "no question is due": False}
    return {
        "shares": {
            f"{name}: {answer}": share(
                sum(given == answer and due is ask for given, ask in answers), sum(ask is due for _, ask in answers)
            )
            for name, due in groups.items()
            for answer in ("wrong", "right", "asked", "refused")
            if not (due and answer == "right")
        }
    }


def markdown(metrics: Mapping[str, Any]) -> str:
    """The shares of each file, and the verdicts by frame; the wrong ones first."""
    parts = []
    for name, found in metrics.items():
        rows = [[each, shares["of"], percent_of(shares)] for each, shares in found["shares"].items()]
        parts.append(markdown_table([name, "of", "share"], rows))
        if "by_frame" in found:
            rows = [[kind, *counts.values()] for kind, counts in found["by_frame"].items()]
            parts.append(markdown_table(["frame", *(each.value for each in ORDER)], rows))
    return "\n\n".join(parts)


MEASUREMENT = Measurement(ForeignConfig, measure, markdown, check=check, checkpoint=None)


if __name__ == "__main__":
    run(MEASUREMENT, files=(".jsonl", ".txt"))
