"""Reader of YAML from files of others: plain values, and no keys that merge mappings, which unpack to any size."""

from pathlib import Path

import yaml

from nsrecover.util.untrusted_json import Parsed, read_text

_MERGE = "tag:yaml.org,2002:merge"


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Refuses `<<`."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Called with each mapping; merging them takes exponential time."""
        for key, _ in node.value:
            if key.tag == _MERGE:
                raise yaml.constructor.ConstructorError(
                    None, None, "found <<, which is not read; write the entries out", key.start_mark
                )
        super().flatten_mapping(node)


def parse_yaml(text: str) -> Parsed:
    """What a YAML text holds.

    Raises:
        yaml.YAMLError: it is no YAML, makes objects, or merges mappings.
        RecursionError: it is nested too deeply.
    """
    return yaml.load(text, _Loader)


def read_yaml(path: str | Path, max_bytes: int) -> Parsed:
    """What a YAML file holds; of a larger file, only the limit is read.

    Raises:
        OSError: the file cannot be read.
        InvalidJson: the file is larger than the limit, or no text.
        yaml.YAMLError, RecursionError: see `parse_yaml`.
    """
    return parse_yaml(read_text(path, max_bytes))
