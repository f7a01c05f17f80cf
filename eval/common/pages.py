"""HTML pages from the Jinja2 templates in `templates/`; each page holds its style and needs no other file."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape


def render(template: str, **values: Any) -> str:
    """Return a page.

    Args:
        template: file name in `templates/`.
        values: for the template; text is escaped.
    """
    return _environment().get_template(template).render(**values)


def inline_markdown(text: str) -> Markup:
    """HTML of Markdown links, bold text and code; everything else is escaped."""
    safe = str(escape(text))
    safe = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", r'<a href="\2">\1</a>', safe)
    safe = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", safe)
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", safe))


@lru_cache(maxsize=1)
def _environment() -> Environment:
    loader = PackageLoader("eval.common", "templates")
    found = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    found.filters["inline_markdown"] = inline_markdown
    return found
