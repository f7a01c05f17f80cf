"""Where no terminal shows a bar, lines tell how far the work is and how long it takes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nsrecover.core.progress import EVERY_S, ProgressLines, left_text, progress


def test_lines_tell_the_time_left_of_what_goes_on_in_the_middle(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    lines = ProgressLines("encoder", 8, lambda: now[0])
    lines.show(4)
    now[0] = EVERY_S - 1
    lines.show(5)
    now[0] = EVERY_S
    lines.show(6)
    assert capsys.readouterr().err == "encoder: 6 of 8, 10 s left\n"


def test_all_items_come_and_an_unknown_number_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    def some() -> Iterator[int]:
        yield from range(3)

    assert list(progress(some(), "reading")) == [0, 1, 2]
    lines = ProgressLines("reading", None, iter([0.0, 1.0, 20.0]).__next__)
    lines.show(0)
    lines.show(2)
    assert capsys.readouterr().err == "reading: 2\n"


def test_long_times_are_in_minutes() -> None:
    assert left_text(119) == "119 s left"
    assert left_text(600) == "10 min left"
