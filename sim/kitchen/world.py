"""The simulated kitchen as a world: a robot that observes and carries out the actions of a plan."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nsrecover.core.actions import Action, Plan
from nsrecover.core.observation import Observation
from nsrecover.domains.household.names import slice_of, whole
from nsrecover.errors import InvalidAction, require_known
from nsrecover.util.closing import ClosedByWith
from nsrecover.util.english import amount
from sim.common.arm import Arm
from sim.common.cameras import CameraRig, observation_of, stamp_s, take_picture
from sim.kitchen.cameras import MAST_RIG, OVERVIEW, OVERVIEW_FAR_M, on_base
from sim.kitchen.cell import KitchenCell
from sim.kitchen.disturbed import acting
from sim.kitchen.faults.base import START, Fault
from sim.kitchen.hearing import KitchenHearing
from sim.kitchen.person import Person
from sim.kitchen.scenes import KitchenSpec
from sim.kitchen.skills.carrying import pick_up, put
from sim.kitchen.skills.cutting import slice_it
from sim.kitchen.skills.food import crack
from sim.kitchen.skills.motion import Motion, OutOfReach, SkillFailure
from sim.kitchen.skills.moving import look_at, move_to
from sim.kitchen.skills.operating import swing, toggle
from sim.kitchen.skills.pouring import pour
from sim.kitchen.skills.wiping import wipe
from sim.sound.microphone import Microphone
from sim.sound.soundscape import SavedSound

OnFrame = Callable[["KitchenWorld"], None]


class Interrupted(Exception):
    """An action was stopped from outside while it ran."""


@dataclass(frozen=True)
class Skill:
    """A kind of action of the kitchen's robot.

    Attributes:
        run: carries it out, with the names of its arguments.
        arguments: what each argument is, for messages.
    """

    run: Callable[..., None]
    arguments: tuple[str, ...]


SKILLS: Mapping[str, Skill] = {
    "move_to": Skill(move_to, ("thing or fixture",)),
    "look_at": Skill(look_at, ("thing or fixture",)),
    "pick_up": Skill(pick_up, ("thing",)),
    "put_on": Skill(put, ("thing", "place")),
    "put_in": Skill(put, ("thing", "place")),
    "open_obj": Skill(lambda motion, name: swing(motion, name, True), ("thing or fixture",)),
    "close_obj": Skill(lambda motion, name: swing(motion, name, False), ("thing or fixture",)),
    "toggle_on": Skill(lambda motion, name: toggle(motion, name, True), ("thing or fixture",)),
    "toggle_off": Skill(lambda motion, name: toggle(motion, name, False), ("thing or fixture",)),
    "pour": Skill(pour, ("thing", "thing or fixture")),
    "crack_obj": Skill(crack, ("thing",)),
    "slice_obj": Skill(slice_it, ("thing",)),
    "wipe": Skill(wipe, ("thing",)),
}
"""Operators of the household domain, and `move_to`, `look_at` and `wipe`, by name."""


@dataclass(frozen=True)
class SavedKitchen:
    """A moment of an episode, as what led to it; `restore` builds the kitchen again and repeats it exactly.

    Attributes:
        actions: carried out by then.
        sound: what was heard until then; None without a microphone.
    """

    actions: tuple[Action, ...]
    sound: SavedSound | None = None


class KitchenWorld(ClosedByWith):
    """A mobile Panda in a kitchen; implements `nsrecover.core.protocols.World`.

    Use it as a context manager, or call `close`: every world owns one physics client.

    Attributes:
        spec: the kitchen at the start.
        rig: cameras, in the frame of the base.
        cell: physics, robot and states: the simulator's truth.
        faults: what goes wrong, and when.
        plan: what the robot is to do, if the faults' steps are steps of a plan.
        failures: why each action failed, or "" if it did not; for judging and debugging.
        last_faults: the faults that struck at the last action.
        hearing: what is heard, with the sound events that are true; None without a microphone.
        on_frame: see the constructor.
        frame_steps: see there.
        halting: whether the action that runs is to be stopped at the next physics step.
    """

    def __init__(
        self,
        spec: KitchenSpec,
        rig: CameraRig = MAST_RIG,
        on_frame: OnFrame | None = None,
        frame_steps: int = 20,
        faults: Sequence[Fault] = (),
        plan: Plan | None = None,
        microphone: Microphone | None = None,
    ) -> None:
        """Build the kitchen and let it come to rest.

        Args:
            spec: the kitchen at the start.
            rig: cameras, in the frame of the base on the floor.
            on_frame: called with the world every `frame_steps` physics steps (200 a second) while the robot moves, for
                videos; it may call `render`.
            frame_steps: at 20, a video with 10 frames a second runs in real time.
            faults: what goes wrong, and when. Those of the start change the kitchen before the first observation.
            plan: what the robot is to do. The faults of a step strike when its action is carried out for the first
                time; other actions in between, of a recovery for instance, do not count. Without a plan every action
                counts as the next step. Faults that alter the plan do so before it gets here (`Fault.altered`).
            microphone: if given, observations have the sound since the last one; it changes nothing else. Its position
                is in the frame of the base; see `sim.kitchen.sounding.microphone_in`.
        """
        for fault in faults:
            spec = fault.scene(spec)
        self.spec, self.rig, self._microphone = spec, rig, microphone
        self.faults, self.plan = tuple(faults), plan
        self.on_frame, self.frame_steps, self.halting = on_frame, frame_steps, False
        self._start()

    def _start(self) -> None:
        self.cell = KitchenCell(self.spec)
        self.failures: list[str] = []
        self._done: list[Action] = []
        self._carried_out, self._stamp_s = frozenset[int](), -math.inf
        self.last_faults: tuple[Fault, ...] = ()
        self.hearing = None if self._microphone is None else KitchenHearing(self.cell, self._microphone)
        self._frames_heard: list[npt.NDArray[np.float32]] = []
        self.cell.on_tick = self._tick

    def _tick(self) -> None:
        if self.hearing is not None:
            self.hearing.step()
        if self.on_frame is not None and self.cell.ticks % self.frame_steps == 0:
            self.on_frame(self)
        if self.halting:
            self.halting = False
            raise Interrupted

    @property
    def arm(self) -> Arm:
        """The robot's arm."""
        return self.cell.robot.arm

    @property
    def moving(self) -> bool:
        """Whether an action runs that can be stopped."""
        return self.cell.moving

    @property
    def time_s(self) -> float:
        """Simulated time."""
        return self.cell.time_s

    @property
    def struck_s(self) -> float:
        """When a fault struck while the last action ran; infinite: none did."""
        return self.cell.struck_s

    def observe(self) -> Observation:
        """Images of the cameras on the robot, the state of the gripper, and what was heard since the last time.

        While an action runs this is a frame: the next one, and what is observed after the action, have its sound, too.
        """
        return self.observe_from([None] * len(self.rig.views))

    def observe_from(self, offsets: Sequence[npt.NDArray[np.float64] | None]) -> Observation:
        """The same from cameras that are moved (4, 4), each in its frame, from where they are believed to be."""
        cell, self._stamp_s = self.cell, stamp_s(self.cell.time_s, self._stamp_s)
        cell.visuals.update(cell.states)
        seen = observation_of(
            cell.client,
            replace(self.rig, views=tuple(on_base(view, cell.robot.base) for view in self.rig.views)),
            offsets,
            cell.bodies(),
            cell.visuals.owners,
            gripper_opening_m=cell.robot.opening_m(),
            holding=cell.robot.feels(),
            time_s=self._stamp_s,
        )
        if self.hearing is None:
            return seen
        heard, rate_hz = self.hearing.listen()
        self._frames_heard.append(heard)
        audio = np.concatenate(self._frames_heard)
        if not self.moving:
            self._frames_heard.clear()
        return replace(seen, audio=audio, audio_rate_hz=rate_hz)

    def execute(self, action: Action) -> None:
        """Carry out an action; return when the arm is out of the way again, whether the action succeeded or not.

        Raises:
            InvalidAction: the operator is unknown, or takes other arguments.
            UnknownObject: an argument is not in the kitchen.
        """
        self._skill(action)
        number = self._plan_step(action)
        striking = tuple(fault for fault in self.faults if START < fault.at_step == number)
        done = action
        for fault in striking:
            done = fault.action(done)
        undisturbed: AbstractContextManager[Motion] = nullcontext(Motion(self.cell))
        self.cell.struck_s = math.inf
        with acting(self.cell, striking, action) if striking else undisturbed as motion:
            failure = self._carry_out(motion, done)
        self.cell.settle(60)
        for fault in striking:
            fault.after(Person(self.cell), action)
        self.failures.append(failure)
        self.last_faults = striking
        self._done.append(action)

    def _run(self, skill: Skill, motion: Motion, names: tuple[str, ...]) -> None:
        """Run a skill; of several slices that a name can mean, the nearest one that is within reach."""
        cell = self.cell
        for name in names:
            if name in cell.slices:
                raise SkillFailure(f"the {name} has been sliced")
            if name not in cell.bodies() and not cell.slices.get(whole(name)):
                raise SkillFailure(f"there is no {name} yet")
        options = list(itertools.product(*(cell.meant_by(name) for name in names)))
        for chosen in options:
            try:
                skill.run(motion, *chosen)
                return
            except OutOfReach:
                if chosen == options[-1]:
                    raise

    def _carry_out(self, motion: Motion, action: Action) -> str:
        """Carry out an action and return why it failed, or an empty text."""
        failure = ""
        self.cell.moving = True
        try:
            self._run(self._skill(action), motion, action.arguments)
        except SkillFailure as reason:
            failure = str(reason)
        except Interrupted:
            failure = "it was interrupted"
        finally:
            self.cell.moving = False
        if failure:
            self.cell.note(f"{action}: {failure}")
            motion.recover()
        return failure

    def _plan_step(self, action: Action) -> int | None:
        """Number of this action in the plan, which is done from now on; None if no remaining action equals it."""
        if self.plan is None:
            return len(self._done)
        left = (number for number, other in enumerate(self.plan) if number not in self._carried_out and other == action)
        number = next(left, None)
        if number is not None:
            self._carried_out |= {number}
        return number

    def _skill(self, action: Action) -> Skill:
        require_known(action.operator, SKILLS, "an operator of the kitchen", InvalidAction)
        skill = SKILLS[action.operator]
        if len(action.arguments) != len(skill.arguments):
            raise InvalidAction(
                f"expected {action.operator}({', '.join(skill.arguments)}), found "
                f"{amount(len(action.arguments), 'argument')}"
            )
        for name, what in zip(action.arguments, skill.arguments, strict=True):
            things = {*self.cell.things, *self.cell.slices, *map(slice_of, self.cell.spec.cuttable)}
            known = {"thing": things, "fixture": set(self.cell.fixtures)}.get(what, things | set(self.cell.fixtures))
            if name not in things | set(self.cell.fixtures):
                self.cell.body(name)
            require_known(name, known, f"a {what} in {action}", InvalidAction)
        return skill

    def render(self, width: int = 640, height: int = 480) -> npt.NDArray[np.uint8]:
        """A picture of the whole kitchen for people, (height, width, 3) uint8."""
        self.cell.visuals.update(self.cell.states)
        return take_picture(self.cell.client, OVERVIEW, width, height, self.rig.light, far_m=OVERVIEW_FAR_M).rgb

    def save(self) -> SavedKitchen:
        """The present moment, for `restore`."""
        return SavedKitchen(tuple(self._done), None if self.hearing is None else self.hearing.save())

    def restore(self, saved: SavedKitchen) -> None:
        """Return to a moment: build the kitchen again and repeat its actions, which is exact to the last bit.

        A saved physics state is not: it moves what friction holds by 0.2 mm. It costs as much as the actions did.
        """
        self.close()
        self._start()
        for action in saved.actions:
            self.execute(action)
        if self.hearing is not None and saved.sound is not None:
            self.hearing.restore(saved.sound)

    def close(self) -> None:
        """End the physics client. A second call does nothing."""
        self.cell.close()
