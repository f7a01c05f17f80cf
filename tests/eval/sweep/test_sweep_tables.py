"""Tables from small hand-made results."""

import json
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from conf.command import register
from eval.__main__ import _check_launcher
from eval.common.tables import markdown_table
from eval.sweep.metrics import summary
from eval.sweep.records import EpisodeRecord
from eval.sweep.run import EvalConfig, read_records
from eval.tables.__main__ import TablesConfig
from eval.tables.__main__ import write as command
from nsrecover.errors import InvalidConfiguration
from tests.eval.sweep.records import record, recovery
from tests.tables_text import unpadded

ROOT = Path(__file__).parents[3]


def leave(folder: Path, planner: str, dataset: str, records: list[EpisodeRecord]) -> Path:
    """An output folder of `python -m eval`."""
    place = folder / f"{planner}-{dataset}"
    place.mkdir(parents=True)
    (place / "episodes.jsonl").write_text("".join(f"{item.to_json()}\n" for item in records))
    run = {"revision": "abc1234", "processor": "a processor", "cores": 2}
    found = {"dataset": dataset, "planner": planner, "episodes": len(records), "seed": 0, **summary(records)}
    runs = [run | {"first": 0, "end": len(records)}]
    (place / "metrics.json").write_text(json.dumps(found | {"asked": None, "runs": runs, "last_run": run}))
    config = {"planner": {"_target_": "eval.sweep.controllers.Blind"}, "seed": 0, "errors": None, "during_recovery": 0}
    OmegaConf.save(OmegaConf.create(config), place / "config.yaml")
    return place


def write(folders: list[Path], out: Path, kept: Path | None = None) -> None:
    """As the command line does."""
    command(TablesConfig([str(folder) for folder in folders], str(out), None if kept is None else str(kept)))


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """Two planners on I, one on II and V."""
    good = [record(number, scheduled=1 + number % 5) for number in range(10)]
    longer = recovery(actions=("x",) * 4, cost=6.0, seconds=0.4)
    worse = [
        record(0, recoveries=(recovery(right=False, astray={"a": "off"}),), deviations={"a": "30 mm off"}),
        *(record(number, recoveries=(longer,), planning_s=0.4) for number in range(1, 10)),
    ]
    leave(tmp_path / "in", "ours", "I", good)
    leave(tmp_path / "in", "replan", "I", worse)
    leave(tmp_path / "in", "ours", "II", [record(n, dataset="II", length=1 + n % 8) for n in range(8)])
    gone = recovery(status="impossible", right=None, lost={"a": "gone"}, blamed=("a",), best=None, cost=None)
    lost = record(0, dataset="V", recoverable=False, recoveries=(gone,), status="asked_for_help")
    leave(tmp_path / "in", "ours", "V", [lost, record(1, dataset="V")])
    return tmp_path


def line(text: str, start: str, heading: str) -> list[str]:
    """Cells of the first row with this beginning, below a heading."""
    below = unpadded(text.split(heading, 1)[1])
    row = next(row for row in below.splitlines() if row.startswith(f"| {start} |"))
    return [cell.strip() for cell in row.strip("|").split("|")]


def test_the_tables_have_our_numbers_and_the_papers(folders: Path) -> None:
    write([folders / "in"], folders / "out")
    text = (folders / "out" / "tables.md").read_text()
    ours = line(text, "ours", "## Table III")
    # two actions for one error, as short as can be, 20 ms for it; the paper's beside each
    assert ours[3].startswith("100.00 %")
    assert ours[1:3] == ["10", "9"]
    assert ours[4:13] == ["99.61 %", "2.00", "1.48", "1.000", "1.06", "0.020 s", "0.06 s", "0.010 s", "0.04 s"]
    replan = line(text, "replan", "## Table III")
    # of the nine episodes in which both are right: four actions where two will do
    assert replan[3].startswith("90.00 %")
    assert replan[4:9] == ["98.83 %", "4.00", "1.48", "2.000", "1.07"]
    assert line(text, "ours", "## Table IV")[-1] == "99.68 %"
    assert line(text, "ours", "## Is there a way back?")[2].startswith("100.00 %")
    assert line(text, "replan", "## Why episodes failed")[2:5] == ["wrong_way", "1", "10.00 points"]
    assert "abc1234; a processor, 2 cores" in text


