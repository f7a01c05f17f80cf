"""Rules for sentences about what happened to objects on the table: their patterns and the claims they make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nsrecover.core.discrepancy import Cause, Phase
from nsrecover.domains.base import Words
from nsrecover.explanation.language_model.entailment import SEVERAL, direction
from nsrecover.explanation.language_model.sentence_rules import (
    EACH,
    Claim,
    ClaimMaker,
    Position,
    RuleMatch,
    RuleTable,
    SentenceRole,
    SentenceRule,
    Topic,
    claim,
    claims,
    each,
    no_claims,
    rules_of,
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

_FAILED = (
    r"(?:went wrong|has gone wrong|failed|has failed|did not work(?: out)?|was not successful|was unsuccessful|"
    r"did not succeed|has not succeeded|did not go as planned|did not go as expected)"
)
_STEP = r"step <number:n>(?:(?:,| -|:)? ?\(?<action:a>\)?,?)?"
_OFFSET = (
    r"(?:about |roughly |some )?(?P<n>\d+) ?(?P<unit>cm|mm|centimetres?|centimeters?|millimetres?|millimeters?) "
    r"(?P<where>(?:to the )?(?:left|right) of|(?:farther|further)(?: away)? from the robot than|"
    r"(?:nearer|closer) to the robot than|(?:away )?from|off) (?:its|their)(?: intended| expected)? place"
)

_EVENTS: dict[Cause, str] = {
    Cause.TOPPLED: (
        rf"{_HAVE}(?:toppled(?: over)?|fallen over|fell over|tipped over|tumbled(?: down| over)?|collapsed)|"
        rf"{_BE} (?:knocked over|knocked down|toppled(?: over)?)"
    ),
    Cause.DROPPED: (
        rf"{_BE} (?:accidentally )?(?:dropped|lost|let go|let go of)(?: by (?:the )?(?:gripper|robot|arm))?|"
        rf"{_HAVE}(?:slipped|slipped out|fallen|fell|dropped) (?:out of|from) (?:the )?"
        rf"(?:gripper|hand|robot's gripper)|{_HAVE}slipped away"
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
        r"placed inaccurately|set down in the wrong place|put down beside (?:its|their) places?)|"
        rf"{_HAVE}(?:missed|landed beside|ended up beside) (?:its|their)(?: intended| exact)? places?|"
        rf"{_HAVE}ended up in the wrong place"
    ),
    Cause.MISSING: (
        r"(?:is|are)(?: now)? (?:missing|gone|nowhere to be seen|nowhere to be found|not to be seen(?: anywhere)?|"
        r"no longer visible|no longer to be seen|not visible any more|out of sight|lost from sight)|"
        r"(?:has|have) (?:disappeared|vanished|gone missing)|(?:disappeared|vanished|went missing)|"
        r"(?:cannot|can no longer|could not) be (?:seen|found)(?: anywhere)?"
    ),
    Cause.REPLACED: rf"{_BE} (?:replaced|exchanged for something else)",
    Cause.MOVED: (
        rf"{_HAVE}(?:moved|shifted)|{_BE} (?:moved|shifted|displaced|pushed away)|"
        r"(?:is|are) no longer (?:in (?:its|their) places?|where (?:it|they) (?:was|were))"
    ),
    Cause.BLOCKING: r"(?:is|are|stands?) in the way|blocks? the way|(?:is|are) blocking the way",
    Cause.HELPED: (
        r"(?:is|are) already (?:(?:where|as) (?:it|they) should be|in (?:its|their)(?: final| right)? places?|"
        r"where (?:it|they) belongs?)(?: later)?|"
        r"(?:has|have) already been (?:put|placed) (?:in (?:its|their) places?|where (?:it|they) should be)"
    ),
}
"""Predicates that state a cause, as patterns."""

_SHOULD = (
    r"(?:(?:should|ought to) (?:now )?(?:be|stand|rest|have been|have ended up)|(?:is|are|was|were) "
    r"(?:supposed|meant|expected) to (?:be|stand|rest)|belongs?)"
)
_SWAPPED = (
    rf"(?:{_HAVE}(?:changed|swapped|traded|switched|exchanged) (?:places|positions)|"
    rf"{_BE} (?:swapped|exchanged|switched)|(?:took|have taken) each other's places?)"
)

_SEVERAL = {
    Cause.TOPPLED: rf"the (?:tower|stack|pile) (?:{_HAVE}(?:fell|fallen)(?: over| down)?|collapsed|"
    r"has collapsed|came down|toppled)",
    Cause.DROPPED: rf"what (?:{_ARM}) (?:carried|held) (?:fell|was dropped)",
    Cause.MISPLACED: rf"(?:some|several) {_THINGS} missed their places",
    Cause.MISSING: rf"(?:some|several) {_THINGS} are (?:gone|missing)",
    Cause.MOVED: rf"(?:some|several) {_THINGS} (?:were|have been) (?:shifted|moved)",
    Cause.BLOCKING: rf"(?:some|several) {_THINGS} block the way",
}
"""Clauses that state a cause of several objects without their names, as patterns."""


def failure_rules(operators: Mapping[str, Words]) -> tuple[SentenceRule, ...]:
    """Return all rules for sentences about what happened, given the words of the operators."""
    return rules_of(_step_rules(), _event_rules(), _unnamed_rules(), _consequence_rules(operators))


def _step_rules() -> RuleTable:
    """Return rules for the step that failed and how it ended."""
    before, after = _step("at_step", Phase.BEFORE.value), _step("at_step", Phase.AFTER.value)
    succeeded = r"did what it should|did its job|worked(?: as (?:planned|intended|expected))?|succeeded|was successful"
    return {
        SentenceRole(Position.CLAUSE, Topic.FAILURE): {
            rf"{_STEP} {_FAILED}": _step("failed"),
            rf"(?:the action )?<action:a>,? {_FAILED}": claims("failed_action", "a"),
            rf"(?:something|things) went wrong (?:in|at|during|with|around) {_STEP}": _step("trouble"),
            r"(?:there was|we had|i found) (?:a problem|an error|a failure|trouble) (?:in|at|during|with) "
            rf"{_STEP}": _step("trouble"),
            rf"{_STEP} (?:cannot|can not) be (?:done|carried out|executed|run)(?: as things are)?": _step("cannot"),
            rf"{_STEP} (?:{succeeded})": _step("worked"),
            r"something (?:was|is) not as expected": claims("unexpected"),
            r"the scene is already ahead of (?:the )?plan": claims("ahead"),
        },
        SentenceRole(Position.CLAUSE, Topic.EVENT): {r"<quote:q>": claims("quoted", "each q")},
        SentenceRole(Position.OPENING): {
            rf"(?:after|following) {_STEP}": after,
            rf"(?:in|at|during|on|while (?:the robot was )?(?:doing|carrying out)) {_STEP}": after,
            rf"before {_STEP}": before,
            rf"(?:although|even though) {_STEP} (?:worked|succeeded|was successful)": _step("worked"),
        },
        SentenceRole(Position.MODIFIER, after=(Topic.EVENT, Topic.FAILURE)): {
            rf",? (?:in|at|during|after) {_STEP}": after
        },
        SentenceRole(Position.MODIFIER, after=(Topic.FAILURE,)): {rf",? before {_STEP}": before},
    }


def _step(name: str, *phase: str) -> ClaimMaker:
    """Return a maker of a claim about a step; if the step's action is quoted, it has to be that of the step."""

    def make(match: RuleMatch) -> Iterable[Claim]:
        number = match.number("n")
        yield claim(name, number, *phase)
        for action in match.tokens("a", "a"):
            yield claim("step_action", number, action)

    return make


