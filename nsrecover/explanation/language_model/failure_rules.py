"""Ways to say what happened to objects on the table, and what each of them claims."""

from __future__ import annotations

import re
from collections.abc import Iterable

from nsrecover.core.discrepancy import Cause, Phase
from nsrecover.core.explanation import Fact
from nsrecover.explanation.language_model.entailment import SEVERAL, direction
from nsrecover.explanation.language_model.parser import (
    Claim,
    ClaimMaker,
    Position,
    Rule,
    RuleMatch,
    Topic,
    claim,
    each,
    rule,
)

_BE = r"(?:is|are|was|were|has been|have been|got)"
_HAVE = r"(?:(?:has|have) )?"
_STAND = (
    r"(?:now |still |currently )?(?:is|are|was|were|lies?|lay|stands?|stood|sits?|sat|rests?|rested|remains?|remained|"
    r"landed|ended up|came to rest|came down)(?: now| still| currently)?(?: lying| standing| sitting| resting)?"
)
_ON = r"(?:on|onto|upon|on top of)"
_THINGS = r"(?:objects|blocks|things|items|pieces)"
_ARM = r"(?:the )?(?:gripper|robot|arm|robot arm|hand|robot's gripper)"

_EVENTS: dict[Cause, str] = {
    Cause.TOPPLED: (
        rf"{_HAVE}(?:toppled(?: over)?|fallen over|fell over|tipped over|"
        r"tumbled(?: down| over)?|collapsed)|"
        rf"{_BE} (?:knocked over|knocked down|toppled(?: over)?)"
    ),
    Cause.DROPPED: (
        rf"{_BE} (?:accidentally )?(?:dropped|lost|let go|let go of)(?: by (?:the )?(?:gripper|robot|arm))?|"
        rf"{_HAVE}(?:slipped|slipped out|fallen|fell|dropped) (?:out of|from) (?:the )?"
        r"(?:gripper|hand|robot's gripper)|"
        rf"{_HAVE}slipped away"
    ),
    Cause.NOT_LIFTED: (
        rf"(?:{_BE} (?:not|never)|(?:has|have) not been|could not be) (?:lifted|picked up|grasped|lifted up)|"
        r"(?:is|are) still where (?:it|they) (?:was|were)|"
        r"(?:stayed|remained|was left|were left) where (?:it|they) (?:was|were)|"
        r"(?:did not leave|never left|has not left|have not left) (?:its|their) places?|"
        r"(?:was|were|has been|have been) not moved at all"
    ),
    Cause.MISPLACED: (
        rf"{_BE} (?:misplaced|put in the wrong place|placed wrongly|placed incorrectly|wrongly placed|"
        r"placed inaccurately|"
        r"set down in the wrong place|put down beside (?:its|their) places?)|"
        rf"{_HAVE}(?:missed|landed beside|ended up beside) (?:its|their)(?: intended| exact)? places?|"
        rf"{_HAVE}ended up in the wrong place"
    ),
    Cause.MISSING: (
        r"(?:is|are)(?: now)? (?:missing|gone|nowhere to be seen|nowhere to be found|not to be seen(?: anywhere)?|"
        r"no longer visible|no longer to be seen|not visible any more|out of sight|lost from sight)|"
        r"(?:has|have) (?:disappeared|vanished|gone missing)|(?:disappeared|vanished|went missing)|"
        r"(?:cannot|can no longer|could not) be (?:seen|found)(?: anywhere)?"
    ),
    Cause.MOVED: (
        rf"{_HAVE}(?:moved|shifted)|{_BE} (?:moved|shifted|displaced|pushed away)|"
        r"(?:is|are) no longer (?:in (?:its|their) places?|where (?:it|they) (?:was|were))"
    ),
    Cause.BLOCKING: r"(?:is|are|stands?) in the way|blocks? the way|(?:is|are) blocking the way",
    Cause.HELPED: (
        r"(?:is|are) already (?:where (?:it|they) should be|in (?:its|their)(?: final| right)? places?|"
        r"where (?:it|they) belongs?)(?: later)?|"
        r"(?:has|have) already been (?:put|placed) (?:in (?:its|their) places?|where (?:it|they) should be)"
    ),
}
"""What a predicate has to say to mean that cause."""