def test_kept_sweeps_make_the_same_tables_again(folders: Path) -> None:
    write([folders / "in"], folders / "out", kept=folders / "out")
    write([folders / "out" / "sweeps"], folders / "again")
    first, again = ((folders / name / "tables.md").read_text() for name in ("out", "again"))
    assert again == first
    assert read_records(folders / "out" / "sweeps" / "ours-I") == read_records(folders / "in" / "ours-I")
    assert not list((folders / "again").glob("sweeps"))
    assert json.loads((folders / "out" / "run.json").read_text())["revision"] == "abc1234"
    assert "100.00 %" in (folders / "out" / "table.md").read_text()


def test_unreadable_sweeps_are_reported(folders: Path) -> None:
    with pytest.raises(InvalidConfiguration, match="found none"):
        write([folders / "nothing"], folders / "out")
    with pytest.raises(InvalidConfiguration, match="nothing or in the folders in it, found"):
        write([folders / "in", folders / "nothing"], folders / "out")
    with pytest.raises(InvalidConfiguration, match="several of ours on I"):
        write([folders / "in", folders / "in" / "ours-I"], folders / "out")
    config = folders / "in" / "replan-I" / "config.yaml"
    kept = config.read_text()
    config.write_text(kept.replace("seed: 0", "seed: 7"))
    with pytest.raises(InvalidConfiguration, match=r"dataset I over the same episodes, found seed=0 .* seed=7"):
        write([folders / "in"], folders / "out")
    config.write_text(kept)
    metrics = config.parent / "metrics.json"
    metrics.write_text(json.dumps(json.loads(metrics.read_text()) | {"sensor": "d435"}))
    with pytest.raises(InvalidConfiguration, match=r"same sensor, found sensor=clean .* sensor=d435"):
        write([folders / "in"], folders / "out")
    metrics.write_text(json.dumps(json.loads(metrics.read_text()) | {"sensor": "clean"}))
    write([folders / "in"], folders / "out")
    assert "Exact images, masks and camera poses" in (folders / "out" / "tables.md").read_text()
    write([folders / "in" / "ours-II"], folders / "out")
    assert "`sensor=d435`" not in (folders / "out" / "tables.md").read_text()
    apart = folders / "in" / "ours-II" / "metrics.json"
    exact = apart.read_text()
    apart.write_text(json.dumps(json.loads(exact) | {"sensor": "d435"}))
    write([folders / "in" / "ours-II"], folders / "out")
    assert "Seen through `sensor=d435`" in (folders / "out" / "tables.md").read_text()
    apart.write_text(exact)
    config.write_text("a: [")
    with pytest.raises(InvalidConfiguration, match=r"metrics\.json and config\.yaml in .*replan-I"):
        write([folders / "in"], folders / "out")
    config.unlink()
    with pytest.raises(InvalidConfiguration, match=r"without config\.yaml"):
        write([folders / "in"], folders / "out")
    config.write_text(kept)
    records = folders / "in" / "ours-I" / "episodes.jsonl"
    lines = records.read_text().splitlines(keepends=True)
    records.write_text("".join(lines[1:]))
    with pytest.raises(InvalidConfiguration, match=r"expected the 10 episodes .*ours-I/episodes\.jsonl, found 9"):
        write([folders / "in"], folders / "out")
    records.unlink()
    (records.parent / "episodes.jsonl.xz").write_bytes(b"cut off")
    with pytest.raises(InvalidConfiguration, match=r"episodes\.jsonl\.xz, found that it cannot be read"):
        write([folders / "in"], folders / "out")
    records.write_text("".join(reversed(lines)))
    write([folders / "in"], folders / "out")
    (folders / "taken").write_text("")
    with pytest.raises(InvalidConfiguration, match="out=, found"):
        write([folders / "in"], folders / "taken")
    (folders / "in" / "ours-I" / "metrics.json").unlink()
    with pytest.raises(InvalidConfiguration, match="start its command again"):
        write([folders / "in"], folders / "out")


def test_numbers_are_set_flush_right() -> None:
    assert markdown_table(["a", "b"], [["x", "1.5"], ["y", "-"]]).splitlines()[1] == "|:----|----:|"


@pytest.mark.parametrize("launcher", ["joblib", "submitit_local", "submitit_slurm"])
def test_launchers_for_clusters_compose(launcher: str) -> None:
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher")
    register("eval", EvalConfig)
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        found = compose("eval", [f"hydra/launcher={launcher}"], return_hydra_config=True)
    assert f"hydra_{launcher.split('_')[0]}_launcher" in found.hydra.launcher._target_


def test_a_missing_launcher_is_reported_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.__main__.find_spec", lambda name: None)
    with pytest.raises(InvalidConfiguration, match=r"nsrecover\[cluster\]"):
        _check_launcher(["-m", "hydra/launcher=submitit_slurm"])
    _check_launcher(["dataset=I"])
