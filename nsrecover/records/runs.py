"""Recorded runs in any format: `.npz`, `.h5`, boxes or facts as `.json`, and ROS 2 bags."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from nsrecover.core import FactScene, Observation, Plan
from nsrecover.errors import InvalidRecording
from nsrecover.records import recording, scenes_recording
from nsrecover.records.archive import Archive
from nsrecover.records.arrays import digest, episode_to_arrays
from nsrecover.records.bags.layout import Layout
from nsrecover.util.json_data import to_json
from nsrecover.util.python310 import StrEnum
from nsrecover.util.untrusted_json import JsonMapping

Seen = Observation | FactScene | scenes_recording.Boxes
"""What was seen at one moment: camera images, facts, or boxes by name."""


class SceneKind(StrEnum):
    """What was seen in a run."""

    IMAGES = "images"
    BOXES = "boxes"
    FACTS = "facts"


def kind_of(observation: object) -> SceneKind:
    """What an observation shows."""
    if isinstance(observation, Observation):
        return SceneKind.IMAGES
    return SceneKind.FACTS if isinstance(observation, FactScene) else SceneKind.BOXES


BAGS = (".mcap", ".db3", ".mcap.zstd", ".db3.zstd", ".bag")
"""Ends of names of data files of bags; those of ROS 1 end in .bag."""

LAYOUT: ContextVar[Layout] = ContextVar("layout of bags", default=Layout())  # noqa: B039
"""The robot's base, the cameras and the topics of the bags that are read."""


@dataclass(frozen=True, eq=False)
class RecordedRun:
    """One recorded run.

    Attributes:
        name: file, and number of the episode in a file of several.
        plan: T actions.
        observations: T + 1 of one kind, before, between and after the actions.
        notes: of the recording.
    """

    name: str
    plan: Plan
    observations: tuple[Seen, ...]
    notes: JsonMapping = field(default_factory=dict)

    @property
    def seen(self) -> SceneKind:
        """What was seen."""
        return kind_of(self.observations[0])

    def fingerprint(self) -> str:
        """Hash of its content, independent of where it is stored."""
        seen = [each for each in self.observations if isinstance(each, Observation)]
        if seen:
            return digest(episode_to_arrays(self.plan, seen, self.notes))
        actions = [(str(action), str(action.target)) for action in self.plan]
        return hashlib.sha256(json.dumps(to_json([actions, self.observations])).encode()).hexdigest()


@contextmanager
def bags_laid_out(layout: Layout) -> Iterator[None]:
    """Read bags with another base, other cameras or other topics than ours."""
    before = LAYOUT.set(layout)
    try:
        yield
    finally:
        LAYOUT.reset(before)


def read_runs(places: Iterable[str | Path]) -> Iterator[RecordedRun]:
    """Read runs one by one.

    Args:
        places: files, folders of files, bags, or `example`.

    Raises:
        InvalidRecording: a place does not exist, is damaged, of an unknown kind, or holds no runs.
        InvalidConfiguration: a format needs an extra that is not installed.
    """
    for place in places:
        yield from _runs_at(Path(place))


def read_run(place: str | Path) -> RecordedRun:
    """Read the only run of a place.

    Raises:
        InvalidRecording: as for `read_runs`, or there are several.
    """
    found = list(read_runs([place]))
    if len(found) != 1:
        raise InvalidRecording(
            f"expected one recorded run at {place}, found {len(found)}; give the file of one of them"
        )
    return found[0]


def is_bag(path: Path) -> bool:
    """Whether a path is a ROS 2 bag: a file of its data, or a folder with `metadata.yaml`."""
    return path.name.endswith(BAGS) or (path / "metadata.yaml").is_file()


def _runs_at(path: Path) -> Iterator[RecordedRun]:
    if str(path) == "example" and not path.exists():
        yield _of_recording("example", recording.example())
    elif not path.exists():
        raise InvalidRecording(f"expected recorded runs at {path}, found nothing there; check the path")
    elif is_bag(path):
        from nsrecover.records.bags.reading import read_bag  # only bags need the extra

        yield _of_recording(str(path), read_bag(path, LAYOUT.get()))
    elif path.is_dir():
        files = sorted(each for each in path.iterdir() if _is_run(each))
        if not files:
            raise InvalidRecording(
                f"expected recorded runs (.npz, .h5, .json, .mcap, .db3) in {path}, found none; record some with "
                "`nsrecover record`"
            )
        for file in files:
            yield from _runs_at(file)
    elif path.suffix in (".h5", ".hdf5"):
        with Archive(path) as archive:
            for number in archive.episodes:
                yield _of_recording(f"{path} episode {number}", archive[number])
    elif path.suffix == ".npz":
        yield _of_recording(str(path), recording.load(path))
    elif path.suffix == ".json":
        scenes = scenes_recording.load(path)
        yield RecordedRun(str(path), scenes.plan, scenes.scenes, scenes.notes)
    else:
        raise InvalidRecording(
            f"expected recorded runs as .npz, .h5, .json (boxes or facts), .mcap or .db3, found {path.name}; convert "
            "it with nsrecover.records.recording.save"
        )


def _is_run(path: Path) -> bool:
    """Whether a file or folder in a folder of runs is one of them; other JSON files may lie there, too."""
    if path.name.startswith("."):
        return False
    if path.suffix == ".json":
        return scenes_recording.is_recording(path)
    return path.suffix in (".npz", ".h5", ".hdf5") or is_bag(path)


def _of_recording(name: str, found: recording.Recording) -> RecordedRun:
    return RecordedRun(name, found.plan, found.observations, found.notes)
