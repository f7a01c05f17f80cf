"""What is fuzzed: valid examples, a way to change them, and a reader that goes as deep as a user does."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import nsrecover
from eval.checks.fuzz.strategies import documents, edited, yaml_documents
from eval.instructions.generator import Generator
from eval.instructions.understood import paraphrases
from eval.logs.runs import written_logs
from nsrecover import FactScene, Plan, geometric, symbolic
from nsrecover.bridges.pddl import domain_from_pddl, scene_from_pddl
from nsrecover.bridges.plansys2 import PlanVocabulary, read_plan, translate
from nsrecover.domains.household import LASTING, HouseholdScene, household
from nsrecover.domains.service.home import Home
from nsrecover.domains.service.home_file import load_home
from nsrecover.errors import NsrecoverError
from nsrecover.explanation.audience import Audience
from nsrecover.instructions.understanding import Understanding
from nsrecover.logs import is_log
from nsrecover.logs.trace import trace_lines
from nsrecover.models.bundle import Bundle
from nsrecover.models.checkpoint import CHECKPOINTS
from nsrecover.models.household import HouseholdModels
from nsrecover.planning.symbolic.solving import Limits, solve
from nsrecover.records import episode_log, recording, scenes_recording
from nsrecover.records.archive import Archive, write_archive
from nsrecover.records.bags.reading import read_bag
from nsrecover.records.bags.writing import BagSettings, Storage, write_bag
from nsrecover.records.check_file import checked
from nsrecover.records.explain_file import explain_file
from nsrecover.records.recording import Recording, example
from nsrecover.records.review import review, system_for
from nsrecover.records.runs import read_run
from nsrecover.serving.reports.episodes import report_at
from nsrecover.serving.reports.page import html_of
from nsrecover.util.printable import UNPRINTABLE

EXAMPLES = Path(__file__).parent / "examples"
QUESTIONS = ("What happened?", "Why did you move the green?", "Where is the pot?", "What if the blue were not there?")
PLANNING_S = 2.0
"""Time for a plan in a domain, as a server gives it."""
DOMAIN_PARTS = b"\n;;;;\n"
"""Between a PDDL domain, its problem and its table of words."""

_SIDE_M = 0.04
_NAMES = ("red", "green", "blue")
_SCENE = {name: (0.5, 0.3 - 0.1 * i, _SIDE_M / 2, _SIDE_M, _SIDE_M, _SIDE_M) for i, name in enumerate(_NAMES)}


@dataclass(frozen=True)
class Target:
    """Something that reads what others wrote.

    Attributes:
        name: in commands, and folder of its corpus.
        examples: valid inputs.
        change: draws input like some examples.
        read_file: reads a file; every error but one of ours is a finding.
        file: data -> the name of its file.
    """

    name: str
    examples: Callable[[], list[bytes]]
    change: Callable[[Sequence[bytes]], SearchStrategy[bytes]]
    read_file: Callable[[Path], object]
    file: Callable[[bytes], str] = lambda _: "file"

    def inputs(self) -> SearchStrategy[bytes]:
        """Changed examples."""
        return self.change(self.examples())

    def read(self, data: bytes) -> None:
        """Read data as a file in a folder of its own."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / self.file(data)
            path.write_bytes(data)
            self.read_file(path)


# -- logs


def _boxes_examples(folder: Path) -> list[bytes]:
    """A recording in boxes, and the log of its episode, in which a block falls."""
    fallen = {**_SCENE, "green": (0.6, 0.1, _SIDE_M / 2, _SIDE_M, _SIDE_M, _SIDE_M)}
    recorded = scenes_recording.ScenesRecording(Plan.parse("top(green, red)"), (_SCENE, fallen))
    path, log = folder / "boxes.json", folder / "log.json"
    scenes_recording.save(recorded, path)
    run = read_run(path)
    episode_log.save(review(system_for([run], None), run), log)
    return [path.read_bytes(), log.read_bytes()]


@cache
def _logs() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        ours = _boxes_examples(Path(folder))
    others = ["\n".join(trace_lines(each.trace)).encode() for each in written_logs(12, 0, "middle", held_out=False)]
    return [*ours, *ours, *sorted(others, key=len)[:4]]


def _changed_logs(examples: Sequence[bytes]) -> SearchStrategy[bytes]:
    """Changed logs of episodes, which are documents, and changed traces, which are lines."""
    traces = [each for each in examples if b"\n" in each]
    return documents([each for each in examples if each not in traces]) | edited(traces)


