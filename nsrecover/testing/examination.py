"""The checks of the conformance kit on one world: observe, refuse wrong actions, act, fail, restore."""

import inspect
from typing import Any, cast

import numpy as np

from nsrecover.core import Action, Observation, World
from nsrecover.perception.perceiver import object_names
from nsrecover.testing import observation_rules
from nsrecover.testing.lifted import LiftedObservation, covered, digest, displaced, lift, lost, renamed, shifted
from nsrecover.testing.moving_cameras import check_poses_follow
from nsrecover.testing.rules import Rule, RuleLog, Tolerances
from nsrecover.testing.settings import Setting
from nsrecover.util.english import amount

_ACTION_RULES = (Rule.RETURNS_NOTHING, Rule.ARM_OUT_OF_THE_WAY, Rule.PROMISE_KEPT, Rule.OTHERS_STAY)


class Examination:
    """Examines one world; every observation is checked and kept.

    Args:
        world: the world.
        log: records the results.
        limits: tolerances of the rules.
        setting: what the scenes of its domain are like.
    """

    def __init__(self, world: World[Observation], log: RuleLog, limits: Tolerances, setting: Setting) -> None:
        self.world, self.log, self.limits, self.setting = world, log, limits, setting
        self._acted = False
        self.seen: list[LiftedObservation] = []
        self._known: dict[str, object] = {}
        self._time_s = float("-inf")
        self._heard: Observation | None = None
        observe, execute = (getattr(world, name, None) for name in ("observe", "execute"))
        found = _misfit("observe", observe, 0) or _misfit("execute", execute, 1)
        log.check(
            Rule.HAS_METHODS, not found, "observe() and execute(action)", f"{found} in {type(world).__name__}",
            "add the methods of nsrecover.core.protocols.World",
        )  # fmt: skip

    def observe(self) -> LiftedObservation:
        """Take an observation, and check the rules for all observations."""
        log, limits = self.log, self.limits
        try:
            observation = self.world.observe()
        except Exception as error:
            log.check(
                Rule.OBSERVATION_VALID, False, "an observation", f"{type(error).__name__}: {error}",
                "fix observe(), which must always return an observation",
            )  # fmt: skip
            raise
        observation_rules.check_type(log, observation)
        observation_rules.check_leaks(log, observation, self.setting.state_words)
        observation_rules.check_fields(log, observation, self._known)
        log.check(
            Rule.TIME_FORWARD, observation.time_s > self._time_s or not observation.time_s,
            f"a time_s later than {self._time_s:.3f}",
            f"{observation.time_s:.3f}", "use a single clock that is never set back",
        )  # fmt: skip
        if self._heard is not None:
            observation_rules.check_audio(log, self._heard, observation, limits)
        self._heard = observation
        if self.seen:
            moved = self.setting.cameras_move and self._acted
            found = _other_views(self.seen[-1 if self.setting.cameras_move else 0], observation, moved)
            log.check(
                Rule.SAME_VIEWS, not found, "the cameras and image sizes of the first observation", found,
                "keep the order and poses of the cameras and the size of the images fixed",
            )  # fmt: skip
            check_poses_follow(log, self.seen[-1].observation, observation, self.setting.portable, limits)
        changed = [number for number, each in enumerate(self.seen) if digest(each.observation) != each.digest]
        log.check(
            Rule.OBSERVATIONS_KEPT, not changed, "earlier observations as they were",
            f"changes in number {changed} of {len(self.seen)}", "copy reused buffers before returning them",
        )  # fmt: skip
        if not self.seen:
            readings = any(
                observation.depth_m[np.isin(observation.instances, number)].any() for number in observation.labels
            )
            log.check(
                Rule.OBJECTS_IN_SIGHT, readings, "an object with depth readings in the first observation",
                f"{amount(len(object_names(observation)), 'label')} and no depth on any",
                "put objects on the table, and check masks and depth",
            )  # fmt: skip
            observation_rules.check_intrinsics(log, observation)
        now = lift(observation)
        if not self.seen:
            carried = now.only(self.setting.portable)
            observation_rules.check_depth(log, carried)
            if self.setting.grounded:
                observation_rules.check_sensors(log, observation, limits)
            else:
                log.skip("the sensor checks need a table at z = 0", Rule.SENSORS_PLAUSIBLE)
            observation_rules.check_table(log, carried, limits, self.setting.grounded)
            observation_rules.check_sizes(log, carried, limits)
        self._known |= dict.fromkeys(now.names)
        self._time_s, self._acted = observation.time_s, False
        self.seen.append(now)
        return now

    def observe_twice(self) -> LiftedObservation:
        """Return the first observation, and compare it with a second one."""
        start = self.observe()
        self.check_same(
            Rule.LOOKING_CHANGES_NOTHING, start, self.observe(), "two observations with nothing done in between"
        )
        return start

    def refuse(self, start: LiftedObservation) -> None:
        """Check that the world refuses wrong actions and moves nothing."""
        for rule, wrong, error in self.setting.refused(start.names[0]):
            found = "no exception"
            try:
                self.world.execute(wrong)
            except error:
                found = ""
            except Exception as other:
                found = f"{type(other).__name__}: {other}"
            self.log.check(
                rule, not found, f"{error.__name__} for {wrong}", found,
                "call operator_of(action) of the domain and look up the objects before anything moves",
            )  # fmt: skip
            self.check_same(rule, start, self.observe(), "nothing moved by a refused action")

    def act(self, start: LiftedObservation, given: Action | None) -> tuple[Any, LiftedObservation]:
        """Check one feasible action and the action back; return a saved state of the world and its observation."""
        if given is not None:
            self.setting.check(start, given)
        actions = [given] if given is not None else self.setting.choose(start)
        if not actions:
            self.log.skip("no object has room around it; give action=", *_ACTION_RULES)
            return self.save(), self.seen[-1]
        saved, then = self.save(), self.seen[-1]
        self._do(actions[0], then)
        for back in actions[1:]:
            # saved before the action back, after which the scene is almost as at the start
            saved, then = self.save(), self.seen[-1]
            self._do(back, then)
        return saved, then

    def fail(self, start: LiftedObservation) -> None:
        """Check that an unreachable target raises nothing and moves no other object."""
        before, action = self.seen[-1], self.setting.impossible(start)
        self._execute(action)
        self.log.check(Rule.FAILURE_NOT_RAISED, True)
        self._others_stay(before, self.observe(), action.arguments[0])

    def save(self) -> Any:
        """Return the result of the world's `save`; None if the world cannot save and restore."""
        able = all(callable(getattr(self.world, name, None)) for name in ("save", "restore"))
        return cast(Any, self.world).save() if able else None

    def restore(self, saved: Any, then: LiftedObservation) -> None:
        """Restore a saved state, if the world can, and compare the observations."""
        if saved is None:
            self.log.skip("the world has no save() and restore()", Rule.RESTORE_GOES_BACK)
            return
        world = cast(Any, self.world)
        world.restore(saved)
        self._time_s, self._heard = float("-inf"), None  # the clock may be restored too
        self._acted = True
        self.check_same(Rule.RESTORE_GOES_BACK, then, self.observe(), "what was seen when it was saved")
        getattr(world, "release", lambda _: None)(saved)

    def _do(self, action: Action, before: LiftedObservation) -> None:
        """Carry out a feasible action, and check its effects."""
        moved = action.arguments[0]
        self._execute(action)
        after = self.observe()
        then, now = before.observation.time_s, after.observation.time_s
        self.log.check(
            Rule.TIME_FORWARD, now > then, f"a time_s later than {then:.3f} after an action", f"{now:.3f}",
            "set time_s when the images are taken",
        )  # fmt: skip
        self._others_seen(before, after, moved)
        place = f"at {after.boxes[moved][:3].round(3).tolist()}" if moved in after.boxes else "out of sight"
        self.log.check(
            Rule.PROMISE_KEPT, self.setting.holds(before, after, action), f"{action} to be done", f"{moved!r} {place}",
            "check how the robot carries it out; if the scene is difficult, pass another action",
        )  # fmt: skip
        self._others_stay(before, after, moved)

    def _execute(self, action: Action) -> None:
        """Carry out a well-formed action; it must return None and raise nothing."""
        self.log.actions.append(str(action))
        self._acted = True
        try:
            result: object = cast(Any, self.world).execute(action)
        except Exception as error:
            self.log.check(
                Rule.FAILURE_NOT_RAISED, False, f"execute({action}) to return, whether it worked or not",
                f"{type(error).__name__}: {error}", "catch and log the exceptions of motion planners and drivers",
            )  # fmt: skip
            raise
        self.log.check(
            Rule.RETURNS_NOTHING, result is None, "None from execute", repr(result),
            "return nothing: success is judged from the cameras",
        )  # fmt: skip

    def check_same(self, rule: Rule, before: LiftedObservation, after: LiftedObservation, when: str) -> None:
        """Check that two observations show the same objects at the same places."""
        tolerance_m = self.limits.noise_m
        self._not_renamed(before, after, tolerance_m)
        found = shifted(before, after, tolerance_m)
        found += [f"{name!r} no longer seen" for name in lost(before, after)]
        found += [f"{name!r} not seen before" for name in lost(after, before)]
        self.log.check(
            rule, not found, f"{when}: the same objects within {1000 * tolerance_m:.0f} mm", ", ".join(found),
            "check what moves, or whether detections flicker; raise limits.noise_m for a noisy sensor",
        )  # fmt: skip

    def _not_renamed(
        self, before: LiftedObservation, after: LiftedObservation, tolerance_m: float, but: tuple[str, ...] = ()
    ) -> None:
        found = renamed(before, after, tolerance_m, but)
        self.log.check(
            Rule.LABELS_STAY, not found, "every object under its name", found,
            "track objects over time; names must not depend on the order of the detections",
        )  # fmt: skip

    def _others_seen(self, before: LiftedObservation, after: LiftedObservation, moved: str) -> None:
        """Check that the other objects are as visible after an action as before, with the same names."""
        if self.setting.cameras_move:
            self._not_renamed(before, after, self.limits.moving_m, (moved,))
            self.log.skip("the cameras moved", Rule.ARM_OUT_OF_THE_WAY)
            return
        self._not_renamed(before, after, self.limits.noise_m, (moved,))
        hidden = {n: s for n, s in covered(before, after, (moved,)).items() if s > self.limits.hidden}
        found = [
            f"{100 * share:.0f} % of {name!r} occluded by something that is not an object"
            for name, share in hidden.items()
        ]
        found += [f"{name!r} no longer seen" for name in lost(before, after, (moved,))]
        self.log.check(
            Rule.ARM_OUT_OF_THE_WAY, not found, "everything as visible as before the action", ", ".join(found),
            "move the arm out of the view of all cameras before execute returns or observe takes images",
        )  # fmt: skip

    def _others_stay(self, before: LiftedObservation, after: LiftedObservation, moved: str) -> None:
        if self.setting.cameras_move:
            one, other = before.only(self.setting.portable), after.only(self.setting.portable)
            found = displaced(one, other, self.limits.moving_m, (moved,))
        else:
            found = shifted(before, after, self.limits.stay_m, (moved,))
        self.log.check(
            Rule.OTHERS_STAY, not found, f"only {moved!r} moved", ", ".join(found),
            "plan motions around the other objects; if the scene is too tight, pass another action",
        )  # fmt: skip


def _misfit(name: str, method: object, arguments: int) -> str:
    """Return what is wrong with a method; empty if it accepts this number of arguments."""
    if not callable(method):
        return f"no method {name}"
    try:
        inspect.signature(method).bind(*[None] * arguments)
    except TypeError:
        return f"{name}{inspect.signature(method)}"
    except ValueError:  # a compiled function without a signature
        return ""
    return ""


def _other_views(first: LiftedObservation, now: Observation, moved: bool) -> str:
    """Return how the cameras or images differ from an earlier observation, except for poses if the cameras `moved`."""
    then = first.observation
    if then.rgb.shape != now.rgb.shape:
        return f"images of shape {now.rgb.shape} instead of {then.rgb.shape}"
    for old, new in zip(then.cameras, now.cameras, strict=True):
        if old.name != new.name:
            return f"{new.name!r} in the place of {old.name!r}"
        if not np.allclose(old.intrinsics, new.intrinsics, rtol=0.01):
            return f"other intrinsics of {new.name!r}"
        if not moved and not np.allclose(old.world_from_camera, new.world_from_camera, atol=0.01):
            return f"another pose of {new.name!r}"
    return ""
