"""The recovery of boxes costs what the operators of its domain say, and costs decide which actions it consists of."""

from dataclasses import replace

import pytest

from nsrecover.core.recovery import Recovery
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.errors import InvalidConfiguration
from nsrecover.planning.planner import RecoveryPlanner
from tests.nsrecover.planning.geometric import FIVE, MODELS, H, compare, imagine, moved, plan, table


def recovered(swapped: bool = False, **costs: float) -> Recovery:
    """The recovery of a tower that fell, or of two blocks that were swapped, in a domain with other costs."""
    operators = {name: replace(each, cost=costs.get(name, each.cost)) for name, each in TABLETOP.operators.items()}
    planner = RecoveryPlanner(MODELS, domain=replace(TABLETOP, operators=operators))
    trace = imagine(table(*FIVE), plan("left yellow red; right white red" if swapped else "top green red"))
    if swapped:
        yellow, white = (tuple(trace.graphs[2].boxes[i, :3]) for i in (4, 3))
        scene = moved(trace.graphs[2], yellow=yellow, white=white)
    else:
        scene = moved(trace.graphs[1], green=(0.56, 0.04, H))
    found = planner.recover(scene, trace, compare(scene, trace, len(trace.plan) - 1))
    assert found.found
    assert found.subgoal is not None
    actions = (*found.actions, *trace.plan.actions[found.subgoal :])
    assert found.cost == pytest.approx(sum(operators[action.operator].cost for action in actions))
    return found


def operators_of(found: Recovery) -> list[str]:
    return [action.operator for action in found.actions]


def test_a_costly_operator_is_replaced() -> None:
    assert operators_of(recovered()) == ["top"]
    dear = recovered(top=7.0)
    assert operators_of(dear) == ["restore"]
    assert (dear.cost, dear.proven_optimal) == (1.0, True)
    assert operators_of(recovered(top=7.0, restore=7.0)) == ["top"]
    assert recovered(top=7.0, restore=7.0).cost == 7.0


def test_costs_of_making_room_count() -> None:
    plain, dear = recovered(swapped=True), recovered(swapped=True, free=7.0, restore=7.0)
    assert operators_of(plain).count("free") == 1
    assert (plain.cost, dear.cost) == (3.0, 9.0)
    cheaper = recovered(swapped=True, free=7.0)
    assert operators_of(cheaper) == ["restore", "left", "right"]
    assert (cheaper.cost, cheaper.proven_optimal) == (3.0, True)


def test_nothing_is_proven_where_setting_aside_costs_less_than_the_search_counts() -> None:
    assert recovered(swapped=True).proven_optimal
    cheap = recovered(swapped=True, free=0.5)
    assert (cheap.proven_optimal, cheap.lower_bound) == (False, 0.0)


def test_a_cost_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidConfiguration, match="positive cost of the operator 'top'"):
        replace(TABLETOP, operators={**TABLETOP.operators, "top": replace(TABLETOP.operators["top"], cost=0.0)})
