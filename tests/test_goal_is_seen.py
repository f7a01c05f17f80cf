"""What `completed` rests on: looks, not one look, and what they show of every condition of the goal."""

from typing import Any

import pytest

import nsrecover
from nsrecover import Act, Answer, Ask, Done, FactScene, Look, Plan, Stopped
from nsrecover.core.episode import StopCode
from nsrecover.domains import (
    Derived,
    Domain,
    Effect,
    Exists,
    Kind,
    Not,
    Operator,
    Parameter,
    Role,
    StateVariable,
    fact,
    scene_of,
)  # fmt: skip
from nsrecover.domains.household import LASTING, household
from nsrecover.errors import OutOfTurn
from nsrecover.records import episode_log
from nsrecover.session import AnySession

SIDE = 0.04
CUP, PLACE = Parameter("?cup", "cup"), Parameter("?shelf", "shelf")
SHELVES = Domain.of(
    "shelves", Kind("cup"), Kind("shelf"),
    Operator("put", (CUP, PLACE), (), (Effect(adds=(("in", "?cup", "?shelf"),), deletes=(("in", "?cup", "*"),)),)),
    Derived("free", ("?shelf",), Not(Exists("?cup", fact("in", "?cup", "?shelf")))),
    relations={"in": Role.LOCATION},
)  # fmt: skip

SCENE = scene_of(SHELVES, {"red": "cup", "upper": "shelf", "lower": "shelf"})


def cube(x: float, y: float, z: float = SIDE / 2) -> tuple[float, ...]:
    return (x, y, z, SIDE, SIDE, SIDE)


CUBES = {"red": cube(0.45, 0.15), "green": cube(0.45, 0.0)}


def until_the_end(session: AnySession, seen: list[object]) -> AnySession:
    """Report observations in turn, the last one as often as it is asked for."""
    for number in range(40):
        if session.request.final:
            return session
        session.observed(seen[min(number, len(seen) - 1)])
    raise AssertionError(session.request)


@pytest.mark.parametrize(("hidden", "ends"), [(True, StopCode.GOAL_UNSEEN), (False, None)])
def test_that_a_place_is_free_has_to_be_seen_too(hidden: bool, ends: StopCode | None) -> None:
    scene = scene_of(SHELVES, {"red": "cup", "blue": "cup", "upper": "shelf", "lower": "shelf"})
    system = nsrecover.symbolic(scene, [("free", "lower"), ("in", "red", "upper")])
    session = system.session(Plan.parse("put(red, upper)"), {("in", "red", "lower"), ("in", "blue", "upper")})
    facts = {("in", "red", "upper")} | (set() if hidden else {("in", "blue", "upper")})
    certainty = {("place", "blue"): 0.0} if hidden else {}
    until_the_end(session, [FactScene(frozenset(facts), certainty)])
    assert session.episode.why is ends


def test_one_wrong_look_at_an_action_with_two_effects_completes_nothing() -> None:
    home = household(["countertop", "sink", "mug", "house plant"], complete=True)
    before = {("holding", "mug"), ("filled", "mug", "water")}
    session = nsrecover.symbolic(home, [("filled", "house plant", "water")]).session(
        Plan.parse("pour(mug, house plant)"), before
    )
    until_the_end(session, [{("holding", "mug"), ("filled", "house plant", "water")}, before])
    assert isinstance(session.request, Stopped)


@pytest.mark.parametrize(("others_hidden", "completed"), [(("green",), True), (("green", "yellow"), False)])
def test_what_bears_a_seen_object_is_in_place_unless_another_unseen_one_may_bear_it(
    others_hidden: tuple[str, ...], completed: bool
) -> None:
    start = {**CUBES, "blue": cube(0.45, -0.15), "yellow": cube(0.6, -0.15)}
    session = nsrecover.geometric().session(Plan.parse("top(green, red); top(blue, green)"), start)
    first = {**start, "green": cube(0.45, 0.15, 1.5 * SIDE)}
    second = {**first, "blue": cube(0.45, 0.15, 2.5 * SIDE), **dict.fromkeys(others_hidden)}
    until_the_end(session, [first, second])
    assert isinstance(session.request, Done) is completed


def test_a_person_who_wants_to_look_again_is_no_failure_of_the_robot() -> None:
    settings = nsrecover.SessionSettings(approve=True)
    session = nsrecover.geometric().session(Plan.parse("top(green, red)"), CUBES, settings)
    fallen = {**CUBES, "green": cube(0.6, 0.25)}
    for _ in range(6):
        while isinstance(session.request, Act | Look):
            session.observed(fallen)
        assert isinstance(session.request, Ask)
        session.answered(Answer.LOOK_AGAIN)
    while isinstance(session.request, Look):
        session.observed(fallen)
    session.answered(Answer.YES)
    assert isinstance(session.request, Act)


@pytest.mark.parametrize(
    ("seen", "why"), [({("in", "red", "upper")}, None), ({("in", "red", "lower")}, StopCode.GOAL_MISSED)]
)
def test_an_empty_plan_looks_at_its_goal(seen: set[tuple[str, ...]], why: StopCode | None) -> None:
    session = nsrecover.symbolic(SCENE, [("in", "red", "upper")]).session(Plan(()), seen)
    until_the_end(session, [seen])
    assert session.episode.why is why