def _placed(said: RuleMatch) -> Iterable[Claim]:
    (support,) = said.names("x")
    return [claim("on", name, support) for name in said.subjects]


def _kind(cause: Cause) -> Topic:
    """A helping hand is nothing that happened at this step."""
    return Topic.DETAIL if cause is Cause.HELPED else Topic.EVENT


def _event_rules() -> list[Rule]:
    found = [
        rule(Position.PREDICATE, rf"(?:{words})", each(cause.value), _kind(cause)) for cause, words in _EVENTS.items()
    ]
    either = (Cause.TOPPLED.value, Cause.DROPPED.value)
    return [
        *found,
        rule(
            Position.PREDICATE,
            rf"{_HAVE}(?:fell(?: down)?|fallen(?: down)?|came down|dropped down)",
            each(*either),
            Topic.EVENT,
        ),
        rule(
            Position.PREDICATE,
            r"(?:is|are) (?:not where (?:it|they) should be|out of place)",
            each("displaced"),
            Topic.EVENT,
        ),
        rule(Position.PREDICATE, rf"{_STAND} {_ON} <object:x>", _placed, Topic.EVENT),
        rule(Position.MODIFIER, rf" (?:{_ON}|to|down onto|down on) <object:x>", _placed, only_after=[Topic.EVENT]),
        rule(
            Position.MODIFIER,
            r" (?:off|from|from on top of) <object:x>",
            lambda said: [claim("fell_from", name, *said.names("x")) for name in said.subjects],
            only_after=[Topic.EVENT],
        ),
        rule(
            Position.PREDICATE,
            r"(?:is|are|stands?) in the way of <object:x>|(?:is|are) blocking <object:y>|"
            r"blocks? (?:the way of )?<object:z>",
            lambda said: [
                claim("blocks", name, other)
                for name in said.subjects
                for other in (*said.names("x"), *said.names("y"), *said.names("z"))
            ],
            Topic.EVENT,
        ),
        rule(
            Position.PREDICATE,
            rf"(?:{_EVENTS[Cause.HELPED]}) after step <number:n>",
            lambda said: [claim("right_after", name, said.number("n")) for name in said.subjects],
            _kind(Cause.HELPED),
        ),
        rule(
            Position.CLAUSE,
            rf"{_ARM} (?:has )?(?:accidentally )?(?:lost its grip on|lost hold of|lost|dropped|let go of) <objects:x>",
            lambda said: [claim("dropped", name) for name in said.names("x")],
            Topic.EVENT,
        ),
        rule(
            Position.CLAUSE,
            rf"{_ARM} (?:failed to|did not|could not|was not able to|was unable to|did not manage to) "
            r"(?:lift|pick up|grasp|grip) <objects:x>",
            lambda said: [claim("not_lifted", name) for name in said.names("x")],
            Topic.EVENT,
        ),
        rule(
            Position.CLAUSE,
            r"(?:i|the robot|the cameras?|we) (?:can no longer|cannot|could not|can not|no longer) "
            r"(?:see|sees|find|finds) "
            r"<objects:x>",
            lambda said: [claim("missing", name) for name in said.names("x")],
            Topic.EVENT,
        ),
        rule(
            Position.CLAUSE,
            r"(?:the way of )?<object:x> (?:is|was) blocked by <object:y>",
            lambda said: [claim("blocks", *said.names("y"), *said.names("x"))],
            Topic.EVENT,
        ),
        rule(
            Position.CLAUSE,
            rf"{_ARM} (?:came up|stayed|remained|was) empty",
            lambda s: [claim("some", "not_lifted")],
            Topic.EVENT,
        ),
        *_swap_rules(),
        *_several_rules(),
        *_detail_rules(),
    ]


