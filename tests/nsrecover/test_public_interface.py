"""What `import nsrecover` offers, how quick it is, and what it leaves alone."""

import subprocess
import sys

import nsrecover

HEAVY = {
    "pybullet", "lightning", "hydra", "wandb", "fastapi", "unified_planning", "torch", "torchvision", "torch_geometric",
    "gymnasium", "py_trees", "h5py", "onnx", "onnxruntime", "ray", "matplotlib",
}  # fmt: skip


def loaded_by(program: str) -> set[str]:
    """Top-level modules that a program has loaded at its end, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


def test_importing_it_loads_nothing_heavy() -> None:
    loaded = loaded_by("import nsrecover; nsrecover.__version__")
    assert "nsrecover" in loaded
    assert not loaded & HEAVY
    assert "numpy" not in loaded


def test_every_public_name_can_be_had_without_loading_torch() -> None:
    loaded = loaded_by("from nsrecover import *\nMonitor, RecoveryPlanner, RecoveryAgent, Explainer, Perceiver, load")
    assert not loaded & HEAVY


def test_the_names_that_are_promised_are_there_and_documented() -> None:
    promised = (
        "Monitor", "RecoveryPlanner", "RecoveryAgent", "Explainer", "Perceiver", "SceneGraph", "Plan", "Action",
        "Discrepancy", "Recovery", "load", "geometric", "register",
    )  # fmt: skip
    assert {*promised, "__version__"} <= set(nsrecover.__all__)
    assert {*nsrecover.__all__} - {"__version__"} <= {*dir(nsrecover)}
    for name in promised:
        assert getattr(nsrecover, name).__doc__, name