def read_log(path: Path) -> None:
    """Explain a log to one of the audiences, with questions and its page."""
    explain_file(path, Audience.ENGINEER if path.stat().st_size % 2 else Audience.LAY, QUESTIONS)
    if not is_log(path) or b"format" in path.read_bytes()[:100]:
        html_of(report_at(str(path)))


# -- plans


@cache
def _kitchen() -> HouseholdScene:
    things = ["countertop", "sink", "faucet", "pot", "mug", "fridge", "egg", "pan", "stove burner"]
    return household(things, complete=True, one_handed=True, domain=LASTING)


_START = frozenset({("at", "pot", "countertop"), ("at", "mug", "countertop"), ("at", "egg", "fridge")})
_PLANS = (
    b"top(green, red); top(blue, green)", b"right(blue, red)\nleft(green, red)\nfree(blue)\nrestore(green)",
    b"pick_up(pot); put_in(pot, sink); toggle_on(faucet); toggle_off(faucet)", b"open_obj(fridge); pick_up(egg)",
    b"0.000: (stack green red) [1.000]\n1.000: (stack blue green) [1.000]\n; cost = 2\n",
)  # fmt: skip
_VOCABULARY = PlanVocabulary({"stack": ("top", (0, 1)), "unstack": ("free", (0,)), "move": None})


def read_any_plan(path: Path) -> None:
    """Read a plan in every format, and begin it on a table and in a kitchen."""
    text = path.read_bytes().decode("utf-8", "replace")
    _each(
        lambda: geometric().monitor(Plan.parse(text), _SCENE).check(),
        lambda: symbolic(_kitchen()).monitor(Plan.parse(text), FactScene(_START)).check(),
        lambda: geometric().monitor(translate(read_plan(text), _VOCABULARY).plan, _SCENE).check(),
    )


def _each(*readers: Callable[[], object]) -> None:
    """Try all readers; raises the last error of ours if none takes the input."""
    refused: NsrecoverError | None = None
    taken = False
    for reader in readers:
        try:
            reader()
            taken = True
        except NsrecoverError as problem:
            check_error(problem)
            refused = problem
    if refused is not None and not taken:
        raise refused


# -- domains


@cache
def _domains() -> list[bytes]:
    home = Path(nsrecover.__file__).parent / "domains/service/homes/apartment.yaml"
    return [path.read_bytes() for path in (*sorted(EXAMPLES.glob("*.pddl")), *sorted(EXAMPLES.glob("*.yaml")), home)]


def _changed_domains(examples: Sequence[bytes]) -> SearchStrategy[bytes]:
    pddl = [each for each in examples if _is_pddl(each)]
    return edited(pddl) | edited(pddl) | yaml_documents([each for each in examples if each not in pddl])


def _is_pddl(data: bytes) -> bool:
    return data.lstrip()[:1] in (b"(", b";")


def read_domain(path: Path) -> None:
    """Read a PDDL domain with its problem and words and plan in it, or a home and understand a sentence in it."""
    if _is_pddl(data := path.read_bytes()):
        parts = [*data.split(DOMAIN_PARTS), b"", b""][:3]
        domain_file, problem_file, words_file = (path.with_name(each) for each in ("d.pddl", "p.pddl", "words.json"))
        for each, part in zip((domain_file, problem_file, words_file), parts, strict=True):
            each.write_bytes(part)
        domain = domain_from_pddl(domain_file, words_file if parts[2] else None)
        if parts[1]:
            instance, state, goal = scene_from_pddl(domain, domain_file, problem_file)
            until = time.process_time() + PLANNING_S
            limits = Limits(50, lambda: time.process_time() > until)
            solve(instance, state, [instance.condition(fact) for fact in goal], limits=limits)
        return
    robot = Understanding(load_home(path))
    for sentence in ("bring me the apple from the table", "go to the kitchen and count the people"):
        robot.plan(sentence)


# -- sentences


@cache
def _home() -> Home:
    return load_home("apartment")


@lru_cache(maxsize=1)
def _robot() -> Understanding:
    return Understanding(_home())


@cache
def _sentences() -> list[bytes]:
    generator = Generator(_home(), 7)
    said = [generator.command().text for _ in range(300)] + [text for _, text in paraphrases("development")]
    return [text.encode() for text in said]


def _changed_sentences(examples: Sequence[bytes]) -> SearchStrategy[bytes]:
    joined = st.lists(edited(examples), min_size=2, max_size=4).map(b" and ".join)
    return edited(examples) | edited(examples) | joined