def _swap_rules() -> list[Rule]:
    words = (
        rf"(?:{_HAVE}(?:changed|swapped|traded|switched|exchanged) (?:places|positions)|"
        rf"{_BE} (?:swapped|exchanged|switched)|"
        r"(?:took|have taken) each other's places?)"
    )

    def together(said: RuleMatch) -> Iterable[Claim]:
        yield from each("swapped")(said)
        if len(said.subjects) > 1:
            yield claim("swapped_together", *sorted(said.subjects))

    return [
        rule(
            Position.PREDICATE,
            rf"{words}(?: with one another| with each other| with something else)?",
            together,
            Topic.EVENT,
        ),
        rule(
            Position.PREDICATE,
            rf"{words} with <object:x>",
            lambda said: [claim("swapped_with", name, *said.names("x")) for name in said.subjects],
            Topic.EVENT,
        ),
    ]


def _several_rules() -> list[Rule]:
    """Events told without the names of the objects."""
    several = {
        Cause.TOPPLED: rf"the (?:tower|stack|pile) (?:{_HAVE}(?:fell|fallen)(?: over| down)?|collapsed|"
        r"has collapsed|came down|toppled)",
        Cause.DROPPED: rf"what (?:{_ARM}) (?:carried|held) (?:fell|was dropped)",
        Cause.MISPLACED: rf"(?:some|several) {_THINGS} missed their places",
        Cause.MISSING: rf"(?:some|several) {_THINGS} are (?:gone|missing)",
        Cause.MOVED: rf"(?:some|several) {_THINGS} (?:were|have been) (?:shifted|moved)",
        Cause.BLOCKING: rf"(?:some|several) {_THINGS} block the way",
    }
    counted = {cause: words for cause, words in _EVENTS.items() if cause is not Cause.HELPED}
    counted[Cause.SWAPPED] = rf"{_BE} (?:exchanged|swapped)|{_HAVE}(?:changed|swapped) places"

    def says(predicate: str, cause: Cause, number: bool) -> ClaimMaker:
        return lambda said: [claim(predicate, cause.value, *([said.number("n")] if number else []))]

    found = [rule(Position.CLAUSE, words, says(SEVERAL, cause, False), Topic.EVENT) for cause, words in several.items()]
    found += [
        rule(
            Position.CLAUSE,
            rf"<number:n> (?:{_THINGS[3:-1]}|object|block|thing|item) (?:{words})",
            says("count", cause, True),
            Topic.EVENT,
        )
        for cause, words in counted.items()
    ]
    found.append(
        rule(
            Position.CLAUSE,
            r"part of the work is (?:already done|done already)",
            says("some", Cause.HELPED, False),
            Topic.EVENT,
        )
    )
    return found


def _off(said: RuleMatch) -> Iterable[Claim]:
    size = f"{said['n']} {'mm' if said['unit'].startswith('m') else 'cm'}"
    towards = direction(said["where"].replace("further", "farther").replace("closer", "nearer"))
    for name in said.subjects:
        yield claim("off_by", name, size)
        if towards:
            yield claim("off_towards", name, towards)


