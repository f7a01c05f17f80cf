"""Plan repair with unified-planning alone: no robot, no images.

pip install 'nsrecover[up]'
python unified_planning_repair.py
"""

from __future__ import annotations

from unified_planning.plans import ActionInstance, SequentialPlan
from unified_planning.shortcuts import (
    BoolType,
    Fluent,
    InstantaneousAction,
    MinimizeSequentialPlanLength,
    ObjectExp,
    PlanRepairer,
    Problem,
    Replanner,
    UserType,
    get_environment,
)

from nsrecover.bridges.unified_planning import register


def main() -> None:
    """Repair the plan of a robot that carries a parcel through a ring of rooms, after a door was closed."""
    get_environment().credits_stream = None
    register()
    room = UserType("room")
    at, door = Fluent("at", BoolType(), r=room), Fluent("door", BoolType(), a=room, b=room)
    go = InstantaneousAction("go", a=room, b=room)
    go.add_precondition(at(go.a))
    go.add_precondition(door(go.a, go.b))
    go.add_effect(at(go.a), False)
    go.add_effect(at(go.b), True)
    problem = Problem("ring")
    for fluent in (at, door):
        problem.add_fluent(fluent, default_initial_value=False)
    problem.add_action(go)
    rooms = [problem.add_object(f"room{i}", room) for i in range(6)]
    for here, there in zip(rooms, [*rooms[1:], rooms[0]], strict=True):
        problem.set_initial_value(door(here, there), True)
        problem.set_initial_value(door(there, here), True)
    problem.set_initial_value(at(rooms[0]), True)
    problem.add_goal(at(rooms[2]))
    problem.add_quality_metric(MinimizeSequentialPlanLength())
    plan = SequentialPlan([ActionInstance(go, (ObjectExp(rooms[i]), ObjectExp(rooms[i + 1]))) for i in range(2)])

    with PlanRepairer(problem_kind=problem.kind, plan_kind=plan.kind) as repairer:
        assert repairer.repair(problem, plan).plan is plan
        print("as it is, the plan works and comes back as it was")
        shut = problem.clone()
        shut.set_initial_value(door(rooms[1], rooms[2]), False)
        result = repairer.repair(shut, plan)
        print(f"with a door shut ({result.status.name}):", ", ".join(map(str, result.plan.actions)))
        assert len(result.plan.actions) == 4

    with Replanner(problem, name="nsrecover") as replanner:
        print("first:", ", ".join(map(str, replanner.resolve().plan.actions)))
        replanner.update_initial_value(at(rooms[0]), False)
        replanner.update_initial_value(at(rooms[1]), True)
        print("one step on:", ", ".join(map(str, replanner.resolve().plan.actions)))
        replanner.remove_goal(at(rooms[2]))
        replanner.add_goal(at(rooms[0]))
        print("another goal:", ", ".join(map(str, replanner.resolve().plan.actions)))


if __name__ == "__main__":
    main()
