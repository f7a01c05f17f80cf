"""Ways to say what will be done about a failure on the table, and what each of them claims."""

from __future__ import annotations

from collections.abc import Iterable

from nsrecover.explanation.language_model.failure_rules import RELATIONS
from nsrecover.explanation.language_model.parser import Claim, ClaimMaker, Position, Rule, RuleMatch, Topic, claim, rule

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


def _instruction_rules() -> list[Rule]:
    found = []

    def says(how: str) -> ClaimMaker:
        return lambda said: [claim("do", how, *said.names("x"), *said.names("y"))]

    def passive(how: str) -> ClaimMaker:
        return lambda said: [claim("do", how, *said.subjects, *said.names("y"))]

    ways = {operator: rf"(?:{words}) <object:y>" for operator, words in RELATIONS.items()}
    ways["back on"] = rf"back (?:{RELATIONS['top']}) <object:y>"
    ways["back"] = r"back(?: (?:in|to|into) its place| where it (?:was|belongs|should be))?"
    ways["aside"] = r"(?:aside|out of the way|to the side)"
    for how, words in ways.items():
        found += [
            rule(Position.CLAUSE, rf"{_PUT} <object:x> {words}", says(how), Topic.REMEDY),
            rule(Position.PREDICATE, rf"{_PASSIVE} {words}", passive(how), Topic.REMEDY),
        ]
    return [
        *found,
        rule(
            Position.CLAUSE,
            rf"{_ORDER}{_WHO}{_ORDER}(?:return|restore) <object:x>(?: to its place)?",
            says("back"),
            Topic.REMEDY,
        ),
        rule(
            Position.CLAUSE,
            rf"{_ORDER}{_WHO}{_ORDER}do <action:a>",
            lambda said: [claim("do", "action", *said.tokens("a", "a"))],
            Topic.REMEDY,
        ),
    ]


def _stays(said: RuleMatch) -> Iterable[Claim]:
    return [claim("stays", name) for name in said.subjects]


def _as_after(said: RuleMatch) -> Iterable[Claim]:
    number = said.number("n") if said["n"] else "0"
    return [claim("then_as_after" if said["then"] or said["will"] else "as_after", number)]


def _range(predicate: str) -> ClaimMaker:
    def says(said: RuleMatch) -> Iterable[Claim]:
        found = said.range("s")
        # Steps that do not follow one another are never told of.
        return [claim(predicate, *map(str, found))] if found else [claim("no such steps")]

    return says


