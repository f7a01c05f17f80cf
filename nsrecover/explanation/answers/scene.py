"""Answers about the scene: where things are, were and should be, in which state, whether they are right and seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from nsrecover.core.facts import PLACE, FactScene, Property, StateFact
from nsrecover.core.scene import SceneGraph, Visibility
from nsrecover.domains.base import Role
from nsrecover.domains.properties import facts_with, property_of
from nsrecover.domains.tabletop.relations import RELATIONS, TABLE
from nsrecover.domains.values import stored
from nsrecover.explanation.answers.events import RunAnswer, acted, became
from nsrecover.explanation.answers.numbering import clock
from nsrecover.explanation.answers.run import AskedRun, state_of, support_of
from nsrecover.explanation.safety import dangers_of, held_in
from nsrecover.language.questions import GRIPPER, AskedQuestion, Gap, Proposition, Things, Who
from nsrecover.util.english import capital, counted, listed, objects, past, the

_SURE = 0.98
"""Certainty from which a state is told as it is, that of a verdict."""
_SAME_M = 0.04
"""Within this distance an object is where it was, metres."""
PLACES = (Role.LOCATION, Role.HELD, Role.BELIEVED)
"""Roles of the relations that say where an object is."""
_PREPOSITIONS = {"left": "to the left of", "right": "to the right of", "front": "in front of", "at": "next to"}
_UNSEEN = {Visibility.OCCLUDED: ", hidden behind something", Visibility.UNKNOWN: ", although I did not see it there"}

AnyScene = SceneGraph | FactScene


def where(run: AskedRun, name: str) -> str:
    """Where an object was seen last, as a sentence."""
    graph = run.scene
    when = capital(run.when_seen(len(run.every)))
    if isinstance(graph, FactScene):
        said = listed([run.domain.text(fact) for fact in facts_with(PLACES, graph.facts, run.domain, name)])
        if not said or not graph.knows((PLACE, name)):
            return f"The place of {the(name)} is unknown."
        return f"{when}, {past(said)}." if run.cut else f"{capital(said)}."
    if name not in graph.names or graph.missing[graph.index(name)]:
        return f"{when}, {the(name)} was missing." if run.cut else f"{capital(the(name))} is missing."
    index = graph.index(name)
    x, y = (round(100 * float(value)) for value in graph.boxes[index, :2])
    side = f"{abs(y)} cm to the {'left' if y > 0 else 'right'}" if y else "straight ahead"
    return (
        f"{when if run.cut else 'When I last looked'}, {the(name)} stood on {the(support_of(graph, name))}"
        f"{_UNSEEN.get(graph.visibility(index), '')}, {x} cm in front of the robot and {side}."
    )


def placed(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Of a place: whether an object is, was or should be there, where it is, what is there, and why."""
    said = asked.said
    if said.place[1:] == (GRIPPER,):
        return held(run, asked)
    if said.who is Who.ROBOT:
        return _robot(run, said)
    if said.time == "should" and not said.names:
        return _expected_at(run, said)
    if asked.gap in (Gap.WHICH, Gap.COUNT) or (said.things is Things.ANY and said.place):
        return _what_is_at(run, said)
    if said.things in (Things.GROUP, Things.EVERY) and not said.names:
        return right(run, asked)
    names = said.names
    if asked.gap is Gap.WHY:
        return RunAnswer(" ".join(_why_there(_while_so(run, name, said), name) for name in names))
    if asked.gap is Gap.FAR:
        return _how_far(run, said)
    if said.time == "should":
        if any(run.domain.relations.get(fact[0]) is Role.BELIEVED for name in names for fact in _placed_at(run, name)):
            return RunAnswer(" ".join(_places_of(run, name) for name in names))
        return RunAnswer(
            " ".join(_should(run, name, said) for name in names),
            _all([_holds(run, _expected(run), n, said) for n in names]),
        )
    now = " ".join(where(run, name) for name in names)
    if not said.place or asked.gap is Gap.WHERE:
        if said.time == "past" and not run.cut:
            return RunAnswer(" ".join(_places_of(run, name) for name in names))
        return RunAnswer(now, _all([name in run.scene.names for name in names]) if not said.place else None)
    if said.time != "past" or run.cut:
        return RunAnswer(now, _all([_holds(run, run.scene, name, said) for name in names]))
    held_ones = [_all([_holds(run, scene, name, said) for name in names]) for scene in run.scenes]
    if True in held_ones:
        when = capital(run.when_seen(held_ones.index(True)))
        return RunAnswer(f"{when}, {past(_clause(run, names, said))}. {now}", True)
    return RunAnswer(" ".join(_places_of(run, name) for name in names), None if None in held_ones else False)