def _detail_rules() -> list[Rule]:
    offset = (
        r"(?:about |roughly |some )?(?P<n>\d+) ?(?P<unit>cm|mm|centimetres?|centimeters?|millimetres?|millimeters?) "
        r"(?P<where>(?:to the )?(?:left|right) of|(?:farther|further)(?: away)? from the robot than|"
        r"(?:nearer|closer) to the robot than|(?:away )?from|off) (?:its|their)(?: intended| expected)? place"
    )
    nothing = lambda said: ()  # noqa: E731
    return [
        rule(Position.MODIFIER, rf",? ?{offset}", _off, only_after=[Topic.EVENT]),
        rule(Position.PREDICATE, rf"(?:now )?(?:is|are)(?: now)? {offset}", _off, Topic.EVENT),
        rule(
            Position.MODIFIER,
            r",? (?:though|although|even though) nothing (?:was to|should have|was supposed to|was meant to) "
            r"touch(?:ed)? (?:it|them)",
            lambda said: [claim("moved", name) for name in said.subjects],
            only_after=[Topic.EVENT],
        ),
        rule(
            Position.MODIFIER,
            r" (?:on the way|in transit|while being moved|while it was being moved|during the move|while being carried|"
            r"while it was being carried|before reaching its place|before it reached its place)",
            lambda said: [claim("dropped", name) for name in said.subjects],
            only_after=[Topic.EVENT],
        ),
        rule(Position.MODIFIER, r" elsewhere| somewhere else", nothing, only_after=[Topic.EVENT]),
        rule(Position.PREDICATE, rf"{_STAND} (?:elsewhere|somewhere else)", each("displaced"), Topic.EVENT),
        rule(Position.MODIFIER, r" in the process", nothing, only_after=[Topic.EVENT]),
    ]


def _step_rules() -> list[Rule]:
    """Which step it was, and how it ended."""
    failed = (
        r"(?:went wrong|has gone wrong|failed|has failed|did not work(?: out)?|was not successful|was unsuccessful|"
        r"did not succeed|has not succeeded|did not go as planned|did not go as expected)"
    )
    named = r"step <number:n>(?:(?:,| -|:)? ?\(?<action:a>\)?,?)?"

    def told(predicate: str) -> ClaimMaker:
        def says(said: RuleMatch) -> Iterable[Claim]:
            yield claim(predicate, *([said.number("n")] if predicate not in ("unexpected", "ahead") else []))
            yield from _step_named(said)

        return says

    def when(*phases: Phase) -> ClaimMaker:
        def says(said: RuleMatch) -> Iterable[Claim]:
            yield Claim(frozenset(Fact("at_step", (said.number("n"), phase.value)) for phase in phases))
            yield from _step_named(said)

        return says

    return [
        rule(Position.CLAUSE, rf"{named} {failed}", told("failed"), Topic.FAILURE),
        rule(
            Position.CLAUSE,
            rf"(?:the action )?<action:a>,? {failed}",
            lambda said: [claim("failed_action", *said.tokens("a", "a"))],
            Topic.FAILURE,
        ),
        rule(
            Position.CLAUSE,
            rf"(?:something|things) went wrong (?:in|at|during|with|around) {named}",
            told("trouble"),
            Topic.FAILURE,
        ),
        rule(
            Position.CLAUSE,
            rf"(?:there was|we had|i found) (?:a problem|an error|a failure|trouble) (?:in|at|during|with) {named}",
            told("trouble"),
            Topic.FAILURE,
        ),
        rule(
            Position.CLAUSE,
            rf"{named} (?:cannot|can not) be (?:done|carried out|executed|run)(?: as things are)?",
            told("cannot"),
            Topic.FAILURE,
        ),
        rule(
            Position.CLAUSE,
            rf"{named} (?:did what it should|did its job|worked(?: as (?:planned|intended|expected))?|succeeded|"
            r"was successful)",
            told("worked"),
            Topic.FAILURE,
        ),
        rule(
            Position.CLAUSE, r"something (?:was|is) not as expected", lambda said: [claim("unexpected")], Topic.FAILURE
        ),
        rule(
            Position.CLAUSE,
            r"the scene is already ahead of (?:the )?plan",
            lambda said: [claim("ahead")],
            Topic.FAILURE,
        ),
        rule(
            Position.CLAUSE,
            r"<quote:q>",
            lambda said: [claim("quoted", text) for text in said.tokens("q", "q")],
            Topic.EVENT,
        ),
        rule(Position.OPENING, rf"(?:after|following) {named}", when(Phase.AFTER)),
        rule(
            Position.OPENING,
            rf"(?:in|at|during|on|while (?:the robot was )?(?:doing|carrying out)) {named}",
            when(Phase.AFTER),
        ),
        rule(Position.OPENING, rf"before {named}", when(Phase.BEFORE)),
        rule(
            Position.OPENING, rf"(?:although|even though) {named} (?:worked|succeeded|was successful)", told("worked")
        ),
        rule(
            Position.MODIFIER,
            rf",? (?:in|at|during|after) {named}",
            when(Phase.AFTER),
            only_after=[Topic.EVENT, Topic.FAILURE],
        ),
        rule(Position.MODIFIER, rf",? before {named}", when(Phase.BEFORE), only_after=[Topic.FAILURE]),
    ]