def _event_rules() -> RuleTable:
    """Return rules for events of named objects."""
    return {
        SentenceRole(Position.PREDICATE, Topic.EVENT): {
            **{rf"(?:{words})": each(cause.value) for cause, words in _EVENTS.items() if _happens(cause)},
            rf"{_HAVE}(?:fell(?: down)?|fallen(?: down)?|came down|dropped down)": each("toppled", "dropped"),
            r"(?:is|are) (?:not where (?:it|they) should be|out of place)": each("displaced"),
            rf"{_STAND} (?:elsewhere|somewhere else)": each("displaced"),
            rf"{_STAND} {_ON} <object:x>": claims("on", EACH, "x"),
            r"(?:is|are|stands?) in the way of <object:x>|(?:is|are) blocking <object:y>|"
            r"blocks? (?:the way of )?<object:z>": claims("blocks", EACH, "x", "y", "z"),
            rf"{_SWAPPED}(?: with one another| with each other| with something else)?": _swapped_together,
            rf"{_SWAPPED} with <object:x>": claims("swapped_with", EACH, "x"),
            rf"(?:now )?(?:is|are)(?: now)? {_OFFSET}": _offset,
        },
        SentenceRole(Position.PREDICATE, Topic.DETAIL): {
            rf"(?:{_EVENTS[Cause.HELPED]})": each("helped"),
            rf"(?:{_EVENTS[Cause.HELPED]}) after step <number:n>": claims("right_after", EACH, "n"),
        },
        SentenceRole(Position.CLAUSE, Topic.EVENT): {
            rf"{_ARM} (?:has )?(?:accidentally )?(?:lost its grip on|lost hold of|lost|dropped|let go of) "
            r"<objects:x>": claims("dropped", "each x"),
            rf"{_ARM} (?:failed to|did not|could not|was not able to|was unable to|did not manage to) "
            r"(?:lift|pick up|grasp|grip) <objects:x>": claims("not_lifted", "each x"),
            r"(?:i|the robot|the cameras?|we) (?:can no longer|cannot|could not|can not|no longer) "
            r"(?:see|sees|find|finds) <objects:x>": claims("missing", "each x"),
            r"(?:the way of )?<object:x> (?:is|was) blocked by <object:y>": claims("blocks", "y", "x"),
        },
        SentenceRole(Position.MODIFIER, after=(Topic.EVENT,)): {
            rf" (?:{_ON}|to|down onto|down on) <object:x>": claims("on", EACH, "x"),
            r" (?:off|from|from on top of) <object:x>": claims("fell_from", EACH, "x"),
            rf",? ?{_OFFSET}": _offset,
            r",? (?:though|although|even though) (?:nothing|no action|no step) "
            r"(?:should have|was to|was supposed to|was meant to) (?:touch(?:ed)?|moved?) (?:it|them)": each("moved"),
            r" (?:on the way|in transit|while being moved|while it was being moved|during the move|"
            r"while being carried|while it was being carried|before reaching its place|"
            r"before it reached its place)": each("dropped"),
            r" elsewhere| somewhere else": no_claims,
            r" in the process": no_claims,
        },
    }