def changes(run: AskedRun, text: Callable[[AnyScene], str]) -> str:
    """What was so in the scenes of a run, one after the other, each time that it changed."""
    told = [text(scene) for scene in run.scenes]
    new = [i for i, each in enumerate(told) if each and (not i or told[i - 1] != each)]
    return " ".join(f"{capital(run.when_seen(i))}, {past(told[i])}." for i in new)


def _places_of(run: AskedRun, name: str) -> str:
    """All places where an object was, in their order."""

    def place(scene: AnyScene) -> str:
        if isinstance(scene, FactScene):
            return listed([run.domain.text(fact) for fact in facts_with(PLACES, scene.facts, run.domain, name)])
        if name not in scene.names or scene.missing[scene.index(name)]:
            return f"{the(name)} is missing"
        return f"{the(name)} is on {the(support_of(scene, name))}"

    return changes(run, place) or f"The place of {the(name)} was not seen."


def _placed_at(run: AskedRun, name: str) -> list[StateFact]:
    """The facts about the places of an object in all scenes."""
    scenes = [scene for scene in run.scenes if isinstance(scene, FactScene)]
    return [fact for scene in scenes for fact in facts_with(PLACES, scene.facts, run.domain, name)]


def _robot(run: AskedRun, said: Proposition) -> RunAnswer:
    """Where the robot is: only some domains say so."""
    robot = next((name for name in run.names if name == "robot"), "")
    if not robot or (said.place and said.place[-1] not in run.names):
        return RunAnswer("Where the robot itself is, is not in the records.")
    return placed(run, AskedQuestion(Gap.POLAR, replace(said, who=Who.NONE, names=(robot,))))


def _expected_at(run: AskedRun, said: Proposition) -> RunAnswer:
    """What the plan needs at a place, or in all places without one."""
    scene = _expected(run)
    if scene is None:
        return RunAnswer("Nothing was expected: no step was carried out.")
    cut = replace(run, every=(), before=scene)
    if not said.place:
        return RunAnswer(f"What the plan needed last: {layout(cut)}")
    first = cut if not isinstance(scene, FactScene) else replace(run, every=(), before=run.scenes[0])
    told = dict.fromkeys(_what_is_at(each, replace(said, time="")).text for each in (first, cut))
    return RunAnswer(f"What was expected there: {' '.join(told)}")


def _how_far(run: AskedRun, said: Proposition) -> RunAnswer:
    """How far objects were from where they should have been."""
    found = [each for each in run.happenings if each.deviation.name in (said.names or run.names)]
    texts = [became(run, name) for name in dict.fromkeys(each.deviation.name for each in found)]
    return RunAnswer(" ".join(texts) or f"{capital(objects(said.names) or 'everything')} was in place.")


