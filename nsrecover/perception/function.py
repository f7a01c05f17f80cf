"""Perceivers from plain functions: anything that turns one observation into a scene graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from nsrecover.core import Perceiver, SceneGraph


class FunctionPerceiver:
    """A perceiver around a function `(observation, expected=None) -> SceneGraph` (protocol `Perceiver`)."""

    def __init__(self, function: Callable[..., SceneGraph]) -> None:
        self._function = function

    def reset(self, observation: Any) -> SceneGraph:
        """The scene that the function makes of the observation."""
        return self._function(observation)

    def step(self, observation: Any, expected: SceneGraph | None = None) -> SceneGraph:
        """The scene that the function makes of the observation and the expected scene."""
        return self._function(observation, expected=expected)


def as_perceiver(perceiver: Perceiver[Any] | Callable[..., SceneGraph]) -> Perceiver[Any]:
    """The perceiver itself if it has `reset` and `step`, else a `FunctionPerceiver` that calls it."""
    if hasattr(perceiver, "reset") and hasattr(perceiver, "step"):
        return cast("Perceiver[Any]", perceiver)
    return FunctionPerceiver(perceiver)
