"""Rules for sentences about the recovery from a failure on the table: their patterns and the claims they make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nsrecover.domains.base import Words
from nsrecover.explanation.language_model.entailment import FORMS
from nsrecover.explanation.language_model.sentence_rules import (
    ALL,
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
    opening,
    predicate,
)  # fmt: skip

_WHO = (
    r"(?:(?:the robot|the arm|i|we) "
    r"(?:will|shall|must|should|can|have to|has to|need to|needs to|is going to|am going to) )?"
)
_ORDER = r"(?:first,? |then,? |next,? |after that,? |finally,? |lastly,? )?"
_PUT = rf"{_ORDER}{_WHO}{_ORDER}(?:put|place|set|move|stack|bring)"
_PASSIVE = (
    r"(?:will be|has to be|have to be|must be|should be|needs to be|need to be|can be) (?:first |then |next |finally )?"
    r"(?:put|placed|set|moved|stacked|brought)"
)


def _instruction_rules(operators: Mapping[str, Words]) -> list[Rule]:
    found = []
    known = {name: words for name, words in operators.items() if words.relation}
    ways = {name: rf"(?:{said.relation}) <object:y>" for name, said in known.items() if said.takes_two}
    if "top" in known:
        ways["back on"] = rf"back (?:{known['top'].relation}) <object:y>"
    ways |= {FORMS.get(name, name): rf"(?:{said.relation})" for name, said in known.items() if not said.takes_two}
    for how, words in ways.items():
        found += [
            clause(rf"{_PUT} <object:x> {words}", claims("do", how, "x", "y"), Topic.REMEDY),
            predicate(rf"{_PASSIVE} {words}", claims("do", how, ALL, "y"), Topic.REMEDY),
        ]
    return [
        *found,
        clause(
            rf"{_ORDER}{_WHO}{_ORDER}(?:return|restore) <object:x>(?: to its place)?",
            claims("do", "back", "x"),
            Topic.REMEDY,
        ),
        clause(rf"{_ORDER}{_WHO}{_ORDER}do <action:a>", claims("do", "action", "a"), Topic.REMEDY),
    ]


def _as_after(match: RuleMatch) -> Iterable[Claim]:
    number = match.number("n") if match["n"] else "0"
    return [claim("then_as_after" if match["then"] or match["will"] else "as_after", number)]


def _range(name: str) -> ClaimMaker:
    """Return a maker of a claim about a range of steps; of steps that are not consecutive nothing is ever true."""

    def make(match: RuleMatch) -> Iterable[Claim]:
        found = match.range("s")
        return [claim(name, *map(str, found))] if found else [claim("no such steps")]

    return make


def _rejoining_rules() -> list[Rule]:
    start = r"(?:as it was at the start|back at the start)"
    after = r"(?:(?:just )?as it should be|as expected|as planned) after step <number:n>"
    goes_on = r"(?:the plan|it|the robot)(?: simply| then| can)? (?:goes on|go on|continues|continue|resumes|resume)"
    will = r"(?:(?P<will>will be)|is)"
    return [
        clause(
            rf"(?P<then>then,? |after that,? |afterwards,? )?the scene {will} (?:{after}|{start})",
            _as_after,
            Topic.REMEDY,
        ),
        clause(rf"{goes_on}(?: from there| as before)?", claims("goes_on"), Topic.REMEDY),
        clause(rf"{goes_on} (?:from|after) step <number:n>", claims("goes_on_after", "n"), Topic.REMEDY),
        clause(rf"{goes_on} with <steps:s> again", _range("again"), Topic.REMEDY),
        clause(r"(?:this|that|it)(?: also)? takes care of <steps:s>", _range("skips"), Topic.REMEDY),
        clause(r"<steps:s> can(?: then)? be skipped", _range("skips"), Topic.REMEDY),
        clause(r"<steps:s> can (?:simply )?be (?:done|repeated)(?: again)?", _range("again"), Topic.REMEDY),
        clause(
            r"(?:nothing (?:has to|needs to|must) be (?:put right|done|corrected|fixed)|"
            r"no (?:recovery|correction|repair) is "
            r"(?:needed|necessary))(?: to get back onto the plan)?",
            claims("nothing_to_do"),
            Topic.REMEDY,
        ),
    ]


def _search_rules() -> list[Rule]:
    takes = r"(?:takes|needs|requires|consists of|is) <number:n> (?:actions?|steps?|moves?)"
    shortest = (
        r"there is no (?:shorter|cheaper) (?:way|one)|(?:this|that|it|which)? ?is the shortest(?: possible)?"
        r"(?: way| one)?(?: back)?|"
        r"no (?:shorter|cheaper) way exists"
    )
    return [
        clause(
            rf"the (?:way back|recovery|repair) {takes}",
            lambda match: [claim("way_back"), claim("actions", match.number("n"))],
            Topic.REMEDY,
        ),
        clause(
            r"<number:n> (?:actions?|moves?) (?:are|is) needed"
            r"(?: to (?:recover|get back(?: onto the plan)?|put things right))?",
            claims("actions", "n"),
            Topic.REMEDY,
        ),
        clause(
            r"the shortest way back (?:takes|has|needs|is) <number:n> (?:actions?|moves?|steps?)",
            lambda match: [claim("shortest"), claim("actions", match.number("n"))],
            Topic.REMEDY,
        ),
        clause(
            r"(?:i|the robot|we) (?:needs?|will need) <number:n> (?:actions?|moves?)"
            r"(?: to (?:recover|repair this|get back))?",
            claims("actions", "n"),
            Topic.REMEDY,
        ),
        opening(r"after looking at <number:n> scenes", claims("looked_at", "n")),
        clause(shortest, claims("shortest"), Topic.REMEDY),
        opening(
            r"(?:to (?:recover|fix this|get back(?: onto the plan| on track)?|put (?:this|things) right|correct this)|"
            r"the way back(?: is)?|for the recovery)",
            claims("way_back"),
        ),
        clause(
            r"(?:there is no way|it is impossible to get) back(?: (?:on)?to the plan)?", claims("no_way"), Topic.REMEDY
        ),
        clause(r"no way back was found(?: in <number:n>(?P<rest>\.\d+)? seconds)?", _searched, Topic.REMEDY),
        modifier(r",? after looking at <number:n> (?:scenes?|states?)", claims("looked_at", "n"), Topic.REMEDY),
        clause(r"what makes it impossible (?:is|are) <objects:x>", claims("blamed", "each x"), Topic.REMEDY),
        predicate(r"(?:makes? it impossible|(?:is|are) what makes it impossible)", each("blamed"), Topic.REMEDY),
        predicate(r"(?:may|can) (?:stay|remain) where (?:it is|they are)", each("stays"), Topic.REMEDY),
        predicate(
            r"(?:need|needs|does not need|do not need) not (?:to )?be moved(?: back)?", each("stays"), Topic.REMEDY
        ),
        modifier(
            r"(?::|,| because|, because) ?nothing that follows needs (?:it|them) elsewhere", each("stays"), Topic.REMEDY
        ),
    ]


def _searched(match: RuleMatch) -> Iterable[Claim]:
    yield claim("none_found")
    if match["n"]:
        yield claim("searched_for", f"{match.number('n')}{match['rest']}")


def recovery_rules(operators: Mapping[str, Words]) -> tuple[Rule, ...]:
    """Return all rules for sentences about the recovery, given the words of the operators."""
    return (*_instruction_rules(operators), *_rejoining_rules(), *_search_rules())
