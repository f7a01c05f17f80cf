"""Cause codes are stable and documented: the page is the enumeration."""

import re
from pathlib import Path

from nsrecover.core import Cause, ReasonCode, RecoveryStatus

PAGE = (Path(__file__).parents[3] / "docs" / "causes.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", PAGE, flags=re.MULTILINE))


def test_no_code_was_renamed_or_taken_away() -> None:
    first_published = {
        "moved", "missing", "not_lifted", "dropped", "misplaced", "toppled", "swapped", "helped", "blocking"
    }  # fmt: skip
    assert first_published <= {cause.value for cause in Cause}


def test_the_page_lists_exactly_the_codes_and_their_meanings() -> None:
    assert {cause.value: cause.meaning for cause in Cause}.items() <= ROWS.items()
    assert set(ROWS) == {code.value for code in (*Cause, *RecoveryStatus, *ReasonCode)}


def test_a_code_is_its_text_and_knows_its_meaning() -> None:
    assert Cause("toppled") is Cause.TOPPLED
    assert f"{Cause.TOPPLED}" == "toppled"
    assert Cause.TOPPLED.meaning == Cause.TOPPLED.__doc__ != ""
