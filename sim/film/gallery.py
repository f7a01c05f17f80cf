"""`python -m sim.film.gallery OUT`: a page of the documentation with the pictures of filmed episodes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from conf.command import run_function
from nsrecover.errors import InvalidConfiguration
from nsrecover.util.atomic_write import atomic_write_bytes
from nsrecover.util.english import amount
from sim.common.tables import markdown_table

PAGE = "results/kitchen_gallery.md"
PICTURES = "kitchen"
_HEAD = """# The kitchen in pictures

    python -m sim.film task=all video=false
    python -m sim.film dataset=H1 video=false
    python -m sim.film.gallery outputs/film

Every picture shows an episode: what a person sees over the robot's shoulder and what its steep camera sees, before
the first action and after every one. Actions that failed, and faults that struck, are red. Below are the spectrogram of
what its microphone heard and the sound events, which are the ground truth.

Without `video=false` the same commands write films with sound, which are too large for this page. These are examples,
chosen by their seeds: how often tasks and skills succeed is measured elsewhere. Nothing is repaired: after a failure
the robot goes on with its plan.
"""


def gallery(
    folder: Annotated[Path, typer.Argument(help="Folder that python -m sim.film has written.")],
    docs: Annotated[Path, typer.Option(help="Folder of the documentation.")] = Path("docs"),
) -> None:
    """Copy the pictures of filmed episodes into the documentation, and write the page that shows them."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    records = [record for record in records if (folder / f"{record['name']}.jpg").is_file()]
    if not records:
        raise InvalidConfiguration(f"expected episodes in {folder}, found none; run python -m sim.film first")
    for record in records:
        name = f"{record['name']}.jpg"
        atomic_write_bytes(docs / PICTURES / name, (folder / name).read_bytes())
    records.sort(key=lambda record: (bool(record["trouble"]), int(record["task"][1:]), record["name"]))
    atomic_write_bytes(docs / PAGE, page_of(records).encode())
    print(f"wrote {docs / PAGE} and {amount(len(records), 'picture')} to {docs / PICTURES}")


def page_of(records: Sequence[Mapping[str, Any]]) -> str:
    """The page in Markdown."""
    parts = [_HEAD]
    for title, chosen in (
        ("Tasks", [record for record in records if not record["trouble"]]),
        ("Failures", [record for record in records if record["trouble"]]),
    ):
        if not chosen:
            continue
        rows = [
            [record["title"].split(":")[0], record["trouble"] or "-", f"{record['seconds']:.0f} s",
             str(len(record["sounds"])), record["verdict"]]
            for record in chosen
        ]  # fmt: skip
        head = ["task", "what goes wrong", "length", "classes of sounds", "result"]
        parts.append(f"## {title}\n\n{markdown_table(head, rows)}\n")
        parts += [
            f"### {record['title'].split(':')[0]}{', ' + _kinds(record) if record['trouble'] else ''}\n\n"
            f"![{record['title']}](../{PICTURES}/{record['name']}.jpg)\n"
            for record in chosen
        ]
    return "\n".join(parts)


def _kinds(record: Mapping[str, Any]) -> str:
    return record["name"].split("-", 2)[-1].replace("-", ", ").replace("_", " ")  # type: ignore[no-any-return]


if __name__ == "__main__":
    run_function(gallery)
