"""Checkpoints: folders with settings as JSON and weights as safetensors, whose hash is in the settings.

One changed bit is noticed, and nothing is unpickled.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from nsrecover.errors import InvalidCheckpoint, did_you_mean
from nsrecover.util.atomic_write import atomic_path
from nsrecover.util.json_data import from_json, to_json
from nsrecover.util.untrusted_json import read_json

CONFIG, WEIGHTS, CARD = "config.json", "model.safetensors", "README.md"
CHECKPOINTS = Path(__file__).parents[1] / "checkpoints"
"""Folder of the shipped checkpoints."""
DEFAULT = "tabletop_sensors"
"""The shipped checkpoint of the tabletop that is used where none is named; it was trained behind models of sensors."""
DIGEST = "weights_sha256"
"""Field of the settings for the SHA-256 hash of the weights; it may be missing."""

Config = TypeVar("Config")
Model = TypeVar("Model", bound=nn.Module)


@dataclass(frozen=True)
class CheckpointFormat(Generic[Config]):
    """How a learned part is stored.

    Attributes:
        what: its name, for errors.
        version: of the files; raise it when an older reader could not use a newer file.
        config: dataclass of its settings.
        command: that trains it.
    """

    what: str
    version: int
    config: type[Config]
    command: str

    def save(
        self, folder: str | Path, config: Config, tensors: Mapping[str, Tensor] | None = None, card: str | None = None
    ) -> Path:
        """Write settings, weights if there are some, and the model card if one is given.

        The files take their names when all of them are written, so that a reader never sees half a file.

        Returns:
            The folder, which is made if it does not exist.
        """
        path, settings = Path(folder), to_json(config)
        assert isinstance(settings, dict)
        with ExitStack() as stack:
            card_file, config_file, weights_file = (
                stack.enter_context(atomic_path(path / name)) if wanted else None
                for name, wanted in ((CARD, card is not None), (CONFIG, True), (WEIGHTS, tensors is not None))
            )
            if weights_file is not None and tensors is not None:
                kept = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
                save_file(kept, weights_file, metadata={"format": str(self.version)})
                settings = {DIGEST: _digest(weights_file), **settings}
            if config_file is not None:
                config_file.write_text(json.dumps({"format": self.version, **settings}, indent=1) + "\n")
            if card_file is not None:
                card_file.write_text(card or "")
        return path

    def read(self, folder: Path) -> Config:
        """Read the settings alone.

        Raises:
            InvalidCheckpoint: they are missing, damaged, of another version, or those of something else.
        """
        return self._settings(folder)[0]

    def load(self, folder: Path) -> tuple[Config, dict[str, Tensor]]:
        """Read settings and weights.

        Raises:
            InvalidCheckpoint: one of them is missing, damaged or of another version, or the weights are not those that
                the settings name.
        """
        config, digest = self._settings(folder)
        path = folder / WEIGHTS
        self._require(path)
        try:
            if digest not in (None, _digest(path)):
                raise InvalidCheckpoint(
                    f"expected the weights that the settings next to {path} name by their hash, found others; the file "
                    "is damaged or belongs to another training: copy or train it again"
                )
            return config, load_file(path)
        except (SafetensorError, OSError, ValueError) as error:
            raise InvalidCheckpoint(
                f"expected a safetensors file, found {path} damaged ({error}); copy or train it again"
            ) from error

    def _settings(self, folder: Path) -> tuple[Config, object]:
        path = folder / CONFIG
        self._require(path)
        try:
            document = read_json(path)
            version, digest = document.pop("format"), document.pop(DIGEST, None)
            if version == self.version:
                return from_json(self.config, document), digest
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise InvalidCheckpoint(
                f"expected the settings of {self.what}, found {path} damaged ({error}); copy or train it again"
            ) from error
        raise InvalidCheckpoint(
            f"expected checkpoint format {self.version} of {self.what}, found {version} in {path}; use the version of "
            "nsrecover it was made with, or train it again"
        )

    def _require(self, path: Path) -> None:
        if not path.is_file():
            shipped = did_you_mean(path.parent.name, [each.name for each in CHECKPOINTS.iterdir()])
            raise InvalidCheckpoint(
                f"expected {self.what} in a folder with {CONFIG}, found no {path.name} in {path.parent}; give the "
                f"folder that `{self.command}` wrote, or the name of a shipped one.{shipped}"
            )


def folder_of(checkpoint: str | Path) -> Path:
    """The folder of a checkpoint that is given as such, or by the name of a shipped one."""
    path = Path(checkpoint)
    return CHECKPOINTS / path if not path.exists() and (CHECKPOINTS / path).is_dir() else path


def built(kind: Callable[[Config], Model], config: Config, folder: Path) -> Model:
    """A model with the settings of a checkpoint.

    Raises:
        InvalidCheckpoint: there is no such model.
    """
    try:
        return kind(config)
    except (ValueError, TypeError, ArithmeticError, AssertionError, RuntimeError) as error:
        raise InvalidCheckpoint(
            f"expected the settings of a model, found {folder / CONFIG} damaged ({error}); copy or train it again"
        ) from error


def restore(module: nn.Module, weights: Mapping[str, Tensor], folder: Path) -> None:
    """Give a module the weights of a checkpoint.

    Raises:
        InvalidCheckpoint: they have other names or sizes than the settings say.
    """
    expected = module.state_dict()
    absent, surplus = sorted(expected.keys() - weights.keys()), sorted(weights.keys() - expected.keys())
    if absent or surplus:
        raise InvalidCheckpoint(
            f"expected {len(expected)} tensors, found {len(weights)} in {folder / WEIGHTS} (missing: {absent[:3]}, "
            f"unknown: {surplus[:3]}); it belongs to other settings than {CONFIG} says"
        )
    for name, tensor in expected.items():
        if tensor.shape != weights[name].shape:
            raise InvalidCheckpoint(
                f"expected {name} of shape {tuple(tensor.shape)} as {CONFIG} says, found {tuple(weights[name].shape)} "
                f"in {folder / WEIGHTS}; the weights and the settings come from different trainings"
            )
    module.load_state_dict(dict(weights))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
