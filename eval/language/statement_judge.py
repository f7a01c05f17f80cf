"""Judge of false statements in texts about discrepancies, by key words and the scenes.

It shares no code and no facts with `nsrecover.explanation`: it uses the deviations, the two scenes and the recovery. It
is less exact than the library, and in doubt it calls a statement false.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nsrecover.core.discrepancy import Cause, Discrepancy
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.tabletop.relations import support_name
from nsrecover.explanation.facts import violated_texts
from nsrecover.explanation.reasons import reason_text

_CUES: tuple[tuple[str, frozenset[Cause]], ...] = (
    (
        r"\b(?:not|never) (?:been )?(?:lifted|picked up|grasped)|came up empty|"
        r"(?:did not|failed to) (?:lift|pick|grasp)",
        frozenset({Cause.NOT_LIFTED}),
    ),
    (r"\b(?:topp?led?|tipped|knocked|tumbled|collapsed?|fell over)\b", frozenset({Cause.TOPPLED})),
    (r"\b(?:fell|fallen|falls?)\b", frozenset({Cause.TOPPLED, Cause.DROPPED})),
    (r"\b(?:drop(?:ped|s)?|slipped|lost|let go)\b", frozenset({Cause.DROPPED})),
    (r"\b(?:misplaced|wrong place|missed (?:its|their)|placed wrongly)\b", frozenset({Cause.MISPLACED})),
    (
        r"\b(?:missing|gone|vanished|disappeared|nowhere|cannot be seen|no longer (?:visible|to be seen))\b",
        frozenset({Cause.MISSING}),
    ),
    (r"\b(?:swapped|exchanged|changed places|traded|switched)\b", frozenset({Cause.SWAPPED})),
    (r"\b(?:moved|shifted|displaced)\b", frozenset({Cause.MOVED})),
    (r"\bin the way\b|\bblock(?:s|ed|ing)?\b", frozenset({Cause.BLOCKING})),
    (r"\balready (?:where|in|been)\b", frozenset({Cause.HELPED})),
)
_PLAN = re.compile(
    r"\b(?:should|supposed|meant|put|(?<!its )(?<!their )place|set|move|stack|back|way back|aside|belongs?)\b"
)
_GUESS = re.compile(
    r"\b(?:may|might|maybe|perhaps|probably|possibly|could|would|likely|seems?|appears?|because of|caused by|due to|"
    r"malfunction\w*|sensor\w*|always|never|every|all|none|neither|nor|without|almost|nearly)\b"
)
_ALLOWED_GUESS = re.compile(
    r"may stay where|may remain where|could not|never (?:been )?lifted|was never|were never|has never|not all"
)
_COLOURS = "red|green|blue|yellow|orange|purple|cyan|magenta|white|black|pink|brown|grey|gray"
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def false_statements(text: str, discrepancy: Discrepancy, recovery: Recovery | None) -> tuple[str, ...]:
    """Return the false statements of a text, in words.

    Args:
        text: an explanation.
        discrepancy: that it explains.
        recovery: the planned recovery; None without one.
    """
    names = sorted({*discrepancy.expected.names, *discrepancy.observed.names, "table"}, key=len, reverse=True)
    found = list[str]()
    for sentence in re.split(r"(?<=[.!?])\s+", text.strip()):
        found += (f"{problem}: {sentence}" for problem in _problems(sentence.lower(), names, discrepancy, recovery))
    return tuple(found)


def _problems(
    sentence: str, names: Sequence[str], discrepancy: Discrepancy, recovery: Recovery | None
) -> Iterator[str]:
    quoted = [*violated_texts(discrepancy), *([reason_text(recovery)] if recovery else [])]
    for quote in quoted:
        sentence = sentence.replace(quote.lower().rstrip(". "), " as quoted ") if quote else sentence
    sentence = re.sub(r"\b\w+\(([^()]*)\)", lambda match: _action(match, discrepancy, recovery), sentence)
    masked = sentence
    for name in names:
        masked = re.sub(rf"(?<!\w){re.escape(name.lower())}(?!\w)", f"<{names.index(name)}>", masked)
    if "wrong action" in masked:
        yield "an action that is not the step's or the recovery's"
    if re.search(rf"\b(?:{_COLOURS})\b|\b(?:cube|die|dice|lego|brick|box|ball|cup)s?\b", masked):
        yield "an object that is not in the scene"
    guess = _GUESS.search(_ALLOWED_GUESS.sub("", masked))
    if guess:
        yield f"a guess or a generality ({guess[0]})"
    yield from _wrong_steps(masked, discrepancy, recovery)
    yield from _wrong_supports(masked, names, discrepancy, recovery)
    if not _PLAN.search(masked) or "back to" in masked:
        yield from _wrong_causes(masked, names, discrepancy)
    count = re.search(r"takes (\w+) action", masked)
    if count and (recovery is None or _number(count[1]) != len(recovery.actions)):
        yield "a wrong number of actions"
    if ("shorter" in masked or "shortest" in masked) and (recovery is None or not recovery.proven_optimal):
        yield "nobody has proven that it is the shortest"


def _action(match: re.Match[str], discrepancy: Discrepancy, recovery: Recovery | None) -> str:
    known = [discrepancy.action, *(recovery.actions if recovery else ())]
    return "this action" if match[0] in {str(action).lower() for action in known} else "wrong action"


def _number(word: str) -> int:
    return _NUMBERS.index(word) if word in _NUMBERS else int(word) if word.isdigit() else -1


def _wrong_steps(masked: str, discrepancy: Discrepancy, recovery: Recovery | None) -> Iterator[str]:
    step = discrepancy.step + 1
    ahead = {culprit.subgoal for culprit in discrepancy.deviations if culprit.subgoal is not None}
    reach = (
        set(range(min(recovery.subgoal, step), max(recovery.subgoal, step) + 1))
        if recovery and recovery.subgoal is not None
        else set()
    )
    for match in re.finditer(r"\bsteps? (\d+)(?: (?:and|to) (\d+))?", masked):
        named = {int(number) for number in match.groups() if number}
        later = bool(re.search(r"takes care|completes|skipped|again|goes on|as it should be after|already", masked))
        if not named <= ({step} | ((reach | ahead) if later else set())):
            yield f"a wrong step ({match[0]})"


def _subjects(clause: str, start: int, end: int) -> list[int]:
    """Return the objects of a cue: those before it, or those after it if there are none."""
    before = re.findall(r"<(\d+)>", clause[:start])
    return [int(number) for number in before or re.findall(r"<(\d+)>", clause[end:])]


def _wrong_causes(masked: str, names: Sequence[str], discrepancy: Discrepancy) -> Iterator[str]:
    causes = {culprit.name: culprit.cause for culprit in discrepancy.deviations}
    for culprit in discrepancy.deviations:
        if culprit.cause is Cause.SWAPPED and culprit.other is not None:
            causes.setdefault(culprit.other, Cause.SWAPPED)
    clauses = re.split(
        r"[;:]|, (?!<)| but | and (?!<|now|still)|(?<=>) and (?=<\d+> (?:was|were|is|has|toppled|fell))", masked
    )
    last = list[int]()
    for clause in clauses:
        if "touch" in clause:
            continue
        for cue, meant in _CUES:
            match = re.search(cue, clause)
            if match is None:
                continue
            about = _subjects(clause, match.start(), match.end())
            table = names.index("table")
            about = [number for number in about if number != table] or (
                last if re.match(r"\s*(?:it|they|now|still)", clause) else []
            )
            if not about and not meant & set(causes.values()):
                yield f"nothing of the kind happened ({match[0]})"
            # the support is not a subject of falling
            for number in about if re.findall(r"<\d+>", clause[: match.start()]) else about[:1]:
                if causes.get(names[number]) not in meant:
                    yield f"that did not happen to {names[number]} ({match[0]})"
            break
        last = [int(number) for number in re.findall(r"<(\d+)>", clause)][:1] or last


def _wrong_supports(
    masked: str, names: Sequence[str], discrepancy: Discrepancy, recovery: Recovery | None
) -> Iterator[str]:
    planned = bool(_PLAN.search(masked))
    moves = {
        (action.arguments[0], action.arguments[1])
        for action in (discrepancy.action, *(recovery.actions if recovery else ()))
        if action.operator == "top"
    }
    pattern = r"<(\d+)>(?P<between>[^<>;:]*?)\b(?:on|onto|upon|on top of|off) (?:the )?<(\d+)>"
    for match in re.finditer(pattern, masked):
        one, other = names[int(match[1])], names[int(match[3])]
        between = match["between"]
        now, then = _supports(discrepancy.observed, one, other), _supports(discrepancy.expected, one, other)
        denied = bool(re.search(r"\bnot\b(?! lifted)", between))
        after = recovery.graphs if recovery else ()
        to_be = then or (one, other) in moves or any(_supports(graph, one, other) for graph in after)
        if denied and now:
            yield f"{one} is on {other}"
        elif not denied and planned and not to_be:
            yield f"{one} is not to be on {other}"
        elif not denied and not planned and "off" not in match[0] and not now:
            yield f"{one} is not on {other}"


def _supports(graph: SceneGraph, one: str, other: str) -> bool:
    return one in graph.names and support_name(graph, graph.index(one)) == other
