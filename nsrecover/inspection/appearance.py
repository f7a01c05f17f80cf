"""What can be told of an episode without depth: whether its last frame looks like those of successes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from nsrecover.bridges.lerobot import EpisodeFiles, Listed
from nsrecover.core import FloatArray
from nsrecover.errors import InvalidRecording
from nsrecover.inspection.judging import LabelledEpisode
from nsrecover.inspection.subtasks import FEWEST
from nsrecover.models.conformal import conformal_threshold
from nsrecover.perception.objects.colours import GREY
from nsrecover.perception.objects.detections import AppearanceModel

TILES = (3, 4)
"""Rows and columns of the tiles that an image is divided into."""


@dataclass(frozen=True, eq=False)
class FrameFeatures:
    """Features (T, D) of the frames of an episode; see `features_of`."""

    index: int
    task: str
    features: FloatArray


def features_of(images: Sequence[npt.NDArray[np.generic]], appearance: AppearanceModel) -> FloatArray:
    """Features (T, D) of images (H, W, 3): those of their tiles, side by side."""
    rows, columns, side = *TILES, appearance.crop_size
    crops = []
    for image in images:
        small = np.asarray(Image.fromarray(np.asarray(image, np.uint8)).resize((columns * side, rows * side)))
        crops += [small[r * side :, c * side :][:side, :side] for r in range(rows) for c in range(columns)]
    light = np.full((len(crops), 3), GREY, np.float32)
    return appearance.embed(np.stack(crops), light).reshape(len(images), -1)


def last_pictures(folder: Path, listed: Listed, colours: Sequence[str], appearance: AppearanceModel) -> FrameFeatures:
    """The last frame of an episode, by some cameras."""
    files = EpisodeFiles(folder, listed.index)
    last = files.rows()[-1:]
    if not last:
        raise InvalidRecording(f"expected frames in episode {listed.index} of {folder}, found none")
    shown = [features_of(files.images(colour, last), appearance) for colour in colours]
    return FrameFeatures(listed.index, listed.task, np.concatenate(shown, axis=1))


@dataclass(frozen=True, eq=False)
class Likeness:
    """How successes look in the end.

    Attributes:
        endings: (M, D) their last frames.
        limit: distance to the nearest of them above which an episode failed.
        alpha: share of successes that are taken for failures at most.
    """

    endings: FloatArray
    limit: float
    alpha: float

    def judge(self, pictures: FrameFeatures) -> LabelledEpisode:
        """Whether an episode succeeded; neither subtask nor object can be told."""
        score = float(np.linalg.norm(self.endings - pictures.features[-1], axis=1).min())
        return LabelledEpisode(pictures.index, score <= self.limit, score, ())


def learn_likeness(successes: Sequence[FrameFeatures], alpha: float) -> Likeness:
    """Learn how successes look in the end.

    Raises:
        InvalidRecording: there are too few.
    """
    if len(successes) < FEWEST:
        raise InvalidRecording(f"expected at least {FEWEST} successful episodes, found {len(successes)}")
    endings = np.stack([each.features[-1] for each in successes])
    away = np.linalg.norm(endings[:, None] - endings[None], axis=2)
    np.fill_diagonal(away, np.inf)
    promised = max(alpha, 1 / (len(endings) + 1))
    limit = -conformal_threshold(sorted(-away.min(axis=1)), len(endings), promised)
    return Likeness(endings, limit, promised)