def _rejoining_rules() -> list[Rule]:
    start = r"(?:as it was at the start|back at the start)"
    after = r"(?:(?:just )?as it should be|as expected|as planned) after step <number:n>"
    goes_on = r"(?:the plan|it|the robot)(?: simply| then| can)? (?:goes on|go on|continues|continue|resumes|resume)"
    will = r"(?:(?P<will>will be)|is)"
    return [
        rule(
            Position.CLAUSE,
            rf"(?P<then>then,? |after that,? |afterwards,? )?the scene {will} (?:{after}|{start})",
            _as_after,
            Topic.REMEDY,
        ),
        rule(Position.CLAUSE, rf"{goes_on}(?: from there| as before)?", lambda said: [claim("goes_on")], Topic.REMEDY),
        rule(
            Position.CLAUSE,
            rf"{goes_on} (?:from|after) step <number:n>",
            lambda s: [claim("goes_on_after", s.number("n"))],
            Topic.REMEDY,
        ),
        rule(Position.CLAUSE, rf"{goes_on} with <steps:s> again", _range("again"), Topic.REMEDY),
        rule(Position.CLAUSE, r"(?:this|that|it)(?: also)? takes care of <steps:s>", _range("skips"), Topic.REMEDY),
        rule(Position.CLAUSE, r"<steps:s> can(?: then)? be skipped", _range("skips"), Topic.REMEDY),
        rule(
            Position.CLAUSE, r"<steps:s> can (?:simply )?be (?:done|repeated)(?: again)?", _range("again"), Topic.REMEDY
        ),
        rule(
            Position.CLAUSE,
            r"(?:nothing (?:has to|needs to|must) be (?:put right|done|corrected|fixed)|"
            r"no (?:recovery|correction|repair) is "
            r"(?:needed|necessary))(?: to get back onto the plan)?",
            lambda said: [claim("nothing_to_do")],
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
        rule(
            Position.CLAUSE,
            rf"the (?:way back|recovery|repair) {takes}",
            lambda s: [claim("way_back"), claim("actions", s.number("n"))],
            Topic.REMEDY,
        ),
        rule(
            Position.CLAUSE,
            r"<number:n> (?:actions?|moves?) (?:are|is) needed"
            r"(?: to (?:recover|get back(?: onto the plan)?|put things right))?",
            lambda said: [claim("actions", said.number("n"))],
            Topic.REMEDY,
        ),
        rule(
            Position.CLAUSE,
            r"the shortest way back (?:takes|has|needs|is) <number:n> (?:actions?|moves?|steps?)",
            lambda said: [claim("shortest"), claim("actions", said.number("n"))],
            Topic.REMEDY,
        ),
        rule(
            Position.CLAUSE,
            r"(?:i|the robot|we) (?:needs?|will need) <number:n> (?:actions?|moves?)"
            r"(?: to (?:recover|repair this|get back))?",
            lambda said: [claim("actions", said.number("n"))],
            Topic.REMEDY,
        ),
        rule(
            Position.OPENING, r"after looking at <number:n> scenes", lambda said: [claim("looked_at", said.number("n"))]
        ),
        rule(Position.CLAUSE, shortest, lambda said: [claim("shortest")], Topic.REMEDY),
        rule(
            Position.OPENING,
            r"(?:to (?:recover|fix this|get back(?: onto the plan| on track)?|put (?:this|things) right|correct this)|"
            r"the way back(?: is)?|for the recovery)",
            lambda said: [claim("way_back")],
        ),
        rule(
            Position.CLAUSE,
            r"(?:there is no way|it is impossible to get) back(?: (?:on)?to the plan)?",
            lambda said: [claim("no_way")],
            Topic.REMEDY,
        ),
        rule(
            Position.CLAUSE,
            r"no way back was found(?: in <number:n>(?P<rest>\.\d+)? seconds)?",
            _searched,
            Topic.REMEDY,
        ),
        rule(
            Position.MODIFIER,
            r",? after looking at <number:n> (?:scenes?|states?)",
            lambda said: [claim("looked_at", said.number("n"))],
            only_after=[Topic.REMEDY],
        ),
        rule(
            Position.CLAUSE,
            r"what makes it impossible (?:is|are) <objects:x>",
            lambda said: [claim("blamed", name) for name in said.names("x")],
            Topic.REMEDY,
        ),
        rule(
            Position.PREDICATE,
            r"(?:makes? it impossible|(?:is|are) what makes it impossible)",
            lambda said: [claim("blamed", name) for name in said.subjects],
            Topic.REMEDY,
        ),
        rule(Position.PREDICATE, r"(?:may|can) (?:stay|remain) where (?:it is|they are)", _stays, Topic.REMEDY),
        rule(
            Position.PREDICATE,
            r"(?:need|needs|does not need|do not need) not (?:to )?be moved(?: back)?",
            _stays,
            Topic.REMEDY,
        ),
        rule(
            Position.MODIFIER,
            r"(?::|,| because|, because) ?nothing that follows needs (?:it|them) elsewhere",
            _stays,
            only_after=[Topic.REMEDY],
        ),
    ]


def _searched(said: RuleMatch) -> Iterable[Claim]:
    yield claim("none_found")
    if said["n"]:
        yield claim("searched_for", f"{said.number('n')}{said['rest']}")


RECOVERY_RULES: tuple[Rule, ...] = (*_instruction_rules(), *_rejoining_rules(), *_search_rules())
"""Everything that can be said about what to do."""
