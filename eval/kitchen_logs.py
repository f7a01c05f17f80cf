"""`python -m eval.kitchen_logs`: failures of the kitchen from pixels and sound to an executed correction, as REFLECT.

A robot carries out a plan with one failure and never recovers. What it sees and hears becomes a fact trace, which
`nsrecover explain` reads; the correction of the explanation is carried out where the plan ended, in physics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from conf.command import option
from eval.kitchen.__main__ import episodes_of
from eval.kitchen.course import models
from eval.kitchen.read_back import KNOWN
from eval.kitchen.robot import KitchenRobot
from eval.metrics import share, summary, total, transposed
from eval.run import Measurement, Run, Settings, run
from nsrecover.core.actions import Action
from nsrecover.domains.household.names import is_slice, noun
from nsrecover.logs import explain_log, read_logs, report_of
from nsrecover.logs.recorded import TraceMoment, traced
from nsrecover.logs.trace import RawTrace, clock, trace_lines
from nsrecover.models.household import SHIPPED
from nsrecover.monitoring.outlook import imagine
from nsrecover.planning.symbolic.solving import Limits, solve
from nsrecover.util.atomic_write import atomic_write_bytes
from sim.datasets.household import HouseholdEpisode
from sim.kitchen.truth import unmet_goal
from sim.sensors.presets import sensor_of
from sim.sensors.sensor import Sensor

FRAME_STEPS = 240
"""Steps of the physics between two frames of an action: 1.2 seconds."""
CAUSES = KNOWN["reflect"]
"""Kind of a fault that REFLECT has -> root causes that are right."""
MOST_LOOKS = 6
"""Places that the robot looks at after its plan, at most: those of the goal and of the plan."""


@dataclass
class KitchenLogsConfig(Settings):
    """Write, explain and correct logs of kitchen episodes of H1 whose failures REFLECT has.

      python -m eval.kitchen_logs episodes=24 seed=64021 sensor=d435     minutes a log; a stopped run continues

    Counted are cause, object and step (one off at most) of the explanation, and how often the executed correction
    reaches the goal, also of those in which a planner that is given the true facts does. Every log is written to
    out=DIR/logs, as `nsrecover explain` reads it.

    Attributes:
        episodes: number of logs.
        seed: of the dataset.
        held_out: whether only layouts count that are held out from training.
        checkpoint: folder of a household checkpoint; the shipped one if null.
        sensor: an option of conf/sensor.
        errors: folder where drawn episodes are kept.
    """

    episodes: int = 24
    held_out: bool = True
    checkpoint: str | None = None
    sensor: Any = option("d435")
    errors: str = "data/errors"
    workers: int = 1
    out: str = "outputs/kitchen_logs"


@dataclass(frozen=True)
class KitchenLog:
    """An explained and corrected log.

    Attributes:
        fault: kind of the injected fault.
        cause: whether the root cause is right.
        object: whether an object of the fault, or of the action that it struck, is named.
        step: whether the named step is one from the fault to the action that it keeps from its effect, or a neighbour.
        failed: whether the goal did not hold after the plan.
        corrected: whether it held after the correction was carried out; None if it held before.
        by_oracle: whether a plan made with the true facts reaches it; None if it held before.
        found: root cause, objects and times that were named, and the correction.
        refused: the first step of the correction that the robot could not do, or what does not hold after it.
    """

    fault: str
    cause: bool
    object: bool
    step: bool
    failed: bool
    corrected: bool | None
    by_oracle: bool | None
    found: tuple[str, ...]
    refused: str = ""


class Recorder:
    """Writes down what a robot perceives while it carries out actions.

    Args:
        episode: task and fault.
        sensor: through which the robot sees.
        checkpoint: folder of the learned parts; None: the shipped ones.
    """

    def __init__(self, episode: HouseholdEpisode, sensor: Sensor, checkpoint: str | None) -> None:
        self.episode, self.moments, self.ends = episode, list[TraceMoment](), list[float]()
        self._during: Action | None = None
        self.robot = KitchenRobot(
            episode.spec, episode.faults, on_frame=lambda _: self._perceive(), frame_steps=FRAME_STEPS, sensor=sensor
        )
        self._perceiver = models(checkpoint).perceiver(self.robot.home)

    def _perceive(self, ends: bool = False) -> None:
        if self._during is None:
            return
        seen = self.robot.stream.observe(self.robot.world.observe_from)
        scene = self._perceiver(seen)
        names = {noun(name) if is_slice(name) else name for name in seen.labels.values()} & {*self.robot.home.objects}
        heard = () if self._perceiver.heard is None else self._perceiver.heard.labels
        self.moments.append(TraceMoment(seen.time_s, self._during, scene, frozenset(names), heard, ends))

    def trace(self) -> RawTrace:
        """Carry out the plan, look at the places of plan and goal, and return what was perceived."""
        plan, robot, task = self.episode.robots_plan, self.robot, self.episode.spec.task
        believed = robot.assumed
        for action in plan:
            expected = imagine(robot.home, believed, action)
            self._perceiver.expect(believed, expected)
            self._during, believed = action, expected
            robot.execute(action)
            self._perceive(ends=True)
            self.ends.append(self.moments[-1].time_s)
        named = [fact[-1] for fact in robot.goal] + [name for action in plan for name in action.arguments[::-1]]
        places = [name for name in dict.fromkeys(named) if name in robot.world.cell.fixtures]
        for place in places[:MOST_LOOKS]:
            robot.drive(Action("look_at", (place,)))
            self._perceive()
        return traced(task.name, plan, robot.goal, self.moments, robot.home)


def carried_out(robot: KitchenRobot, steps: Sequence[Action]) -> tuple[bool, str]:
    """Carry out steps; whether the goal holds then, and the first step that was not possible, or what does not hold."""
    for step in steps:
        if step.operator not in robot.home.domain.operators:
            return robot.reached(), f"{step}: unknown"
        robot.execute(step)
        if why := robot.world.failures[-1]:
            return robot.reached(), f"{step}: {why}"
    unmet = unmet_goal(robot.world.cell, robot.goal, robot.home)
    return not unmet, " ".join(("not in the end:", *unmet[0])) if unmet else ""


def judged_kitchen(episode: HouseholdEpisode, sensor: Sensor, checkpoint: str | None, folder: Path) -> KitchenLog:
    """Record, explain and correct one episode.

    Args:
        episode: with one fault.
        sensor: through which the robot sees.
        checkpoint: folder of the learned parts; None: the shipped ones.
        folder: for the log.
    """
    fault, action = episode.faults[0], episode.spec.plan[max(episode.faults[0].at_step, 0)]
    recorder = Recorder(episode, sensor, checkpoint)
    with recorder.robot as robot:
        path = folder / f"{episode.number:05d}.jsonl"
        folder.mkdir(parents=True, exist_ok=True)
        atomic_write_bytes(path, "".join(f"{line}\n" for line in trace_lines(recorder.trace())).encode())
        (log,) = read_logs(path)
        explained = explain_log(log)
        report = report_of(log, explained)
        failed, end, kept = not robot.reached(), robot.world.save(), robot.failed or 0
        corrected = by_oracle = None
        refused = ""
        if failed:
            steps = explained.correction
            corrected, refused = (False, "no correction") if steps is None else carried_out(robot, steps)
            by_oracle = corrected
            if not corrected:
                robot.world.restore(end)
                goal = [robot.home.condition(fact) for fact in robot.goal]
                way = solve(robot.home, robot.truth, goal, prefer=episode.spec.plan.actions, limits=Limits(2000))
                by_oracle = way.found and carried_out(robot, way.steps)[0]
    named = step_at(report["steps"][:1], [clock(time_s) for time_s in recorder.ends])
    first = max(fault.at_step, 0)
    return KitchenLog(
        fault.kind,
        report["root_cause"] in CAUSES[fault.kind],
        bool(set(report["objects"]) & {*fault.touched(action), *action.arguments}),
        named is not None and first - 1 <= named <= max(first, kept - 1) + 1,
        failed,
        corrected,
        by_oracle,
        (report["root_cause"], *report["objects"], *report["steps"], str(report["correction"])),
        refused,
    )


def step_at(times: Sequence[str], ends: Sequence[str]) -> int | None:
    """The number of the action that was under way at a time; None without one."""
    return next((number for time in times for number, end in enumerate(ends) if end >= time), None)


def _judged(episode: HouseholdEpisode, config: KitchenLogsConfig) -> KitchenLog:
    return judged_kitchen(episode, sensor_of(config.sensor), config.checkpoint, Path(config.out) / "logs")


METRICS = (
    total("logs", "logs"),
    share("cause", "root cause", lambda e: e.cause, counted=True),
    share("object", "object", lambda e: e.object, counted=True),
    share("step", "step, one off at most", lambda e: e.step, counted=True),
    share("called_success", "failures called success", lambda e: e.found[0] == "none", lambda e: e.failed,
          counted=True),
    share("corrected", "goal reached by the executed correction", lambda e: e.corrected, lambda e: e.failed,
          counted=True),
    share("as_oracle", "the same, of those that the oracle corrects", lambda e: e.corrected, lambda e: e.by_oracle,
          counted=True),
)  # fmt: skip


def measure(config: KitchenLogsConfig, run: Run) -> dict[str, Any]:
    """Record, explain and correct every episode."""
    rows = run.each(partial(_judged, config=config), run.episodes, "log", lambda episode: f"H1-{episode.number}")
    return {"seed": config.seed, "sensor": sensor_of(config.sensor).name, **summary(rows, METRICS)}


def _episodes(config: KitchenLogsConfig) -> list[HouseholdEpisode]:
    """The first episodes whose fault REFLECT has."""
    found, drawn = list[HouseholdEpisode](), 0
    while len(found) < config.episodes:
        drawn += config.episodes - len(found)
        episodes = episodes_of("H1", drawn, config.seed, config.held_out, config.errors, config.workers)
        found = [each for each in episodes if each.faults[0].kind in CAUSES]
    return found


def table(metrics: Mapping[str, Any]) -> str:
    """All figures, a line each."""
    return transposed("", {f"{metrics['sensor']}, seed {metrics['seed']}": metrics}, METRICS)


MEASUREMENT = Measurement(
    KitchenLogsConfig,
    measure,
    table,
    least={"episodes": 1},
    episodes=_episodes,
    checkpoint=SHIPPED,
    adds=("episodes",),
)

if __name__ == "__main__":
    run(MEASUREMENT)
