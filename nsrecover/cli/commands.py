"""Commands from recorded runs to a monitor of one's own robot: `new`, `record`, `calibrate`, `watch`, `report`, ..."""

import contextlib
import inspect
import json
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from nsrecover.cli.enrol import enrol
from nsrecover.cli.options import (
    AsJson,
    Budget,
    Checkpoint,
    Episodes,
    MaxRecoveries,
    Plan,
    Rerun,
    SystemPlace,
    reads_bags,
    show,
    spread,
)
from nsrecover.cli.printed import Printer
from nsrecover.cli.segment import segment
from nsrecover.cli.tell import tell
from nsrecover.core.episode import AnyRecord
from nsrecover.errors import InvalidConfiguration
from nsrecover.util.english import amount
from nsrecover.util.progress import progress
from nsrecover.util.untrusted_json import JsonObject

DISTANCES_MM = (5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 60.0)
Toleranced = Annotated[float, typer.Option(min=2.0, max=100.0, help="Displacement from which an object is misplaced.")]
Runs = Annotated[list[str] | None, typer.Option(help="Other good runs, to count false alarms on; can be repeated.")]
Settings = Annotated[list[str] | None, typer.Option(help="A setting of the training, such as encoder.epochs=8.")]
Place = Annotated[str, typer.Argument(metavar="RUN|FACTORY", help="A recorded run, or a robot as file.py:factory.")]


