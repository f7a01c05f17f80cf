"""The notebook of the tutorial holds the blocks of the page, and runs where nbclient is installed."""

import json

from eval.results.notebook import NOTEBOOK, PAGE, notebook


def test_it_is_the_one_of_the_page() -> None:
    found = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert found == notebook(PAGE.read_text(encoding="utf-8")), "run `python -m eval.results.notebook`"
