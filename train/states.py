"""`python -m train.states`: train the state model from successful demonstrations of household tasks."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import numpy.typing as npt
import torch
import typer
from torch import Tensor
from torch.nn import functional
from tqdm import tqdm

from conf.command import run_function
from nsrecover.core.scene import FloatArray
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.household.names import noun
from nsrecover.errors import InvalidConfiguration
from nsrecover.models.states import FEWEST_PIXELS, STEEP_RAD, StateConfig, StateModel, StateNet
from nsrecover.perception.states import StateCrops, state_crops, state_masks
from nsrecover.records.archive import Archive
from nsrecover.records.recording import Recording
from nsrecover.util.atomic_write import atomic_write_bytes
from train.revision import revision
from train.state_calibration import calibrated
from train.state_labels import shown_in, states_of, values_of, visible_variables

CROP = 48
FEWEST_EPISODES = 4
"""A value counts as demonstrated if it was seen in at least so many episodes."""
_HELD_OUT = 5
"""Episodes of every fifth layout are not learned from: they decide on temperatures and thresholds."""


@dataclass(frozen=True, eq=False)
class Example:
    """One frame of a demonstration: its crops, and the labels of the objects in them.

    Attributes:
        episode: which demonstration.
        held_out: whether it is learned from.
        crops: of the objects that have states.
        labels: (N, variables) index of the value of each variable; -1: none.
    """

    episode: str
    held_out: bool
    crops: StateCrops
    labels: npt.NDArray[np.int64]


def train(
    data: Annotated[list[Path] | None, typer.Option(help="file of demonstrations; may be repeated")] = None,
    out: Path = Path("outputs/train/states"),
    steps: int = 800,
    batch: int = 96,
    rate: float = 2e-3,
    seed: int = 0,
    start: Path | None = None,
) -> None:
    """Train a state model, and choose temperatures and thresholds on layouts that it did not learn from.

    Args:
        data: files that `python -m sim.collect domain=household` wrote.
        out: where the model is written.
        steps: number of batches.
        batch: crops in a batch.
        rate: highest learning rate.
        seed: of everything random.
        start: folder of a state model to learn on from, such as behind another sensor: its convolutions stay as they
            are, which takes seconds, and what it reads is read further.
    """
    began = time.perf_counter()
    command = shlex.join(["python", "-m", "train.states", *sys.argv[1:]])
    examples = [example for path in data or [Path("data/kitchen/demonstrations.h5")] for example in read_examples(path)]
    model = learned(examples, steps, batch, rate, seed, command, None if start is None else StateModel.load(start))
    seconds = round(time.perf_counter() - began, 1)
    model.config = replace(model.config, provenance={**model.config.provenance, "seconds": seconds})
    model.save(out)
    atomic_write_bytes(out / "metrics.json", json.dumps(dict(model.config.metrics), indent=1).encode() + b"\n")
    print(json.dumps(dict(model.config.metrics), indent=1), f"{seconds:.0f} s, written to {out}")


def learned(
    examples: Sequence[Example],
    steps: int,
    batch: int,
    rate: float,
    seed: int,
    command: str,
    start: StateModel | None = None,
) -> StateModel:
    """A state model from frames of demonstrations, with temperatures and thresholds.

    Args:
        examples: the frames; those of held-out layouts choose temperatures and thresholds.
        steps: number of batches.
        batch: crops in a batch.
        rate: highest learning rate.
        seed: of everything random.
        command: noted in the model.
        start: whose convolutions stay as they are, and whose other weights are learned on from; None: from random ones.

    Raises:
        InvalidConfiguration: all frames are of layouts to learn from, or none.
    """
    learn = [example for example in examples if not example.held_out]
    kept = [example for example in examples if example.held_out]
    if not learn or not kept:
        raise InvalidConfiguration(
            f"expected demonstrations in several layouts, some of them to choose thresholds, found {len(learn)} "
            f"frames to learn from and {len(kept)} others; record more"
        )
    config = replace(
        demonstrated(learn),
        provenance={
            "command": command,
            "seed": seed,
            "frames": len(learn),
            "held_out_frames": len(kept),
            "episodes": len({example.episode for example in learn}),
            "revision": revision(),
            "torch": torch.__version__,
            **({} if start is None else {"start": dict(start.config.provenance)}),
        },
    )
    torch.manual_seed(seed)
    model = StateModel(config) if start is None else continued(start, config)
    fit(model, learn, steps, batch, rate, seed, whole=start is None)
    return calibrated(model, kept)


def continued(start: StateModel, config: StateConfig) -> StateModel:
    """A model that reads what another one reads and what a configuration adds, with the weights of the other one."""
    old = start.config
    kinds = tuple(dict.fromkeys((*old.kinds, *config.kinds)))

    def joined(one: Mapping[str, tuple[str, ...]], other: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        return {name: tuple(dict.fromkeys((*one.get(name, ()), *other.get(name, ())))) for name in {**one, **other}}

    above = tuple(dict.fromkeys((*old.from_above, *config.from_above)))
    read, values = joined(old.read, config.read), joined(old.values, config.values)
    variables = {**old.variables, **config.variables}
    model = StateModel(replace(config, variables=variables, kinds=kinds, read=read, values=values, from_above=above))
    new, before = model.net.state_dict(), start.net.state_dict()
    rows = [row for name in old.variables for row in range(model.columns[name].start, model.columns[name].stop)]
    for name, weights in before.items():
        if new[name].shape == weights.shape:
            new[name] = weights
        elif name == "kinds.weight":  # kinds that are new come last
            new[name][: len(weights)] = weights
        else:
            new[name][rows] = weights
    model.net.load_state_dict(new)
    return model


def read_examples(path: Path) -> Iterator[Example]:
    """Every frame of the demonstrations in a file.

    Raises:
        InvalidRecording: the file is not one of household demonstrations.
    """
    with Archive(path, trusted=True) as archive:
        for episode in tqdm(archive.episodes, desc=f"reading {path}", unit="episode"):
            yield from frames_of(archive[episode], f"{path}:{episode}")


def frames_of(recording: Recording, episode: str) -> Iterator[Example]:
    """Every frame of a demonstration."""
    variables = visible_variables()
    held_out = is_held_out(recording)
    for observation, state in zip(recording.observations, states_of(recording), strict=True):
        values = values_of(state, shown_in(observation), variables.values())
        masks = state_masks(observation, values)
        labels = np.array(
            [[v.values.index(values[name][v.name]) for v in variables.values()] for name in masks], np.int64
        )
        yield Example(episode, held_out, state_crops(observation, masks, CROP), labels.reshape(-1, len(variables)))


def is_held_out(recording: Recording) -> bool:
    """Whether a demonstration is of a layout that is not learned from."""
    return int(recording.notes.get("layout", 0)) % _HELD_OUT == 2


def demonstrated(examples: Sequence[Example]) -> StateConfig:
    """Which variables are read for which kinds: those that were demonstrated with the normal value and with others.

    Which other value does not matter, because a liquid looks the same in every vessel; a value is read if it was
    demonstrated with any kind.
    """
    variables = visible_variables()
    episodes: dict[tuple[str, str], set[str]] = defaultdict(set)
    normal: dict[tuple[str, str, bool], set[str]] = defaultdict(set)
    for example in examples:
        for name, row in zip(example.crops.names, example.labels, strict=True):
            for variable, value in zip(variables, row, strict=True):
                episodes[variable, variables[variable].values[value]].add(example.episode)
                normal[variable, noun(name), value == 0].add(example.episode)
    enough = {key for key, found in normal.items() if len(found) >= FEWEST_EPISODES}
    read = {
        name: tuple(
            sorted(
                kind
                for variable, kind, _ in enough
                if variable == name and (name, kind, True) in enough and (name, kind, False) in enough
            )
        )
        for name in variables
    }
    read = {name: tuple(dict.fromkeys(kinds)) for name, kinds in read.items() if kinds}
    values = {
        name: tuple(value for value in variables[name].values if len(episodes[name, value]) >= FEWEST_EPISODES)
        for name in read
    }
    return StateConfig(
        domain=HOUSEHOLD.name,
        variables={name: variables[name].values for name in read},
        kinds=tuple(sorted({kind for kinds in read.values() for kind in kinds})),
        read=read,
        values=values,
        from_above=tuple(name for name in read if variables[name].from_above),
        crop_size=CROP,
    )


@dataclass(frozen=True, eq=False)
class Table:
    """The crops of many frames that have states, as arrays.

    Attributes:
        images: (B, S, S, 3) uint8.
        kinds: (B,) numbers of the kinds.
        geometry: (B, GEOMETRY).
        labels: (B, variables) index of the value; -1: not visible by geometry, or not read.
    """

    images: npt.NDArray[np.uint8]
    kinds: npt.NDArray[np.int64]
    geometry: FloatArray
    labels: npt.NDArray[np.int64]

    @classmethod
    def of(cls, model: StateModel, examples: Sequence[Example]) -> Table:
        """From frames."""
        every = list(visible_variables())
        config, rows = model.config, []
        for number, example in enumerate(examples):
            crops = example.crops
            for i, owner in enumerate(crops.owners):
                own = model.variables_of(crops.names[owner])
                labels = [
                    int(example.labels[owner, every.index(name)])
                    if name in own
                    and crops.pixels[i] >= FEWEST_PIXELS
                    and not (name in config.from_above and crops.elevation_rad[i] < STEEP_RAD)
                    else -1
                    for name in config.variables
                ]
                if max(labels) >= 0:
                    rows.append((number, i, model.kind_of(crops.names[owner]), labels))
        return cls(
            np.stack([examples[n].crops.images[i] for n, i, _, _ in rows]),
            np.array([kind for _, _, kind, _ in rows], np.int64),
            np.stack([examples[n].crops.geometry[i] for n, i, _, _ in rows]),
            np.array([labels for _, _, _, labels in rows], np.int64),
        )

    def weights(self) -> npt.NDArray[np.float64]:
        """How often each crop is drawn: rare values of a kind more often, (B,) with a sum of 1."""
        total = np.zeros(len(self.kinds))
        for column in self.labels.T:
            keys = self.kinds * 1000 + column
            _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
            rare = np.where(column >= 0, counts[inverse] ** -0.7, 0.0)
            total = np.maximum(total, rare)
        return np.asarray(total / total.sum())


def fit(
    model: StateModel, examples: Sequence[Example], steps: int, batch: int, rate: float, seed: int, whole: bool = True
) -> None:
    """Train the network: cross-entropy of every variable that can be seen, one cycle of the learning rate.

    Args:
        model: whose network it is.
        examples: frames to learn from.
        steps: number of batches.
        batch: crops in a batch.
        rate: highest learning rate.
        seed: of everything random.
        whole: whether the convolutions learn as well; if not, they see every crop once.
    """
    table, net = Table.of(model, examples), model.net.train()
    rng, weights = np.random.default_rng(seed), table.weights()
    seen = torch.zeros(0) if whole else _pooled(net, table.images)
    scale = torch.zeros(0) if whole else 0.1 * seen.std(dim=0)
    learned = [each for name, each in net.named_parameters() if whole or not name.startswith("features.")]
    optimizer = torch.optim.AdamW(learned, lr=rate, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps)
    losses: list[float] = []
    with tqdm(range(steps), desc=f"training on {len(table.kinds)} crops", unit="batch") as bar:
        for _ in bar:
            rows = rng.choice(len(weights), batch, p=weights)
            kinds, geometry = torch.as_tensor(table.kinds[rows]), torch.as_tensor(table.geometry[rows])
            pooled = net.pooled(varied(_as_images(table.images[rows]))) if whole else _shaken(seen[rows], scale)
            logits = net.read(pooled, kinds, geometry)
            labels = torch.as_tensor(table.labels[rows])
            loss = torch.zeros(())
            for column, name in enumerate(model.config.variables):
                shown = labels[:, column] >= 0
                if shown.any():
                    own = logits[shown, model.columns[name]]
                    loss = loss + functional.cross_entropy(own, labels[shown, column]) * (shown.sum() / batch)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
            losses.append(float(loss.detach()))
            bar.set_postfix(loss=f"{np.mean(losses[-100:]):.3f}", refresh=False)
    model.eval()


def _as_images(images: npt.NDArray[np.uint8]) -> Tensor:
    return torch.as_tensor(images).permute(0, 3, 1, 2).float() / 255.0


@torch.no_grad()
def _pooled(net: StateNet, images: npt.NDArray[np.uint8]) -> Tensor:
    """What the convolutions see in crops (B, S, S, 3), as they read them after training: (B, F)."""
    net.features.eval()
    return torch.cat([net.pooled(_as_images(images[at : at + 256])) for at in range(0, len(images), 256)])


def _shaken(seen: Tensor, scale: Tensor) -> Tensor:
    """What the convolutions have seen in some crops (B, F), a little brighter or darker, with noise of a scale (F,)."""
    return seen * (1 + 0.08 * torch.randn(len(seen), 1)) + scale * torch.randn_like(seen)


def varied(images: Tensor) -> Tensor:
    """Crops with random mirroring, size, place, brightness, contrast and colour."""
    count = len(images)
    flip = torch.where(torch.rand(count) < 0.5, -1.0, 1.0)
    scale = 1.0 + 0.12 * (2 * torch.rand(count) - 1)
    affine = torch.zeros(count, 2, 3)
    affine[:, 0, 0], affine[:, 1, 1] = flip * scale, scale
    affine[:, :, 2] = 0.1 * (2 * torch.rand(count, 2) - 1)
    grid = functional.affine_grid(affine, list(images.shape), align_corners=False)
    moved = functional.grid_sample(images, grid, align_corners=False)
    gain = 1.0 + 0.12 * (2 * torch.rand(count, 3, 1, 1) - 1) + 0.15 * (2 * torch.rand(count, 1, 1, 1) - 1)
    return (moved * gain).clamp(0.0, 1.0)


if __name__ == "__main__":
    run_function(train)
