"""Ways to say what happened to objects on the table, and what each of them claims."""

from __future__ import annotations

import re
from collections.abc import Iterable

from nsrecover.core.discrepancy import Cause, Phase
from nsrecover.core.explanation import Fact
from nsrecover.explanation.language_model.knowledge import SEVERAL, direction
from nsrecover.explanation.language_model.reading import Claim, Kind, Place, Rule, Said, Says, claim, each, rule

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


def _placed(said: Said) -> Iterable[Claim]:
    (support,) = said.names("x")
    return [claim("on", name, support) for name in said.subjects]


def _kind(cause: Cause) -> Kind:
    """A helping hand is nothing that happened at this step."""
    return Kind.DETAIL if cause is Cause.HELPED else Kind.EVENT


def _event_rules() -> list[Rule]:
    found = [
        rule(Place.PREDICATE, rf"(?:{words})", each(cause.value), _kind(cause)) for cause, words in _EVENTS.items()
    ]
    either = (Cause.TOPPLED.value, Cause.DROPPED.value)
    return [
        *found,
        rule(
            Place.PREDICATE,
            rf"{_HAVE}(?:fell(?: down)?|fallen(?: down)?|came down|dropped down)",
            each(*either),
            Kind.EVENT,
        ),
        rule(
            Place.PREDICATE,
            r"(?:is|are) (?:not where (?:it|they) should be|out of place)",
            each("displaced"),
            Kind.EVENT,
        ),
        rule(Place.PREDICATE, rf"{_STAND} {_ON} <object:x>", _placed, Kind.EVENT),
        rule(Place.MODIFIER, rf" (?:{_ON}|to|down onto|down on) <object:x>", _placed, only_after=[Kind.EVENT]),
        rule(
            Place.MODIFIER,
            r" (?:off|from|from on top of) <object:x>",
            lambda said: [claim("fell_from", name, *said.names("x")) for name in said.subjects],
            only_after=[Kind.EVENT],
        ),
        rule(
            Place.PREDICATE,
            r"(?:is|are|stands?) in the way of <object:x>|(?:is|are) blocking <object:y>|"
            r"blocks? (?:the way of )?<object:z>",
            lambda said: [
                claim("blocks", name, other)
                for name in said.subjects
                for other in (*said.names("x"), *said.names("y"), *said.names("z"))
            ],
            Kind.EVENT,
        ),
        rule(
            Place.PREDICATE,
            rf"(?:{_EVENTS[Cause.HELPED]}) after step <number:n>",
            lambda said: [claim("right_after", name, said.number("n")) for name in said.subjects],
            _kind(Cause.HELPED),
        ),
        rule(
            Place.CLAUSE,
            rf"{_ARM} (?:has )?(?:accidentally )?(?:lost its grip on|lost hold of|lost|dropped|let go of) <objects:x>",
            lambda said: [claim("dropped", name) for name in said.names("x")],
            Kind.EVENT,
        ),
        rule(
            Place.CLAUSE,
            rf"{_ARM} (?:failed to|did not|could not|was not able to|was unable to|did not manage to) "
            r"(?:lift|pick up|grasp|grip) <objects:x>",
            lambda said: [claim("not_lifted", name) for name in said.names("x")],
            Kind.EVENT,
        ),
        rule(
            Place.CLAUSE,
            r"(?:i|the robot|the cameras?|we) (?:can no longer|cannot|could not|can not|no longer) "
            r"(?:see|sees|find|finds) "
            r"<objects:x>",
            lambda said: [claim("missing", name) for name in said.names("x")],
            Kind.EVENT,
        ),
        rule(
            Place.CLAUSE,
            r"(?:the way of )?<object:x> (?:is|was) blocked by <object:y>",
            lambda said: [claim("blocks", *said.names("y"), *said.names("x"))],
            Kind.EVENT,
        ),
        rule(
            Place.CLAUSE,
            rf"{_ARM} (?:came up|stayed|remained|was) empty",
            lambda s: [claim("some", "not_lifted")],
            Kind.EVENT,
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

    def together(said: Said) -> Iterable[Claim]:
        yield from each("swapped")(said)
        if len(said.subjects) > 1:
            yield claim("swapped_together", *sorted(said.subjects))

    return [
        rule(
            Place.PREDICATE,
            rf"{words}(?: with one another| with each other| with something else)?",
            together,
            Kind.EVENT,
        ),
        rule(
            Place.PREDICATE,
            rf"{words} with <object:x>",
            lambda said: [claim("swapped_with", name, *said.names("x")) for name in said.subjects],
            Kind.EVENT,
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

    def says(predicate: str, cause: Cause, number: bool) -> Says:
        return lambda said: [claim(predicate, cause.value, *([said.number("n")] if number else []))]

    found = [rule(Place.CLAUSE, words, says(SEVERAL, cause, False), Kind.EVENT) for cause, words in several.items()]
    found += [
        rule(
            Place.CLAUSE,
            rf"<number:n> (?:{_THINGS[3:-1]}|object|block|thing|item) (?:{words})",
            says("count", cause, True),
            Kind.EVENT,
        )
        for cause, words in counted.items()
    ]
    found.append(
        rule(
            Place.CLAUSE,
            r"part of the work is (?:already done|done already)",
            says("some", Cause.HELPED, False),
            Kind.EVENT,
        )
    )
    return found


def _off(said: Said) -> Iterable[Claim]:
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
        rule(Place.MODIFIER, rf",? ?{offset}", _off, only_after=[Kind.EVENT]),
        rule(Place.PREDICATE, rf"(?:now )?(?:is|are)(?: now)? {offset}", _off, Kind.EVENT),
        rule(
            Place.MODIFIER,
            r",? (?:though|although|even though) nothing (?:was to|should have|was supposed to|was meant to) "
            r"touch(?:ed)? (?:it|them)",
            lambda said: [claim("moved", name) for name in said.subjects],
            only_after=[Kind.EVENT],
        ),
        rule(
            Place.MODIFIER,
            r" (?:on the way|in transit|while being moved|while it was being moved|during the move|while being carried|"
            r"while it was being carried|before reaching its place|before it reached its place)",
            lambda said: [claim("dropped", name) for name in said.subjects],
            only_after=[Kind.EVENT],
        ),
        rule(Place.MODIFIER, r" elsewhere| somewhere else", nothing, only_after=[Kind.EVENT]),
        rule(Place.PREDICATE, rf"{_STAND} (?:elsewhere|somewhere else)", each("displaced"), Kind.EVENT),
        rule(Place.MODIFIER, r" in the process", nothing, only_after=[Kind.EVENT]),
    ]


def _step_rules() -> list[Rule]:
    """Which step it was, and how it ended."""
    failed = (
        r"(?:went wrong|has gone wrong|failed|has failed|did not work(?: out)?|was not successful|was unsuccessful|"
        r"did not succeed|has not succeeded|did not go as planned|did not go as expected)"
    )
    named = r"step <number:n>(?:(?:,| -|:)? ?\(?<action:a>\)?,?)?"

    def told(predicate: str) -> Says:
        def says(said: Said) -> Iterable[Claim]:
            yield claim(predicate, *([said.number("n")] if predicate not in ("unexpected", "ahead") else []))
            yield from _step_named(said)

        return says

    def when(*phases: Phase) -> Says:
        def says(said: Said) -> Iterable[Claim]:
            yield Claim(frozenset(Fact("at_step", (said.number("n"), phase.value)) for phase in phases))
            yield from _step_named(said)

        return says

    return [
        rule(Place.CLAUSE, rf"{named} {failed}", told("failed"), Kind.FAILURE),
        rule(
            Place.CLAUSE,
            rf"(?:the action )?<action:a>,? {failed}",
            lambda said: [claim("failed_action", *said.tokens("a", "a"))],
            Kind.FAILURE,
        ),
        rule(
            Place.CLAUSE,
            rf"(?:something|things) went wrong (?:in|at|during|with|around) {named}",
            told("trouble"),
            Kind.FAILURE,
        ),
        rule(
            Place.CLAUSE,
            rf"(?:there was|we had|i found) (?:a problem|an error|a failure|trouble) (?:in|at|during|with) {named}",
            told("trouble"),
            Kind.FAILURE,
        ),
        rule(
            Place.CLAUSE,
            rf"{named} (?:cannot|can not) be (?:done|carried out|executed|run)(?: as things are)?",
            told("cannot"),
            Kind.FAILURE,
        ),
        rule(
            Place.CLAUSE,
            rf"{named} (?:did what it should|did its job|worked(?: as (?:planned|intended|expected))?|succeeded|"
            r"was successful)",
            told("worked"),
            Kind.FAILURE,
        ),
        rule(Place.CLAUSE, r"something (?:was|is) not as expected", lambda said: [claim("unexpected")], Kind.FAILURE),
        rule(Place.CLAUSE, r"the scene is already ahead of (?:the )?plan", lambda said: [claim("ahead")], Kind.FAILURE),
        rule(
            Place.CLAUSE,
            r"<quote:q>",
            lambda said: [claim("quoted", text) for text in said.tokens("q", "q")],
            Kind.EVENT,
        ),
        rule(Place.OPENING, rf"(?:after|following) {named}", when(Phase.AFTER)),
        rule(
            Place.OPENING,
            rf"(?:in|at|during|on|while (?:the robot was )?(?:doing|carrying out)) {named}",
            when(Phase.AFTER),
        ),
        rule(Place.OPENING, rf"before {named}", when(Phase.BEFORE)),
        rule(Place.OPENING, rf"(?:although|even though) {named} (?:worked|succeeded|was successful)", told("worked")),
        rule(
            Place.MODIFIER,
            rf",? (?:in|at|during|after) {named}",
            when(Phase.AFTER),
            only_after=[Kind.EVENT, Kind.FAILURE],
        ),
        rule(Place.MODIFIER, rf",? before {named}", when(Phase.BEFORE), only_after=[Kind.FAILURE]),
    ]


def _step_named(said: Said) -> Iterable[Claim]:
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

    def says(predicate: str, operator: str) -> Says:
        return lambda said: [claim(predicate, operator, name, *said.names("x")) for name in said.subjects]

    def elliptic(operator: str) -> Says:
        return lambda said: [claim("meant", operator, *said.names("y"), *said.names("x"))]

    for operator, words in RELATIONS.items():
        found += [
            rule(
                Place.PREDICATE,
                rf"(?:is|are) not (?:(?:standing|placed|resting) )?(?:{words}) <object:x>",
                says("unkept", operator),
                Kind.CONSEQUENCE,
            ),
            rule(
                Place.PREDICATE,
                rf"(?:(?:should|ought to) (?:now )?(?:be|stand|rest|have been|have ended up)|(?:is|are|was|were) "
                rf"(?:supposed|meant|expected) to (?:be|stand|rest)|belongs?)(?: placed)? (?:{words}) <object:x>",
                says("meant", operator),
                Kind.CONSEQUENCE,
            ),
            # `the green die should be on the white lego and the blue cube on the green die`
            rule(
                Place.CLAUSE,
                rf"<object:y> (?:{words}) <object:x>",
                elliptic(operator),
                Kind.CONSEQUENCE,
            ),
            rule(
                Place.MODIFIER,
                rf",? (?:instead of|rather than) (?:being )?(?:{words}) <object:x>",
                says("meant", operator),
                only_after=[Kind.EVENT],
            ),
        ]
    return [
        *found,
        rule(
            Place.PREDICATE,
            r"(?:is|are) not out of the way",
            lambda said: [claim("unkept", "free", name) for name in said.subjects],
            Kind.CONSEQUENCE,
        ),
        rule(
            Place.PREDICATE,
            r"(?:is|are) not back in (?:its|their) places?",
            lambda said: [claim("unkept", "restore", name) for name in said.subjects],
            Kind.CONSEQUENCE,
        ),
        rule(
            Place.CLAUSE,
            r"<action:a> has not been achieved",
            lambda said: [claim("unkept", *_parts(said.tokens("a", "a")[0]))],
            Kind.CONSEQUENCE,
        ),
        rule(
            Place.MODIFIER,
            r",? (?:as|which) (?:the|this) step (?:was to bring about|should have (?:done|achieved)|was meant to do)",
            lambda said: [claim("promised")],
            only_after=[Kind.CONSEQUENCE],
        ),
    ]


def _parts(action: str) -> list[str]:
    operator, inner = re.fullmatch(r"(\w+)\((.*)\)", action, re.DOTALL).groups()  # type: ignore[union-attr]
    return [operator, *inner.split(", ")]


FAILURE_RULES: tuple[Rule, ...] = (*_step_rules(), *_event_rules(), *_consequence_rules())
"""Everything that can be said about what happened."""
