"""From what a reader found to a fact trace: one name for each object, one name for each operator, one domain.

Verbs and relations that people use for handling things are those of the household domain. An operator or a predicate
that it does not have becomes one of the trace's own: its effects are what is seen at its end. A name is an object
only if an event, the plan or the scene names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.core.names import plain_name, problem_of
from nsrecover.domains.base import Operator, Parameter, Role, StateVariable
from nsrecover.domains.domain import Domain
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.household.kinds import IMPLIED, KINDS, Trait, is_category, traits_of
from nsrecover.domains.household.names import is_slice, normal, noun, slice_of, whole
from nsrecover.domains.household.scene import HouseholdScene, household
from nsrecover.domains.household.suitability import PRACTICAL
from nsrecover.domains.instance import Instance
from nsrecover.domains.properties import literal
from nsrecover.errors import InvalidRecording
from nsrecover.language.goals import read_goal
from nsrecover.logs.learned import learned
from nsrecover.logs.trace import EventPhase, FactClaim, FactTrace, RawTrace, TraceEvent

NEAR, IN_FRONT, WHOLE = 0.8, 0.75, 0.69
"""Certainty that something is in what can be carried, rather than merely near it; that it is in the way; and that
what is called by the name of a whole thing is whole."""

_VERBS = {
    "pick_up": "pick pickup pick_up pick_object take take_hold_of grasp grab lift lift_up fetch get collect retrieve "
    "unload pickupobject pull_out take_out extract withdraw scoop scoop_up",
    "put_on": "put put_on place place_on stack set set_down put_down putobject placeobject put_object place_object lay "
    "stand drop drop_off deposit release load mount hang",
    "put_in": "put_in insert place_in store stow drop_in pack stuff stash push_in slot_in",
    "open_obj": "open open_obj openobject open_up pull_open unlatch uncap unseal",
    "close_obj": "close close_obj closeobject shut push_shut push_closed latch seal",
    "toggle_on": "toggle_on turn_on switch_on power_on activate toggleobjecton toggleon use start press_start",
    "toggle_off": "toggle_off turn_off switch_off power_off deactivate toggleobjectoff toggleoff stop",
    "slice_obj": "slice slice_obj sliceobject cut cut_up chop carve",
    "crack_obj": "crack crack_obj crack_open break",
    "pour": "pour pour_out empty empty_into tip drain",
    "move_to": "move_to move go_to goto go navigate navigate_to navigate_to_obj navigate_to_pose drive drive_to walk "
    "walk_to travel head approach come move_over",
    "put_back": "put_back bring_back",
    "set_aside": "set_aside",
}
_EITHER = {"put", "place", "putobject", "placeobject", "put_object", "place_object", "release", "load", "drop_off"}
"""Verbs that leave open whether something is put on or into a place: its kind says so."""
_OPERATOR_OF = {verb: operator for operator, verbs in _VERBS.items() for verb in verbs.split()}
_PART = re.compile(r"(.+)_(?:door|lid|hatch|cover|gate|flap)")
_OF_PART = {"open": "open lift raise pull remove swing_open", "close": "close shut lower push replace swing_shut"}
"""Part of an object that a verb may name, `lift_lid(pot)`, and what is done to the object then."""
_PREDICATES: dict[str, tuple[str, bool]] = {
    word: (predicate, value)
    for predicate, value, words in (
        ("at", True, "at in inside contained_in located_at is_in within"),
        ("atop", True, "on on_top_of on_top atop ontop stacked_on"),
        ("holding", True, "holding held grasped gripped grabbed in_gripper in_hand gripper_holds holds carrying"),
        ("hand_free", True, "hand_free gripper_empty hand_empty handempty"),
        ("open", True, "open opened is_open"),
        ("open", False, "closed is_closed shut"),
        ("running", True, "running turned_on on_state switched_on powered is_on toggled isturnedon"),
        ("running", False, "turned_off switched_off off is_off"),
        ("dirty", True, "dirty"),
        ("dirty", False, "clean"),
        ("cracked", True, "cracked"),
        ("hot", True, "hot warm heated"),
        ("hot", False, "cold"),
        ("broken", True, "broken shattered"),
        ("covers", True, "covers blocks blocking in_front_of"),
    )
    for word in words.split()
}
ALIKE = (("under", "below", "beneath", "underneath"), ("near", "next_to", "beside", "close_to"),
         ("attached", "mounted", "fixed", "fastened", "fitted", "connected", "plugged"))  # fmt: skip
"""Relations that say the same; the first is that of goals in words."""
PLACING = ("at", "atop")

_NAME = re.compile(r"[a-z][\w-]{0,40}")

Rename = Callable[[str], str]


def understood(raw: RawTrace, scene: Instance | None = None) -> FactTrace:
    """A fact trace in which every name is an object of a scene.

    Args:
        raw: from a reader.
        scene: domain and objects of one's own; the household with what the trace adds if None.
    """
    if scene is None and raw.domain not in ("", "household"):
        raise InvalidRecording(
            f"expected a log of the household domain or one without a domain, found {raw.domain!r}; pass the scene"
        )
    raw = _with_events(raw)
    if scene is not None:
        return _in(raw, scene, (), raw.unread)
    raw = _in_common_words(raw)
    goal, unread = _goal_of(raw, _names(raw))
    raw = _merged(raw, goal)
    goal, unread = _goal_of(raw, _names(raw))
    if not raw.domain:
        raw, goal = _with_one_location(raw, map(_literally, goal))
        return _in(raw, learned(raw, goal, _definite(raw, goal)), (goal, unread), raw.unread)
    home = _scene(raw, goal)
    return _in(raw, home, (goal, unread), raw.unread)


def _with_events(raw: RawTrace) -> RawTrace:
    """A trace whose plan is what its events are about, if the source has none."""
    if raw.plan:
        return raw
    steps = list[Action]()
    for event in raw.events:
        if (
            event.action is not None
            and event.phase is not EventPhase.DURING
            and event.action != next(iter(steps[-1:]), None)
        ):
            steps.append(event.action)
    return replace(raw, plan=tuple(steps))


# -- words


def operator_of(name: str) -> str:
    """The operator of the household that a name of an operator means, or the name."""
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().replace("-", "_").replace(" ", "_")
    if plain not in _OPERATOR_OF and (part := _PART.fullmatch(plain)):
        plain = next((word for word, verbs in _OF_PART.items() if part[1] in verbs.split()), plain)
    return _OPERATOR_OF.get(plain, name if name in HOUSEHOLD.operators else plain)


def is_verb(name: str) -> bool:
    """Whether a name is a verb for handling things."""
    return name.lower() in _OPERATOR_OF


def in_household(step: Action) -> Action:
    """A step by the operator of the household that its verb means, with as many arguments as that takes."""
    operator, arguments = operator_of(step.operator), step.arguments
    known = HOUSEHOLD.operators.get(operator)
    if operator in ("pick_up", "put_in", "put_on") and known is not None:
        arguments = arguments[: len(known.parameters)]
    if len(arguments) == 2 and operator == "put_on" and step.operator.lower() in _EITHER:
        operator = "put_in" if Trait.HOLLOW in traits_of(arguments[1]) else operator
    wrong = known is not None and len(known.parameters) != len(arguments)
    return Action(f"{operator}_{len(arguments)}" if wrong else operator, arguments)


def _in_common_words(raw: RawTrace) -> RawTrace:
    """The trace with operators, predicates and names as the household has them."""
    own = raw.domain == "household"
    agents = _agents(raw)

    def name(given: str) -> str:
        return given if given == "*" else _plain(normal(given))

    def action(step: Action) -> Action:
        arguments = tuple(map(name, filter(str.strip, step.arguments)))
        acting = not own and is_verb(step.operator) and len(arguments) > 1 and arguments[0] in agents
        found = Action(step.operator, arguments[acting:])
        return in_household(found) if not own or step.operator in HOUSEHOLD.operators else found

    def fact(given: StateFact) -> tuple[StateFact, bool]:
        word = re.sub(r"\W+", "_", given[0].lower()).strip("_")[:40] or "so"
        predicate, value = _PREDICATES.get(word, (word, True))
        predicate = "running" if (word, len(given)) == ("on", 2) else predicate
        if own and given[0] in (*HOUSEHOLD.predicates,):
            predicate, value = given[0], True
        terms = tuple(map(name, given[1:]))
        if predicate == "hand_free":
            return ("holding", "*"), False
        if predicate == "holding":
            terms = terms[-1:] if len(terms) < 2 or terms[-1] != "gripper" else terms[:1]
        if predicate == "filled":
            terms = (*terms[:1], *(given[2:] or ("water",)))
        if HOUSEHOLD.arities.get(predicate, len(terms)) != len(terms):
            return (f"{predicate}_{len(terms)}", *terms), value
        changed = (predicate, *terms)
        if predicate in PLACING and len(changed) == 3 and changed[2] in ("gripper", "robot gripper", "hand"):
            changed = ("holding", changed[1])
        found, positive = literal(changed, HOUSEHOLD)
        return found, value == positive

    def claim(given: FactClaim) -> FactClaim:
        found = [fact(each) for each in given.facts]
        return FactClaim(tuple(each for each, _ in found), given.holds == found[0][1], given.sure)

    def event(given: TraceEvent) -> TraceEvent:
        return replace(
            given,
            action=action(given.action) if given.action else None,
            seen=frozenset(map(name, given.seen)),
            claims=tuple(map(claim, given.claims)),
        )

    goal: tuple[StateFact, ...] | str
    if isinstance(raw.goal, str):
        goal = _with_ordinals(raw.goal, _names(raw))
    else:
        goal = tuple(_condition(*fact(each[each[0] == "not" :]), each[0] == "not") for each in raw.goal)
    return replace(
        raw, plan=tuple(map(action, raw.plan)), events=tuple(map(event, raw.events)), goal=goal,
        final=event(raw.final) if raw.final else None,
        objects={name(each): traits for each, traits in raw.objects.items()},
    )  # fmt: skip


def _with_ordinals(text: str, names: Iterable[str]) -> str:
    """A goal in words with names as they are written here: `tote 7` -> `seventh tote`."""
    for name in sorted(names, key=len, reverse=True):
        if re.search(r"\d", name):
            written = re.escape(name).replace(r"\-", "[-_ ]?")
            text = re.sub(rf"(?i)\b{written}\b", _plain(normal(name)), text)
    return text


_AGENT = re.compile(r"(?i)(?:arm|robot|gripper|hand|manipulator|agent|bot|agv|amr)[-_ ]?\w{0,2}")


def _agents(raw: RawTrace) -> set[str]:
    """Who acts, where actions say so first: `(take arm vial rack)`."""
    said = [fact for event in _observed(raw) for claim in event.claims for fact in claim.facts if len(fact) == 3]
    holding = {fact[1] for fact in said if _PREDICATES.get(fact[0].lower(), ("",))[0] == "holding"}
    first = {step.arguments[0] for step in raw.plan if step.arguments}
    return {normal(name) for name in first if name in holding or _AGENT.fullmatch(name)}


_DENIED = {"at": "away_from", "atop": "away_from", "holding": "hand_free"}


def _condition(fact: StateFact, holds: bool, denied: bool = False) -> StateFact:
    """A condition of a goal: denied facts by the predicate that means that."""
    fact = ("at", *fact[1:]) if fact[0] == "atop" else fact
    if holds != denied:
        return fact
    variable = HOUSEHOLD.variables.get(fact[0])
    if fact[0] not in _DENIED and (variable is None or len(variable.values) != 2):
        return ("not", *fact)
    named = "" if variable is None else variable.values[0]
    return (_DENIED.get(fact[0], named), *(term for term in fact[1:] if term != "*"))


def _plain(name: str) -> str:
    """A name that an object, and its slices, can have."""
    if not problem_of(f"{name} slice"):
        return name
    return " ".join(plain_name(name).split()[:6])[:60].strip() or "thing"


# -- objects


def _observed(raw: RawTrace) -> Iterator[TraceEvent]:
    yield from raw.events
    if raw.final is not None:
        yield raw.final


def _terms(fact: StateFact) -> tuple[str, ...]:
    """The objects of a fact, or of a denied one."""
    fact = fact[1:] if fact[0] == "not" else fact
    return tuple(term for term in (fact[1:2] if fact[0] == "filled" else fact[1:]) if term != "*")


def _seen_names(raw: RawTrace) -> dict[str, None]:
    found = dict[str, None]()
    for event in _observed(raw):
        found |= dict.fromkeys(sorted(event.seen))
        claimed = (_terms(fact) for claim in event.claims for fact in claim.facts if fact[0] != "sliced")
        found |= dict.fromkeys(chain.from_iterable(claimed))
    return found


def _names(raw: RawTrace) -> dict[str, None]:
    """Every object that is observed, or that the plan or the source names."""
    planned = chain.from_iterable(step.arguments for step in raw.plan)
    return _seen_names(raw) | dict.fromkeys(planned) | dict.fromkeys(raw.objects)


def _goal_of(raw: RawTrace, names: Iterable[str]) -> tuple[tuple[StateFact, ...], tuple[str, ...]]:
    """The conditions of the goal, and what of it is none: also names that nothing in the trace names."""
    # The domain names its kinds, where the source says that it is this one.
    known = dict.fromkeys((*names, *(KINDS if raw.domain else ())))
    if isinstance(raw.goal, str):
        cut = [step.arguments[0] for step in raw.plan if step.operator == "slice_obj" and step.arguments]
        read = read_goal(raw.goal, tuple(known), cut)
        return tuple(_in_words_of(raw, one) for one in read.conditions), read.unread
    heard = {noun(whole(name)) for name in known} | {name.split()[-1] for name in known}
    lost = dict.fromkeys(
        name for one in raw.goal for name in _terms(one) if noun(whole(name)) not in heard and not is_category(name)
    )
    return tuple(one for one in raw.goal if not lost.keys() & set(_terms(one))), tuple(lost)


def _in_words_of(raw: RawTrace, condition: StateFact) -> StateFact:
    """A condition by the relation that the trace has, if that says the same in another word."""
    base = condition[1:] if condition[0] == "not" else condition
    own = {fact[0] for event in _observed(raw) for claim in event.claims for fact in claim.facts}
    alike = next((group for group in ALIKE if base[0] in group), (base[0],))
    found = next((word for word in alike if word in own), base[0])
    return (*condition[: len(condition) - len(base)], found, *base[1:])


def _merged(raw: RawTrace, goal: Iterable[StateFact]) -> RawTrace:
    """The trace with one name for each object.

    A detector that numbers what it sees twice in a frame, and not otherwise, counts boxes, not objects; so does one
    that sees one of them in the other. A name with further words (`gray pot`) is the object of the plan (`pot`) if
    nothing else that is seen can be.
    """
    said = {name for step in raw.plan for name in step.arguments} | {name for fact in goal for name in _terms(fact)}
    seen, renamed = _seen_names(raw), dict[str, str]()
    facts = [fact for event in _observed(raw) for claim in event.claims for fact in claim.facts]
    pairs = [fact[1:] for fact in facts if fact[0] in PLACING and len(fact) == 3]
    nested = {noun(one) for one, other in pairs if noun(one) == noun(other)}
    for name in seen:
        if noun(name) != name and name not in said and (noun(name) in seen or noun(name) in nested):
            renamed[name] = noun(name)
    # A box around two things is named for both.
    renamed |= {name: name.partition(" next to ")[0] for name in seen if " next to " in name}
    rest = {renamed.get(name, name) for name in seen}
    for word in said - rest:
        fuller = [name for name in rest - said if noun(name).endswith(f" {word}") and noun(name) not in KINDS]
        if len(fuller) == 1:
            renamed |= {name: word for name in seen if renamed.get(name, name) == fuller[0]}
    if not renamed:
        return raw
    to: Rename = lambda name: renamed.get(name, name)  # noqa: E731
    final = _renamed(raw.final, to) if raw.final else None
    return replace(raw, events=tuple(_renamed(event, to) for event in raw.events), final=final)


def _renamed(event: TraceEvent, to: Rename) -> TraceEvent:
    claims = (
        replace(claim, facts=tuple((fact[0], *map(to, fact[1:])) for fact in claim.facts)) for claim in event.claims
    )
    apart = tuple(
        dict.fromkeys(claim for claim in claims if len(claim.facts[0]) < 3 or len(set(claim.facts[0][1:])) > 1)
    )
    return replace(event, seen=frozenset(map(to, event.seen)), claims=apart)


def _literally(condition: StateFact) -> StateFact:
    """A condition as a fact, or a denied one: of `closed`, that it is not open."""
    condition = ("not", "at", *condition[1:]) if condition[0] == "away_from" else condition
    if condition[0] == "not":
        return condition
    found, holds = literal(condition, HOUSEHOLD)
    return found if holds else ("not", *found)


def _with_one_location(raw: RawTrace, goal: Iterable[StateFact]) -> tuple[RawTrace, tuple[StateFact, ...]]:
    """The trace and its goal with one relation for where what is handled is: `in`, `on`, `loaded`, `planted`."""
    goal = tuple(goal)
    facts = [fact for event in _observed(raw) for claim in event.claims for fact in claim.facts]
    facts += [fact[1:] if fact[0] == "not" else fact for fact in goal]
    handled = {step.arguments[0] for step in raw.plan if len(step.arguments) > 1 or step.operator == "pick_up"}
    handled |= {fact[1] for fact in facts if fact[0] == "holding"}
    apart = {"covers", "filled", *chain.from_iterable(ALIKE)}
    first: dict[str, set[str]] = {}
    for fact in facts:
        if len(fact) == 3 and fact[0] not in apart:
            first.setdefault(fact[0], set()).add(fact[1])
    where = {"atop", *(name for name, things in first.items() if things <= handled)}

    def fact_of(given: StateFact) -> StateFact:
        if given[0] == "not":
            return ("not", *fact_of(given[1:]))
        return ("at", *given[1:]) if given[0] in where else given

    def event(given: TraceEvent) -> TraceEvent:
        claims = (replace(each, facts=tuple(map(fact_of, each.facts))) for each in given.claims)
        return replace(given, claims=tuple(claims))

    found = replace(raw, events=tuple(map(event, raw.events)), final=event(raw.final) if raw.final else None)
    return found, tuple(map(fact_of, goal))


def _definite(raw: RawTrace, goal: Iterable[StateFact]) -> list[str]:
    """The objects of a trace: those that are named with their ordinal, and those of which there is only one."""
    names = _names(raw) | dict.fromkeys(
        name for event in raw.events if event.action is not None for name in event.action.arguments
    )
    names |= dict.fromkeys(name for fact in goal for name in _terms(fact))
    numbered = {noun(name) for name in names if noun(name) != name}
    operators = {step.operator for step in raw.plan}
    return [name for name in names if name == _plain(name) and name not in numbered and name not in operators]


def _scene(raw: RawTrace, goal: Iterable[StateFact]) -> HouseholdScene:
    """The objects of a trace, with what states and steps say about unknown kinds, and operators of its own."""
    learned: dict[str, frozenset[str]] = {noun(name): traits for name, traits in raw.objects.items() if traits}
    names, liquids = _names(raw), set[str]()

    def learn(name: str, trait: str) -> None:
        learned[noun(name)] = learned.get(noun(name), frozenset()) | {trait}

    for fact in (fact for event in _observed(raw) for claim in event.claims for fact in claim.facts):
        liquids |= set(fact[2:]) - {"*"} if fact[0] == "filled" else set()
    wanted = [*goal]
    acted = [(step.operator, *step.arguments) for step in raw.plan if step.arguments]
    for key, *terms in (*acted, *wanted):
        for place in terms[1:] if key in ("put_in", "put_on", "at") else ():
            if not (traits_of(place) | learned.get(noun(place), frozenset())) & {Trait.FLAT, Trait.HOLLOW}:
                learn(place, Trait.FLAT if key == "put_on" else Trait.HOLLOW)
    words = (
        f"{raw.goal if isinstance(raw.goal, str) else ' '.join(map(' '.join, raw.goal))} {' '.join(map(str, raw.plan))}"
    )
    for needed in (needed for word, needed in IMPLIED.items() if word in words.lower()):
        names |= dict.fromkeys(name for name in needed if all(noun(known) != name for known in names))
    goals = [name for fact in wanted for name in _terms(fact)]
    unnamed = [*(name for event in raw.events if event.action for name in event.action.arguments), *goals]
    # An observer sometimes leaves the ordinal out: that is no further object.
    numbered = {noun(name) for name in names if noun(name) != name}
    said = {name for step in raw.plan for name in step.arguments} | set(goals)
    definite, others = (
        [name for name in found if not is_category(name) and name == _plain(name)]
        for found in ([n for n in names if noun(n) != n or n not in numbered or n in said], unnamed)
    )
    home = household(definite, learned, others, sorted(liquids))
    return replace(home, domain=_widened(raw, wanted))


def _widened(raw: RawTrace, goal: Iterable[StateFact]) -> Domain:
    """The household domain with the operators and predicates that only the trace has."""
    known = PRACTICAL
    facts = [fact for event in _observed(raw) for claim in event.claims for fact in claim.facts]
    more = {fact[0]: len(fact) for fact in (*facts, *goal) if fact[0] not in (*known.predicates, "not")}
    variables = {name: StateVariable(name, ("not " + name, name)) for name, count in more.items() if count == 2}
    relations = {name: Role.PLAIN for name, count in more.items() if count != 2}
    operators = {
        step.operator: Operator(step.operator, tuple(Parameter(f"?x{i}") for i in range(len(step.arguments))))
        for step in (*raw.plan, *(event.action for event in raw.events if event.action is not None))
        if step.operator not in known.operators and _NAME.fullmatch(step.operator)
    }
    if not (variables or relations or operators):
        return known
    return replace(known, variables={**known.variables, **variables}, relations={**known.relations, **relations},
                   operators={**known.operators, **operators})  # fmt: skip


# -- facts about the objects of the scene


def _in(
    raw: RawTrace, scene: Instance, goal: tuple[()] | tuple[tuple[StateFact, ...], tuple[str, ...]],
    unread: tuple[str, ...],
) -> FactTrace:  # fmt: skip
    """The trace over a scene: claims about what several objects may be, places with what they are."""
    wanted, lost = goal or ((raw.goal, ()) if not isinstance(raw.goal, str) else ((), (raw.goal,)))
    near = NEAR if raw.domain else 1.0
    events = tuple(_on_scene(event, scene, near) for event in raw.events)
    final = _on_scene(raw.final, scene, near) if raw.final else (events[-1] if events else TraceEvent("00:00"))
    missing = sum(entry.startswith(("event", "line")) and ": expected" in entry for entry in unread)
    noted = {entry.split(":")[0] for entry in unread if entry.startswith(("event", "line"))}
    share = 1.0 - len(noted) / (len(events) + missing) if events else 0.0
    text = raw.goal if isinstance(raw.goal, str) else " and ".join(scene.domain.text(fact) for fact in wanted)
    return FactTrace(
        raw.task, scene, raw.plan, events, final, tuple(wanted), text, tuple(lost), unread, raw.result, share, raw.extra
    )


def _on_scene(event: TraceEvent, scene: Instance, near: float) -> TraceEvent:
    instances = getattr(scene, "instances", lambda name: [name])

    def meant(name: str) -> list[str]:
        return [name] if name == "*" or noun(name) != name else list(instances(name))

    claims = list[FactClaim]()
    for claim in event.claims:
        fact = claim.facts[0]
        if fact[0] in (*PLACING, "covers") and len(fact) == 3 and isinstance(scene, HouseholdScene):
            if fact[0] == "covers":
                claims.append(replace(claim, sure=min(claim.sure, IN_FRONT)))
                continue
            places = dict.fromkeys((*meant(fact[2]), *([noun(fact[2])] if noun(fact[2]) in scene.objects else [])))
            facts = tuple(
                ("atop" if fact[0] == "atop" and scene.has(p, Trait.SLOT) else "at", fact[1], p) for p in places
            )
            sure = min(claim.sure, near) if scene.has(fact[2], Trait.PORTABLE) else claim.sure
            claims.append(FactClaim(facts, claim.holds, sure))
        elif len(claim.facts) == 1 and len(fact) > 1:
            claims.append(replace(claim, facts=tuple((fact[0], one, *fact[2:]) for one in meant(fact[1]))))
        else:
            claims.append(claim)
    if not isinstance(scene, HouseholdScene):
        return replace(event, claims=tuple(claims))
    sliced = [FactClaim(tuple(("sliced", one) for one in meant(name))) for name in sorted(event.seen) if is_slice(name)]
    # A whole thing is in view: it has not been sliced, unless the observer mixes them up.
    named = set(getattr(scene, "names", ()))
    sliced += [FactClaim((("sliced", slice_of(name)),), False, WHOLE) for name in sorted(event.seen)
               if not is_slice(name) and slice_of(name) in named]  # fmt: skip
    seen = frozenset(one for name in event.seen for one in (meant(name) if len(meant(name)) == 1 else ()))
    return replace(event, claims=(*claims, *sliced), seen=seen)
