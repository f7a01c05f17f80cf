"""The command that tries files of other people."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.checks.foreign import READERS, files_in, pairs_of, read_pair, reason, rows_of
from nsrecover.errors import InvalidConfiguration
from tests.commands import run

DOMAIN = "(define (domain d) (:predicates (p)) (:action go :parameters () :effect {}))"
PROBLEM = "(define (problem one) (:domain d) (:objects ) (:init ) (:goal (p)))"


def test_files_are_read_refused_or_have_crashed(tmp_path: Path) -> None:
    for name, effect in (("good", "(p)"), ("random", "(oneof (p) (not (p)))")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "domain.pddl").write_text(DOMAIN.format(effect))
        (tmp_path / name / "p1.pddl").write_text(PROBLEM)
        (tmp_path / name / "copy.pddl").write_text(DOMAIN.format(effect) + " ; as above")
    found = list(rows_of("PDDL", pairs_of(tmp_path), read_pair))
    assert [(outcome, Path(name).parent.name) for _, outcome, _, name in found] == [
        ("read", "good"),
        ("refused", "random"),
    ]
    assert found[0][2] == "a domain and a problem"
    assert reason(found[1][2]) == "nondeterministic effects (oneof)"
    assert [outcome for _, outcome, *_ in rows_of("any", [tmp_path], lambda _: str(1 // 0))] == ["crashed"]


def coco(segmentation: object) -> str:
    image = {"id": 1, "height": 8, "width": 9}
    return json.dumps({"images": [image], "annotations": [{"image_id": 1, "segmentation": segmentation}]})


OTHERS = {
    "good.json": (coco([[1, 1, 5, 1, 5, 5, 1, 5]]), ("masks", "read", "masks")),
    "results.json": (json.dumps([{"segmentation": {"size": [2, 2], "counts": [1, 3]}}]), ("masks", "read", "masks")),
    "shares.json": (coco([[0.1, 0.1, 0.5, 0.1, 0.5, 0.5]]), ("masks", "refused", "shares of its sides")),
    "sizes.json": (json.dumps({"segmentation": [[1, 1, 5, 1, 5, 5]]}), ("masks", "refused", "height and width")),
    "half.json": ('{"plan": 3}', ("logs", "refused", "half.json")),
    "p01.plan": ("0.000: (go) [1.000]", ("plans", "read", "a plan")),
    "old.bag": ("#ROSBAG V2.0", ("bags", "refused", "ROS 1")),
    "run.npz": ("PK", ("recorded runs", "refused", "run.npz")),
}


def test_masks_bags_logs_plans_and_runs_are_tried_too(tmp_path: Path) -> None:
    for name, (text, _) in OTHERS.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "picture.svg").write_text("<svg/>")
    (tmp_path / "settings.json").write_text('{"what": "is this"}')
    found = [row for kind, read in READERS.items() for row in rows_of(kind, files_in(tmp_path, kind), read)]
    assert {Path(name).name: (kind, outcome) for kind, outcome, _, name in found} == {
        name: expected[:2] for name, (_, expected) in OTHERS.items()
    }
    for *_, text, name in found:
        assert OTHERS[Path(name).name][1][2] in text


def test_the_command_says_what_it_found(tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").write_text(DOMAIN.format("(p)"))
    done = run("eval.checks.foreign", str(tmp_path))
    assert done.code == 0
    assert "a domain" in done.out
    done = run("eval.checks.foreign", str(tmp_path / "none"))
    assert done.code == 2


def test_a_problem_that_does_not_fit_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").write_text(DOMAIN.format("(p)"))
    (tmp_path / "p1.pddl").write_text(PROBLEM.replace("(p)", "(q)"))
    with pytest.raises(InvalidConfiguration, match="'q'"):
        read_pair(next(pairs_of(tmp_path)))
