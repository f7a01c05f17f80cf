"""Reader of the topics of a bag that are needed, of ROS 2 or ROS 1; whatever else a bag holds is not looked at."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import yaml

from nsrecover.errors import InvalidRecording
from nsrecover.records.arrays import BOMB_BYTES, BOMB_TIMES, MAX_BYTES
from nsrecover.records.bags.images import Message
from nsrecover.records.reading import readable
from nsrecover.util.extras import needs_extra
from nsrecover.util.untrusted_yaml import read_yaml

ZSTD = ".zstd"
_PIECE = 1_000_000
"""Bytes that are unpacked at once."""
_MOST_METADATA = 500_000
"""Largest accepted metadata.yaml, bytes."""
SECTION = "rosbag2_bagfile_information"

_ADVICE = {
    "File end magic": "the recorder was killed before it closed the file: `mcap recover FILE -o NEW` repairs it",
    "database files are missing": "copy the whole folder, with all files that metadata.yaml names",
    "Profile is not ros2": "it is an MCAP file of another program; record it with `ros2 bag record -s mcap`",
    "metadata": "`ros2 bag reindex FOLDER` writes metadata.yaml again",
}
"""Part of the reader's problem -> what helps."""


@dataclass
class Bag:
    """An open bag.

    Attributes:
        reader: of rosbags.
        kinds: topic that has messages -> their type.
    """

    reader: Any
    kinds: dict[str, str]
    _store: Any
    _ros1: bool = False

    @property
    def topics(self) -> set[str]:
        """Topics that have messages."""
        return set(self.kinds)

    def messages(self, topics: set[str]) -> Iterator[tuple[str, float, Message]]:
        """Topic, time of the recording in seconds, and message, in the order of the recording.

        Raises:
            InvalidRecording: a message cannot be read.
        """
        chosen = [each for each in self.reader.connections if each.topic in topics and each.msgcount]
        if not chosen:
            return
        for connection in chosen:
            self._learn(connection)
        with readable("messages in a ROS 2 bag", "it is damaged: fetch it again"):
            for connection, time_ns, data in self.reader.messages(connections=chosen):
                read = self._store.deserialize_ros1 if self._ros1 else self._store.deserialize_cdr
                message = read(data, connection.msgtype)
                yield connection.topic, time_ns / 1e9, _with_small_letters(message) if self._ros1 else message

    def _learn(self, connection: Any) -> None:
        """Take in the definition of a type that ROS 2 does not have; a known one may be left out of the bag."""
        from rosbags.typesys import get_types_from_idl, get_types_from_msg

        if connection.msgtype in self._store.types:
            return
        definition = connection.msgdef
        with readable(f"the definition of {connection.msgtype} on {connection.topic}", "record it again"):
            types = (
                get_types_from_msg(definition.data, connection.msgtype)
                if definition.format.name == "MSG"
                else get_types_from_idl(definition.data)
            )
            self._store.register({name: fields for name, fields in types.items() if name not in self._store.types})


@contextmanager
def opened(path: Path) -> Iterator[Bag]:
    """A bag, which is closed in the end.

    Args:
        path: folder of the bag, or its only data file (.mcap, .db3; .mcap.zstd, .db3.zstd; of ROS 1 .bag).

    Raises:
        InvalidRecording: the bag is missing or damaged.
        InvalidConfiguration: rosbags is not installed.
    """
    with needs_extra("bags", "rosbags"):
        from rosbags import rosbag1, rosbag2
        from rosbags.typesys import Stores, get_types_from_msg, get_typestore
    _bound_unpacking()
    if not path.exists():
        raise InvalidRecording(f"expected a ROS 2 bag at {path}, found nothing there; check the path")
    ros1 = path.suffix == ".bag"
    store = get_typestore(Stores.ROS1_NOETIC if ros1 else Stores.ROS2_HUMBLE)
    if ros1:
        store.register(get_types_from_msg("geometry_msgs/TransformStamped[] transforms", "tf2_msgs/msg/TFMessage"))
    with ExitStack() as stack:
        try:
            reader: Any = rosbag1.Reader(path) if ros1 else rosbag2.Reader(_place(path, stack))
            if not ros1:
                _tolerate_other_schemas(reader.storage)
            stack.enter_context(reader)
            kinds = {each.topic: each.msgtype for each in reader.connections if each.msgcount}
        except InvalidRecording:
            raise
        except Exception as problem:
            found = f"no {problem}" if isinstance(problem, KeyError) else str(problem) or type(problem).__name__
            advice = next(
                (help_ for part, help_ in _ADVICE.items() if part in found),
                "it is damaged or was not closed: fetch it again",
            )
            raise InvalidRecording(
                f"expected a bag at {path}, found one that cannot be read ({found}); {advice}"
            ) from problem
        yield Bag(reader, kinds, store, ros1)


