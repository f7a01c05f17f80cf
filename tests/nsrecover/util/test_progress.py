"""Progress of long work: lines with rate and time left, a bar on a terminal, and nothing if it is to be quiet."""

import pytest

from nsrecover.util.progress import QUIET, ProgressLines, progress


class Clock:
    """A clock that is set by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_line_after_two_seconds_and_then_every_ten(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = ProgressLines("checking", 40, clock)
    for second in range(25):
        clock.now = 100.0 + second
        lines.show(second)
    assert capsys.readouterr().err.splitlines() == [
        "checking: 2 of 40, 1 a second, 38 s left",
        "checking: 12 of 40, 1 a second, 28 s left",
        "checking: 22 of 40, 1 a second, 18 s left",
    ]


def test_quick_work_and_quiet_work_say_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(progress(range(3), "quick")) == [0, 1, 2]
    monkeypatch.setenv(QUIET, "1")
    clock = Clock()
    lines = ProgressLines("quiet", 40, clock)
    clock.now = 1000.0
    lines.show(3)
    assert list(progress(range(3), "quiet")) == [0, 1, 2]
    assert capsys.readouterr().err == ""
