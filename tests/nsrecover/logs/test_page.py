"""The example of docs/logs.md runs and prints what the page says."""

import contextlib
import io
import re
from pathlib import Path


def test_the_example_prints_what_the_page_says() -> None:
    page = (Path(__file__).parents[3] / "docs" / "logs.md").read_text()
    program = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)[0]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, "docs/logs.md", "exec"), {})
    shown = page.split("```")[page.split("```").index(f"python\n{program}") + 1].split("\n## ")[0]
    assert printed.getvalue().split() == shown.split()
