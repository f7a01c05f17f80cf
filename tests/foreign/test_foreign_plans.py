"""Plans as PlanSys2 and PDDL planners print them: read in the right order, or refused; names come back as they were."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from nsrecover import Action, Plan
from nsrecover.bridges.plansys2 import PlanVocabulary, read_plan, translate, write_plan
from nsrecover.errors import InvalidPlan
from tests.case_files import cases_of

CASES = cases_of(__file__)
PLANS = CASES["read"]
"""Who writes it -> the text, and the plan."""


@pytest.mark.parametrize("writer", PLANS)
def test_plans_are_read_and_written_again(writer: str) -> None:
    text, plan = PLANS[writer].values()
    found = translate(read_plan(text)).plan
    assert str(found) == plan
    assert translate(read_plan(write_plan(found))).plan == found


@pytest.mark.parametrize("case", CASES["refused"])
def test_what_is_no_plan_is_refused(case: Mapping[str, str]) -> None:
    with pytest.raises(InvalidPlan) as refused:
        read_plan(case["text"])
    assert case["said"] in str(refused.value)


def test_names_come_back_as_they_were() -> None:
    words = PlanVocabulary({"put-on": ("put_on", (0, 1))}, {"box_2": "box_2", "robot1": "Robot 1"})
    plan = Plan((Action("put_on", ("box_2", "red-cube")), Action("put_on", ("Robot 1", "blue cube"))))
    assert translate(read_plan(write_plan(plan, words)), words).plan == plan
    for name in ("blue_cube", "Blue", "a(b"):
        with pytest.raises(InvalidPlan, match=r"Vocabulary\.names"):
            write_plan(Plan((Action("put_on", (name, "red")),)), words)
