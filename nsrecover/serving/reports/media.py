"""Media of a report besides the episode: photographs, sound, a film, and the judgement of a referee."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from nsrecover.core.observation import Camera

Polygon = npt.NDArray[np.float64]
"""(P, 2) corners in pixels."""


@dataclass(frozen=True, eq=False)
class Photo:
    """A picture of one moment, and where its objects are in it.

    Attributes:
        rgb: (H, W, 3) uint8.
        camera: that took it; objects with boxes are outlined with it.
        outlines: object -> outline, for objects without boxes; see `pictures.outlines_of_masks`.
    """

    rgb: npt.NDArray[np.uint8]
    camera: Camera | None = None
    outlines: Mapping[str, Polygon] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Clip:
    """Sound of one turn.

    Attributes:
        samples: (S,) from -1 to 1.
        rate_hz: samples a second.
        events: what can be heard, in words; empty if unknown.
    """

    samples: npt.NDArray[np.float32]
    rate_hz: int
    events: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Media:
    """Photographs and sound of one turn of an episode.

    Attributes:
        before: taken before the action.
        after: taken after it, or at the check before an action that was not carried out.
        clip: the sound until then.
    """

    before: Photo | None = None
    after: Photo | None = None
    clip: Clip | None = None


@dataclass(frozen=True)
class GoalJudgement:
    """The outcome as a referee sees it who knows the truth, such as a simulator.

    Attributes:
        reached: whether the goal is reached.
        text: why it is, or what is wrong, as a sentence.
    """

    reached: bool
    text: str


@dataclass(frozen=True)
class Extra:
    """A further file that readers can take from the page.

    Attributes:
        name: of the file.
        label: what it holds.
        content: the bytes.
        mime: its type; a film of a type `video/...` is shown.
        ends_s: of a film: when each turn ends in it, seconds; empty if the film runs with the robot's clock.
    """

    name: str
    label: str
    content: bytes = field(repr=False)
    mime: str = "application/json"
    ends_s: tuple[float, ...] = ()
