"""The command line: `nsrecover info`, `check`, `explain`, `tell`, `check-observation`, `check-world` and others.

`export` needs the extra `onnx`, and `serve` the extra `server`.
"""

import json
import os
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import nsrecover
from nsrecover.cli import commands
from nsrecover.cli.inspect import inspect
from nsrecover.cli.options import AsJson, Budget, Checkpoint, Model, Port, SystemPlace, reads_bags, show, spread
from nsrecover.cli.printed import Printer, info_lines, record_document
from nsrecover.core.discrepancy import Verdict
from nsrecover.core.sessions.supervision import Listener
from nsrecover.errors import DEBUG, InvalidConfiguration, WorldNotConforming, cli_errors, require_known
from nsrecover.records import episode_log
from nsrecover.util.progress import QUIET, is_quiet
from nsrecover.util.untrusted_json import JsonObject

app = typer.Typer(
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # at 80 columns it cuts names and defaults
    help="Detect robot plan execution errors from camera images, explain them, and plan the shortest recovery.",
)

Questions = Annotated[list[str] | None, typer.Option(help="A question, e.g. 'why did you move the red cube?'")]


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"nsrecover {nsrecover.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def everything(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print results and errors only, no progress.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Print the traceback of an error, not one line.")] = False,
) -> None:
    """Options of all commands; they stand before the command."""
    # worker processes have them, too
    os.environ.update({QUIET: "1"} if quiet else {}, **({DEBUG: "1"} if debug else {}))
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
def info(
    checkpoint: Checkpoint = None,
    as_json: AsJson = False,
) -> None:
    """Print the version, the checkpoint, and what was measured of it; `--json` prints all that is known."""
    bundle = nsrecover.load(checkpoint).model.bundle
    config = bundle.config
    document: JsonObject = {
        "version": nsrecover.__version__,
        "checkpoint": "tabletop (shipped)" if checkpoint is None else str(checkpoint),
        "operators": list(config.operators),
        "feature_size": bundle.feature_size,
        "threshold": config.threshold,
        "metrics": dict(config.metrics),
        "provenance": dict(config.provenance),
    }
    lines = info_lines(document)
    width = max(len(name) for name, _ in lines)
    show(document, [f"{name:<{width}}  {value}" for name, value in lines], as_json)