def read_sentence(path: Path) -> None:
    """Understand a sentence and plan what it asks for."""
    _robot().plan(path.read_bytes().decode("utf-8", "replace"))


# -- bags


def small() -> Recording:
    """One step with small images."""
    whole, images = example(), ("rgb", "depth_m", "instances")
    first = whole.observations[:2]
    seen = [replace(each, **{name: getattr(each, name)[:, ::16, ::16] for name in images}) for each in first]
    return Recording(Plan(whole.plan.actions[:1]), tuple(seen))


@cache
def _bags() -> list[bytes]:
    detector = BagSettings(Storage.MCAP, jpeg_quality=80, detections=True)
    settings = (BagSettings(Storage.MCAP), BagSettings(Storage.SQLITE), detector)
    found = []
    with tempfile.TemporaryDirectory() as name:
        for number, each in enumerate(settings):
            folder = write_bag(small(), Path(name) / str(number), each)
            found += [path.read_bytes() for path in folder.iterdir() if path.suffix in (".mcap", ".db3")]
    return found


def read_any_bag(path: Path) -> None:
    """Read a bag, and check what its cameras see."""
    _check(read_bag(path))


def _check(recorded: Recording) -> None:
    for number, observation in enumerate(recorded.observations):
        checked(observation, f"observation {number}")


# -- recordings, archives and checkpoints


def _files(write: Callable[[Path], object]) -> list[bytes]:
    """The contents of the files that a function writes into a folder."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        return [path.read_bytes() for path in Path(folder).iterdir()]


@cache
def _recordings() -> list[bytes]:
    return _files(lambda folder: recording.save(small(), folder / "run.npz", check_sensors=False))


def read_recording(path: Path) -> None:
    """Read a recorded run, and check what its cameras see."""
    _check(recording.load(path))


@cache
def _archives() -> list[bytes]:
    return _files(lambda folder: write_archive(folder / "runs.h5", [small()]))


def read_any_archive(path: Path) -> None:
    """Read all episodes of a file of them, in every way."""
    with Archive(path) as archive:
        for number in archive.episodes:
            archive[number], archive.notes(number), archive.plan(number), archive.observation(number, 0)
            archive.fingerprint(number), archive.digest(number)


SETTINGS = tuple(CHECKPOINTS / each for each in ("tabletop/config.json", "household/sounds/config.json"))


def read_checkpoint(path: Path) -> None:
    """Load the checkpoints with other settings."""
    text = path.read_bytes()
    tabletop, household = path.parent / "tabletop", path.parent / "household"
    for settings in SETTINGS:
        folder = path.parent / settings.relative_to(CHECKPOINTS).parts[0]
        shutil.copytree(CHECKPOINTS / folder.name, folder, copy_function=os.symlink)
        place = path.parent / settings.relative_to(CHECKPOINTS)
        place.unlink()
        place.write_bytes(text)
    _each(lambda: Bundle.load(tabletop), lambda: HouseholdModels.load(household))


def _name(data: bytes) -> str:
    return "run.db3" if data.startswith(b"SQLite") else "run.mcap"


TARGETS = {
    target.name: target
    for target in (
        Target("log", _logs, _changed_logs, read_log, lambda _: "log.json"),
        Target("plan", lambda: list(_PLANS), edited, read_any_plan),
        Target("domain", _domains, _changed_domains, read_domain, lambda _: "home.yaml"),
        Target("sentence", _sentences, _changed_sentences, read_sentence),
        Target("bag", _bags, edited, read_any_bag, _name),
        Target("recording", _recordings, edited, read_recording, lambda _: "run.npz"),
        Target("archive", _archives, edited, read_any_archive, lambda _: "runs.h5"),
        Target("checkpoint", lambda: [each.read_bytes() for each in SETTINGS], documents, read_checkpoint),
    )
}
"""Every target but the server by its name."""

LONGEST_ERROR = 400
"""Characters of one error."""


def check_error(problem: NsrecoverError) -> None:
    """Check that an error of ours is one clear text.

    Raises:
        AssertionError: it is empty, very long, or holds control characters.
    """
    said = str(problem)
    controls = sorted({char for char in said if UNPRINTABLE.match(char) and char not in "\n\t"})
    if not said.strip() or len(said) > LONGEST_ERROR or controls:
        raise AssertionError(f"expected one clear error, found {len(said)} characters with {controls}: {said[:300]!r}")