def in_state(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether objects are in a state, or which are."""
    said, scene, domain = asked.said, run.scene, run.domain
    if not isinstance(scene, FactScene):
        return RunAnswer("That is not read by my sensors.")
    pairs = [(variable, value) for variable, _, value in (each.partition("=") for each in said.value)]
    pairs = [(domain.variables[variable].name, value) for variable, value in pairs]
    names = said.names or tuple(run.names)
    if not said.names:
        wanted = {stored((variable, name, value), domain.variables) for variable, value in pairs for name in run.names}
        found = sorted(fact for fact in scene.facts if fact in wanted)
        if found:
            return RunAnswer(f"{capital(listed(map(domain.text, found)))}.", True)
        return replace(_hazards(run), holds=None)
    if asked.gap is Gap.WHY:
        return RunAnswer(" ".join(_why_so(run, name, pairs[0]) for name in names))
    told = [_one_state(run, name, pairs, said.time) for name in names]
    return RunAnswer(" ".join(each.text for each in told), _all([each.holds for each in told]))


def hazard(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether anything is hot, on or sharp, as far as it is read."""
    return _hazards(run, asked.said.names)


def right(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether objects are as they should be now, and which are not."""
    said = asked.said
    if said.who is not Who.NONE:
        return RunAnswer("Whether somebody is right or wrong is not in the records.")
    if asked.gap is Gap.WHICH and said.time == "past":
        return _how_far(run, said)
    turn = run.every[-1] if run.every else None
    wrong = [] if turn is None else list(turn.discrepancy.deviations)
    names = run.built if said.things is Things.GROUP else said.names
    unsure = [] if turn is None else [each for each in run.names if _not_seen(run, each)]
    if names:
        if said.time == "past" and not run.cut and asked.gap is Gap.POLAR:
            others = {each.deviation.name for each in run.happenings} & {*names}
            return RunAnswer(" ".join(became(run, name) for name in names), not others)
        if any(not _known(run, each) for each in names):
            return RunAnswer(f"How {objects(names)} should be is not in the records.")
        wrong = [each for each in wrong if each.name in names]
        if wrong:
            return RunAnswer(f"{capital('; '.join(state_of(each, run.scene, run.domain) for each in wrong))}.", False)
        hidden = [each for each in names if each in unsure]
        if hidden:
            return RunAnswer(f"{capital(objects(hidden))} could not be seen when I looked last.", None)
        seen, be = (where(run, names[0]), "is") if len(names) == 1 else ("", "are")
        return RunAnswer(
            f"As far as it was seen{_at(run)}, {objects(names)} {be} as expected. {seen}".rstrip(),
            True,
        )
    if wrong:
        return RunAnswer(f"{capital('; '.join(state_of(each, run.scene, run.domain) for each in wrong))}.", False)
    if still := run.still_otherwise:
        return RunAnswer(f"What the plan needs is as expected{_at(run)}. Left as it is: {'; '.join(still)}.", False)
    before = list(dict.fromkeys(each.deviation.name for each in run.happenings))
    text = f"Every object that was seen is as expected{_at(run)}."
    text += f" Before, {objects(before)} {'was' if len(before) == 1 else 'were'} not." if before else ""
    return RunAnswer(text, None if unsure and asked.gap is Gap.POLAR and said.things is Things.EVERY else True)


def _known(run: AskedRun, name: str) -> bool:
    """Whether the plan, a deviation or a scene of boxes says how an object should be."""
    handled = {action.arguments[0] for action in (*run.episode.plan, *(each.action for each in run.deeds))}
    deviating = {each.deviation.name for each in run.happenings}
    return not isinstance(run.scene, FactScene) or name in handled | deviating


def put(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Where an object was put, found or taken, and where it is."""
    told, said = acted(run, asked), asked.said
    if told.holds is not True and said.names:
        return placed(run, replace(asked, said=replace(said, predicate="where", who=Who.NONE, place=())))
    return RunAnswer(f"{told.text} {' '.join(where(run, name) for name in said.names)}".rstrip())


def seen(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether an object is seen, and where and when it was seen last; what is seen without one."""
    said = asked.said
    if not said.names:
        return RunAnswer(layout(run))
    name = said.names[0]
    hidden = _not_seen(run, name)
    if asked.gap is Gap.POLAR and not hidden:
        return RunAnswer(where(run, name), True)
    for number in range(len(run.scenes) - 1, -1, -1):
        if not _hidden(run.scenes[number], name):
            turn = run.every[number - 1] if number else None
            when = "At the start" if turn is None else capital(run.when(turn))
            place = _place_text(run, run.scenes[number], name)
            return RunAnswer(
                f"{when}, I saw {the(name)} {place}." + (" I have not seen it since." if hidden else ""), not hidden
            )
    return RunAnswer(f"I have not seen {the(name)} in this run.", False)


def held(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """What the robot holds, or held."""
    names, said = held_in(run.scene, run.domain), asked.said
    if said.time == "past" and not run.cut:
        ever = [held_in(scene, run.domain) for scene in run.scenes]
        text = changes(run, lambda scene: f"{objects(held_in(scene, run.domain)) or 'nothing'} is held")
        own = [deed for deed in run.deeds if deed.moves(run.domain) and deed.action.arguments[0] in said.names]
        holds = any({*said.names} <= {*each} and (each or said.names) for each in ever) or bool(own)
        return RunAnswer(text, holds or (None if isinstance(run.scene, SceneGraph) else False))
    if said.names:
        return RunAnswer(
            f"The robot holds {objects(names) or 'nothing, as far as it was seen'}.", set(said.names) <= set(names)
        )
    text = f"The robot holds {objects(names)}." if names else "As far as it was seen, the robot holds nothing."
    return RunAnswer(text, bool(names))


def layout(run: AskedRun) -> str:
    """What stands where."""
    scene = run.scene
    if isinstance(scene, FactScene):
        places = facts_with(PLACES, scene.facts, run.domain)
        return f"{capital(listed([run.domain.text(fact) for fact in places]) or 'nothing is known')}."
    order = [i for i in np.argsort(-scene.boxes[:, 1]) if not scene.missing[i]]
    said = [f"{the(scene.names[i])} on {the(support_of(scene, scene.names[i]))}" for i in order]
    when = run.when_seen(len(run.every)) if run.cut else "as it was seen last"
    return f"From left to right, {when}: {listed(said)}."


def about(run: AskedRun, name: str) -> str:
    """What is known of an object: what happened to it, where it is, and its states."""
    facts = sorted(run.scene.facts) if isinstance(run.scene, FactScene) else []
    states = [run.domain.text(fact) for fact in facts if fact[0] in run.domain.variables and fact[1] == name]
    text = where(run, name) if not states or any(fact[1:2] == (name,) for fact in _placed_at(run, name)) else ""
    more = f"{capital(listed(states))}." if states else ""
    return " ".join(filter(None, ("" if run.cut else became(run, name), text, past(more) if run.cut else more)))


def back(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether objects are where they were at the start."""
    names = asked.said.names or tuple(run.scene.names)
    holds = _all([_unmoved(run, name) for name in names])
    return RunAnswer(" ".join(_places_of(run, name) for name in names), holds)


def _unmoved(run: AskedRun, name: str) -> bool | None:
    """Whether an object is where it was at the start; None if that is not known."""
    first, last = run.scenes[0], run.scene
    if isinstance(first, FactScene) and isinstance(last, FactScene):
        places = [facts_with((Role.LOCATION, Role.HELD), each.facts, run.domain, name) for each in (first, last)]
        return places[0] == places[1] if all(places) and _sure(last, (PLACE, name)) else None
    if not isinstance(first, SceneGraph) or not isinstance(last, SceneGraph) or name not in first.names:
        return None
    if _hidden(last, name):
        return None
    moved = np.subtract(first.boxes[first.index(name), :3], last.boxes[last.index(name), :3])
    return bool(np.linalg.norm(moved) < _SAME_M)


def _at(run: AskedRun) -> str:
    """When the robot looked last."""
    at_s = run.every[-1].record.time_s - run.episode.start_s if run.every else 0.0
    return f" at {clock(at_s)} of the run" if at_s > 0 else ""


def _sure(scene: FactScene, prop: Property) -> bool:
    """Whether a property is sure enough for yes or no: seen, not only remembered."""
    return scene.knows(prop) and scene.certainty.get(prop, 1.0) >= _SURE


def _all(each: Sequence[bool | None]) -> bool | None:
    """Whether all hold; None if that is not known."""
    return False if False in each else None if None in each else True


def _hidden(scene: AnyScene, name: str) -> bool:
    if isinstance(scene, FactScene):
        return not scene.knows((PLACE, name))
    return name not in scene.names or not scene.seen[scene.index(name)]


def _not_seen(run: AskedRun, name: str) -> bool:
    return _hidden(run.scene, name)


def _place_text(run: AskedRun, scene: AnyScene, name: str) -> str:
    if isinstance(scene, FactScene):
        said = [run.domain.text(fact) for fact in facts_with(PLACES, scene.facts, run.domain, name)]
        return past(listed(said)).partition(" was ")[2] or "there"
    return f"on {the(support_of(scene, name))}"


def _holds(run: AskedRun, scene: AnyScene | None, name: str, said: Proposition) -> bool | None:
    """Whether an object is at a place of a scene."""
    if scene is None or not said.place:
        return None
    prep, other = said.place[0], said.place[-1]
    if isinstance(scene, FactScene):
        facts = facts_with(PLACES, scene.facts, run.domain, name)
        assumed = any(run.domain.relations.get(fact[0]) is Role.BELIEVED for fact in facts)
        if not facts or assumed or not _sure(scene, (PLACE, name)):
            return None
        return (other in facts[0][2:]) != (prep == "from")
    if name not in scene.names or (other != TABLE and other not in scene.names):
        return None
    index = scene.index(name)
    if scene.missing[index]:
        return None if other == TABLE else False
    if _hidden(scene, name) or (other != TABLE and _hidden(scene, other)):
        return None
    if prep == "under":
        return support_of(scene, other) == name if other != TABLE else False
    if prep in ("left", "right", "front", "behind", "at"):
        sides = (prep,) if prep != "at" else ("left", "right", "front", "behind")
        return other != TABLE and any(RELATIONS[side].holds(scene, index, scene.index(other)) for side in sides)
    support, bottom = support_of(scene, name), float(scene.boxes[index, 2] - scene.boxes[index, 5] / 2)
    if support == TABLE and bottom > _SAME_M / 2:
        return None  # it leans on something
    return (support == other) != (prep == "from")


def _expected(run: AskedRun) -> AnyScene | None:
    """The scene that the plan leads to, as it was imagined at the last turn."""
    return run.every[-1].discrepancy.expected if run.every else None


def _should(run: AskedRun, name: str, said: Proposition) -> str:
    scene = _expected(run)
    if scene is None or (isinstance(scene, SceneGraph) and name not in scene.names):
        return f"Where {the(name)} should be is not recorded."
    step = run.every[-1].step
    when = f"After {run.phrasing.step(step)}" if step else "Now"
    return f"{when}, {the(name)} should be {_place_text(run, scene, name)}. {where(run, name)}"


def _clause(run: AskedRun, names: Sequence[str], said: Proposition) -> str:
    verb = "is" if len(names) == 1 else "are"
    return f"{objects(names)} {verb} {_PREPOSITIONS.get(said.place[0], said.place[0])} {the(said.place[-1])}"


def _what_is_at(run: AskedRun, said: Proposition) -> RunAnswer:
    """What is in or on an object, and its state."""
    if not said.place:
        names = [each for i, each in enumerate(run.scene.names) if not _gone(run.scene, i)]
        return RunAnswer(f"{capital(counted(len(names), 'object'))}: {objects(names)}.", bool(names))
    name = said.place[-1]
    if name != TABLE and name not in run.names:
        return RunAnswer(f"The records say nothing of {the(name)}.")
    if said.time == "past" and not run.cut:
        told = changes(run, lambda scene: _contents(run, scene, said))
        return RunAnswer(told, any(_there(run, scene, said) for scene in run.scenes))
    there, text = _there(run, run.scene, said), _contents(run, run.scene, said)
    when = f"{capital(run.when_seen(len(run.every)))}, " if run.cut else ""
    unsure = not there and isinstance(run.scene, FactScene)
    return RunAnswer(capital(f"{when}{past(text) if run.cut else text}."), None if unsure else bool(there))


def _gone(scene: AnyScene, index: int) -> bool:
    return not isinstance(scene, FactScene) and bool(scene.missing[index])


def _there(run: AskedRun, scene: AnyScene, said: Proposition) -> list[str]:
    """What is at a place, as clauses of facts or names of objects."""
    prep, name = said.place[0], said.place[-1]
    if not isinstance(scene, FactScene):
        names = [n for i, n in enumerate(scene.names) if not scene.missing[i] and n != name]
        beside = prep not in ("on", "in")
        return [n for n in names if (_holds(run, scene, n, said) if beside else support_of(scene, n) == name)]
    facts = [fact for fact in sorted(scene.facts) if fact[0] in run.domain.relations or fact[0] in run.domain.variables]
    inside = [fact for fact in facts if fact[2:] == (name,) and run.domain.relations.get(fact[0]) in PLACES]
    states = [fact for fact in facts if len(fact) == 3 and fact[1] == name and fact[0] in run.domain.variables]
    return list(map(run.domain.text, (*inside, *states)))


def _contents(run: AskedRun, scene: AnyScene, said: Proposition) -> str:
    found, where_ = _there(run, scene, said), f"{_PREPOSITIONS.get(said.place[0], said.place[0])} {the(said.place[-1])}"
    if not isinstance(scene, FactScene):
        return f"{objects(found) or 'nothing'} {'are' if len(found) > 1 else 'is'} {where_}"
    return listed(found) or f"nothing is known to be {where_}"


def _why_so(run: AskedRun, name: str, state: tuple[str, str]) -> str:
    """What brought an object into the state that it is in, and what is still to change it."""
    scenes = [scene for scene in run.scenes if isinstance(scene, FactScene)]
    texts = [_state_text(run, scene, state[0], name, state[1]) for scene in scenes]
    since = max((i for i in range(1, len(texts)) if texts[i] != texts[i - 1]), default=0)
    text = f"{capital(run.when_seen(since))}, {past(texts[since])}."
    deeds = [
        deed for deed in run.deeds if since and deed.turn is run.every[since - 1] and name in deed.action.arguments
    ]
    text += f" {capital(run.done(deeds[0]))}." if deeds else f" {became(run, name)}" if since else ""
    todo = [run.instruction(action) for action in run.left if action.arguments[:1] == (name,)]
    return f"{text} Still to do: {listed(todo)}." if todo else text


def _while_so(run: AskedRun, name: str, said: Proposition) -> AskedRun:
    """The run up to the first scene in which an object was where it is said to have been."""
    for number, scene in enumerate(run.scenes):
        if said.time == "past" and said.place and _holds(run, scene, name, said):
            return replace(run, every=run.every[:number], cut=True)
    return run


def _why_there(run: AskedRun, name: str) -> str:
    """What brought an object to where it is: the last action or happening."""
    deeds = [each for each in run.deeds if each.action.arguments[:1] == (name,)]
    found = [each for each in run.happenings if each.deviation.name == name]
    last = max([*(each.turn.record.time_s for each in deeds), -1.0])
    if found and (not deeds or found[-1].turn.record.time_s >= last):
        return became(run, name)
    if deeds:
        return f"{capital(run.when(deeds[-1].turn))}, {run.done(deeds[-1])}."
    return f"It was there from the start: {where(run, name)}"


def _one_state(run: AskedRun, name: str, pairs: Sequence[tuple[str, str]], time: str) -> RunAnswer:
    """Whether an object has one of some values of state variables; of normal values, all of them."""
    told = [_value_told(run, name, variable, value, time) for variable, value in pairs]
    values = [each.holds for each in told]
    normal = all(value == run.domain.variables[variable].values[0] for variable, value in pairs)
    holds = _all(values) if normal else True if True in values else None if None in values else False
    shown = [each for each in told if each.holds is holds] or told
    return RunAnswer(shown[0].text, holds)


def _value_told(run: AskedRun, name: str, variable: str, value: str, time: str) -> RunAnswer:
    """Whether an object has a value of a state variable, or had it at some time."""
    scenes = [each for each in run.scenes if isinstance(each, FactScene)]
    if time == "past" and not run.cut:
        held_ones = [_value(each, variable, name, value, run) for each in scenes]
        text = changes(run, lambda scene: _state_text(run, scene, variable, name, value))
        return RunAnswer(text, True if True in held_ones else None if None in held_ones else False)
    text = _state_text(run, scenes[-1], variable, name, value)
    text = f"{capital(run.when_seen(len(run.every)))}, {past(text)}." if run.cut else f"{capital(text)}."
    return RunAnswer(text, _value(scenes[-1], variable, name, value, run))


def _value(scene: FactScene, variable: str, name: str, value: str, run: AskedRun) -> bool | None:
    own, known = (variable, name), run.domain.variables[variable]
    if not _sure(scene, own):
        return None
    now = next((fact for fact in scene.facts if property_of(fact, run.domain) == own), None)
    if value == known.values[0]:
        return now is None
    return now is not None and now == stored((*own, value), run.domain.variables)


def _state_text(run: AskedRun, scene: AnyScene, variable: str, name: str, value: str) -> str:
    own, domain = (variable, name), run.domain
    known = domain.variables[variable]
    if not isinstance(scene, FactScene) or not scene.knows(own):
        return f"{the(name)} is not seen well enough"
    now: StateFact | None = next((fact for fact in scene.facts if property_of(fact, domain) == own), None)
    if now is not None:
        return domain.text(now)
    if known.values[0] in domain.predicates:
        return domain.text((known.values[0], name))
    asked = stored((*own, value), domain.variables) or stored((*own, known.values[-1]), domain.variables)
    return domain.text(asked or own, holds=False)


def _hazards(run: AskedRun, names: Sequence[str] = ()) -> RunAnswer:
    """What is dangerous now, as far as it is read."""
    found = [fact for fact in dangers_of(run.episode, run.domain) if not names or fact[1] in names]
    if found:
        return RunAnswer(f"What was read: {listed(map(run.domain.text, found))}.", None)
    if not isinstance(run.scene, FactScene):
        return RunAnswer("What is hot, on or sharp is not read by my sensors.")
    return RunAnswer("Nothing that was read is hot, turned on or broken; not everything is read.", None)
