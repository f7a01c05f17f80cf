"""Answers about the scene: where things are, were and should be, in which state, whether they are right and seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nsrecover.core.facts import PLACE, FactScene, StateFact
from nsrecover.core.scene import SceneGraph, Visibility
from nsrecover.domains.base import Role
from nsrecover.domains.properties import facts_with, property_of
from nsrecover.domains.tabletop.relations import RELATIONS, TABLE, resting_on, support_name
from nsrecover.domains.values import stored
from nsrecover.explanation.answers.events import RunAnswer, became
from nsrecover.explanation.answers.numbering import clock
from nsrecover.explanation.answers.run import AskedRun, state_of
from nsrecover.explanation.safety import dangers_of, held_names
from nsrecover.language.questions import GRIPPER, AskedQuestion, Gap, Proposition, Things
from nsrecover.util.english import capital, listed, objects, past, the

PLACES = (Role.LOCATION, Role.HELD, Role.BELIEVED)
"""Roles of the relations that say where an object is."""
_PREPOSITIONS = {"left": "to the left of", "right": "to the right of", "front": "in front of", "at": "next to"}
_UNSEEN = {Visibility.OCCLUDED: ", hidden behind something", Visibility.UNKNOWN: ", although I did not see it there"}

AnyScene = SceneGraph | FactScene


def where(run: AskedRun, name: str) -> str:
    """Where an object was seen last, as a sentence."""
    graph = run.scene
    if isinstance(graph, FactScene):
        said = [run.domain.text(fact) for fact in facts_with(PLACES, graph.facts, run.domain, name)]
        known = bool(said) and graph.knows((PLACE, name))
        return f"{capital(listed(said))}." if known else f"The place of {the(name)} is unknown."
    if name not in graph.names or graph.missing[graph.index(name)]:
        return f"{capital(the(name))} is missing."
    index = graph.index(name)
    x, y = (round(100 * float(value)) for value in graph.boxes[index, :2])
    side = f"{abs(y)} cm to the {'left' if y > 0 else 'right'}" if y else "straight ahead"
    return (
        f"When I last looked, {the(name)} stood on {the(support_name(graph, index))}"
        f"{_UNSEEN.get(graph.visibility(index), '')}, {x} cm in front of the robot and {side}."
    )


def placed(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Of a place: whether an object is, was or should be there, where it is, what is there, and why."""
    said = asked.said
    if said.place[1:] == (GRIPPER,):
        return held(run, asked)
    if asked.gap is Gap.WHICH or (said.things is Things.ANY and said.place):
        return _what_is_at(run, said)
    if said.things is Things.GROUP and not said.names:
        return right(run, asked)
    names = said.names
    if asked.gap is Gap.WHY:
        return RunAnswer(" ".join(_why_there(run, name) for name in names))
    if said.time == "should":
        return RunAnswer(
            " ".join(_should(run, name, said) for name in names),
            _all([_holds(run, _expected(run), n, said) for n in names]),
        )
    if not said.place or asked.gap is Gap.WHERE:
        return RunAnswer(" ".join(_where_and_before(run, name, said) for name in names))
    if said.time == "past":
        often = [scene for scene in run.scenes if _all([_holds(run, scene, name, said) for name in names])]
        text = " ".join(where(run, name) for name in names)
        if often:
            first = run.scenes.index(often[0])
            when = "At the start" if not first else capital(run.when(run.every[first - 1]))
            return RunAnswer(f"{when}, {past(_clause(run, names, said))}. {text}", True)
        return RunAnswer(text, False)
    return RunAnswer(
        " ".join(where(run, name) for name in names), _all([_holds(run, run.scene, name, said) for name in names])
    )


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
        return _hazards(run)
    told = [_one_state(run, name, pairs, said.time) for name in names]
    return RunAnswer(" ".join(each.text for each in told), _all([each.holds for each in told]))


