"""`trainer=ddp`: the command itself, with two processes on the CPU."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import torch

from nsrecover.models.bundle import Bundle
from nsrecover.training.stages import STAGES

ROOT = Path(__file__).parents[2]

TINY = (
    "encoder.epochs=1",
    "transition.epochs=2",
    "discriminator={epochs: 1, batches: 4, batch_size: 64}",
    "free_space={epochs: 1, batches: 4, batch_size: 16}",
    "pairs.imagined_steps=1",
)


def test_two_processes_train_one_checkpoint(demonstrations: Path, tmp_path: Path) -> None:
    out, cache = tmp_path / "out", tmp_path / "cache"
    # a few episodes for both parts will do: it is the processes that are tried, not what is learned
    command = [
        *(sys.executable, "-m", "train", "trainer=ddp", "trainer.accelerator=cpu", "trainer.devices=2"),
        *(
            "experiment=smoke",
            f"data.train={demonstrations / 'held_out'}",
            f"data.held_out={demonstrations / 'held_out'}",
        ),
        *(f"out={out}", f"data.cache={cache}", "trainer.enable_progress_bar=false", *TINY),
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("trained on 2 x cpu, 1 thread") == 1, "one process tells the result"

    bundle = Bundle.load(out / "bundle")
    assert all(torch.isfinite(weights).all() for weights in bundle.state_dict().values())
    untrained = Bundle(bundle.config).state_dict()
    assert not torch.equal(bundle.state_dict()["encoder.resnet.conv1.weight"], untrained["encoder.resnet.conv1.weight"])

    provenance = bundle.config.provenance
    assert provenance["processes"] == 2
    assert provenance["device"] == "2 x cpu, 1 thread"
    assert list(json.loads((out / "progress.json").read_text())["done"]) == list(STAGES)
    assert json.loads((out / "metrics.json").read_text())["provenance"] == json.loads(json.dumps(provenance))
    assert not list(cache.glob("*.part*"))

    # the number of steps is that of one process: a batch is split, not the batches dealt out
    for stage in STAGES:
        (log,) = (out / "logs" / stage).glob("*/metrics.csv")
        steps = [int(row["step"]) for row in csv.DictReader(log.open()) if row["step"]]
        assert steps
        if stage in ("discriminator", "free_space"):
            assert max(steps) == 3
