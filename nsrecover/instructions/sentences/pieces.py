"""Elements → pieces: what stands between marks, conjunctions and subordinators, with lists of nouns kept together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nsrecover.instructions.sentences.elements import Element
from nsrecover.instructions.sentences.reading import Verb

_ASKING = (Verb.ASK, Verb.TELL, Verb.CHECK, Verb.REPORT)
_OPENS = frozenset(("if", "when"))
EMPTY = ("filler", "mark", "conj")
"""Kinds of elements that say nothing about what to do."""


@dataclass(frozen=True)
class Piece:
    """What stands between two marks, conjunctions or subordinators.

    Attributes:
        items: the elements.
        link: the conjunction before it; empty without one.
        sub: the kind of the subordinator before it: reason, condition, when, after, before, while; empty without one.
        mark: the mark before it; empty without one.
    """

    items: tuple[Element, ...]
    link: str = ""
    sub: str = ""
    mark: str = ""

    @property
    def content(self) -> tuple[Element, ...]:
        """The elements that may say something."""
        return tuple(item for item in self.items if item.kind not in EMPTY)

    @property
    def is_nominal(self) -> bool:
        """Whether there are only noun phrases."""
        return bool(self.content) and all(item.kind == "np" for item in self.content)


def pieces_of(elements: Sequence[Element]) -> list[Piece]:
    """The pieces of a sentence in order."""
    found, items = list[Piece](), list[Element]()
    link = sub = mark = ""

    def flush() -> None:
        nonlocal items, link, sub, mark
        if items:
            found.append(Piece(tuple(items), link, sub, mark))
            link = sub = mark = ""
        items = []

    for i, each in enumerate(elements):
        ends = i + 1 == len(elements) or elements[i + 1].kind in ("mark", "conj")
        if each.kind == "mark":
            if each.text == '"':
                continue
            flush()
            mark = each.text if each.text != "," or not mark else mark
        elif (
            each.kind == "conj"
            and each.text == "or"
            and items
            and items[-1].kind in ("pose", "np")
            and _posed(elements, each)
        ):
            continue
        elif each.kind == "conj":
            flush()
            link = f"{link} {each.text}".strip()
        elif each.kind == "sub" or each.text in _OPENS:
            if _embedded(items):
                items.append(replace(each, kind="wh"))
                continue
            flush()
            sub = each.lexeme.value if each.lexeme is not None and each.kind == "sub" else "when"
            sub = "condition" if each.text == "if" else sub
        elif (
            sub
            and each.verb("base")
            and each.value
            and not ends
            and items
            and items[-1].kind == "np"
            and _finished(items)
        ) or (each.kind == "i" and sub and any(item.verb() for item in items) and not items[-1].verb()):
            flush()
            items.append(each)
        else:
            items.append(each)
    flush()
    return _joined(found)


def _posed(elements: Sequence[Element], conj: Element) -> bool:
    """Whether a pose stands behind a conjunction."""
    return any(each.start == conj.end and each.kind == "pose" for each in elements)


def _finished(items: Sequence[Element]) -> bool:
    """Whether some elements have a verb of their own: "if you find it" before "bring it to me"."""
    return any(item.verb() or item.kind == "aux" for item in items[:-1])


def _embedded(items: Sequence[Element]) -> bool:
    """Whether a question may follow what was said: "ask ashley if"."""
    verbs = [item for item in items if item.kind == "verb"]
    if not verbs:
        return False
    last = verbs[-1]
    return (last.value in _ASKING) or last.may("know")


def _family(item: Element) -> str:
    return "thing" if item.is_thing else "place" if item.is_place else "person" if item.is_person else ""


def _joined(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces with lists of nouns and places that are set apart in one of them."""
    found, i = list[Piece](), 0
    while i < len(pieces):
        piece = pieces[i]
        after = pieces[i + 1] if i + 1 < len(pieces) else None
        if found and _also_whom(found[-1], piece):
            found[-1] = replace(found[-1], items=(*found[-1].items, *piece.items))
            i += 1
            continue
        if piece.is_nominal and not piece.sub and "not" not in piece.link:
            first, last = piece.content[0], piece.content[-1]
            before = found[-1] if found else None
            gapped = before is not None and _gapped(before, piece)
            if gapped:
                found.append(gapped)
                i += 1
                continue
            if before is not None and _continues(before, piece):
                found[-1] = replace(before, items=(*before.items, *piece.items))
                i += 1
                continue
            if after is not None and not after.sub and after.mark in ("", ",") and after.content:
                start = after.content[0]
                listed = _family(first) and _family(start) == _family(first) and not start.prep and not first.prep
                adverbial = all(item.is_place and item.prep for item in piece.content)
                if (
                    (listed and len(after.content) > 1 and not after.is_nominal)
                    or adverbial
                    or (after.is_nominal and listed and last.prep == "")
                ):
                    joined = replace(after, items=(*piece.items, *after.items), link=piece.link, mark=piece.mark)
                    pieces = [*pieces[: i + 1], joined, *pieces[i + 2 :]]
                    i += 1
                    continue
        found.append(piece)
        i += 1
    return found


def _also_whom(before: Piece, piece: Piece) -> bool:
    """Whether a piece begins with another person to whom something is said: "tell ashley and charlie that"."""
    if piece.link not in ("and", "then", "and then") or not before.content or not piece.content:
        return False
    last, first = before.content[-1], piece.content[0]
    says = any(item.value in (*_ASKING, Verb.GUIDE, Verb.FOLLOW) for item in before.content if item.verb())
    named = last.is_person and first.is_person and not first.prep and not last.vague
    after = piece.content[1] if len(piece.content) > 1 else None
    return (
        says and named and (after is None or after.kind in ("that", "wh", "to", "np", "particle") or after.may("know"))
    )


def _gapped(before: Piece, piece: Piece) -> Piece | None:
    """A piece with the verb of the one before: "put the bread on the counter and the milk in the fridge"."""
    content = piece.content
    own = [item for item in content if item.is_place and item.prep]
    others = [item for item in before.content if item.is_place and item.prep]
    linked = piece.mark in ("", ",") and (piece.link or piece.mark)
    if before.is_nominal or not linked or content[0].prep:
        return None
    to_people = {"thing", "person"} <= {_family(item) for item in content} and {"thing", "person"} <= {
        _family(item) for item in before.content
    }
    if not to_people and not (own and others and content[0].is_thing):
        return None
    k = next((k for k, item in enumerate(before.items) if item.kind == "verb"), None)
    if k is None:
        return None
    thing = next((j for j, item in enumerate(before.items) if item.is_thing), len(before.items))
    if thing > k:
        return replace(piece, items=(before.items[k], *piece.items))
    middle = [item for item in before.items[thing + 1 :] if item.kind in ("verb", "aux", "must", "to")]
    return replace(piece, items=(content[0], *middle, *content[1:]))


def _continues(before: Piece, piece: Piece) -> bool:
    """Whether noun phrases go on with what was said before: "and the banana", ", from the fridge"."""
    if (
        piece.mark not in ("", ",")
        or {"or", "but"} & set(piece.link.split())
        or not before.content
        or (before.is_nominal != piece.is_nominal and before.sub)
    ):
        return False
    first, last = piece.content[0], before.content[-1]
    if first.prep:
        return piece.link in ("", "and") and not before.is_nominal
    nouns = [item for item in before.content if item.kind == "np"]
    if not nouns or last.kind not in ("np", "particle"):
        return False
    linked = piece.link or piece.mark == ","
    return bool(linked) and bool(_family(first)) and any(_family(item) == _family(first) for item in nouns)
