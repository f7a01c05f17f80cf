"""Reads episodes that were watched while their actions ran."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from nsrecover.errors import InvalidRecording

Frame = TypeVar("Frame")


def watched_actions(folder: str, command: str, frame: Callable[[Any], Frame]) -> list[list[list[Frame]]]:
    """Read the frames of the actions of all episodes.

    Args:
        folder: with a file for each episode.
        command: that writes such files.
        frame: makes a frame of its plain data.

    Raises:
        InvalidRecording: there are no files, or one is damaged.
    """
    if not (paths := sorted(Path(folder).glob("*.json"))):
        raise InvalidRecording(f"expected demonstrations in {folder}, found none; run {command}")
    episodes = []
    for path in paths:
        try:
            actions = json.loads(path.read_text(encoding="utf-8"))
            episodes.append([[frame(data) for data in frames] for frames in actions])
        except (OSError, ValueError, TypeError, KeyError) as problem:
            raise InvalidRecording(f"expected a watched demonstration in {path}, found: {problem}") from problem
    return episodes
