"""One episode under one planner: executed in the simulator, judged by ground truth, recorded."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import torch

from eval.common.rejoin import unmet_promises
from eval.sweep.evaluation_world import Controller, EvaluationWorld
from eval.sweep.fault_schedule import FaultSchedule
from eval.sweep.ideal_executor import IdealExecutor
from eval.sweep.records import CRASHED, EpisodeRecord
from nsrecover.errors import NsrecoverError
from sim.common.cameras import DEFAULT_RIG
from sim.datasets.spec import ErrorEpisode
from sim.sensors.sensor import EXACT, Sensor
from sim.tabletop.truth import deviations
from sim.tabletop.world import TabletopWorld


@dataclass(frozen=True)
class Job:
    """Task of a worker.

    Attributes:
        episode: scene, plan and faults.
        controller: the planner.
        during_recovery: see `eval.sweep.fault_schedule.FaultSchedule`.
        sensor: that the planner sees through.
        seed: of the dataset.
    """

    episode: ErrorEpisode
    controller: Controller
    during_recovery: float = 0.0
    sensor: Sensor = EXACT
    seed: int = 0


def run_job(job: Job) -> EpisodeRecord:
    """Execute and judge an episode; a run that cannot continue gives a record with a reason."""
    torch.set_num_threads(1)
    episode = job.episode
    rig = replace(DEFAULT_RIG, light=episode.light)
    began, cpu = time.perf_counter(), time.process_time()
    with (
        IdealExecutor(episode.scene, episode.seed) as ideal,
        TabletopWorld(
            episode.scene, episode.faults, rig, episode.plan, episode.seed, fidelity=episode.fidelity
        ) as simulator,
    ):
        world = EvaluationWorld(simulator, episode, ideal, FaultSchedule(episode, job.during_recovery), job.sensor)
        try:
            ending = job.controller.run(world)
            status, reason = ending.status.value, ending.reason
        except NsrecoverError as error:
            status, reason = CRASHED, str(error)
        should = world.fault_free[-1]
        return EpisodeRecord(
            dataset=episode.dataset,
            episode=episode.number,
            objects=len(episode.scene.objects),
            length=len(episode.plan),
            scheduled=max((len(episode.faults_at(step)) for step in range(len(episode.plan))), default=0),
            recoverable=episode.recoverable,
            actions=tuple(world.actions),
            recoveries=tuple(world.recoveries),
            status=status,
            reason=reason,
            deviations=deviations(world.now, should),
            unmet=unmet_promises(episode.plan, episode.scene, should, world.now),
            unnoticed=tuple(world.unnoticed),
            seconds=round(time.perf_counter() - began, 3),
            cpu_s=round(time.process_time() - cpu, 3),
            planning_s=round(sum(recovery.seconds for recovery in world.recoveries), 5),
            planning_cpu_s=round(sum(recovery.cpu_s for recovery in world.recoveries), 5),
            planner=job.controller.name,
            seed=job.seed,
        )
