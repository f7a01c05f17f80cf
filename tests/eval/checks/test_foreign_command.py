"""The command that tries files of other people."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.checks.foreign import pddl
from eval.checks.foreign.__main__ import bags_of, coco, reason, rows_of
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
    found = list(rows_of("PDDL", pddl.pairs_of(tmp_path), pddl.tried))
    assert [(outcome, Path(name).parent.name) for _, outcome, _, name in found] == [
        ("read", "good"),
        ("refused", "random"),
    ]
    assert found[0][2] == "a domain and a problem"
    assert reason(found[1][2]) == "nondeterministic effects (oneof)"
    assert [outcome for _, outcome, *_ in rows_of("any", [tmp_path], lambda _: str(1 // 0))] == ["crashed"]


def test_masks_and_bags_are_tried_too(tmp_path: Path) -> None:
    runs = {"size": [2, 2], "counts": [1, 2, 1]}
    masks = {"images": [{"id": 1, "height": 2, "width": 2}], "annotations": [{"image_id": 1, "segmentation": runs}]}
    (tmp_path / "a.json").write_text(json.dumps(masks))
    assert coco(tmp_path / "a.json") == "masks"
    (tmp_path / "b.bag").write_bytes(b"no bag")
    (row,) = rows_of("bags", bags_of(tmp_path), lambda path: pddl.tried((path, None)))
    assert row[1] == "refused"


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
        pddl.tried(next(pddl.pairs_of(tmp_path)))
