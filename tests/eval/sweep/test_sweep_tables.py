"""Tables, figures and gallery from small hand-made results; numbers of the README."""

import json
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from conf.command import register
from eval.__main__ import _check_launcher
from eval.common.tables import markdown_table
from eval.sweep.metrics import summary
from eval.sweep.records import EpisodeRecord, OptimumRecord
from eval.sweep.run import EvalConfig, read_records
from eval.tables.__main__ import write
from eval.tables.readme import BEGIN, END, FRESH, FRESH_SENSED, PUBLISHED, SENSING, Published, read, rewritten
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


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """Two planners on I, one on II and V, and on III the two of Table VI."""
    good = [record(number, scheduled=1 + number % 5) for number in range(10)]
    longer = recovery(actions=("x",) * 4, cost=6.0, seconds=0.4)
    worse = [
        record(0, recoveries=(recovery(right=False, astray={"a": "off"}),), deviations={"a": "30 mm off"}),
        *(record(number, recoveries=(longer,), planning_s=0.4) for number in range(1, 10)),
    ]
    leave(tmp_path / "in", "ours", "I", good)
    leave(tmp_path / "in", "replan", "I", worse)
    leave(tmp_path / "in", "ours", "II", [record(n, dataset="II", length=1 + n % 8) for n in range(8)])
    small = [record(n, dataset="III", objects=6 + n % 5) for n in range(5)]
    behind = recovery(cost=5.0, best=OptimumRecord(4, 2, 2))
    leave(tmp_path / "in", "ours_anytime_k3", "III", small)
    late = [record(n, dataset="III", objects=6 + n % 5, recoveries=(behind,)) for n in range(5)]
    leave(tmp_path / "in", "original", "III", late)
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
    # 6, 7 and 8 objects; four beside five actions
    assert line(text, "ours_anytime_k3", "## Table VI")[1:6] == ["3", "100.00 %", "95.07 %", "0.800", "0.7"]
    assert line(text, "ours", "## Is there a way back?")[2].startswith("100.00 %")
    assert line(text, "I", "## Planners on the same episodes")[1:7] == [
        "ours and replan",
        "10",
        "9",
        "1",
        "0",
        "1.0000",
    ]
    assert line(text, "replan", "## Why episodes failed")[2:5] == ["wrong_way", "1", "10.00 points"]
    assert "| replan I 0 | wrong_way | | a: 30 mm off |" in unpadded(text)
    assert "abc1234, a processor, 2 cores" in text


def test_kept_sweeps_make_the_same_tables_again(folders: Path) -> None:
    write([folders / "in"], folders / "out", kept=folders / "out")
    write([folders / "out" / "sweeps"], folders / "again")
    first, again = ((folders / name / "tables.md").read_text() for name in ("out", "again"))
    assert again == first
    assert read_records(folders / "out" / "sweeps" / "ours-I") == read_records(folders / "in" / "ours-I")
    assert not list((folders / "again").glob("sweeps"))


def test_the_page_and_the_figures_are_there(folders: Path) -> None:
    write([folders / "in"], folders / "out")
    page = (folders / "out" / "index.html").read_text()
    assert page.count("<table>") == page.count("</table>") >= 8
    for name in ("figure3.png", "figure4.png", "anytime.png"):
        assert f'src="{name}"' in page
        assert (folders / "out" / name).stat().st_size > 10_000
    assert len(json.loads((folders / "out" / "metrics.json").read_text())["sweeps"]) == 6


def test_failures_of_the_oracle_are_the_limit(folders: Path) -> None:
    """Of ten episodes one loses an object and one ends with a deviation: nine are possible, eight are completed."""
    gone = recovery(status="impossible", right=None, lost={"a": "gone"}, best=None, cost=None)
    lost = record(0, recoveries=(gone,), status="asked_for_help", deviations={"a": "gone from the table"})
    short = record(1, deviations={"a": "30 mm off"})
    leave(folders / "in", "oracle", "I", [lost, short, *(record(n) for n in range(2, 10))])
    write([folders / "in"], folders / "out")
    text = (folders / "out" / "tables.md").read_text()
    row = line(text, "I", "## What the simulator and the arm allow")
    assert row[1:3] == ["9", "8"]
    assert row[3].startswith("88.89 % [")
    assert row[4] == "9 of 9"
    assert "this costs 11.11 points: I 1; ours completes 1 of 1" in text


