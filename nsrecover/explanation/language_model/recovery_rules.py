"""Rules for sentences about the recovery from a failure on the table: their patterns and the claims they make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nsrecover.domains.base import Words
from nsrecover.domains.tabletop.operators import PUT_BACK, STACK
from nsrecover.explanation.language_model.entailment import BACK_ON
from nsrecover.explanation.language_model.sentence_rules import (
    ALL,
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
    rules_of,
)

_WHO = (
    r"(?:(?:the robot|the arm|i|we) "
    r"(?:will|shall|must|should|can|have to|has to|need to|needs to|is going to|am going to) )?"
)
_ORDER = r"(?:first,? |then,? |next,? |after that,? |finally,? |lastly,? )?"
_PUT = r"(?:put|place|set|move|stack|bring)"
_DO = rf"{_ORDER}{_WHO}{_ORDER}"
_PASSIVE = (
    r"(?:will be|has to be|have to be|must be|should be|needs to be|need to be|can be) (?:first |then |next |finally )?"
    r"(?:put|placed|set|moved|stacked|brought)"
)


def recovery_rules(operators: Mapping[str, Words]) -> tuple[SentenceRule, ...]:
    """Return all rules for sentences about the recovery, given the words of the operators."""
    return rules_of(_instruction_rules(operators), _rejoining_rules(), _search_rules())


def _instruction_rules(operators: Mapping[str, Words]) -> RuleTable:
    ways = {
        name: rf"(?:{words.relation})" + " <object:y>" * words.takes_two
        for name, words in operators.items()
        if words.relation
    }
    if STACK in ways:
        ways[BACK_ON] = f"back {ways[STACK]}"
    return {
        SentenceRole(Position.CLAUSE, Topic.REMEDY): {
            **{rf"{_DO}{_PUT} <object:x> {words}": claims("do", how, "x", "y") for how, words in ways.items()},
            rf"{_DO}(?:return|restore) <object:x>(?: to its place)?": claims("do", PUT_BACK, "x"),
            rf"{_DO}do <action:a>": claims("do", "action", "a"),
        },
        SentenceRole(Position.PREDICATE, Topic.REMEDY): {
            rf"{_PASSIVE} {words}": claims("do", how, ALL, "y") for how, words in ways.items()
        },
    }


def _rejoining_rules() -> RuleTable:
    start = r"(?:as it was at the start|back at the start)"
    after = r"(?:(?:just )?as it should be|as expected|as planned) after step <number:n>"
    goes_on = r"(?:the plan|it|the robot)(?: simply| then| can)? (?:goes on|go on|continues|continue|resumes|resume)"
    will = r"(?:(?P<will>will be)|is)"
    return {
        SentenceRole(Position.CLAUSE, Topic.REMEDY): {
            rf"(?P<then>then,? |after that,? |afterwards,? )?the scene {will} (?:{after}|{start})": _as_after,
            rf"{goes_on}(?: from there| as before)?": claims("goes_on"),
            rf"{goes_on} (?:from|after) step <number:n>": claims("goes_on_after", "n"),
            r"the plan (?:then )?repeats <steps:s>": _range("again"),
            rf"{goes_on} with <steps:s> again": _range("again"),
            r"(?:this|that|it)(?: also)? (?:completes|takes care of) <steps:s>": _range("skips"),
            r"<steps:s> can(?: then)? be skipped": _range("skips"),
            r"<steps:s> can (?:simply )?be (?:done|repeated)(?: again)?": _range("again"),
            r"(?:nothing (?:has to|needs to|must) be (?:put right|done|corrected|fixed)|"
            r"no (?:recovery|correction|repair) is (?:needed|necessary))"
            r"(?: to get back onto the plan)?": claims("nothing_to_do"),
        }
    }


def _as_after(match: RuleMatch) -> Iterable[Claim]:
    number = match.number("n") if match["n"] else "0"
    return [claim("then_as_after" if match["then"] or match["will"] else "as_after", number)]


def _range(name: str) -> ClaimMaker:
    """Return a maker of a claim about a range of steps; of steps that are not consecutive nothing is ever true."""

    def make(match: RuleMatch) -> Iterable[Claim]:
        found = match.range("s")
        return [claim(name, *map(str, found))] if found else [claim("no such steps")]

    return make


def _search_rules() -> RuleTable:
    moves = r"<number:n> (?:actions?|moves?)"
    return {
        SentenceRole(Position.CLAUSE, Topic.REMEDY): {
            r"the (?:way back|recovery|repair) (?:takes|needs|requires|consists of|is) "
            r"<number:n> (?:actions?|steps?|moves?)": _length("way_back"),
            rf"{moves} (?:are|is) needed"
            r"(?: to (?:recover|get back(?: onto the plan)?|put things right))?": _length(),
            r"the shortest way back (?:takes|has|needs|is) "
            r"<number:n> (?:actions?|moves?|steps?)": _length("shortest"),
            rf"(?:i|the robot|we) (?:needs?|will need) {moves}(?: to (?:recover|repair this|get back))?": _length(),
            r"there is no (?:shorter|cheaper) (?:way|one)|(?:this|that|it|which)? ?is the shortest(?: possible)?"
            r"(?: way| one)?(?: back)?|no (?:shorter|cheaper) way exists": claims("shortest"),
            r"(?:there is no way|it is impossible to get) back(?: (?:on)?to the plan)?|"
            r"no (?:recovery|way back) exists|there is no recovery": claims("no_way"),
            r"no (?:recovery|way back) was found(?: in <number:n>(?P<rest>\.\d+)? seconds)?": _searched,
            r"what makes it impossible (?:is|are) <objects:x>": claims("blamed", "each x"),
        },
        SentenceRole(Position.OPENING): {
            r"after looking at <number:n> scenes?": claims("looked_at", "n"),
            r"(?:to (?:recover|fix this|get back(?: onto the plan| on track)?|put (?:this|things) right|"
            r"correct this)|the way back(?: is)?|for the recovery)": claims("way_back"),
        },
        SentenceRole(Position.PREDICATE, Topic.REMEDY): {
            r"(?:makes? it impossible|(?:is|are) what makes it impossible)": each("blamed"),
            r"(?:may|can) (?:stay|remain) where (?:it is|they are)": each("stays"),
            r"(?:need|needs|does not need|do not need) not (?:to )?be moved(?: back)?": each("stays"),
        },
        SentenceRole(Position.MODIFIER, after=(Topic.REMEDY,)): {
            r",? after looking at <number:n> (?:scenes?|states?)": claims("looked_at", "n"),
            r"(?::|,| because|, because) ?(?:nothing that follows|no later step) needs (?:it|them) elsewhere": each(
                "stays"
            ),
        },
    }


def _length(*more: str) -> ClaimMaker:
    """Return a maker of the claim about the number of actions, and of more claims without arguments."""
    return lambda match: [*map(claim, more), claim("actions", match.number("n"))]


def _searched(match: RuleMatch) -> Iterable[Claim]:
    yield claim("none_found")
    if match["n"]:
        yield claim("searched_for", f"{match.number('n')}{match['rest']}")
