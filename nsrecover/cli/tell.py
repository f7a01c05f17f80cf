"""`nsrecover fleet` and `tell`: people answer many robots, and tell one what to do."""

import sys
import threading
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, cast
from urllib.parse import urlsplit

import typer

from nsrecover.cli.options import Model, Port, spread
from nsrecover.errors import InvalidConfiguration


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
        nsrecover fleet "robot 1=http://127.0.0.1:9001/enter?token=TOKEN"

    The page shows the question to answer now with the reason why it is first, the others in order, and what the robots
    do. The order weighs the actions that depend on each answer, and the time until the robot goes on without one.
    Ctrl-C ends it; the robots go on. This needs `nsrecover[server]`; docs/live.md describes the page.
    """
    from nsrecover.serving.live import fleet as fleet_page

    with fleet_page(named([*(robots or ()), *_lines(file)]), host=host, port=port) as page:
        print(f"open {page.url}  (Ctrl-C ends it; the robots go on)", flush=True)
        threading.Event().wait()


@dataclass(frozen=True)
class TellOptions:
    """How `nsrecover tell` goes about it."""

    plan: Annotated[bool, typer.Option("--plan", help="Print the plan and do nothing.")] = False
    feedback: Annotated[bool, typer.Option(help="Ask in the end whether that was wanted.")] = False
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before anything moves.")] = False
    llm: Model = None
    out: Annotated[Path, typer.Option(help="File for the log of the episode.")] = Path("told.json")
    live: Annotated[bool, typer.Option("--live", help="Serve a live page, which also answers the robot.")] = False
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the live page; 0 for any free port.")] = 8700


SIMULATED = "sim.home.scenes:make_world"
"""The world of a checkout of this project."""


@spread
def tell(
    sentence: Annotated[str, typer.Argument(help="What the robot is to do, e.g. 'bring me an apple'.")],
    home: Annotated[str, typer.Option(help="A home file (.yaml), or the name of a shipped home.")] = "apartment",
    world: Annotated[
        str,
        typer.Option(metavar="FACTORY", help="Factory of the robot's world, which takes the home; see check-world."),
    ] = SIMULATED,
    how: TellOptions = TellOptions(),
) -> None:
    """Tell a service robot in a home what to do; exit with 1 if it does not get done.

    A language model is the second reader: where it does not agree with the grammar, you are asked. Ctrl-C ends the run
    before the next action. The log, for `nsrecover report`, is kept; a task of several parts has one for each.
    """
    from nsrecover.explanation.language_model.endpoint import Endpoint
    from nsrecover.instructions.telling import Telling, print_plan, tell_robot
    from nsrecover.onboarding.running_robot import stopped_by_ctrl_c
    from nsrecover.util.factories import load_factory

    model = None if how.llm is None else Endpoint(how.llm)
    if how.plan:
        if not print_plan(home, sentence, model):
            raise typer.Exit(1)
        return
    if world == SIMULATED and (find_spec("sim") is None or find_spec("sim.home") is None):
        raise InvalidConfiguration(
            "expected --world with the robot, found none, and the simulated home is in a checkout of the project only; "
            "--plan prints the plan without a robot"
        )
    if not (how.yes or how.live or sys.stdin.isatty()):
        raise InvalidConfiguration(
            "expected a terminal to ask before anything moves, found none; give --yes, --live, or --plan"
        )
    make = cast(Any, load_factory(world))
    telling = Telling(feedback=how.feedback, read_back=not how.yes, out=how.out, during=stopped_by_ctrl_c, model=model)
    with ExitStack() as stack:
        if how.live:
            from nsrecover.serving.live import page

            shown = stack.enter_context(page(port=how.port))
            print(f"open {shown.url}", file=sys.stderr, flush=True)
            telling = replace(telling, person=shown, supervisor=shown)
        done, logs = tell_robot(home, make, sentence, telling)
    for log in logs:
        print(f"log: {log}")
    if not done:
        raise typer.Exit(1)


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
