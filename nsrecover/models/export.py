"""The learned parts as ONNX files, for programs without torch (docs/integrations.md has one).

    from nsrecover.models.export import export_onnx
    from nsrecover.models.bundle import Bundle

    export_onnx(Bundle.load(), "models")    # encoder.onnx, transition.onnx, discriminator.onnx, models.json

The files hold the same weights as the checkpoint and give the same numbers for any number of objects.

Needs onnxscript: `pip install 'nsrecover[onnx]'`.
"""

import copy
import json
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

import nsrecover
from nsrecover.errors import InvalidConfiguration
from nsrecover.models.bundle import Bundle, BundleConfig
from nsrecover.models.transition import every_pair
from nsrecover.util.atomic_write import atomic_path
from nsrecover.util.extras import needs_extra
from nsrecover.util.untrusted_json import JsonObject

OPSET = 18
"""Version of the ONNX operators; the oldest that torch exports to, so that most runtimes can read the files."""

FORMAT = 1
"""Version of models.json; raised when an older reader could not use a newer file."""

DESCRIPTION = "models.json"

Shape = tuple[int | str, ...]


@dataclass(frozen=True)
class Port:
    """An input or output of an exported model.

    Attributes:
        name: as the runtime knows it.
        shape: its sizes; a name stands for any number.
        meaning: what it holds, with its unit.
        kind: its element type, as NumPy calls it.
    """

    name: str
    shape: Shape
    meaning: str
    kind: str = "float32"


@dataclass(frozen=True)
class _Part:
    """One file of the export."""

    file: str
    model: nn.Module
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]


class _Adapted(nn.Module):
    """A model with a function between it and the arrays of its file."""

    def __init__(self, model: nn.Module, adapt: Callable[..., object]) -> None:
        super().__init__()
        self.model = model
        self.adapt = adapt

    def forward(self, *arrays: Tensor) -> object:
        return self.adapt(self.model, *arrays)


def export_onnx(bundle: Bundle, folder: str | Path) -> tuple[Path, ...]:
    """Write encoder, transition model and discriminator as ONNX files, and models.json, which describes them.

    All files are written to a temporary folder and then moved into place; models.json comes last.

    Args:
        bundle: the learned parts; left as it is, on its device and in its mode.
        folder: where; made if it does not exist. Files of an earlier export are replaced.

    Returns:
        The files: encoder.onnx, transition.onnx, discriminator.onnx, models.json.

    Raises:
        InvalidConfiguration: onnxscript is not installed, or the folder cannot be written to.
    """
    with needs_extra("onnx", "onnxscript"):  # the exporter of torch needs it, and it installs onnx
        import onnxscript  # noqa: F401
    path = Path(folder)
    parts = _parts(copy.deepcopy(bundle).cpu())
    try:
        with ExitStack() as stack:
            # Renamed last to first, so that the description appears after the files that it describes.
            description = stack.enter_context(atomic_path(path / DESCRIPTION))
            description.write_text(json.dumps(_description(bundle.config, parts), indent=2) + "\n")
            for part in parts:
                _program(part).save(stack.enter_context(atomic_path(path / part.file)), external_data=False)
    except OSError as problem:
        raise InvalidConfiguration(
            f"expected a folder that can be written to, found {path} ({problem.strerror or problem}); give another one"
        ) from problem
    return tuple(path / name for name in (*(part.file for part in parts), DESCRIPTION))


def _parts(bundle: Bundle) -> tuple[_Part, ...]:
    """The models to export, with their descriptions in models.json."""
    features, side = bundle.config.feature_size, bundle.config.crop_size
    box = "centre xyz and size xyz, metres, robot base frame"
    whole: JsonObject = {"shape": ("scenes",), "kind": "int64"}
    return (
        _Part(
            "encoder.onnx",
            _Adapted(bundle.encoder, lambda model, crops: model(crops.permute(0, 3, 1, 2) / 255.0)),
            (Port("crops", ("crops", side, side, 3), "RGB pictures of single objects, all else black", "uint8"),),
            (Port("features", ("crops", features), "appearance, unit length"),),
        ),
        _Part(
            "transition.onnx",
            # with its edges made in the graph: kept ones would fix the number of objects
            _Adapted(bundle.transition, lambda model, *given: model(*given, every_pair(*given[1].shape[:2]))),
            (
                Port("visual", ("scenes", "objects", features), "appearance of every object, unit length"),
                Port("boxes", ("scenes", "objects", 6), box),
                Port("operators", meaning="number of the operator in the list of operators", **whole),
                Port("moved", meaning="number of the object that is moved", **whole),
                Port("reference", meaning="number of the object that it is moved relative to", **whole),
            ),
            (
                Port("box", ("scenes", 6), f"the moved object after the action: {box}"),
                Port("feature", ("scenes", features), "its appearance after the action, unit length"),
            ),
        ),
        _Part(
            "discriminator.onnx",
            _Adapted(bundle.discriminator, lambda model, *nodes: torch.sigmoid(model(*nodes))),
            (
                Port("visual_a", ("pairs", features), "appearance of the expected object, unit length"),
                Port("boxes_a", ("pairs", 6), box),
                Port("visual_b", ("pairs", features), "appearance of the observed object, unit length"),
                Port("boxes_b", ("pairs", 6), box),
            ),
            (Port("probability", ("pairs",), "that both are the same object in the same place, 0 to 1"),),
        ),
    )


def _program(part: _Part) -> torch.onnx.ONNXProgram:
    """One model as an ONNX program whose named sizes are free."""
    # Sizes to trace with: different ones, and neither 0 nor 1, which the exporter would take for fixed.
    free = {"crops": 3, "scenes": 2, "objects": 4, "pairs": 5}
    examples = tuple(
        torch.zeros(
            [size if isinstance(size, int) else free[size] for size in port.shape], dtype=getattr(torch, port.kind)
        )
        for port in part.inputs
    )
    with warnings.catch_warnings():
        # Several inputs have the same free size; only the first one's name is used, which is what is meant.
        warnings.filterwarnings("ignore", message=".*shares the same shape constraints.*")
        program = torch.onnx.export(
            part.model.eval(),
            examples,
            input_names=[port.name for port in part.inputs],
            output_names=[port.name for port in part.outputs],
            dynamic_shapes=(
                tuple(
                    {axis: size for axis, size in enumerate(port.shape) if isinstance(size, str)}
                    for port in part.inputs
                ),
            ),
            opset_version=OPSET,
            dynamo=True,
            verbose=False,
        )
    assert program is not None  # None comes from the older exporter only
    for node in program.model.graph.all_nodes():
        node.metadata_props.clear()  # where in the source it comes from, with the paths of this machine
    return program


def _description(config: BundleConfig, parts: tuple[_Part, ...]) -> JsonObject:
    """The content of models.json."""

    def about(port: Port) -> JsonObject:
        return {"name": port.name, "type": port.kind, "shape": list(port.shape), "meaning": port.meaning}

    return {
        "format": FORMAT,
        "library": nsrecover.__version__,
        "opset": OPSET,
        "feature_size": config.feature_size,
        "crop_size": config.crop_size,
        "operators": list(config.operators),
        "threshold": config.threshold,
        "models": {
            part.file: {"inputs": [*map(about, part.inputs)], "outputs": [*map(about, part.outputs)]} for part in parts
        },
    }
