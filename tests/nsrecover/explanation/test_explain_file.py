"""`nsrecover explain` on every kind of file, in a separate process: fast, and without torch."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nsrecover.agent import RecoveryAgent
from nsrecover.errors import InvalidRecording
from nsrecover.loading import symbolic
from nsrecover.records import episode_log
from nsrecover.records.explain_file import explain_file
from tests.nsrecover.explanation.made_episodes import fallen
from tests.nsrecover.kitchen_facts import HOME, WATER, WATERED, WINE, FactWorld, after

RUN = """
import sys
sys.argv[0] = "nsrecover"
from nsrecover.cli.app import main
try:
    main()
finally:
    loaded = {"torch", "torchvision", "torch_geometric", "scipy"} & set(sys.modules)
    print(f"loaded: {sorted(loaded)}", file=sys.stderr)
"""


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("logs")
    paths = {name: folder / f"{name}.json" for name in ("ours", "facts")}
    episode_log.save(fallen(), paths["ours"])
    poured = RecoveryAgent(symbolic(HOME, WATERED), FactWorld(hook=after(1, WINE))).run(WATER)
    episode_log.save(poured, paths["facts"], HOME.domain)
    return paths


@pytest.mark.parametrize("kind", ["ours", "facts"])
def test_no_log_needs_torch(logs: dict[str, Path], kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN, "explain", str(logs[kind]), "--json", "--ask", "what went wrong?"],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "loaded: []" in done.stderr
    report = json.loads(done.stdout)
    assert {"kind", "steps", "root_cause", "objects", "text", "correction", "verified"} <= set(report)
    assert report["answers"][0]["understood"]


def test_questions_about_a_log_of_facts_are_answered(logs: dict[str, Path]) -> None:
    asked = ["what happened to the pot?", "what if you had not moved the pot?"]
    (report,) = explain_file(logs["facts"], questions=asked)
    assert (report["root_cause"], report["objects"]) == ("changed", ["pot"])
    happened, supposed = (answer["text"] for answer in report["answers"])
    assert "the pot was filled with wine" in happened
    assert "while the robot is running" in supposed


def test_a_recording_is_explained_with_the_models() -> None:
    (report,) = explain_file(Path("example"), questions=["why did you move the blue die?", "what if you had not?"])
    assert (report["kind"], report["root_cause"], report["status"]) == ("execution", "toppled", "reviewed")
    assert set(report["objects"]) == {"magenta die", "cyan die", "blue die", "orange cube", "green cube"}
    assert report["errors"][0]["step"] == 4
    assert report["verified"]
    assert "the blue die toppled" in report["answers"][0]["text"]
    assert "plan needs it on the cyan die" in report["answers"][1]["text"]


def test_a_file_of_no_known_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    with pytest.raises(InvalidRecording, match=r"recorded episode \(\.npz\)"):
        explain_file(tmp_path / "image.png")
