"""Fixtures of several test files, and the marker `slow`."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

import nsrecover
from nsrecover.system import System
from tests.commands import shared_folder
from tests.fresh.release import build

ROOT = Path(__file__).parents[1]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


SLOW = (
    "eval/", "sim/", "train/",
    "ros/", "test_docs.py", "test_examples.py", "test_ros.py", "test_site.py", "test_tutorial.py",
    "test_wheel.py", "nsrecover/onboarding/", "nsrecover/records/test_bags.py", "nsrecover/test_without_torch.py",
    "nsrecover/explanation/language_model/test_endpoint.py",
    "nsrecover/logs/test_asking.py",
    "nsrecover/logs/test_explaining.py",
    "nsrecover/serving/server/test_server_process.py",
    "nsrecover/serving/live/test_live_in_browser.py",
    "nsrecover/models/test_export.py",
    "nsrecover/serving/reports/test_report_in_browser.py",
    "nsrecover/serving/reports/test_stored_episodes.py",
    "nsrecover/testing/",
)  # fmt: skip
"""Folders and files whose tests take more than a few seconds; `make quick` leaves them out."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests in `SLOW`."""
    for item in items:
        if item.path.relative_to(ROOT / "tests").as_posix().startswith(SLOW):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel; built once, whichever of the processes that run the tests is first to need it."""
    shared = shared_folder(tmp_path_factory)
    with FileLock(shared / "wheel.lock"):
        if not (shared / "wheel").is_dir():
            build(shared / "wheel.part")
            (shared / "wheel.part").rename(shared / "wheel")
    (path,) = (shared / "wheel").glob("*.whl")
    return path


@pytest.fixture(scope="session")
def system() -> System:
    """The system with the shipped weights."""
    return nsrecover.load()


@pytest.fixture(scope="session")
def has_chromium() -> None:
    """Without Chromium, or without playwright, the test is skipped."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install 'nsrecover[browser]'")
    if not any(map(shutil.which, BROWSERS)):
        pytest.skip("Chromium is not installed: apt-get install chromium")


@pytest.fixture(scope="module")
def browser(has_chromium: None) -> Iterator[Any]:
    """A running Chromium; without it the test is skipped."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        found = next(filter(None, map(shutil.which, BROWSERS)))
        started = running.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield started
        started.close()
