"""`python -m eval.kitchen.reflect`: REFLECT from pixels: what the robot saw and heard is written down and explained.

Plans with one failure are carried out without any recovery. About once a second, and at the end of every action, the
robot perceives; key frames become a log in REFLECT's format, which the reader of logs explains. The injected fault says
what is right.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tqdm import tqdm

from conf.command import run_function
from eval.common.statistics import share_of
from eval.common.tables import markdown_table, percent
from eval.kitchen.__main__ import episodes_of
from eval.kitchen.course import models
from eval.kitchen.read_back import KNOWN
from eval.kitchen.robot import KitchenRobot
from nsrecover.core.actions import Action
from nsrecover.domains.household.names import is_slice, noun
from nsrecover.logs import explain_log, log_of, report_of
from nsrecover.logs.writing import Moment, document_of_run
from nsrecover.util.atomic_write import atomic_write_bytes
from sim.datasets.household import HouseholdEpisode
from sim.sensors.presets import sensor as preset
from sim.sensors.sensor import Sensor

FRAME_STEPS = 240
"""Steps of the physics between two frames of an action: 1.2 seconds."""
CAUSES = KNOWN["reflect"]
"""Kind of a fault that REFLECT has -> root causes that are right."""


def reflect(
    episodes: int = 20,
    seed: int = 0,
    sensor: str = "d435",
    errors: Path = Path("data/errors"),
    out: Path = Path("outputs/reflect"),
) -> None:
    """Write and explain logs of episodes of H1 whose failures REFLECT has, in layouts that are held out from training.

    Args:
        episodes: how many are looked through.
        seed: of the dataset.
        sensor: name of the sensor through which the robot sees.
        errors: folder for drawn episodes.
        out: for logs.jsonl, metrics.json and table.md.
    """
    drawn = episodes_of("H1", episodes, seed, True, errors, 1)
    logs, rows = [], []
    for episode in tqdm([each for each in drawn if each.faults[0].kind in CAUSES], unit="log"):
        document, times = log_of_episode(episode, preset(sensor))
        log = log_of(document)
        report = report_of(log, explain_log(log))
        fault = episode.faults[0]
        action = episode.spec.plan[max(fault.at_step, 0)]
        rows.append(
            {
                "fault": fault.kind,
                "cause": report["root_cause"] in CAUSES[fault.kind],
                "object": bool(set(report["objects"]) & {*fault.touched(action), *action.arguments}),
                "step": times.get(str(action), "") in report["steps"],
                "found": report["root_cause"],
                "frames": len(document["event_summary"]),
            }
        )
        logs.append(json.dumps(document | {"truth": fault.to_dict(), "text": report["text"]}))
    shares = {key: share_of(row[key] for row in rows) for key in ("cause", "object", "step")}
    out.mkdir(parents=True, exist_ok=True)
    atomic_write_bytes(out / "logs.jsonl", "".join(f"{line}\n" for line in logs).encode())
    found: dict[str, Any] = {"dataset": "H1", "seed": seed, "sensor": sensor, "logs": len(rows), **shares, "rows": rows}
    atomic_write_bytes(out / "metrics.json", json.dumps(found, indent=1).encode())
    cells = [percent(each["value"], [each["low"], each["high"]]) for each in shares.values()]
    table = markdown_table(["sensor", "logs", *shares], [[sensor, len(rows), *cells]]) + "\n"
    atomic_write_bytes(out / "table.md", table.encode())
    print(table, end="")


def log_of_episode(episode: HouseholdEpisode, sensor: Sensor) -> tuple[dict[str, Any], dict[str, str]]:
    """The log of an episode without recovery, as JSON, and the time of the last end of each action."""
    learned, moments = models(None), list[Moment]()
    during: Action | None = None

    def perceive(ends: bool) -> None:
        if during is None:
            return
        seen = robot.stream.observe(robot.world.observe_from)
        scene = perceiver(seen)
        names = frozenset(noun(name) if is_slice(name) else name for name in seen.labels.values())
        heard = perceiver.heard.labels if perceiver.heard is not None else ()
        moments.append(Moment(seen.time_s, during, scene, names & robot.home.objects.keys(), heard, ends))

    robot = KitchenRobot(
        episode.spec, episode.faults, on_frame=lambda _: perceive(False), frame_steps=FRAME_STEPS, sensor=sensor
    )
    perceiver = learned.perceiver(robot.home)
    with robot:
        for action in episode.robots_plan:
            during = action
            robot.execute(action)
            perceive(True)
    task = episode.spec.task
    document = document_of_run(task.name, episode.robots_plan, task.words, moments, robot.home)
    ends = (moment for moment in moments if moment.ends)
    return document, {str(one.action): f"{int(one.time_s) // 60:02d}:{int(one.time_s) % 60:02d}" for one in ends}


if __name__ == "__main__":
    run_function(reflect)
