"""Rules for sentences about what happened to objects on the table: their patterns and the claims they make."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from nsrecover.core.discrepancy import Cause, Phase
from nsrecover.domains.base import Words
from nsrecover.explanation.language_model.entailment import SEVERAL, direction
from nsrecover.explanation.language_model.sentence_rules import (
    EACH,
    Claim,
    ClaimMaker,
    Rule,
    RuleMatch,
    Topic,
    claim,
    claims,
    clause,
    each,
    modifier,
    no_claims,
    opening,
    predicate,
)  # fmt: skip

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
"""Predicates that state a cause, as patterns."""


def _event_rules() -> list[Rule]:
    # HELPED describes a step that is done already; nothing happened at this step.
    topics = dict.fromkeys(Cause, Topic.EVENT) | {Cause.HELPED: Topic.DETAIL}
    on = claims("on", EACH, "x")
    return [
        *(predicate(rf"(?:{words})", each(cause.value), topics[cause]) for cause, words in _EVENTS.items()),
        predicate(
            rf"{_HAVE}(?:fell(?: down)?|fallen(?: down)?|came down|dropped down)",
            each("toppled", "dropped"),
            Topic.EVENT,
        ),
        predicate(r"(?:is|are) (?:not where (?:it|they) should be|out of place)", each("displaced"), Topic.EVENT),
        predicate(rf"{_STAND} {_ON} <object:x>", on, Topic.EVENT),
        modifier(rf" (?:{_ON}|to|down onto|down on) <object:x>", on, Topic.EVENT),
        modifier(r" (?:off|from|from on top of) <object:x>", claims("fell_from", EACH, "x"), Topic.EVENT),
        predicate(
            r"(?:is|are|stands?) in the way of <object:x>|(?:is|are) blocking <object:y>|"
            r"blocks? (?:the way of )?<object:z>",
            claims("blocks", EACH, "x", "y", "z"),
            Topic.EVENT,
        ),
        predicate(
            rf"(?:{_EVENTS[Cause.HELPED]}) after step <number:n>", claims("right_after", EACH, "n"), Topic.DETAIL
        ),
        clause(
            rf"{_ARM} (?:has )?(?:accidentally )?(?:lost its grip on|lost hold of|lost|dropped|let go of) <objects:x>",
            claims("dropped", "each x"),
            Topic.EVENT,
        ),
        clause(
            rf"{_ARM} (?:failed to|did not|could not|was not able to|was unable to|did not manage to) "
            r"(?:lift|pick up|grasp|grip) <objects:x>",
            claims("not_lifted", "each x"),
            Topic.EVENT,
        ),
        clause(
            r"(?:i|the robot|the cameras?|we) (?:can no longer|cannot|could not|can not|no longer) "
            r"(?:see|sees|find|finds) "
            r"<objects:x>",
            claims("missing", "each x"),
            Topic.EVENT,
        ),
        clause(r"(?:the way of )?<object:x> (?:is|was) blocked by <object:y>", claims("blocks", "y", "x"), Topic.EVENT),
        clause(rf"{_ARM} (?:came up|stayed|remained|was) empty", claims("some", "not_lifted"), Topic.EVENT),
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

    def together(match: RuleMatch) -> Iterable[Claim]:
        yield from each("swapped")(match)
        if len(match.subjects) > 1:
            yield claim("swapped_together", *sorted(match.subjects))

    return [
        predicate(rf"{words}(?: with one another| with each other| with something else)?", together, Topic.EVENT),
        predicate(rf"{words} with <object:x>", claims("swapped_with", EACH, "x"), Topic.EVENT),
    ]


def _several_rules() -> list[Rule]:
    """Return rules for events whose objects are not named."""
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

    things = rf"<number:n> (?:{_THINGS[3:-1]}|object|block|thing|item)"
    return [
        *(clause(words, claims(SEVERAL, cause.value), Topic.EVENT) for cause, words in several.items()),
        *(
            clause(rf"{things} (?:{words})", claims("count", cause.value, "n"), Topic.EVENT)
            for cause, words in counted.items()
        ),
        clause(r"part of the work is (?:already done|done already)", claims("some", "helped"), Topic.EVENT),
    ]


def _off(match: RuleMatch) -> Iterable[Claim]:
    size = f"{match['n']} {'mm' if match['unit'].startswith('m') else 'cm'}"
    towards = direction(match["where"].replace("further", "farther").replace("closer", "nearer"))
    for name in match.subjects:
        yield claim("off_by", name, size)
        if towards:
            yield claim("off_towards", name, towards)


def _detail_rules() -> list[Rule]:
    offset = (
        r"(?:about |roughly |some )?(?P<n>\d+) ?(?P<unit>cm|mm|centimetres?|centimeters?|millimetres?|millimeters?) "
        r"(?P<where>(?:to the )?(?:left|right) of|(?:farther|further)(?: away)? from the robot than|"
        r"(?:nearer|closer) to the robot than|(?:away )?from|off) (?:its|their)(?: intended| expected)? place"
    )
    return [
        modifier(rf",? ?{offset}", _off, Topic.EVENT),
        predicate(rf"(?:now )?(?:is|are)(?: now)? {offset}", _off, Topic.EVENT),
        modifier(
            r",? (?:though|although|even though) nothing (?:was to|should have|was supposed to|was meant to) "
            r"touch(?:ed)? (?:it|them)",
            each("moved"),
            Topic.EVENT,
        ),
        modifier(
            r" (?:on the way|in transit|while being moved|while it was being moved|during the move|while being carried|"
            r"while it was being carried|before reaching its place|before it reached its place)",
            each("dropped"),
            Topic.EVENT,
        ),
        modifier(r" elsewhere| somewhere else", no_claims, Topic.EVENT),
        predicate(rf"{_STAND} (?:elsewhere|somewhere else)", each("displaced"), Topic.EVENT),
        modifier(r" in the process", no_claims, Topic.EVENT),
    ]


def _step_rules() -> list[Rule]:
    """Return rules for the step that failed and how it ended."""
    failed = (
        r"(?:went wrong|has gone wrong|failed|has failed|did not work(?: out)?|was not successful|was unsuccessful|"
        r"did not succeed|has not succeeded|did not go as planned|did not go as expected)"
    )
    named = r"step <number:n>(?:(?:,| -|:)? ?\(?<action:a>\)?,?)?"

    def step(name: str, *phase: str) -> ClaimMaker:
        """Return a maker of a claim about a step; if the step's action is quoted, it has to be that of the step."""

        def make(match: RuleMatch) -> Iterable[Claim]:
            number = match.number("n")
            yield claim(name, number, *phase)
            for action in match.tokens("a", "a"):
                yield claim("step_action", number, action)

        return make

    before, after = step("at_step", Phase.BEFORE.value), step("at_step", Phase.AFTER.value)

    return [
        clause(rf"{named} {failed}", step("failed"), Topic.FAILURE),
        clause(rf"(?:the action )?<action:a>,? {failed}", claims("failed_action", "a"), Topic.FAILURE),
        clause(
            rf"(?:something|things) went wrong (?:in|at|during|with|around) {named}", step("trouble"), Topic.FAILURE
        ),
        clause(
            rf"(?:there was|we had|i found) (?:a problem|an error|a failure|trouble) (?:in|at|during|with) {named}",
            step("trouble"),
            Topic.FAILURE,
        ),
        clause(
            rf"{named} (?:cannot|can not) be (?:done|carried out|executed|run)(?: as things are)?",
            step("cannot"),
            Topic.FAILURE,
        ),
        clause(
            rf"{named} (?:did what it should|did its job|worked(?: as (?:planned|intended|expected))?|succeeded|"
            r"was successful)",
            step("worked"),
            Topic.FAILURE,
        ),
        clause(r"something (?:was|is) not as expected", claims("unexpected"), Topic.FAILURE),
        clause(r"the scene is already ahead of (?:the )?plan", claims("ahead"), Topic.FAILURE),
        clause(r"<quote:q>", claims("quoted", "each q"), Topic.EVENT),
        opening(rf"(?:after|following) {named}", after),
        opening(rf"(?:in|at|during|on|while (?:the robot was )?(?:doing|carrying out)) {named}", after),
        opening(rf"before {named}", before),
        opening(rf"(?:although|even though) {named} (?:worked|succeeded|was successful)", step("worked")),
        modifier(rf",? (?:in|at|during|after) {named}", after, Topic.EVENT, Topic.FAILURE),
        modifier(rf",? before {named}", before, Topic.FAILURE),
    ]