def _happens(cause: Cause) -> bool:
    """Return whether a cause is an event; `helped` describes a step that is done already."""
    return cause is not Cause.HELPED


def _swapped_together(match: RuleMatch) -> Iterable[Claim]:
    yield from each("swapped")(match)
    if len(match.subjects) > 1:
        yield claim("swapped_together", *sorted(match.subjects))


def _offset(match: RuleMatch) -> Iterable[Claim]:
    size = f"{match['n']} {'mm' if match['unit'].startswith('m') else 'cm'}"
    towards = direction(match["where"].replace("further", "farther").replace("closer", "nearer"))
    for name in match.subjects:
        yield claim("off_by", name, size)
        if towards:
            yield claim("off_towards", name, towards)


def _unnamed_rules() -> RuleTable:
    """Return rules for events whose objects are counted or not named."""
    swapped = rf"{_BE} (?:exchanged|swapped)|{_HAVE}(?:changed|swapped) places"
    counted = {**{cause: words for cause, words in _EVENTS.items() if _happens(cause)}, Cause.SWAPPED: swapped}
    things = rf"<number:n> (?:{_THINGS[3:-1]}|object|block|thing|item)"
    return {
        SentenceRole(Position.CLAUSE, Topic.EVENT): {
            **{words: claims(SEVERAL, cause.value) for cause, words in _SEVERAL.items()},
            **{rf"{things} (?:{words})": claims("count", cause.value, "n") for cause, words in counted.items()},
            rf"{_ARM} (?:came up|stayed|remained|was) empty": claims("some", "not_lifted"),
            r"part of the work is (?:already done|done already)": claims("some", "helped"),
        }
    }


def _consequence_rules(operators: Mapping[str, Words]) -> RuleTable:
    """Return rules for lost effects and supports."""
    missed = dict[str, ClaimMaker]()
    meant = dict[str, ClaimMaker]()
    instead = dict[str, ClaimMaker]()
    for operator, words in operators.items():
        if not words.relation:
            continue
        is_not = rf"(?:is|are) not (?:(?:standing|placed|resting) )?(?:{words.relation})"
        if not words.takes_two:
            missed[is_not] = claims("unkept", operator, EACH)
            continue
        there = rf"(?:{words.relation}) <object:x>"
        missed[rf"{is_not} <object:x>"] = claims("unkept", operator, EACH, "x")
        missed[rf"{_SHOULD}(?: placed)? {there}"] = claims("meant", operator, EACH, "x")
        # `the green die should be on the white lego and the blue cube on the green die`
        meant[rf"<object:y> {there}"] = claims("meant", operator, "y", "x")
        instead[rf",? (?:instead of|rather than) (?:being )?{there}"] = claims("meant", operator, EACH, "x")
    return {
        SentenceRole(Position.PREDICATE, Topic.CONSEQUENCE): missed,
        SentenceRole(Position.CLAUSE, Topic.CONSEQUENCE): {**meant, r"<action:a> has not been achieved": _not_achieved},
        SentenceRole(Position.MODIFIER, after=(Topic.EVENT,)): instead,
    }


def _not_achieved(match: RuleMatch) -> Iterable[Claim]:
    operator, _, inner = match.tokens("a", "a")[0].removesuffix(")").partition("(")
    return [claim("unkept", operator, *inner.split(", "))]