@pytest.mark.parametrize("given", [[["in", "red", "upper"]], FactScene({("in", "red", "upper")})])  # type: ignore[arg-type]
def test_facts_may_be_lists_as_in_json(given: object) -> None:
    session = nsrecover.symbolic(SCENE).session(Plan.parse("put(red, upper)"), {("in", "red", "lower")})
    assert isinstance(until_the_end(session, [given]).request, Done)


WRONG: list[Any] = [[1], {("place", "red"): "x"}]


@pytest.mark.parametrize("wrong", [[("in", 3, "upper")], *(FactScene(frozenset(), each) for each in WRONG)])
def test_other_facts_are_asked_for_again(wrong: object) -> None:
    session = nsrecover.symbolic(SCENE).session(Plan.parse("put(red, upper)"), {("in", "red", "lower")})
    session.observed(wrong)
    assert isinstance(session.request, Look)
    assert session.problem.startswith("expected")


def test_an_action_that_cannot_be_undone_trusts_what_is_read_of_its_condition() -> None:
    tool, part = Parameter("?tool", "tool"), Parameter("?part", "part")
    clinic = Domain.of(
        "clinic", Kind("tool"), Kind("part"), StateVariable("sterile", ("unsterile", "sterile"), "tool"),
        StateVariable("opened", ("whole", "opened"), "part"),
        Operator("sterilise", (tool,), (), (Effect(adds=(("sterile", "?tool"),)),)),
        Operator(
            "cut", (tool, part), (fact("sterile", "?tool"),), (Effect(adds=(("opened", "?part"),)),), reversible=False,
        ),
    )  # fmt: skip
    scene = scene_of(clinic, {"knife": "tool", "lid": "part"})
    session = nsrecover.symbolic(scene).session(Plan.parse("sterilise(knife); cut(knife, lid)"), set())
    done = list[str]()
    while not session.request.final:
        if isinstance(session.request, Act):
            done.append(session.request.action.operator)
        session.observed(set())
    assert set(done) == {"sterilise"}
    assert not any(turn.discrepancy.as_expected for turn in session.records)


def test_steps_that_worked_are_not_repeated_if_less_is_enough() -> None:
    lamp = Parameter("?lamp", "lamp")
    lamps = Domain.of(
        "lamps", Kind("lamp"), StateVariable("lit", ("dark", "lit"), "lamp"),
        Operator("switch_on", (lamp,), (), (Effect(adds=(("lit", "?lamp"),)),)),
    )  # fmt: skip
    scene = scene_of(lamps, dict.fromkeys("abcd", "lamp"))
    session = nsrecover.symbolic(scene).session(Plan.parse("; ".join(f"switch_on({each})" for each in "abcd")), set())
    lit, done = set[tuple[str, str]](), 0
    while not session.request.final:
        if isinstance(session.request, Act):
            lit.add(("lit", session.request.action.arguments[0]))
            done += 1
            lit -= {("lit", "a")} if done == 4 else set()
        session.observed(set(lit))
    assert done == 5


def test_a_search_that_no_exception_has_ended_cannot_be_resumed() -> None:
    session = nsrecover.geometric().session(Plan.parse("top(green, red)"), CUBES)
    with pytest.raises(OutOfTurn, match="expected a search"):
        session.resumed()


def test_an_action_whose_outcome_was_not_seen_is_judged_after_a_stop() -> None:
    session = nsrecover.geometric().session(Plan.parse("top(green, red)"), CUBES)
    session.observed(None)
    session.stop("lunch")
    session.repaired("Kim")
    until_the_end(session, [{**CUBES, "green": cube(0.45, 0.15, 1.5 * SIDE)}])
    document = episode_log.to_document(session.episode, session.system.domain)
    assert [record.action is not None for record in episode_log.from_document(document).records] == [True]


@pytest.mark.parametrize("burnt", [False, True])
@pytest.mark.parametrize("action", ["toggle_on", "toggle_off"])
def test_what_burns_unprompted_is_seen_not_to_have_burnt_and_not_looked_at_until_it_has(
    action: str, burnt: bool
) -> None:
    home = household(["stove burner", "pan", "egg"], complete=True, one_handed=True, domain=LASTING)
    cold = {("at", "pan", "stove burner"), ("at", "egg", "pan"), ("cracked", "egg")}
    hot = cold | {("running", "stove burner"), ("hot", "egg"), ("hot", "pan"), ("cooked", "egg")}
    before, after = (cold, hot) if action == "toggle_on" else (hot, hot - {("running", "stove burner")})
    running = "running" if action == "toggle_on" else "off"
    system = nsrecover.symbolic(home, [(running, "stove burner"), ("unburnt", "egg")])
    session = system.session(Plan.parse(f"{action}(stove burner)"), FactScene(frozenset(before)))
    looks = 0
    while not isinstance(session.request, Ask) and not session.request.final:
        session.observed(
            FactScene(frozenset(after | ({("burnt", "egg")} if burnt else set())), {("burnt", "egg"): 0.97})
        )
        looks += 1
    assert isinstance(session.request, Done) is not burnt
    if action == "toggle_on" and not burnt:
        assert looks == 1, "another look would cost the egg"