def _with_small_letters(message: Message) -> Message:
    """A CameraInfo of ROS 1 with the names of its matrices in ROS 2; any other message as it is."""
    names = {name: name.lower() for name in "DKRP" if hasattr(message, name)}
    return (
        SimpleNamespace(**{names.get(name, name): value for name, value in vars(message).items()}) if names else message
    )


def _place(path: Path, stack: ExitStack) -> Path:
    """What to read: a folder, if messages of other formats are in it without their topics; or a data file."""
    if path.is_file() and path.suffix == ZSTD:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        with path.open("rb") as file, _zstd().open(file, "rb") as packed, (folder / path.stem).open("wb") as data:
            left = min(MAX_BYTES, max(BOMB_BYTES, BOMB_TIMES * path.stat().st_size))
            while piece := packed.read(_PIECE):
                left -= data.write(piece)
                if left < 0:
                    raise InvalidRecording(
                        f"expected a compressed bag at {path}, found one that unpacks to {BOMB_TIMES} times its size; "
                        "unpack it with zstd, if you trust it"
                    )
        return folder / path.stem
    folder = path if path.is_dir() else path.parent
    about = folder / "metadata.yaml"
    if not about.is_file():
        if path.is_dir():
            raise InvalidRecording(
                f"expected a ROS 2 bag at {path}, found no metadata.yaml; `ros2 bag reindex {path}` writes it"
            )
        return path
    document = read_yaml(about, _MOST_METADATA)[SECTION]
    if path.is_file() and [Path(each).name for each in document["relative_file_paths"]] != [path.name]:
        return path
    topics = document["topics_with_message_count"]
    known = [each for each in topics if each["topic_metadata"]["serialization_format"] == "cdr"]
    if known == topics:
        return folder
    copy = Path(stack.enter_context(TemporaryDirectory()))
    for name in document["relative_file_paths"]:
        (copy / Path(name).name).symlink_to((folder / Path(name).name).resolve())
    document["topics_with_message_count"] = known
    (copy / "metadata.yaml").write_text(yaml.safe_dump({SECTION: document}), encoding="utf-8")
    return copy


class _Schemas(dict[int, Any]):
    """Schemas of an MCAP file, those of other formats than ROS 2's without their text, which the reader refuses."""

    def __setitem__(self, key: int, schema: Any) -> None:
        known = schema.encoding in ("", "ros2msg", "ros2idl", "omgidl")
        super().__setitem__(key, schema if known else schema._replace(encoding=""))


def _tolerate_other_schemas(storage: Any) -> None:
    """Let a reader skip channels of JSON, protocol buffers and others."""
    from rosbags.rosbag2.storage_mcap import McapReader

    class Mcap(McapReader):
        def __init__(self, path: Any) -> None:
            super().__init__(path)
            self.schemas = _Schemas()

    if isinstance(storage, McapReader):
        storage.schemas = _Schemas()
    elif hasattr(storage, "STORAGE_PLUGINS"):
        storage.STORAGE_PLUGINS = {**storage.STORAGE_PLUGINS, "mcap": Mcap}


def _bound_unpacking() -> None:
    """Let rosbags unpack a chunk or message to no more than a real one can have: a small file may fill the memory."""
    from bz2 import BZ2Decompressor

    from lz4.frame import LZ4FrameDecompressor
    from rosbags.rosbag1 import reader as reader1
    from rosbags.rosbag2 import reader, storage_mcap

    zstd = _zstd()

    def unpacked(decompressor: Any, data: bytes) -> bytes:
        found: bytes = decompressor.decompress(data, BOMB_BYTES + 1)
        if len(found) > BOMB_BYTES:
            raise InvalidRecording(
                f"expected chunks of at most {BOMB_BYTES:,} bytes, found {len(data):,} bytes that unpack to more; "
                "record in smaller chunks"
            )
        return found

    def of_zstd(data: bytes) -> bytes:
        return unpacked(zstd.ZstdDecompressor(), data)

    def of_lz4(data: bytes, size: int = 0) -> bytes:
        return unpacked(LZ4FrameDecompressor(), data)

    storage_mcap.DECOMPRESSORS |= {"zstd": lambda data, _: of_zstd(data), "lz4": of_lz4}
    reader1.decompressors |= {"lz4": of_lz4, "bz2": lambda data: unpacked(BZ2Decompressor(), data)}
    vars(reader)["zstd"] = SimpleNamespace(decompress=of_zstd, open=zstd.open)


def _zstd() -> Any:
    """The compression of rosbags."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd
