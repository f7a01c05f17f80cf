"""`nsrecover fleet`: one page for the questions of many robots."""

import threading
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from nsrecover.errors import InvalidConfiguration
from nsrecover.onboarding.options import Port


def fleet(
    robots: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME=]URL...", help="Address of each robot's live page, with its token, as its program prints it."
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(help="File with one [NAME=]URL a line: the list of processes does not show its tokens."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; rather use a tunnel than another one.")
    ] = "127.0.0.1",
    port: Port = 8701,
) -> None:
    """Answer for many robots on one page, the most valuable question first.

    Each robot runs with a live page of its own, for instance by `nsrecover watch robot.py:world --live`. For robots on
    other machines open a tunnel each, and give its end:

        ssh -N -L 9001:127.0.0.1:8700 robot1 &
        nsrecover fleet "robot 1=http://127.0.0.1:9001/enter?token=..." "robot 2=http://127.0.0.1:9002/enter?token=..."

    The page shows the question to answer now with the reason why it is first, the others in order, and what the robots
    do. The order weighs the actions that depend on each answer, and the time until the robot goes on without one.
    Ctrl-C ends it; the robots go on. This needs `nsrecover[server]`; docs/live.md describes the page.
    """
    from nsrecover.live import fleet as fleet_page

    with fleet_page(named([*(robots or ()), *_lines(file)]), host=host, port=port) as page:
        print(f"open {page.url}  (Ctrl-C ends it; the robots go on)", flush=True)
        threading.Event().wait()


def named(robots: list[str]) -> dict[str, str]:
    """Name -> address of robots; those without a name have that of their host and port.

    Raises:
        InvalidConfiguration: two robots have the same name.
    """
    found: dict[str, str] = {}
    for each in robots:
        name, given, url = each.partition("=")
        if not given or "://" in name:
            name, url = urlsplit(each).netloc, each
        if name in found:
            raise InvalidConfiguration(f"expected another name for each robot, found {name!r} twice; give NAME=URL")
        found[name] = url
    return found


def _lines(file: Path | None) -> list[str]:
    if file is None:
        return []
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidConfiguration(f"expected a file with one [NAME=]URL a line, found {file}: {error}") from None
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]