@reads_bags
def calibrate(
    episodes: Episodes,
    alpha: Annotated[float, typer.Option(help="Requested rate of false alarms per good step, at most 0.2.")] = 0.01,
    tolerance_mm: Toleranced = 20.0,
    out: Annotated[Path, typer.Option(help="Folder for the checkpoint and the report.")] = Path("calibrated"),
    checkpoint: Checkpoint = None,
    test: Runs = None,
    check_sensors: Annotated[bool, typer.Option(help="Refuse runs whose first images are implausible.")] = True,
    as_json: AsJson = False,
) -> None:
    """Set the monitor's threshold from at least 10 runs that went well, and say what it is worth.

    Needed are successful runs: another arrangement of the objects in each, all operators that you use. The result
    is a folder for `nsrecover.load(FOLDER)`, `nsrecover check RUN --checkpoint FOLDER` and `nsrecover watch`. The
    report says whether the rate is promised or estimated (1 % needs 99 good steps for a promise), how large a
    displacement is detected how often, how uncertain both are, and what to improve first. From 20 moved objects in
    camera images the gate for looks is calibrated, too. Runs that are followed stay in the folder until the
    end, so the same command goes on after an interruption.

    From runs of facts, with `--checkpoint file.py:factory`, it learns how often each operator of the robot fails, and
    readings of each state variable are wrong; actions that failed and were done again may be in them. Its folder is for
    `nsrecover.symbolic(..., calibrated=FOLDER)`.

    From camera images this needs `nsrecover[learned]`; from boxes it does not.
    """
    from nsrecover.models.conformal import Calibration, lowest
    from nsrecover.onboarding import calibration, report, scoring
    from nsrecover.records.review import system_for
    from nsrecover.records.runs import SceneKind, read_runs

    runs = list(progress(read_runs(episodes), "reading"))
    if {run.seen for run in runs} == {SceneKind.FACTS}:
        learned = system_for(runs, checkpoint).calibrated(((run.plan, run.observations) for run in runs), alpha)
        learned.save(out)
        rates = learned.model.rates
        document = {"checkpoint": str(out), "failures": rates.failures.means(), "misread": rates.misread.means()}
        lines = [f"{each} fails {rate:.1%} of the time" for each, rate in rates.failures.means().items()]
        lines += [
            f"readings of {each} are wrong {rate:.2%} of the time" for each, rate in rates.misread.means().items()
        ]
        show(document, [*lines, f"use them with nsrecover.symbolic(..., calibrated={str(out)!r})"], as_json)
        return
    system = system_for(runs, checkpoint, tolerance_mm / 1000)
    kept = out / "parts"
    steps = scoring.all_steps(system, runs, DISTANCES_MM, kept, "following the runs", check_sensors=check_sensors)
    result = calibration.calibration_of(steps, alpha, system.model.models.threshold, tolerance_mm / 1000)
    if test:
        others = list(progress(read_runs(test), "reading the runs to test"))
        fresh = scoring.all_steps(system, others, DISTANCES_MM, kept, "following the runs to test", 1, check_sensors)
        result = calibration.tested_on(result, fresh)
    scores = [step.score for step in steps]
    models, gate = system.model.models.with_threshold(result.threshold), scoring.own_gate(steps)
    calibrated = system.with_model(replace(system.model, models=models), Calibration(lowest(scores), len(scores)))
    if gate is not None:
        bundle = calibrated.model.bundle.with_gate(gate)
        calibrated = replace(calibrated, model=replace(calibrated.model, models=bundle))
    document = report.document_of(result)
    calibrated.save(out, "\n".join(["# Calibrated on own runs", "", *report.lines_of(result), ""]))
    (out / "calibration.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    shutil.rmtree(kept)
    lines = [*report.lines_of(result), f"checkpoint: {out}"]
    show({**document, "checkpoint": str(out)}, lines, as_json)


def new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder for the project; made if it does not exist.")],
    cameras: Annotated[
        bool, typer.Option("--cameras", help="The robot is seen by RGB-D cameras with instance masks, not as boxes.")
    ] = False,
    facts: Annotated[
        bool, typer.Option("--facts", help="Scenes are facts of your own domain, without images.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a project for your robot whose own test passes at once, on a simulated stand-in.

    `world.py` has three methods to replace (observe, execute, close), `cameras.yaml` the numbers of your table and
    cameras, `domain.py` your plan and operators, and `README.md` the next commands. With `--facts`,
    `domain.py` declares a domain.
    """
    from nsrecover.onboarding.project_files import new_project

    files = [str(file) for file in new_project(folder, cameras, facts)]
    show({"files": files}, [*files, f"next: cd {folder} && python test_world.py"], as_json)


@reads_bags
def check_setup(
    place: Place,
    system: SystemPlace = None,
    out: Annotated[Path, typer.Option(help="Folder for the drawings over the images.")] = Path("setup"),
    looks: Annotated[int, typer.Option(min=2, help="Looks at a scene at rest, for a running robot.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Check units, conventions, the table's plane, agreement of the cameras, masks, and names.

    Exits with 1 if there is a problem. For a recorded run the first images and all boxes are checked; a running robot
    is looked at several times, and nothing may move meanwhile. The drawings show masks, boxes and the
    table's plane over the images: lines have to lie on the table, and boxes around their objects.
    """
    from nsrecover.onboarding import running_robot, setup_check
    from nsrecover.records.runs import read_run
    from nsrecover.util.factories import is_factory, load_factory

    if is_factory(place):
        world = running_robot.made_world(load_factory(place), 0, ("observe",))
        with running_robot.closing_if_possible(world):
            found = setup_check.check_live(*running_robot.look_repeatedly(world, looks), out)
    else:
        found = setup_check.check_run(read_run(place), out, system)
    drawings = [str(path) for path in found.drawings]
    lines = [*found.facts, *(f"drawn: {path}" for path in drawings), *(f"problem: {each}" for each in found.problems)]
    lines.append(f"{amount(len(found.problems), 'problem')} found")
    show({"facts": found.facts, "problems": found.problems, "drawings": drawings}, lines, as_json)
    if found.problems:
        raise typer.Exit(1)


@reads_bags
def record(
    place: Annotated[
        str, typer.Argument(metavar="FACTORY|BAG", help="Your robot as file.py:factory, or a recorded ROS 2 bag.")
    ],
    runs: Annotated[int, typer.Option(min=1, help="Number of runs.")] = 1,
    plan: Plan = None,
    system: SystemPlace = None,
    out: Annotated[Path, typer.Option(help="Folder for the runs.")] = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """Record runs of a robot: let it carry out its plan, and keep what is seen before and after every action.

    Observations are checked when they are made; a run with one that cannot be used is not written. Runs that are there
    already are kept, so the same command goes on after an interruption. Watch the robot: delete the file of a run that
    went wrong, since calibration takes every run for a good one. The factory may take the number of the run. Of a bag
    its run is written.
    """
    from nsrecover.onboarding import running_robot
    from nsrecover.records import recording, scenes_recording
    from nsrecover.records.bags import reading as bags
    from nsrecover.records.runs import LAYOUT
    from nsrecover.util.factories import load_factory

    if Path(place).exists():
        bag = bags.read_bag(place, LAYOUT.get())
        recording.save(bag, path := out / f"{Path(place).stem}.npz")
        show({"written": [str(path)], "runs": 1}, [f"{path}: {amount(len(bag.plan), 'action')}"], as_json)
        return
    factory, written = load_factory(place), []
    for number in progress(range(runs), "recording"):
        stem = out / f"run{number:03d}"
        if any(stem.with_suffix(suffix).exists() for suffix in (".json", ".npz")):
            continue
        world = running_robot.made_world(factory, number)
        with running_robot.closing_if_possible(world):
            found = running_robot.record_run(world, running_robot.plan_for(world, plan), system)
        if isinstance(found, scenes_recording.ScenesRecording):
            scenes_recording.save(found, path := stem.with_suffix(".json"))
        else:
            recording.save(found, path := stem.with_suffix(".npz"))
        written.append(str(path))
        if not as_json:
            print(f"{path}: {amount(len(found.plan), 'action')}")
    lines = [f"{amount(len(written), 'run')} written, {runs - len(written)} were there"]
    show({"written": written, "runs": runs}, lines, as_json)


@reads_bags
def train(
    episodes: Episodes,
    out: Annotated[Path, typer.Option(help="Folder; the same one continues an interrupted training.")] = Path(
        "trained"
    ),
    checkpoint: Checkpoint = None,
    scratch: Annotated[bool, typer.Option("--scratch", help="Start from an untrained model.")] = False,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
    setting: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Train on your own successful runs, compare with the old model on runs that neither saw, and keep the better one.

    Of five runs four are learned from, and one compares. Both models judge the good steps and displaced copies of the
    runs to compare; the new one is kept if it detects more copies at the same rate of false alarms. Set the threshold
    afterwards: `nsrecover calibrate RUNS --checkpoint trained/best`. The same command goes on after an interruption.
    This needs `nsrecover[train]`; boxes need no training.
    """
    from nsrecover.loading import load
    from nsrecover.models.checkpoint import DEFAULT
    from nsrecover.onboarding import scoring, training
    from nsrecover.records.runs import read_runs

    learning, comparison = training.divided(list(progress(read_runs(episodes), "reading")))
    start = Path(DEFAULT) if checkpoint is None else checkpoint
    folder = training.train_on(learning, comparison, None if scratch else start, out, seed, setting or ())
    models, found, kept = {"old": load(start), "new": load(folder)}, {}, out / "parts"
    for name, system in models.items():
        steps = scoring.all_steps(system, comparison, DISTANCES_MM, kept, f"judging with the {name} model")
        found[name] = training.quality_of(steps, system.model.models.tolerance_m)
    better = "new" if found["new"].detected.value > found["old"].detected.value else "old"
    models[better].save(out / "best", f"# The {better} model, kept by a comparison on own runs\n")
    document = {
        "kept": better, "checkpoint": str(out / "best"),
        "runs": {"learned": len(learning), "compared": len(comparison)},
        **{name: quality.to_json() for name, quality in found.items()},
    }  # fmt: skip
    (out / "comparison.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    shutil.rmtree(kept)
    ending = f"kept: the {better} model, in {out / 'best'}; now: nsrecover calibrate RUNS --checkpoint {out / 'best'}"
    show(document, [*(f"{name} model: {quality}" for name, quality in found.items()), ending], as_json)


def learn(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the operator, as the plans of the runs say it.")],
    episodes: Episodes,
    out: Annotated[Path, typer.Option(help="Folder for the checkpoint that knows the operator.")] = Path("learned"),
    checkpoint: Checkpoint = None,
    as_json: AsJson = False,
) -> None:
    """Learn your own operator from demonstrations: recorded runs whose plans say NAME(object, other objects).

    The first argument moves. Where it goes may depend on the other arguments, on where it was, on sizes, kinds and
    rows; the result says what was found and how exactly it imagines demonstrations that were held out. The folder is
    for `nsrecover.load(FOLDER)` and every `--checkpoint`; `--checkpoint` here adds the operator to what is known
    already. Exits with 1 if the effect is not known well enough. From boxes this needs no torch.
    """
    from nsrecover.onboarding import operators
    from nsrecover.records.runs import read_runs

    runs = list(progress(read_runs(episodes), "reading"))
    system, effect, count = operators.learned_system(name, runs, checkpoint)
    system.save(out, f"# Knows the operator {name}\n")
    lines = operators.lines_of(name, effect, count)
    good = not any(line.startswith("problem") for line in lines)
    document = {"operator": name, "demonstrations": count, "errors_m": effect.errors_m, "checkpoint": str(out)}
    show({**document, "good": good}, [*lines, f"checkpoint: {out}"], as_json)
    if not good:
        raise typer.Exit(1)


@dataclass(frozen=True)
class WatchOptions:
    """What `nsrecover watch` writes and shows."""

    out: Annotated[Path, typer.Option(help="File for the log of the episode.")] = Path("watched.json")
    live: Annotated[bool, typer.Option("--live", help="Serve a live page; the run waits there to be started.")] = False
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the live page; 0 for any free port.")] = 8700
    as_json: AsJson = False


@spread
def watch(
    place: Annotated[
        str, typer.Argument(metavar="FACTORY", help="Your robot: file.py:factory or package.module:factory.")
    ],
    plan: Plan = None,
    system: SystemPlace = None,
    budget_s: Budget = 1.0,
    max_recoveries: MaxRecoveries = None,
    shown: WatchOptions = WatchOptions(),
) -> None:
    """Let a robot carry out its plan under the monitor: errors are detected, explained and recovered from.

    Exits with 1 if the robot asked for help. Ctrl-C ends the run before the next action, and a second one the program
    at once. The log is for `nsrecover report` and `nsrecover explain`. The live page
    needs `nsrecover[server]`; its address is printed on standard error.
    """
    from nsrecover.agent import RecoveryAgent
    from nsrecover.core.episode import EpisodeStatus, StopCode
    from nsrecover.loading import system_at
    from nsrecover.onboarding import running_robot
    from nsrecover.records import episode_log
    from nsrecover.records.review import system_for_kind
    from nsrecover.records.runs import kind_of
    from nsrecover.util.factories import load_factory

    world = running_robot.made_world(load_factory(place), 0)
    shown.out.parent.mkdir(parents=True, exist_ok=True)  # before anything moves

    with running_robot.closing_if_possible(world):
        due = running_robot.plan_for(world, plan)
        judges = system_at(system) if system else system_for_kind(kind_of(world.observe()), None)
        agent = RecoveryAgent(judges, world, budget_s, max_recoveries)
        with contextlib.ExitStack() as page:
            if shown.live:
                from nsrecover.serving.live import page as live_page

                url = page.enter_context(live_page(agent, port=shown.port, paused=True)).url
                print(f"open {url}", file=sys.stderr, flush=True)
            page.enter_context(running_robot.stopped_by_ctrl_c(agent))
            session, printer = agent.session(due), None if shown.as_json else Printer(Console())

            def keep(record: AnyRecord) -> None:
                episode_log.save(session.episode, shown.out, judges.domain)  # whatever ends the program
                if printer is not None:
                    printer.recorded(record)

            episode = agent.resume(session, keep)
            episode_log.save(episode, shown.out, judges.domain)
    errors = sum(step.discrepancy.deviates for step in episode.records)
    ended = {"status": episode.status, "why": episode.why, "reason": episode.reason}
    status = {**ended, "errors": errors, "log": str(shown.out)}
    ended_how = "stopped" if episode.why is StopCode.STOPPED else episode.status.value.replace("_", " ")
    ending = f"{ended_how}, {amount(errors, 'error')}. {episode.reason}".rstrip()
    show(status, [ending, f"log: {shown.out}"], shown.as_json)
    if episode.status is not EpisodeStatus.COMPLETED:
        raise typer.Exit(1)


@reads_bags
def report(
    episodes: Annotated[
        list[str],
        typer.Argument(metavar="EPISODE", help="A log (.json), a recorded run, `example`, or a folder of runs."),
    ],
    out: Annotated[Path, typer.Option(help="File for the page.")] = Path("report.html"),
    system: SystemPlace = None,
    rerun: Rerun = None,
    as_json: AsJson = False,
) -> None:
    """Write a page about one episode: what went wrong, when, why, what is done about it, and whether it worked.

    Below that every step: photographs of a recording, the expected and the seen scene, the sentences with their facts,
    and the objects. The page needs no other file. Of several runs the page has trend, causes, time lost, and where
    people had to help; their reports are in a folder beside it.

    This needs `nsrecover[report]`, and for recorded images `nsrecover[learned]`.
    """
    from nsrecover.serving.reports.episodes import write_report
    from nsrecover.serving.reports.many_runs import files_of, write_runs
    from nsrecover.serving.reports.model import MarkedAs
    from nsrecover.serving.reports.rerun_file import need_rerun

    if len(episodes) > 1 or files_of(episodes[0]) != episodes:
        if rerun is not None:
            raise InvalidConfiguration("expected one episode with --rerun, found several; give one")
        many = write_runs(episodes, out, system)
        show({"page": str(out), "runs": len(many.runs), "summary": many.summary}, [many.summary, out], as_json)
        return
    if rerun is not None:
        need_rerun(rerun)
    found = write_report(episodes[0], out, system, rerun)
    errors = sum(step.kind is MarkedAs.ERROR for step in found.steps)
    show({"page": str(out), "steps": len(found.steps), "errors": errors}, [out, rerun or ""], as_json)


def register(app: typer.Typer) -> None:
    """Add the commands to the command line, and let its help keep whole sentences and indented lines."""
    for name, command in COMMANDS.items():
        app.command(name)(command)
    for each in app.registered_commands:
        parts = (inspect.getdoc(each.callback) or "").split("\n\n")
        each.short_help = " ".join(parts[0].split())
        each.help = "\n\n".join(f"\b\n{part}" if part.startswith(" ") else part for part in parts)


COMMANDS: JsonObject = {
    "new": new,
    "check-setup": check_setup,
    "record": record,
    "calibrate": calibrate,
    "train": train,
    "learn": learn,
    "enrol": enrol,
    "watch": watch,
    "tell": tell,
    "report": report,
    "segment": segment,
}
