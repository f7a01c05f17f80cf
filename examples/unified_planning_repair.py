"""Plan repair with unified-planning alone: no robot, no images.

pip install 'nsrecover[up]'
python unified_planning_repair.py
"""

from __future__ import annotations

from unified_planning.plans import ActionInstance, SequentialPlan
from unified_planning.shortcuts import BoolType, Fluent, InstantaneousAction, ObjectExp, Problem, UserType

from nsrecover.bridges.unified_planning import repair


def main() -> None:
    """Repair the plan of a robot that carries a parcel through a ring of rooms, after a door was closed."""
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
    plan = SequentialPlan([ActionInstance(go, (ObjectExp(rooms[i]), ObjectExp(rooms[i + 1]))) for i in range(2)])

    kept = repair(problem, plan, {})
    print(f"as it is ({kept.status}):", ", ".join(map(str, kept.plan.actions)))
    found = repair(problem, plan, {door(rooms[1], rooms[2]): False})
    print(f"with a door shut ({found.status}):", ", ".join(map(str, found.plan.actions)))
    assert len(found.plan.actions) == 4
    assert found.proven_optimal
    stuck = repair(problem, plan, {door(rooms[1], rooms[2]): False, door(rooms[3], rooms[2]): False}, after=1)
    print(f"with both doors shut after one step ({stuck.status}):", stuck.reason)


if __name__ == "__main__":
    main()
