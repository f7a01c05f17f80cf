"""`python -m eval.explanations` on two real episodes."""

import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest

from eval.explanations import JudgedText, read_back, summary
from nsrecover.core import Cause, Fact
from nsrecover.explanation import Audience
from nsrecover.explanation.templates import verbalize
from tests.commands import run


def test_it_leaves_metrics_a_table_and_every_text(tmp_path: Path) -> None:
    folders = [f"{name}={tmp_path / name}" for name in ("errors", "footage", "states", "out")]
    done = run("eval.explanations", "seed=3", "episodes={I: 1, V: 1, II: 0, III: 0, IV: 0}", *folders, "workers=1")
    assert done.code == 0, done.err
    out = tmp_path / "out"
    assert done.out == (out / "table.md").read_text()
    lines = (out / "rows.jsonl").read_text().splitlines()
    texts = [text for line in lines for text in json.loads(line)["row"]]
    assert [(text["dataset"], text["register"]) for text in texts] == [
        ("I", "lay"), ("I", "engineer"), ("V", "lay"), ("V", "engineer"),
    ]  # fmt: skip
    assert all(set(text["said"]) == set(text["true"]) for text in texts)
    metrics = json.loads((out / "metrics.json").read_text())["registers"]["lay"]["all"]
    assert (metrics["errors"], metrics["culprits"]["value"], metrics["step"]["value"]) == (2, 1.0, 1.0)
    assert (out / "config.yaml").is_file()


RIGHT = JudgedText("I", 0, 3, "lay", "…", 3, {"a": "moved"}, (), {"a": "moved"}, {"a": "push"})


@pytest.mark.parametrize(
    ("texts", "culprits", "causes", "step"),
    [
        (RIGHT, 1.0, 1.0, 1.0),
        (replace(RIGHT, said={"a": "toppled"}), 1.0, 0.0, 1.0),
        (replace(RIGHT, said={"b": "moved"}), 0.0, 0.0, 1.0),
        (replace(RIGHT, said={"a": "moved", "b": "moved"}), 0.0, 0.0, 1.0),
        (replace(RIGHT, unread=("The b wobbled.",)), 0.0, 0.0, 1.0),
        (replace(RIGHT, said_step=4), 1.0, 1.0, 0.0),
        (replace(RIGHT, text="", said_step=None, said={}), 0.0, 0.0, 0.0),
    ],
)
def test_a_text_counts_only_for_right_statements(
    texts: JudgedText, culprits: float, causes: float, step: float
) -> None:
    counts = summary([texts])["lay"]["all"]
    assert (counts["culprits"]["value"], counts["causes"]["value"], counts["step"]["value"]) == (culprits, causes, step)


def test_a_text_about_a_step_that_went_well_counts_against_the_step() -> None:
    false_alarm = replace(RIGHT, step=2, said_step=2, true={}, faults={})
    assert summary([RIGHT, false_alarm])["lay"]["all"]["step"]["value"] == 0.5


# -- the parser of explanations: every cause for both audiences, and no other statements


NAMES = ("red cube", "dark red cube", "green die")
STEP = Fact("step", ("13", "top(red cube, green die)", "after"))
OTHERS = {
    Cause.SWAPPED: "dark red cube", Cause.BLOCKING: "green die", Cause.MISSING: "nowhere", Cause.MISTAKEN: "green die",
    Cause.REPLACED: "green die",
}  # fmt: skip
DETAILS = {Cause.HELPED: "5", Cause.MISSING: "nowhere", Cause.SWAPPED: "nowhere", Cause.BLOCKING: "nowhere"}


@pytest.mark.parametrize(("cause", "audience"), list(itertools.product(Cause, Audience)))
def test_every_cause_is_parsed_for_every_audience(cause: Cause, audience: Audience) -> None:
    other = OTHERS.get(cause, "table")
    said = {"red cube", "dark red cube"} if cause is Cause.SWAPPED else {"red cube"}
    for distance in range(1, 20):
        detail = DETAILS.get(cause, f"{distance} cm to the left of its place")
        facts = (
            STEP,
            Fact(cause.value, ("red cube", other, detail)),
            Fact("unachieved", ("top(red cube, green die)",)),
        )
        text = " ".join(sentence.text for sentence in verbalize(facts, audience))
        reading = read_back(text, NAMES)
        assert reading.unread == ()
        assert reading.causes == dict.fromkeys(said, cause), text
        assert reading.step == 13


def test_several_objects_share_a_sentence() -> None:
    reading = read_back("Step 2, top(a, b), went wrong: x. The red cube and the green die toppled.", NAMES)
    assert reading.step == 2
    assert reading.causes == {"red cube": Cause.TOPPLED, "green die": Cause.TOPPLED}


@pytest.mark.parametrize(
    "sentence",
    [
        "The red cube did not topple.",
        "The red cube may have toppled.",
        "The red cube toppled onto the purple cube.",
        "It was the red cube that was dropped.",
    ],
)
def test_unknown_sentences_do_not_count_as_right(sentence: str) -> None:
    reading = read_back(f"Step 2, top(a, b), went wrong: x. {sentence}", NAMES)
    assert reading.causes == {}
    assert reading.unread


def test_two_stories_about_one_object_are_noticed() -> None:
    text = "The first step, putting the a on the b, went wrong: x. The red cube toppled. The red cube is in the way."
    reading = read_back(text, NAMES)
    assert reading.step == 1
    assert reading.unread