def _step_named(said: RuleMatch) -> Iterable[Claim]:
    for action in said.tokens("a", "a"):
        yield claim("step_action", said.number("n"), action)


RELATIONS = {
    "top": _ON,
    "left": r"(?:to|on) the left(?: side)? of|left of",
    "right": r"(?:to|on) the right(?: side)? of|right of",
    "front": r"in front of",
    "behind": r"behind",
}
"""How it is said where an object is to be, by operator."""


def _consequence_rules() -> list[Rule]:
    found = []

    def says(predicate: str, operator: str) -> ClaimMaker:
        return lambda said: [claim(predicate, operator, name, *said.names("x")) for name in said.subjects]

    def elliptic(operator: str) -> ClaimMaker:
        return lambda said: [claim("meant", operator, *said.names("y"), *said.names("x"))]

    for operator, words in RELATIONS.items():
        found += [
            rule(
                Position.PREDICATE,
                rf"(?:is|are) not (?:(?:standing|placed|resting) )?(?:{words}) <object:x>",
                says("unkept", operator),
                Topic.CONSEQUENCE,
            ),
            rule(
                Position.PREDICATE,
                rf"(?:(?:should|ought to) (?:now )?(?:be|stand|rest|have been|have ended up)|(?:is|are|was|were) "
                rf"(?:supposed|meant|expected) to (?:be|stand|rest)|belongs?)(?: placed)? (?:{words}) <object:x>",
                says("meant", operator),
                Topic.CONSEQUENCE,
            ),
            # `the green die should be on the white lego and the blue cube on the green die`
            rule(
                Position.CLAUSE,
                rf"<object:y> (?:{words}) <object:x>",
                elliptic(operator),
                Topic.CONSEQUENCE,
            ),
            rule(
                Position.MODIFIER,
                rf",? (?:instead of|rather than) (?:being )?(?:{words}) <object:x>",
                says("meant", operator),
                only_after=[Topic.EVENT],
            ),
        ]
    return [
        *found,
        rule(
            Position.PREDICATE,
            r"(?:is|are) not out of the way",
            lambda said: [claim("unkept", "free", name) for name in said.subjects],
            Topic.CONSEQUENCE,
        ),
        rule(
            Position.PREDICATE,
            r"(?:is|are) not back in (?:its|their) places?",
            lambda said: [claim("unkept", "restore", name) for name in said.subjects],
            Topic.CONSEQUENCE,
        ),
        rule(
            Position.CLAUSE,
            r"<action:a> has not been achieved",
            lambda said: [claim("unkept", *_parts(said.tokens("a", "a")[0]))],
            Topic.CONSEQUENCE,
        ),
        rule(
            Position.MODIFIER,
            r",? (?:as|which) (?:the|this) step (?:was to bring about|should have (?:done|achieved)|was meant to do)",
            lambda said: [claim("promised")],
            only_after=[Topic.CONSEQUENCE],
        ),
    ]


def _parts(action: str) -> list[str]:
    operator, inner = re.fullmatch(r"(\w+)\((.*)\)", action, re.DOTALL).groups()  # type: ignore[union-attr]
    return [operator, *inner.split(", ")]


FAILURE_RULES: tuple[Rule, ...] = (*_step_rules(), *_event_rules(), *_consequence_rules())
"""Everything that can be said about what happened."""
