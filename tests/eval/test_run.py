"""A measurement of a few lines: the runner resumes it, computes in processes, and never returns an old number."""

import json
import shutil
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pytest

from eval import identity
from eval.run import ROWS, Measurement, Run, Settings
from nsrecover.errors import InvalidConfiguration
from nsrecover.models.checkpoint import folder_of
from sim.common.origin import machine
from sim.datasets.shipped import shipped
from sim.datasets.spec import ErrorEpisode


@dataclass
class Config(Settings):
    """Settings.

    Attributes:
        count: how many items
            there are
        factor: of every number
        sizes: not used
        checkpoint: folder of a checkpoint; the shipped one if null
    """

    count: int = 3
    factor: int = 2
    sizes: list[int] = field(default_factory=lambda: [3, 4])
    checkpoint: str | None = None


@dataclass(frozen=True)
class Product:
    """A row of the ledger."""

    item: tuple[int, ...]
    value: float
    calls: Path | None = None


def product(item: int, factor: int, calls: Path | None = None) -> list[Product]:
    """Multiply, and note the call."""
    if calls is not None:
        with calls.open("a") as file:
            file.write(f"{item}\n")
    return [Product((item,), float("inf") if item == 0 else factor * item)]


def _measure(config: Config, run: Run) -> dict[str, object]:
    task = partial(product, factor=config.factor, calls=Path(config.out).parent / "calls")
    rows = run.each(task, range(config.count), "number")
    assert all(isinstance(row, Product) and isinstance(row.item, tuple) for (row,) in rows)
    return {"values": [row.value for (row,) in rows]}


def _check(config: Config) -> None:
    if config.factor == 0:
        raise InvalidConfiguration("expected a factor")


MEASUREMENT = Measurement(
    Config, _measure, lambda found: f"{found}\n", _check, {"count": 1, "sizes": 3}, adds=("count",), checkpoint=None
)


def _calls(folder: Path) -> list[str]:
    return (folder / "calls").read_text().split()


def test_it_continues_and_adds_items(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = Config(workers=1, out=str(tmp_path / "out"))
    assert MEASUREMENT.run(config) == {"values": [float("inf"), 2.0, 4.0]}
    assert f"3 of 3 done at revision {machine()['revision']}" in capsys.readouterr().err
    ledger = tmp_path / "out" / ROWS
    ledger.write_text("".join(ledger.read_text().splitlines(keepends=True)[:2]) + '{"unit": "nu')  # interrupted
    assert MEASUREMENT.run(replace(config, count=4)) == {"values": [float("inf"), 2.0, 4.0, 6.0]}
    assert _calls(tmp_path) == ["0", "1", "2", "2", "3"]
    assert json.loads((tmp_path / "out" / "metrics.json").read_text())["values"][1:] == [2.0, 4.0, 6.0]


def test_the_number_of_processes_changes_nothing(tmp_path: Path) -> None:
    one, two = (Config(count=5, workers=workers, out=str(tmp_path / str(workers))) for workers in (1, 2))
    assert MEASUREMENT.run(one) == MEASUREMENT.run(two)
    assert MEASUREMENT.run(replace(one, workers=2)) == MEASUREMENT.run(two)
    assert len(_calls(tmp_path)) == 10


def test_other_settings_and_other_code_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = Config(workers=1, out=str(tmp_path / "out"))
    MEASUREMENT.run(config)
    with pytest.raises(InvalidConfiguration, match=r"factor=3, found factor=2 \(3 lines of results of revision"):
        MEASUREMENT.run(replace(config, factor=3))
    monkeypatch.setattr(identity, "code_state", lambda: "edited")
    with pytest.raises(InvalidConfiguration, match="code"):
        MEASUREMENT.run(config)


def test_other_weights_and_other_episodes_are_refused(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    shutil.copytree(folder_of("tabletop"), mine)
    drawn = list(shipped("I", 0, 3))
    learned = replace(MEASUREMENT, checkpoint="tabletop", episodes=lambda config: drawn[config.seed :])
    config = Config(workers=1, checkpoint=str(mine), out=str(tmp_path / "out"))
    learned.run(config)
    with pytest.raises(InvalidConfiguration, match="content_of_episodes"):
        replace(learned, episodes=lambda config: drawn[1:]).run(config)
    first = next(path for path in sorted(mine.rglob("*.safetensors")))
    first.write_bytes(first.read_bytes()[:-1] + b"\0\1")
    with pytest.raises(InvalidConfiguration, match="weights"):
        learned.run(config)


def _written(episode: ErrorEpisode) -> str:
    return episode.to_json()


def test_another_episode_of_the_same_name_is_measured_again(tmp_path: Path) -> None:
    for episode in [*shipped("I", 0, 2)] * 2:
        assert Run(tmp_path).each(_written, [episode], "episode", lambda each: each.dataset) == [episode.to_json()]
    assert len((tmp_path / ROWS).read_text().splitlines()) == 2


def test_what_cannot_be_used_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    many = ({"factor": 0}, {"seed": -1}, {"workers": 0}, {"count": 0}, {"sizes": []}, {"sizes": [9, 2]})
    for wrong in (*(Config(**each) for each in many), Config(parallel="rya")):
        with pytest.raises(InvalidConfiguration, match="expected"):
            MEASUREMENT.run(replace(wrong, out=str(tmp_path / "out")))
    assert not list(tmp_path.iterdir())
