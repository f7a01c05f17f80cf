"""The pages in docs/ become a site: nothing is left out, links lead somewhere, and nothing is fetched from afar."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

FETCHED = re.compile(r"""<(?:script|img|iframe|link|source)\b[^>]*?(?:src|href)=["']?((?:https?:)?//[^"'\s>]+)""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_there_and_fetches_nothing_from_afar(site: Path) -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        text = (site / page.relative_to(ROOT / "docs").with_suffix(".html")).read_text(encoding="utf-8")
        assert FETCHED.findall(text) == [], page
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    assert styles
    assert not any(re.search(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", style) for style in styles)


def test_the_interface_is_described_from_its_docstrings(site: Path) -> None:
    page = "".join(path.read_text(encoding="utf-8") for path in sorted(site.glob("api*.html")))
    for name in (
        "nsrecover.loading.load",
        "nsrecover.monitoring.monitor.Monitor.step",
        "nsrecover.core.discrepancy.Deviation",
    ):
        assert f'id="{name}"' in page, name
    assert "distance_m" in page


def test_files_outside_the_site_are_named_and_not_linked(site: Path) -> None:
    found = 0
    for page in (ROOT / "docs").glob("*.md"):
        html = (site / page.name).with_suffix(".html").read_text(encoding="utf-8")
        assert 'href="../' not in html
        for path in re.findall(r"\]\(\.\./([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert path in html
            found += 1
    assert found
    assert 'href="../sensors.html"' in (site / "results" / "noticing.html").read_text(encoding="utf-8")
