"""Perceivers of users: functions from an observation to a scene graph, and perceivers that report nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nsrecover.core import Perceiver, SceneGraph
from nsrecover.core.protocols import NOTHING_REPORTED, Reported, ReportingPerceiver
from nsrecover.errors import InvalidConfiguration, InvalidObservation


class FunctionPerceiver:
    """A perceiver around a function `(observation, expected=None) -> SceneGraph` (protocol `Perceiver`)."""

    def __init__(self, function: Callable[..., SceneGraph]) -> None:
        self._function = function

    def reset(self, observation: object) -> SceneGraph:
        """The scene that the function makes of the observation."""
        return _checked(self._function(observation))

    def step(self, observation: object, expected: SceneGraph | None = None) -> SceneGraph:
        """The scene that the function makes of the observation and the expected scene."""
        return _checked(self._function(observation, expected=expected))


def _checked(made: object) -> SceneGraph:
    if not isinstance(made, SceneGraph):
        raise InvalidObservation(f"expected a SceneGraph from the perceiver, found {type(made).__name__}; return one")
    return made


class SilentPerceiver:
    """A perceiver that reports nothing besides scenes; several looks at a scene are perceived one after the other.

    Attributes:
        inner: makes the scenes.
    """

    reported: Reported = NOTHING_REPORTED

    def __init__(self, inner: Perceiver[Any]) -> None:
        self.inner = inner
        self.reset, self.step = inner.reset, inner.step

    def fork(self) -> SilentPerceiver:
        """The perceiver itself, which cannot be copied."""
        return self


def as_perceiver(perceiver: Perceiver[Any] | Callable[..., SceneGraph]) -> ReportingPerceiver[Any]:
    """The perceiver itself if it reports, else one around it, or around a function.

    Raises:
        InvalidConfiguration: it is neither a perceiver nor a function.
    """
    if isinstance(perceiver, ReportingPerceiver):
        return perceiver
    if isinstance(perceiver, Perceiver):
        return SilentPerceiver(perceiver)
    if callable(perceiver):
        return SilentPerceiver(FunctionPerceiver(perceiver))
    raise InvalidConfiguration(
        f"expected a perceiver with reset() and step(), or a function, found {type(perceiver).__name__}"
    )
