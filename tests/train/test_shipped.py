"""`experiment=shipped` records, trains and calibrates; after Ctrl-C it goes on where it was."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from nsrecover.loading import load
from nsrecover.training.stages import STAGES
from tests.commands import ROOT, run
from tests.train.test_training import ended_by


def test_it_starts_from_nothing_and_goes_on_after_an_interruption(tmp_path: Path) -> None:
    out = tmp_path / "out"
    quick = [
        "experiment=shipped", f"out={out}", f"paths.data={tmp_path}", "record.transitions=12", "record.held_out=8",
        "encoder.epochs=1", "transition.epochs=4", "discriminator.epochs=1", "discriminator.batches=5",
        "free_space.epochs=1", "free_space.batches=3", "trainer.accelerator=cpu", "trainer.enable_progress_bar=false",
    ]  # fmt: skip
    stopped = subprocess.run(ended_by("SIGINT", *quick), cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert stopped.returncode == 130, stopped.stderr
    assert stopped.stdout.count("recording, ") == 4
    said = stopped.stderr.splitlines()[-1]
    assert said.startswith(f"interrupted: {out} keeps ")
    assert "of 4 epochs of transition" in said
    assert "start the same command again" in said

    done = subprocess.run(
        [sys.executable, "-m", "train", *quick], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "recording, " not in done.stdout
    metrics = json.loads((out / "metrics.json").read_text())
    assert list(metrics["stages"]) == list(STAGES)
    assert metrics["provenance"]["transitions"] >= 12
    assert set(metrics["sensors"]) <= {"clean", "d435", "tof", "stereo", "harsh"}
    assert load(str(out / "bundle")).model.bundle.config.provenance["settings"]["start"] is None
    (hyperparameters, *_) = sorted((out / "logs" / "transition").glob("version_*/hparams.yaml"))
    logged = yaml.safe_load(hyperparameters.read_text())
    assert logged["record"]["transitions"] == 12
    assert logged["transition"]["epochs"] == 4
    assert logged["optimizer"]["_target_"] == "torch.optim.AdamW"


@pytest.mark.parametrize("experiment", ["shipped", "shipped_exact"])
def test_what_is_recorded_is_what_is_trained_on(experiment: str) -> None:
    job = yaml.safe_load(run("train", f"experiment={experiment}", "paths.data=/big", "--cfg", "job", "--resolve").out)
    commands = job["record"]["commands"]
    written = {word.removeprefix("out=") for each in commands for word in each.split() if word.startswith("out=")}
    assert {job["data"]["train"], job["data"]["held_out"]} <= written
    assert all(each.startswith("/big/") for each in written)