def test_the_gallery_says_how_many_it_leaves_out(folders: Path) -> None:
    bad = [record(n, deviations={"a": "30 mm off"}) for n in range(5)]
    leave(folders / "in", "none", "I", bad)
    write([folders / "in"], folders / "out", failures=3)
    gallery = (folders / "out" / "tables.md").read_text().split("## Failure gallery", 1)[1]
    gallery = unpadded(gallery)
    assert [f"| none I {n} |" in gallery for n in range(5)] == [True] * 3 + [False] * 2
    assert "| none I | 2 more |" in gallery


def test_the_reliability_of_the_models_is_added(folders: Path) -> None:
    bins = [{"probability": 0.1, "share": 0.0, "objects": 10}, {"probability": 0.9, "share": 1.0, "objects": 90}]
    found = {"variants": {"two cameras": {"injected": {"reliability": bins, "expected_calibration_error": 0.0123}}}}
    (folders / "models").mkdir()
    (folders / "models" / "metrics.json").write_text(json.dumps(found))
    write([folders / "in"], folders / "out", models=folders / "models")
    assert "two cameras 1.23 points." in (folders / "out" / "tables.md").read_text()
    assert (folders / "out" / "reliability.png").stat().st_size > 5_000
    with pytest.raises(InvalidConfiguration, match=r"python -m eval\.models"):
        write([folders / "in"], folders / "out", models=folders / "in")


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
    with pytest.raises(InvalidConfiguration, match="--out, found"):
        write([folders / "in"], folders / "taken")
    (folders / "in" / "ours-I" / "metrics.json").unlink()
    with pytest.raises(InvalidConfiguration, match="start its command again"):
        write([folders / "in"], folders / "out")


def test_numbers_are_set_flush_right() -> None:
    assert markdown_table(["a", "b"], [["x", "1.5"], ["y", "-"]]).splitlines()[1] == "|:----|----:|"


def test_the_readme_has_the_published_numbers() -> None:
    text = (ROOT / "README.md").read_text()
    published = read([ROOT / place for place in (PUBLISHED, FRESH, FRESH_SENSED, SENSING)])
    assert rewritten(text, published) == text, "run `python -m eval.tables.readme`"


def test_the_readme_block_has_the_numbers_and_the_rest_stays(folders: Path) -> None:
    write([folders / "in"], folders / "out")
    metrics = json.loads((folders / "out" / "metrics.json").read_text())
    only_v = {"sweeps": [found | {"seed": 7} for found in metrics["sweeps"] if found["dataset"] == "V"]}
    few = {"value": 0.01, "low": 0.005, "high": 0.02, "of": 400}
    found = dict.fromkeys(("false_alarms", "recall", "culprits_exact", "cannot_tell"), few)
    sensing = {"seed": 9, "episodes": {"I": 3}, "conditions": {"a sensor": found}}
    noisy = {"sweeps": [each | {"sensor": "d435", "seed": 7} for each in metrics["sweeps"] if each["dataset"] == "II"]}
    text = rewritten(f"before\n{BEGIN}\nold\n{END}\nafter\n", Published(metrics, only_v, noisy, sensing))
    assert line(text, "a sensor", BEGIN)[1] == "1.0 % [0.5, 2.0] (400)"
    assert text.startswith(f"before\n{BEGIN}\n")
    assert text.endswith(f"{END}\nafter\n")
    assert "old" not in text
    assert line(text, "I", BEGIN)[2:7] == ["", "", "", "", "100.00 % (10)"]
    assert line(text, "II", BEGIN)[4:7] == ["100.00 % (8)", "", "100.00 % (8)"]
    assert line(text, "III", BEGIN)[2:7] == [""] * 5, "no sweep of it"
    assert line(text, "V", BEGIN)[4:7] == ["", "100.00 % (2)", "100.00 % (2)"]
    assert "d435: errors noticed" in text
    assert "clean, seed 7: ours" in text
    assert "d435`: abc1234; clean, seed 7: abc1234" in text
    assert "noise-free depth" in text
    assert "99.68 %" in text
    with pytest.raises(InvalidConfiguration, match="one missing"):
        rewritten("no markers", Published(metrics, only_v, noisy, sensing))


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
