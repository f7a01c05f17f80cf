"""The page says what a record of an episode has."""

from dataclasses import fields

import pytest

from eval.sweep.records import ActionRecord, EpisodeRecord, OptimumRecord, RecoveryRecord
from tests.commands import ROOT


@pytest.mark.parametrize("record", [EpisodeRecord, ActionRecord, RecoveryRecord, OptimumRecord])
def test_the_page_names_every_key_of_a_record(record: type) -> None:
    page = (ROOT / "docs/evaluation.md").read_text(encoding="utf-8")
    section = page.partition("### Records\n")[2].partition("```python")[0]
    assert [each.name for each in fields(record) if f"`{each.name}`" not in section] == []
