"""`nsrecover tell`: people tell a robot what to do."""

import sys
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from nsrecover.cli.options import Model, spread
from nsrecover.errors import InvalidConfiguration


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


SIMULATED = "nsrecover.testing.simulated_home:make_world"
"""The world without a robot."""


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
