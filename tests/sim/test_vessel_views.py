"""Views of filled and dirty vessels, as demonstrations without an action."""

from pathlib import Path

from nsrecover.records.archive import Archive
from sim.kitchen.scenes import HELD_OUT_LAYOUTS
from sim.views import record
from train.states import read_examples


def test_views_are_labelled_demonstrations_in_layouts_for_training(tmp_path: Path) -> None:
    record(1, 5, tmp_path)
    with Archive(tmp_path / "demonstrations.h5") as archive:
        notes = [archive[number].notes for number in archive.episodes]
    assert {note["layout"] for note in notes}.isdisjoint(HELD_OUT_LAYOUTS)
    assert any(fact[0] == "filled" for fact in notes[0]["start"])
    starts = [note["start"] for note in notes]
    held = [(start, fact[1]) for start in starts for fact in start if fact[0] == "holding"]
    assert {any(fact[:2] == ["filled", name] for fact in start) for start, name in held} == {True, False}
    examples = list(read_examples(tmp_path / "demonstrations.h5"))
    assert len(examples) == len(notes) > 3
    assert any((example.labels > 0).any() for example in examples)
