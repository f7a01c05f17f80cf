"""What an object may be called. Names stand in plans, and unquoted in sentences that count as verified."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

LONGEST_NAME, MOST_WORDS = 80, 8
"""Most characters and words of a name."""

MOST_SAID = 16
"""Most words of a text that is passed on word by word; only such a text may end with a question mark."""

PRONOUNS = frozenset((
    "anybody", "anyone", "anything", "everybody", "everyone", "everything", "it", "me", "nobody", "nothing", "somebody",
    "someone", "something", "they", "we", "you",
))  # fmt: skip
"""Words that sentences use themselves."""

_INSIDE = "./#+&@'\u2019"
"""Marks that may stand between two letters or digits of a word, as in `box.1`, `a/b` and `person's`."""
_ANYWHERE = "-_"
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\u3164\uffa0\U000e0100-\U000e01ef]")
"""Invisible letters and marks: two names with and without them look the same."""
_PILED = re.compile("MMMM")
"""More marks on one letter than any script has."""
_SCRIPT = dict.fromkeys(("HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC"), "CJK")


@lru_cache(maxsize=4096)
def problem_of(name: object, most_words: int = MOST_WORDS) -> str:
    """What is wrong with a name; empty if it can be used.

    Only what is allowed can be used: letters, their marks, digits, hyphens and underscores, some marks inside a word,
    and single spaces between words. Each word is of one script, and written as Unicode normalises it (NFKC).
    """
    if not isinstance(name, str) or not name or name != name.strip() or len(name) > LONGEST_NAME:
        return f"1 to {LONGEST_NAME} characters without outer spaces"
    if name.lower() in PRONOUNS:
        return "other words than those that sentences use themselves"
    words = name.split(" ")
    if len(words) > most_words:
        return f"at most {most_words} words"
    if most_words > MOST_WORDS and len(words[-1]) > 1:
        words[-1] = words[-1].removesuffix("?")
    if unicodedata.normalize("NFKC", name) != name or not all(map(_is_word, words)):
        return "letters, digits, hyphens and underscores, single spaces between words, and each word in one script"
    return ""


def plain_name(text: str) -> str:
    """A name like a text of another program, such as a label of a detector: `Mug (red).` becomes `Mug red`.

    Different texts can become the same name; number them then.
    """
    marks = unicodedata.normalize("NFKC", text)
    kept = "".join(each if _is_plain(each) or each in _INSIDE + _ANYWHERE else " " for each in marks)
    words = [_one_script(word.rstrip(_INSIDE).lstrip(_INSIDE.replace("#", ""))) for word in kept.split()]
    name = " ".join([word for word in words if _is_word(word)][:MOST_WORDS])[:LONGEST_NAME].strip()
    return name if not problem_of(name) else "object"


def _is_plain(mark: str) -> bool:
    """Whether a character is a letter, a mark of one, or a digit."""
    category = unicodedata.category(mark)
    return category[0] == "L" or category in ("Mn", "Mc", "Nd")


def _is_word(word: str) -> bool:
    if not word or unicodedata.category(word[0]).startswith("M") or not any(map(str.isalnum, word)):
        return False
    if _UNSEEN.search(word) or _PILED.search("".join(unicodedata.category(mark)[0] for mark in word)):
        return False
    for before, mark, after in zip(" " + word, word, word[1:] + " ", strict=False):
        inside = mark in _INSIDE and _is_plain(before) and _is_plain(after)
        numbered = mark == "#" and before == " " and after.isdecimal()
        if not (_is_plain(mark) or mark in _ANYWHERE or inside or numbered):
            return False
    return len({_script(mark) for mark in word} - {""}) <= 1


def _script(mark: str) -> str:
    """The script of a letter; empty for all others, which go with every script."""
    if unicodedata.category(mark)[0] != "L":
        return ""
    first = re.split(r"[ -]", unicodedata.name(mark, "?"))[0]
    return "" if first == "MODIFIER" else _SCRIPT.get(first, first)


def _one_script(word: str) -> str:
    """A word without the letters of other scripts than its first letter's."""
    script = next(filter(None, map(_script, word)), "")
    return "".join(mark for mark in word if _script(mark) in ("", script))