@app.command()
@reads_bags
def check(
    recording: Annotated[
        str,
        typer.Argument(
            help="A recorded run: .npz, boxes or facts as .json, a ROS 2 bag (.mcap, .db3 or its folder), or `example` "
            "for the shipped one."
        ),
    ],
    system: SystemPlace = None,
    budget_s: Budget = 1.0,
    log: Annotated[
        Path | None, typer.Option(help="Write the results to this file, for `nsrecover explain`.", dir_okay=False)
    ] = None,
    check_sensors: Annotated[
        bool, typer.Option(help="Refuse a recording whose first observation is implausible, see check-observation.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Check a recorded episode: print the discrepancy, its explanation and the recovery after each step.

    Exits with 1 if a step did not go as expected.
    """
    # Imported here, because they load scipy, and torch for images, which help and usage errors do not need.
    from nsrecover.records.review import review, system_for
    from nsrecover.records.runs import read_run

    run = read_run(recording)
    listener = Listener() if as_json else Printer(Console())
    judge = system_for([run], system)
    episode = review(judge, run, budget_s, check_sensors, listener)
    if log is not None:
        episode_log.save(episode, log, judge.domain)
    verdicts = Counter(record.discrepancy.verdict for record in episode.records)
    if as_json:
        steps = [record_document(each) for each in episode.records]
        print(json.dumps({"recording": recording, "steps": steps}, indent=2))
    else:
        doubtful = verdicts[Verdict.CANNOT_TELL]
        ending = f", and {doubtful} cannot be judged" if doubtful else ""
        print(f"{verdicts[Verdict.DEVIATING]} of {len(run.plan)} steps did not go as expected{ending}")
    if verdicts[Verdict.DEVIATING]:
        raise typer.Exit(1)


@app.command()
@reads_bags
def explain(
    log: Annotated[
        Path,
        typer.Argument(
            help="The log of an episode (from check --log or the demo), a log of another robot (docs/logs.md), "
            "or a recorded episode (.npz, or `example`), which takes longer."
        ),
    ],
    audience: Annotated[
        str, typer.Option("--audience", "--register", help="Readers of the text: lay or engineer.")
    ] = "lay",
    ask: Questions = None,
    correct: Annotated[
        bool, typer.Option("--correct", help="Print the correction of another robot's log as a plan, a step a line.")
    ] = False,
    system: SystemPlace = None,
    as_json: AsJson = False,
    llm: Model = None,
    llm_model: Annotated[
        str, typer.Option(help="Name of the model at the endpoint; by default the first that it lists.")
    ] = "",
    llm_timeout: Annotated[
        float, typer.Option(min=0.0, help="Time limit of the model for one log, in seconds.")
    ] = 20.0,
) -> None:
    """Explain an episode or the log of another robot: what went wrong, when, why, and how to correct it.

    A language model rewords the explanation of another robot's log.
    """
    from nsrecover.explanation import Audience
    from nsrecover.records import explain_file as explaining

    require_known(audience, list(Audience), "an audience")
    if llm is None:
        documents = explaining.explain_file(log, Audience(audience), ask or (), system)
    else:
        # Imported here, because it is slow and needed only with a model.
        from nsrecover.explanation.language_model.endpoint import Endpoint

        words = explaining.Rewording(Endpoint(llm, llm_model), llm_timeout)
        documents = explaining.explain_file(log, Audience(audience), ask or (), system, words)
        for note in dict.fromkeys(document["note"] for document in documents if document.get("note")):
            print(f"note: {note}", file=sys.stderr)
    for number, document in enumerate(documents, start=1):
        if correct:
            way = document.get("correction")
            if way is None:
                print(f"log {number}: no correction was found", file=sys.stderr)
                raise typer.Exit(1)
            print("\n".join(way))
            continue
        if as_json:
            # One object for one log, JSON lines for several.
            print(json.dumps(document, indent=2 if len(documents) == 1 else None, ensure_ascii=False))
            continue
        lines = [answer["text"] for answer in document.get("answers", ())] or [document["text"]]
        prefix = f"{number}. " if len(documents) > 1 else ""
        for line in lines:
            print(f"{prefix}{line}")


@app.command("check-observation")
@reads_bags
def check_observation(
    file: Annotated[
        str,
        typer.Argument(help="A recorded episode or ROS 2 bag, `example`, or many episodes (.h5; needs hdf5)."),
    ],
    every: Annotated[bool, typer.Option("--every", help="Check all observations, not just the first ones.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check that camera images are plausible, before a robot moves by them; exit with 1 if some are not.

    Depth has to be in metres, camera poses `world_from_camera` in OpenCV's convention (x right, y down, z forward), the
    table's top at z = 0, the robot's base at the origin, and all cameras have to show the same scene. For each mistake
    the likely fix is printed. `nsrecover.RecoveryAgent` and `System.monitor` check the first observation likewise.
    """
    from nsrecover.records.check_file import check_file

    checked = check_file(file, every)
    wrong = sum(bool(each.findings) for each in checked)
    lines = []
    for each in checked:
        lines.append(f"{each.where}: {'implausible' if each.findings else 'plausible'}")
        lines += [f"  {line}" for line in each.findings or (each.views if len(checked) == 1 else ())]
    lines.append(f"{wrong} of {len(checked)} observations are implausible")
    show([each.to_json() for each in checked], lines, as_json)
    if wrong:
        raise typer.Exit(1)


@app.command("check-world")
def check_world(
    place: Annotated[
        str, typer.Argument(metavar="FACTORY", help="Factory of worlds: package.module:factory, or file.py:factory.")
    ],
    skip: Annotated[list[str] | None, typer.Option(help="A rule to leave out; can be repeated.")] = None,
    household: Annotated[bool, typer.Option("--household", help="A robot that drives in a household.")] = False,
) -> None:
    """Check that a simulator or robot keeps all rules of a world; exit with 1 if it does not."""
    from nsrecover import testing
    from nsrecover.domains.household import HOUSEHOLD
    from nsrecover.domains.tabletop.operators import TABLETOP

    rules = {rule.value: rule for rule in testing.Rule}
    for name in skip or ():
        require_known(name, rules, "a rule to leave out")
    factory, broken = testing.load_factory(place), None
    try:
        domain = HOUSEHOLD if household else TABLETOP
        report = testing.check_world(factory, skip=[rules[name] for name in skip or ()], domain=domain)
    except WorldNotConforming as error:
        broken, report = error, cast(testing.ConformanceReport, error.report)
    table = Table("rule", "", "asked", "meaning", box=None, header_style="bold")
    colours = {"passed": "green", "skipped": "yellow", "failed": "red"}
    for each in report.checks:
        meaning = escape(each.rule.meaning if each.status == "passed" else each.reason)
        table.add_row(each.rule, f"[{colours[each.status]}]{each.status}[/]", str(each.times), meaning)
    Console().print(table)
    if broken is not None:
        print(f"{broken}", file=sys.stderr)
        raise typer.Exit(1)


@app.command()
def export(
    out: Annotated[Path, typer.Option(help="Folder for the files; created if it does not exist.")],
    checkpoint: Checkpoint = None,
) -> None:
    """Export the learned parts as ONNX files, for programs without torch (takes some seconds)."""
    # Imported here, because it loads torch, which help and usage errors do not need.
    from nsrecover.models.export import export_onnx

    bundle = nsrecover.load(checkpoint).model.bundle
    with Console(stderr=True, quiet=is_quiet()).status("exporting"):
        paths = export_onnx(bundle, out)
    for path in paths:
        print(f"{path}  {path.stat().st_size / 1e3:,.0f} kB")


@dataclass(frozen=True)
class Served:
    """What `nsrecover serve` takes."""

    host: Annotated[str, typer.Option(help="Address to listen on; others than loopback need a token.")] = "127.0.0.1"
    port: Port = 8765
    system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=DIR|FACTORY",
            help="A system that sessions can request: folder of a checkpoint, or file.py:factory; can be repeated.",
        ),
    ] = None
    boxes_only: Annotated[
        bool, typer.Option("--boxes-only", help="Serve the system `boxes` only: no checkpoint, no torch.")
    ] = False
    token_file: Annotated[
        Path | None,
        typer.Option(help="File with the tokens of clients, one a line; or set NSRECOVER_TOKEN."),
    ] = None
    sessions: Annotated[int, typer.Option(min=1, help="Largest number of simultaneous sessions.")] = 64
    client_sessions: Annotated[int, typer.Option(min=1, help="Largest number of sessions of one client.")] = 16
    proxy: Annotated[str, typer.Option(help="Address of a reverse proxy whose X-Forwarded-For says who asks.")] = ""
    idle_s: Annotated[float, typer.Option(min=1, help="Close sessions after so many seconds without a request.")] = 900
    planning_s: Annotated[float, typer.Option(min=0.01, help="Largest planning time of a recovery, in seconds.")] = 30
    rate: Annotated[float, typer.Option(min=0.01, help="Most requests a second from one address.")] = 200
    body_mb: Annotated[int, typer.Option(min=1, help="Largest size of a request, in megabytes.")] = 16
    workers: Annotated[int, typer.Option(min=1, help="Number of processes that judge and search.")] = 2


@app.command()
@spread
def serve(given: Served) -> None:
    """Serve sessions over HTTP: plans and observations in; what to do next, discrepancies and explanations out."""
    from nsrecover.serving import server

    if given.boxes_only and given.system:
        raise InvalidConfiguration("expected --boxes-only or --system, found both; leave one out")
    systems: dict[str, str | None] = {}
    for each in given.system or ():
        name, _, place = each.partition("=")
        if not (name and place):
            raise InvalidConfiguration(f"expected a system as NAME=DIR or NAME=file.py:factory, found {each!r}")
        systems[name] = place
    server.serve(
        given.host,
        given.port,
        {} if given.boxes_only else systems or {"tabletop": None},
        token=server.read_tokens(given.token_file),
        limits=server.ServerLimits(
            sessions=given.sessions,
            sessions_of_client=min(given.client_sessions, given.sessions),
            idle_s=given.idle_s,
            planning_s=given.planning_s,
            body_bytes=given.body_mb * 1_000_000,
            requests_per_s=given.rate,
            workers=given.workers,
        ),
        proxies=given.proxy,
        on_ready=lambda url: print(f"nsrecover answers on {url}  (interface: {url}/docs; Ctrl-C ends it)", flush=True),
    )


app.command()(inspect)
commands.register(app)


def main() -> None:
    """Run the command line; errors of the library are one line on stderr and exit code 2."""
    kept = {name: os.environ.get(name) for name in (QUIET, DEBUG)}
    try:
        with cli_errors():
            code = _called()
    finally:  # for programs that go on
        for name, value in kept.items():
            os.environ.pop(name, None)
            os.environ.update({} if value is None else {name: value})
    if code:
        sys.exit(code)


def _called() -> int:
    """Run the command, and return its exit code; a wrong argument is an error in one line, too."""
    usage_error = cast("type[typer.BadParameter]", typer.BadParameter.__base__)
    try:
        return app(standalone_mode=False) or 0
    except typer.Abort:
        return 1
    except usage_error as error:
        if not (problem := error.format_message()):  # the help was printed
            return 2
        command = error.ctx.command_path if error.ctx is not None else "nsrecover"
        raise InvalidConfiguration(f"expected arguments as in {command} --help, found: {problem}") from None


if __name__ == "__main__":
    main()
