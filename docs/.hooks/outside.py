"""Links that leave docs/ lead to files of the repository, which the site does not hold: they become their names."""

from __future__ import annotations

import re
from typing import Any

LINK = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+)([^)#]+)\)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Called by mkdocs for every page."""
    depth = page.file.src_uri.count("/")

    def named(link: re.Match[str]) -> str:
        if link[2].count("../") <= depth:  # to another page
            return link[0]
        return link[1] if link[1] == link[3] else f"{link[1]} (`{link[3]}`)"

    return LINK.sub(named, markdown)
