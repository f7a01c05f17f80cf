"""Plans as PlanSys2 and PDDL planners print them: read in the right order, or refused; names come back as they were."""

from __future__ import annotations

import pytest

from nsrecover import Action, Plan
from nsrecover.bridges.plansys2 import PlanVocabulary, read_plan, translate, write_plan
from nsrecover.errors import InvalidPlan

PLANS = {
    "get plan": (
        "plan: \n0:\t(move-robot r-1 hall kitchen_1)\t[5]\n5.001:\t(charge r-1)\t[1e-05]\n",
        "move-robot(r-1, hall, kitchen_1); charge(r-1)",
    ),
    "get plan of the first versions": (
        "plan: \n0\t(move r a b)\t5\n5.001\t(charge r)\t1\n",
        "move(r, a, b); charge(r)",
    ),
    "no actions after a report": ("Solution Found\n; Time 0.1\n0.000: (move r a b)  [5.000]\n", "move(r, a, b)"),
    "POPF": (
        "Number of literals: 3\nConstructing lookup tables: [10%]\nb (9.000 | 5.0)b (8.000 | 5.0);;;; Solution Found\n"
        "; States evaluated: 4\n; Cost: 7.001\n0.000: (move r a b)  [5.000]\n5.001: (drop r b)  [2.000]\n",
        "move(r, a, b); drop(r, b)",
    ),
    "POPF with several plans, the best last": (
        "; Plan found with metric 9\n0.000: (far r)  [9.000]\n\n; Plan found with metric 5\n0.000: (near r)  [5.000]\n",
        "near(r)",
    ),
    "LPG": (
        "; Version LPG-td-1.0\nParsing domain file:  domain 'X' defined ... done.\n solution found: \nPlan computed:\n"
        "   Time: (ACTION) [action Duration; action Cost]\n 0.0000: (PICK-UP B-1) [D:1.00; C:0.10]\n"
        " 1.0000: (STACK B-1 A_2) [D:1.00; C:0.10]\n\nMETRIC_VALUE = 2.00\nTotal time:      0.01\n",
        "pick-up(b-1); stack(b-1, a_2)",
    ),
    "a file of LPG": ("; Time 0.02\n; MetricValue 4.00\n\n0.0003:   (PICK-UP B) [1.0000]\n", "pick-up(b)"),
    "two files of LPG": (
        "; Version LPG-td-1.0\n; Time 0.00\n0.0003:   (FAR X) [1.0000]\n\n"
        "; Version LPG-td-1.0\n; Time 0.02\n0.0003:   (NEAR X) [1.0000]\n",
        "near(x)",
    ),
    "Fast Downward": ("(pick-up b)\n(stack b a)\n; cost = 2 (unit cost)\n", "pick-up(b); stack(b, a)"),
    "two files of Fast Downward": (
        "(far x)\n(far y)\n; cost = 9 (general cost)\n(near x)\n; cost = 3 (general cost)\n",
        "near(x)",
    ),
    "the log of Fast Downward": (
        "[t=0.01s, 9956 KB] Solution found!\n[t=0.01s, 9956 KB] Actual search time: 0.001s\nfar b (1)\n"
        "[t=0.01s, 9956 KB] Plan length: 1 step(s).\nSolution found!\npick-up b (1)\nstack b a_2 (1)\n"
        "[t=0.02s, 9956 KB] Plan length: 2 step(s).\nINFO     search exit code: 0\n",
        "pick-up(b); stack(b, a_2)",
    ),
    "FF": (
        "ff: parsing domain file\nff: found legal plan as follows\n\nstep    0: PICK-UP B\n        1: STACK B A_2\n"
        "        2: WAIT\n\ntime spent:    0.00 seconds instantiating 4 easy action templates\n",
        "pick-up(b); stack(b, a_2); wait()",
    ),
    "ENHSP": (
        "Problem Solved\n\nFound Plan:\n0.0: (pick-up b)\n1.0: (stack b a)\n\nPlan-Length:2\n",
        "pick-up(b); stack(b, a)",
    ),
    "unified-planning": (
        "SequentialPlan:\n    pick-up(b)\n    stack(b, a_2)\n    wait()\n",
        "pick-up(b); stack(b, a_2); wait()",
    ),
    "overlapping actions": (
        "0.000: (stack r1 green red) [10.000]\n0.001: (stack r2 blue yellow) [2.000]\n",
        "stack(r2, blue, yellow); stack(r1, green, red)",
    ),
    "steps with brackets": ("step 0: (a x)\nstep 1: (b x)\n", "a(x); b(x)"),
    "lines out of order": ("5.0: (b x) [1]\n0.0: (a x) [1]\n", "a(x); b(x)"),
    "actions without objects": ("0.0: (wait) [1]\n", "wait()"),
    "a byte order mark and carriage returns": ("\ufeff0.0: (a x) [1]\r\n1.0: (b x) [1]\r\n", "a(x); b(x)"),
}
"""Who writes it -> the text, and the plan."""


@pytest.mark.parametrize("writer", PLANS)
def test_plans_are_read_and_written_again(writer: str) -> None:
    text, plan = PLANS[writer]
    found = translate(read_plan(text)).plan
    assert str(found) == plan
    assert translate(read_plan(write_plan(found))).plan == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Solution Found\n0.000: (move r a b [5.0]\n", "(move r a b"),
        ("0.000: move r a b [5.0]\n", "move r a b"),
        ("0.000: (move r a b) [fast]\n", "[fast]"),
        (";; Problem Unsolvable\n", "none"),
        ("solution found:\nTotal time: 0.1\n", "none"),
        ("plan:\n", "none"),
        ("0.0: (a x) [1]\n1.001: (b x) [1]\n0.0: (c x) [1]\n", "begin anew with '0.000: (c x)"),
        ("1e400: (a x) [1]\n", "1e400"),
    ],
)
def test_what_is_no_plan_is_refused(text: str, said: str) -> None:
    with pytest.raises(InvalidPlan) as refused:
        read_plan(text)
    assert said in str(refused.value)


def test_names_come_back_as_they_were() -> None:
    words = PlanVocabulary({"put-on": ("put_on", (0, 1))}, {"box_2": "box_2", "robot1": "Robot 1"})
    plan = Plan((Action("put_on", ("box_2", "red-cube")), Action("put_on", ("Robot 1", "blue cube"))))
    assert translate(read_plan(write_plan(plan, words)), words).plan == plan
    for name in ("blue_cube", "Blue", "a(b"):
        with pytest.raises(InvalidPlan, match=r"Vocabulary\.names"):
            write_plan(Plan((Action("put_on", (name, "red")),)), words)