def hazard(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether anything is hot, on or sharp, as far as it is read."""
    return _hazards(run, asked.said.names)


def right(run: AskedRun, asked: AskedQuestion) -> RunAnswer:
    """Whether objects are as they should be now, and which are not."""
    said = asked.said
    turn = run.every[-1] if run.every else None
    wrong = [] if turn is None else list(turn.discrepancy.deviations)
    names = run.built if said.things is Things.GROUP else said.names
    unsure = [] if turn is None else [each for each in run.names if _not_seen(run, each)]
    if names:
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
    """What the robot holds."""
    names, said = held_names(run.episode, run.domain), asked.said
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
    said = [f"{the(scene.names[i])} on {the(support_name(scene, int(i)))}" for i in order]
    return f"From left to right, as it was seen last: {listed(said)}."


def about(run: AskedRun, name: str) -> str:
    """What is known of an object: what happened to it, and where it is."""
    return f"{became(run, name)} {where(run, name)}"


def _at(run: AskedRun) -> str:
    """When the robot looked last."""
    at_s = run.every[-1].record.time_s - run.episode.start_s if run.every else 0.0
    return f" at {clock(at_s)} of the run" if at_s > 0 else ""


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
    return f"on {the(support_name(scene, scene.index(name)))}"


def _holds(run: AskedRun, scene: AnyScene | None, name: str, said: Proposition) -> bool | None:
    """Whether an object is at a place of a scene."""
    if scene is None or not said.place:
        return None
    prep, other = said.place[0], said.place[-1]
    if isinstance(scene, FactScene):
        facts = facts_with(PLACES, scene.facts, run.domain, name)
        if not facts or not scene.knows((PLACE, name)):
            return None
        return (other in facts[0][2:]) != (prep == "from")
    if name not in scene.names or (other != TABLE and other not in scene.names):
        return None
    index = scene.index(name)
    if scene.missing[index]:
        return False
    if prep == "under":
        return support_name(scene, scene.index(other)) == name if other != TABLE else False
    if prep in ("left", "right", "front", "behind", "at"):
        sides = (prep,) if prep != "at" else ("left", "right", "front", "behind")
        return other != TABLE and any(RELATIONS[side].holds(scene, index, scene.index(other)) for side in sides)
    return (support_name(scene, index) == other) != (prep == "from")


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


def _where_and_before(run: AskedRun, name: str, said: Proposition) -> str:
    if said.time != "past":
        return where(run, name)
    return f"At the start, {the(name)} was {_place_text(run, run.episode.start, name)}. {where(run, name)}"


def _clause(run: AskedRun, names: Sequence[str], said: Proposition) -> str:
    verb = "is" if len(names) == 1 else "are"
    return f"{objects(names)} {verb} {_PREPOSITIONS.get(said.place[0], said.place[0])} {the(said.place[-1])}"


def _what_is_at(run: AskedRun, said: Proposition) -> RunAnswer:
    """What is in or on an object, and its state."""
    scene, (prep, name) = run.scene, (said.place[0], said.place[-1])
    if isinstance(scene, SceneGraph) and prep not in ("on", "in") and name in scene.names:
        found = [each for each in scene.names if each != name and _holds(run, scene, each, said)]
        where_ = f"{_PREPOSITIONS.get(prep, prep)} {the(name)}"
        return RunAnswer(f"{capital(objects(found) or 'nothing')}: that is what was seen {where_}.", bool(found))
    if isinstance(scene, FactScene):
        facts = [fact for fact in sorted(scene.facts) if name in fact[1:] and len(fact) > 1]
        texts = [run.domain.text(fact) for fact in facts if run.domain.relations.get(fact[0]) is not Role.STATIC]
        there = any(fact[2:] == (name,) or (len(fact) == 3 and fact[0] in run.domain.variables) for fact in facts)
        return RunAnswer(f"{capital(listed(texts))}." if texts else f"Nothing special is known of {the(name)}.", there)
    if name == TABLE:
        on_it = [
            the(each) for i, each in enumerate(scene.names) if not scene.missing[i] and support_name(scene, i) == TABLE
        ]
    elif name not in scene.names:
        return RunAnswer(where(run, name))
    else:
        on_it = [the(scene.names[i]) for i in resting_on(scene, scene.index(name))]
    return RunAnswer(
        f"{capital(listed(on_it) or 'nothing')} {'stand' if len(on_it) > 1 else 'stands'} on {the(name)}.", bool(on_it)
    )


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
    """Whether an object has one of some values of state variables."""
    told = RunAnswer(f"That is not read for {the(name)}.")
    for variable, value in pairs:
        scenes = [each for each in run.scenes if isinstance(each, FactScene)]
        if time == "past":
            held_ones = [_value(each, variable, name, value, run) for each in scenes]
            if True in held_ones:
                return RunAnswer(f"It was at some time. {_state_text(run, scenes[-1], variable, name, value)}", True)
        now = _value(scenes[-1], variable, name, value, run)
        told = RunAnswer(_state_text(run, scenes[-1], variable, name, value), now)
        if now is not False:
            return told
    return told


def _value(scene: FactScene, variable: str, name: str, value: str, run: AskedRun) -> bool | None:
    own, known = (variable, name), run.domain.variables[variable]
    if not scene.knows(own):
        return None
    now = next((fact for fact in scene.facts if property_of(fact, run.domain) == own), None)
    if value == known.values[0]:
        return now is None
    return now is not None and now == stored((*own, value), run.domain.variables)


def _state_text(run: AskedRun, scene: FactScene, variable: str, name: str, value: str) -> str:
    own, domain = (variable, name), run.domain
    known = domain.variables[variable]
    if not scene.knows(own):
        return f"{capital(the(name))} was not seen well enough."
    now: StateFact | None = next((fact for fact in scene.facts if property_of(fact, domain) == own), None)
    if now is not None:
        return f"{capital(domain.text(now))}."
    if known.values[0] in domain.predicates:
        return f"{capital(domain.text((known.values[0], name)))}."
    asked = stored((*own, value), domain.variables) or stored((*own, known.values[-1]), domain.variables)
    return f"{capital(domain.text(asked or own, holds=False))}."


def _hazards(run: AskedRun, names: Sequence[str] = ()) -> RunAnswer:
    """What is dangerous now, as far as it is read."""
    found = [fact for fact in dangers_of(run.episode, run.domain) if not names or fact[1] in names]
    if found:
        return RunAnswer(f"{capital(listed(map(run.domain.text, found)))}.", True)
    if not isinstance(run.scene, FactScene):
        return RunAnswer("What is hot, on or sharp is not read by my sensors.")
    return RunAnswer("Nothing that was read is hot, turned on or broken; not everything is read.", None)
