"""The notebook of the tutorial holds the blocks of the page, and runs where nbclient is installed."""

import json
import re
from pathlib import Path

import pytest

from eval.results.notebook import NOTEBOOK, PAGE, PART, notebook


def test_it_is_the_one_of_the_page() -> None:
    found = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert found == notebook(PAGE.read_text(encoding="utf-8")), "run `python -m eval.results.notebook`"


def test_every_command_of_the_page_is_in_a_cell_in_order() -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    place = 0
    blocks = re.findall(r"```(?:bash|python)\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.strip()]
    assert len(lines) > 50
    for line in lines:
        place = code.find(line, place)
        assert place >= 0, line
        place += len(line)
    assert code.count(PART) == 4
    assert "%cd my_robot" in code
    assert all("cd " not in "".join(cell["source"]) for cell in cells if "".join(cell["source"]).startswith("%%bash"))


def test_a_cell_for_each_block_and_text_between_them() -> None:
    found = notebook("# Title\n\n## 1. Part\n\ntext\n\n```bash\none\ncd two\nthree\n```\n\nmore\n")
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in found["cells"][1:]] == [
        ("markdown", "# Title"),
        ("markdown", "## 1. Part\n\ntext"),
        ("code", PART),
        ("code", "%%bash\nset -e\none"),
        ("code", "%cd two"),
        ("code", "%%bash\nset -e\nthree"),
        ("markdown", "more"),
    ]


@pytest.mark.slow
def test_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    monkeypatch.setenv("PYTHONPATH", str(NOTEBOOK.parents[1]))
    document = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(document)
    ran = nbclient.NotebookClient(document, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [str(output.get("text", "")) for cell in ran.cells for output in cell.get("outputs", ())]
    assert any("1 of 3 steps did not go as expected" in text for text in outputs)
