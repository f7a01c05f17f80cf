"""Commands by other people are judged by their own annotations: frames of what is wanted, maps, and scenes."""

import json
from pathlib import Path
from typing import Any

import pytest

from eval.foreign_sentences.__main__ import (
    MEASUREMENT,
    ForeignConfig,
    judged_commands,
    judged_scene,
    scenes_of,
)
from eval.foreign_sentences.frames import wishes_of
from eval.foreign_sentences.judging import Verdict, home_of_map, verdict
from nsrecover.errors import InvalidConfiguration
from nsrecover.instructions.planning import TaskPlan
from nsrecover.instructions.task import Refusal, RefusalCode, TaskQuestion
from nsrecover.instructions.understanding import Understanding

SCENES = """1
Scene: a Pepsi, a Coke, and an apple
Task: Bring me the apple.
User intent (object): apple
User intent (location): pick-up
Possible objects: apple
Possible locations: pick-up
Scene objects: Pepsi, Coke, apple
Task category: unambiguous_task

2
Scene: a Pepsi, a Coke, and an apple
Task: Bring me that drink.
User intent (object): Pepsi
User intent (location): pick-up
Possible objects: Pepsi, Coke
Possible locations: pick-up
Scene objects: Pepsi, Coke, apple
Task category: singlelabel_task
"""


def _entity(kind: str, *names: str, supports: bool = False) -> dict[str, Any]:
    return {"type": kind, "names": list(names), "contains": False, "supports": supports, "x": 1.0, "y": 2.0}


MAP = [
    _entity("Kitchen", "kitchen"),
    _entity("Table", "table", supports=True),
    _entity("Cup", "cup", "mug"),
    _entity("Television", "television", "tv"),
]
HOME = home_of_map(MAP, "the table in the kitchen")


def _frame(kind: str, verb: str, **elements: str) -> dict[str, Any]:
    return {"frame": kind, "verb": verb, "elements": elements}


def _judged(sentence: str, *frames: dict[str, Any]) -> Verdict:
    return verdict(Understanding(HOME).plan(sentence), wishes_of(frames), HOME)


def test_a_map_gives_places_objects_and_what_the_sentence_presupposes() -> None:
    assert HOME.places["table"].room == "kitchen"
    assert HOME.items["cup"].also == ("mug",)
    assert "switch" in HOME.places["television"].traits


def test_the_wanted_object_and_place_are_right_and_another_one_is_wrong() -> None:
    frame = _frame("Placing", "put", Theme="the mug", Goal="on the table")
    assert _judged("put the mug on the table", frame) is Verdict.RIGHT
    assert _judged("bring me the mug", frame) is Verdict.WRONG
    assert _judged("put the mug on the table and turn on the tv", frame) is Verdict.WRONG


def test_a_plan_without_a_word_that_limits_it_is_wrong_and_a_refusal_has_to_name_it() -> None:
    wish = wishes_of([_frame("Motion", "go", Goal="to the kitchen", Manner="slowly")])
    plan = Understanding(HOME).plan("go to the kitchen")
    assert isinstance(plan, TaskPlan)
    assert verdict(plan, wish, HOME) is Verdict.WRONG
    named, other = (Refusal(RefusalCode.NO_SKILL, f"I cannot {text}.") for text in ("go slowly", "do that"))
    assert verdict(named, wish, HOME) is Verdict.NAMED
    assert verdict(other, wish, HOME) is Verdict.REFUSED


def test_a_search_that_leaves_out_the_place_is_wrong() -> None:
    wish = wishes_of([_frame("Locating", "find", Sought_entity="the mug", Ground="on the table")])
    everywhere, there = (Understanding(HOME).plan(f"find the mug{where}") for where in ("", " on the table"))
    assert isinstance(everywhere, TaskPlan)
    assert verdict(everywhere, wish, HOME) is Verdict.WRONG
    assert verdict(there, wish, HOME) is Verdict.RIGHT


def test_a_scene_says_whether_a_question_is_due(tmp_path: Path) -> None:
    (tmp_path / "scenes.txt").write_text(SCENES, encoding="utf-8")
    clear, unclear = scenes_of(tmp_path / "scenes.txt")
    assert judged_scene(clear) == ("right", False)
    assert judged_scene(unclear)[1]
    assert isinstance(Understanding(clear.home).plan("put it on the thing"), TaskQuestion | Refusal)


def test_the_measurement_leaves_its_shares_and_every_sentence(tmp_path: Path) -> None:
    row = {
        "id": 1,
        "sentence": "go to the kitchen",
        "map": MAP,
        "frames": [_frame("Motion", "go", Goal="to the kitchen")],
    }
    (tmp_path / "people.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert [each.verdict for each in judged_commands([row])] == [Verdict.RIGHT]
    files = [str(tmp_path / "people.jsonl")]
    metrics = MEASUREMENT.run(ForeignConfig(files=files, workers=1, out=str(tmp_path / "out")))
    assert metrics["people"]["shares"]["right plan"]["value"] == 1.0
    assert "go to the kitchen" in (tmp_path / "out" / "rows.jsonl").read_text(encoding="utf-8")
    with pytest.raises(InvalidConfiguration, match="found none"):
        MEASUREMENT.run(ForeignConfig())