def _consequence_rules(operators: Mapping[str, Words]) -> list[Rule]:
    found = []
    relations = {name: said.relation for name, said in operators.items() if said.relation and said.takes_two}
    for operator, words in relations.items():
        found += [
            predicate(
                rf"(?:is|are) not (?:(?:standing|placed|resting) )?(?:{words}) <object:x>",
                claims("unkept", operator, EACH, "x"),
                Topic.CONSEQUENCE,
            ),
            predicate(
                rf"(?:(?:should|ought to) (?:now )?(?:be|stand|rest|have been|have ended up)|(?:is|are|was|were) "
                rf"(?:supposed|meant|expected) to (?:be|stand|rest)|belongs?)(?: placed)? (?:{words}) <object:x>",
                claims("meant", operator, EACH, "x"),
                Topic.CONSEQUENCE,
            ),
            # `the green die should be on the white lego and the blue cube on the green die`
            clause(rf"<object:y> (?:{words}) <object:x>", claims("meant", operator, "y", "x"), Topic.CONSEQUENCE),
            modifier(
                rf",? (?:instead of|rather than) (?:being )?(?:{words}) <object:x>",
                claims("meant", operator, EACH, "x"),
                Topic.EVENT,
            ),
        ]
    return [
        *found,
        predicate(r"(?:is|are) not out of the way", claims("unkept", "free", EACH), Topic.CONSEQUENCE),
        predicate(
            r"(?:is|are) not back in (?:its|their) places?", claims("unkept", "restore", EACH), Topic.CONSEQUENCE
        ),
        clause(
            r"<action:a> has not been achieved",
            lambda match: [claim("unkept", *_parts(match.tokens("a", "a")[0]))],
            Topic.CONSEQUENCE,
        ),
        modifier(
            r",? (?:as|which) (?:the|this) step (?:was to bring about|should have (?:done|achieved)|was meant to do)",
            claims("promised"),
            Topic.CONSEQUENCE,
        ),
    ]


def _parts(action: str) -> list[str]:
    operator, inner = re.fullmatch(r"(\w+)\((.*)\)", action, re.DOTALL).groups()  # type: ignore[union-attr]
    return [operator, *inner.split(", ")]


def failure_rules(operators: Mapping[str, Words]) -> tuple[Rule, ...]:
    """Return all rules for sentences about what happened, given the words of the operators."""
    return (*_step_rules(), *_event_rules(), *_consequence_rules(operators))
