"""Options that several commands take, and how commands print their results."""

import inspect
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, get_type_hints

import typer

from nsrecover.util.json_data import to_json

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Budget = Annotated[float, typer.Option(min=0.0, help="Planning time for one recovery, in seconds.")]
MaxRecoveries = Annotated[
    int | None,
    typer.Option(min=0, help="Recoveries before it asks for help; by default twice as many as actions, 10 at least."),
]
Checkpoint = Annotated[Path | None, typer.Option(help="Folder of a checkpoint; by default the shipped one.")]
Episodes = Annotated[
    list[str],
    typer.Argument(
        metavar="EPISODES",
        help="Recorded runs: .npz, .h5, boxes or facts as .json, ROS 2 bags (.mcap, .db3), or folders of these.",
    ),
]
Model = Annotated[str | None, typer.Option(help="A language model: address of an OpenAI-compatible endpoint.")]
Plan = Annotated[
    str | None, typer.Option(help="Actions as 'top(red, blue); ...'; by default the attribute `plan` of the world.")
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any free port.")]
SystemPlace = Annotated[
    str | None,
    typer.Option(
        "--system", "--checkpoint", metavar="DIR|FACTORY",
        help="What judges: folder of a checkpoint, or your own as file.py:factory, which facts need; by default the "
        "shipped one, or for boxes geometry.",
    ),
]  # fmt: skip
Rerun = Annotated[
    Path | None,
    typer.Option(help="Write a file (.rrd) for the Rerun viewer, too; needs nsrecover[rerun].", dir_okay=False),
]


@dataclass(frozen=True)
class BagOptions:
    """How bags are read."""

    base_frame: Annotated[
        str | None, typer.Option(metavar="FRAME", help="Frame of the robot's base in bags; base_link by default.")
    ] = None
    cameras: Annotated[
        list[str] | None,
        typer.Option(metavar="PREFIX", help="Cameras of bags to read, such as /left,/right; by default all."),
    ] = None
    topic: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=ROLE",
            help="Topic of bags that is colour, depth, info or masks, of one of several cameras left/colour; or plan, "
            "observe, labels, gripper, tf, tf_static.",
        ),
    ] = None
    namespace: Annotated[str | None, typer.Option(help="Namespace of the robot in bags, such as /robot1.")] = None


def reads_bags(command: Callable[..., None]) -> Callable[..., None]:
    """A command that reads recorded runs, with the options of bags."""

    @wraps(command)
    def with_layout(bags: BagOptions, **given: object) -> None:
        if bags == BagOptions():
            command(**given)
            return
        from nsrecover.records.bags.layout import Layout  # not needed for help
        from nsrecover.records.runs import bags_laid_out

        layout = Layout.of(bags.base_frame, bags.cameras or (), bags.topic or (), bags.namespace)
        with bags_laid_out(layout):
            command(**given)

    own = inspect.signature(command, eval_str=True).parameters.values()
    group = inspect.Parameter("bags", inspect.Parameter.KEYWORD_ONLY, annotation=BagOptions)
    with_layout.__annotations__ = {each.name: each.annotation for each in (*own, group)}
    vars(with_layout)["__signature__"] = inspect.Signature([*own, group])
    return spread(with_layout)


def show(document: object, lines: Iterable[object], as_json: bool) -> None:
    """Print a result: as JSON, or line by line."""
    for line in [json.dumps(to_json(document), indent=2)] if as_json else lines:
        print(line)


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose last parameter, a dataclass, is given as one option for each of its fields."""
    # not get_type_hints(command): Python 3.10 makes Optional of a default of None, which hides the option's name
    *own, group = inspect.signature(command, eval_str=True).parameters.values()
    kind = group.annotation
    types = get_type_hints(kind, include_extras=True)

    @wraps(command)
    def spread_out(**given: object) -> None:
        chosen = {item.name: given.pop(item.name) for item in fields(kind) if item.name in given}
        command(**given, **{group.name: kind(**chosen)})

    options = [
        inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=types[f.name])
        for f in fields(kind)
    ]
    every = [*own, *options]
    spread_out.__annotations__ = {each.name: each.annotation for each in every}
    vars(spread_out)["__signature__"] = inspect.Signature(every)
    return spread_out
