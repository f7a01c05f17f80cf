"""The conformance kit: does a simulator or a robot of yours behave as nsrecover expects of a world?

```python
from nsrecover.testing.kit import check_world

print(check_world(make_world))  # one line a rule; WorldNotConforming names the first rule that is broken
```

Only observations are used, lifted to boxes as the library itself lifts them; nothing learned is loaded.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, cast

import numpy as np

from nsrecover.core.actions import Action, Plan
from nsrecover.core.observation import Observation
from nsrecover.core.protocols import World
from nsrecover.domains.tabletop.operators import TABLETOP, check_plan, operator_of
from nsrecover.errors import InvalidAction, InvalidConfiguration, UnknownObject, WorldNotConforming
from nsrecover.perception.perceiver import object_names
from nsrecover.testing import observation_rules as looking
from nsrecover.testing import observed as look
from nsrecover.testing import probe_actions as acting
from nsrecover.testing.observed import Look
from nsrecover.testing.rules import Book, Check, Limits, Report, Rule, Status

__all__ = ["Check", "Limits", "Report", "Rule", "Status", "WorldNotConforming", "check_world", "load_factory"]

MakeWorld = Callable[[], World]
NOWHERE = "nowhere"
"""Name of no object, and of no operator."""

_FACTORY_RULES = (Rule.REPRODUCIBLE, Rule.WORLDS_INDEPENDENT, Rule.CLOSE_TWICE)
_ACTION_RULES = (Rule.RETURNS_NOTHING, Rule.ARM_OUT_OF_THE_WAY, Rule.PROMISE_KEPT, Rule.OTHERS_STAY)


def check_world(
    world: World | MakeWorld,
    *,
    action: Action | None = None,
    provoke_failure: bool = True,
    limits: Limits | None = None,
    skip: Collection[Rule] = (),
) -> Report:
    """Check that a world keeps all rules of `Rule`.

    The world is looked at several times. Then the robot is given actions it has to refuse, moves one object (and puts
    it back, if the kit chose the action), and is sent out of reach.

    Args:
        world: something that makes a fresh world at each call (a class will do), or one world, such as a real robot;
            then what takes several worlds is skipped. Worlds that the kit has made it also closes.
        action: what the robot is to do; it must be feasible in the first observation. Chosen from that if not given:
            two free-standing objects are stacked, or one is shifted.
        provoke_failure: whether to send the robot 6 m away, which it must survive without raising.
        limits: how strict to be.
        skip: rules to leave out.

    Returns:
        What became of every rule: passed, or skipped and why.

    Raises:
        WorldNotConforming: a rule is broken; the message names it.
        InvalidAction: `action` is not well formed, or not feasible in the first observation.
        UnknownObject: `action` names an object that is not in the first observation.
    """
    book, made = Book(skip), list[World]()
    make = None if _is_world(world) or not callable(world) else world

    def fresh() -> World:
        new = make() if make is not None else cast(World, world)
        if make is not None and all(new is not each for each in made):
            made.append(new)
        return new

    try:
        first = _Visit(fresh(), book, limits or Limits())
        start = first.look_twice()
        twin = None
        if make is None:
            book.skip("a single world was given; give a factory", *_FACTORY_RULES)
        else:
            twin = _Visit(fresh(), book, first.limits)
            _compare_worlds(first, start, twin)
        first.refuse(start)
        saved, then = first.act(start, action)
        if provoke_failure:
            first.fail(start)
        else:
            book.skip("provoke_failure is off", Rule.FAILURE_NOT_RAISED)
        if twin is not None:
            _see_no_traces(first, start, twin, _Visit(fresh(), book, first.limits))
        first.restore(saved, then)
        if make is not None:
            _close_twice(book, made)
        return book.report()
    finally:
        for each in made:
            with contextlib.suppress(Exception):  # the rule that was broken matters more
                getattr(each, "close", lambda: None)()


def load_factory(place: str) -> MakeWorld:
    """The world factory that a command line names.

    Args:
        place: `package.module:factory`, or `path/to/file.py:factory`.

    Raises:
        InvalidConfiguration: there is no such module, file or name in it.
    """
    module_name, colon, name = place.rpartition(":")
    if not colon or not module_name or not name:
        raise InvalidConfiguration(f"expected package.module:factory or file.py:factory, found {place!r}")
    try:
        if module_name.endswith(".py"):
            path = Path(module_name)
            spec = importlib.util.spec_from_file_location(path.stem, path)
            if spec is None or spec.loader is None or not path.is_file():
                raise InvalidConfiguration(f"expected a Python file, found none at {module_name!r}")
            module = importlib.util.module_from_spec(spec)
            sys.modules.setdefault(path.stem, module)  # dataclasses look their module up
            spec.loader.exec_module(module)
        else:
            module = importlib.import_module(module_name)
    except ImportError as error:
        raise InvalidConfiguration(
            f"expected a module that can be imported, found {error} for {module_name!r}; install it, or set PYTHONPATH"
        ) from error
    factory = getattr(module, name, None)
    if not callable(factory):
        raise InvalidConfiguration(f"expected a function or class {name!r} in {module_name}, found {factory!r}")
    return cast(MakeWorld, factory)


class _Visit:
    """One world under examination: every observation that is taken is checked, and kept."""

    def __init__(self, world: World, book: Book, limits: Limits) -> None:
        self.world, self.book, self.limits = world, book, limits
        self.looks: list[Look] = []
        self._known: dict[str, object] = {}
        self._time_s = float("-inf")
        observe, execute = (getattr(world, name, None) for name in ("observe", "execute"))
        found = _misfit("observe", observe, 0) or _misfit("execute", execute, 1)
        book.ask(
            Rule.HAS_METHODS, not found, "observe() and execute(action)", f"{found} in {type(world).__name__}",
            "add the methods of nsrecover.core.protocols.World",
        )  # fmt: skip

    def look(self) -> Look:
        """An observation, and all rules that hold for every one."""
        book, limits = self.book, self.limits
        try:
            observation = self.world.observe()
        except Exception as error:
            book.ask(
                Rule.OBSERVATION_VALID, False, "an observation", f"{type(error).__name__}: {error}",
                "mend observe(), which must always see something",
            )  # fmt: skip
            raise
        looking.valid(book, observation)
        looking.fields(book, observation, self._known)
        book.ask(
            Rule.TIME_FORWARD, observation.time_s >= self._time_s, f"time_s of at least {self._time_s:.3f}",
            f"{observation.time_s:.3f}", "give the time of one clock that nothing sets back",
        )  # fmt: skip
        if self.looks:
            found = _other_views(self.looks[0], observation)
            book.ask(
                Rule.SAME_VIEWS, not found, "the cameras and image sizes of the first observation", found,
                "fix the order of the cameras and the size of the images, and look from the same pose",
            )  # fmt: skip
        changed = [number for number, each in enumerate(self.looks) if look.digest(each.observation) != each.digest]
        book.ask(
            Rule.OBSERVATIONS_KEPT, not changed, "earlier observations as they were",
            f"changes in number {changed} of {len(self.looks)}", "copy buffers that are filled again before returning",
        )  # fmt: skip
        now = look.take(observation)
        if not self.looks:
            book.ask(
                Rule.OBJECTS_IN_SIGHT, bool(now.boxes), "an object with depth readings in the first observation",
                f"{len(object_names(observation))} labels and no depth on any",
                "put objects on the table, and check masks and depth",
            )  # fmt: skip
            looking.intrinsics(book, observation)
            looking.depth(book, now, limits)
            looking.rigid(book, observation)
            looking.placed(book, now, limits)
            looking.agreeing(book, now, limits)
            looking.sizes(book, now, limits)
        self._known |= dict.fromkeys(now.names)
        self._time_s = observation.time_s
        self.looks.append(now)
        return now

    def look_twice(self) -> Look:
        """The first observation, compared with a second one."""
        start = self.look()
        self._same(Rule.LOOKING_CHANGES_NOTHING, start, self.look(), "two observations with nothing done in between")
        return start

    def refuse(self, start: Look) -> None:
        """Actions that have to be refused."""
        name = start.names[0]
        for rule, wrong, error in (
            (Rule.UNKNOWN_OPERATOR_REFUSED, Action(NOWHERE, (name,)), InvalidAction),
            (Rule.WRONG_ARGUMENTS_REFUSED, Action("top", (name,)), InvalidAction),
            (Rule.UNKNOWN_OBJECT_REFUSED, Action("free", (NOWHERE,)), UnknownObject),
        ):
            found = "no exception"
            try:
                self.world.execute(wrong)
            except error:
                found = ""
            except Exception as other:
                found = f"{type(other).__name__}: {other}"
            self.book.ask(
                rule, not found, f"{error.__name__} for {wrong}", found,
                "call nsrecover.operator_of(action), and look the objects up, before anything moves",
            )  # fmt: skip
            self._same(rule, start, self.look(), "nothing moved by a refused action")

    def act(self, start: Look, given: Action | None) -> tuple[Any, Look]:
        """One action that has to work, and the way back; returns what a moment was saved as, and what was seen then."""
        graph = look.graph_of(start)
        if given is not None:
            check_plan(Plan((given,)), graph)
            if reasons := operator_of(given).violated(graph, given):
                told = "; ".join(map(TABLETOP.text, reasons))
                raise InvalidAction(f"expected an action that can be done at once, found {given}: {told}")
        action = given or acting.choose(graph)
        if action is None:
            self.book.skip("no object has room around it; give action=", *_ACTION_RULES)
            return self.save(), self.looks[-1]
        saved, then = self.save(), self.looks[-1]
        self._do(action, then)
        if given is None:
            # the way back all but restores the start, so the moment before it is the one to save
            saved, then = self.save(), self.looks[-1]
            self._do(acting.put_at(graph, action.arguments[0]), then)
        return saved, then

    def fail(self, start: Look) -> None:
        """An action that cannot work."""
        before, name = self.looks[-1], start.names[0]
        self._execute(acting.impossible(look.graph_of(start), name))
        self.book.ask(Rule.FAILURE_NOT_RAISED, True, "", "", "")
        self._others_stay(before, self.look(), name)

    def save(self) -> Any:
        """What the world's own `save` returns, if it has one."""
        able = all(callable(getattr(self.world, name, None)) for name in ("save", "restore"))
        return cast(Any, self.world).save() if able else None

    def restore(self, saved: Any, then: Look) -> None:
        """Go back to a saved moment, if the world can."""
        if saved is None:
            self.book.skip("the world has no save() and restore()", Rule.RESTORE_GOES_BACK)
            return
        world = cast(Any, self.world)
        world.restore(saved)
        self._time_s = float("-inf")  # the clock may go back too
        self._same(Rule.RESTORE_GOES_BACK, then, self.look(), "what was seen when it was saved")
        getattr(world, "release", lambda _: None)(saved)

    def _do(self, action: Action, before: Look) -> None:
        """Carry out an action that has to work, and look what has become of it."""
        moved = action.arguments[0]
        self._execute(action)
        after = self.look()
        then, now = before.observation.time_s, after.observation.time_s
        self.book.ask(
            Rule.TIME_FORWARD, now > then, f"a time_s later than {then:.3f} after an action", f"{now:.3f}",
            "set time_s when the images are taken",
        )  # fmt: skip
        self._others_seen(before, after, moved)
        graph = look.graph_of(after, before)
        place = "out of sight"
        if moved in after.boxes:
            # a moved object is where it is seen, be it in part
            graph = graph.with_node(graph.index(moved), after.boxes[moved])
            place = f"at {after.boxes[moved][:3].round(3).tolist()}"
        self.book.ask(
            Rule.PROMISE_KEPT, moved in after.boxes and acting.kept(look.graph_of(before), graph, action),
            f"{action} to be done", f"{moved!r} {place}",
            "see how the robot carries it out; if the scene makes it difficult, give another action",
        )  # fmt: skip
        self._others_stay(before, after, moved)

    def _execute(self, action: Action) -> None:
        """Carry out a well-formed action, which must return nothing and raise nothing."""
        self.book.actions.append(str(action))
        try:
            result: object = cast(Any, self.world).execute(action)
        except Exception as error:
            self.book.ask(
                Rule.FAILURE_NOT_RAISED, False, f"execute({action}) to return, whether it worked or not",
                f"{type(error).__name__}: {error}", "catch what a motion planner or driver raises, and log it",
            )  # fmt: skip
            raise
        self.book.ask(
            Rule.RETURNS_NOTHING, result is None, "None from execute", repr(result),
            "leave the judgement to the cameras",
        )  # fmt: skip

    def _same(self, rule: Rule, before: Look, after: Look, when: str) -> None:
        """Whether two observations show the same."""
        tolerance_m = self.limits.noise_m
        self._not_renamed(before, after, tolerance_m)
        found = look.shifted(before, after, tolerance_m)
        found += [f"{name!r} not seen any more" for name in look.lost(before, after)]
        found += [f"{name!r} not seen before" for name in look.lost(after, before)]
        self.book.ask(
            rule, not found, f"{when}: the same objects within {1000 * tolerance_m:.0f} mm", ", ".join(found),
            "see what moves, or whether the detector flickers; raise limits.noise_m for a noisy sensor",
        )  # fmt: skip

    def _not_renamed(self, before: Look, after: Look, tolerance_m: float, but: tuple[str, ...] = ()) -> None:
        found = look.renamed(before, after, tolerance_m, but)
        self.book.ask(
            Rule.LABELS_STAY, not found, "every object under its name", found,
            "track objects over time: a name must not depend on the order of detections",
        )  # fmt: skip

    def _others_seen(self, before: Look, after: Look, moved: str) -> None:
        """What an action does not concern is as visible as before, under its name."""
        self._not_renamed(before, after, self.limits.noise_m, (moved,))
        hidden = {n: s for n, s in look.covered(before, after, (moved,)).items() if s > self.limits.hidden}
        found = [
            f"{100 * share:.0f} % of {name!r} covered by something that is no object" for name, share in hidden.items()
        ]
        found += [f"{name!r} not seen any more" for name in look.lost(before, after, (moved,))]
        self.book.ask(
            Rule.ARM_OUT_OF_THE_WAY, not found, "everything as visible as before the action", ", ".join(found),
            "move the arm out of every camera's view before execute returns, or before observe looks",
        )  # fmt: skip

    def _others_stay(self, before: Look, after: Look, moved: str) -> None:
        found = look.shifted(before, after, self.limits.stay_m, (moved,))
        self.book.ask(
            Rule.OTHERS_STAY, not found, f"only {moved!r} moved", ", ".join(found),
            "plan motions around the other objects; if the scene is too tight for that, give another action",
        )  # fmt: skip


def _is_world(candidate: object) -> bool:
    """Whether it is a world, or tries to be one, rather than something that makes worlds."""
    return not isinstance(candidate, type) and any(hasattr(candidate, name) for name in ("observe", "execute"))


def _misfit(name: str, method: object, arguments: int) -> str:
    """What is wrong with a method; empty if it can be called with so many arguments."""
    if not callable(method):
        return f"no method {name}"
    try:
        inspect.signature(method).bind(*[None] * arguments)
    except TypeError:
        return f"{name}{inspect.signature(method)}"
    except ValueError:  # a compiled function that does not tell its signature
        return ""
    return ""


def _other_views(first: Look, now: Observation) -> str:
    """How the cameras or images differ from those of the first observation; empty if they do not."""
    then = first.observation
    if then.rgb.shape != now.rgb.shape:
        return f"images of shape {now.rgb.shape} instead of {then.rgb.shape}"
    for old, new in zip(then.cameras, now.cameras, strict=True):
        if old.name != new.name:
            return f"{new.name!r} in the place of {old.name!r}"
        if not np.allclose(old.intrinsics, new.intrinsics, rtol=0.01):
            return f"other intrinsics of {new.name!r}"
        if not np.allclose(old.world_from_camera, new.world_from_camera, atol=0.01):
            return f"another pose of {new.name!r}"
    return ""


def _compare_worlds(first: _Visit, start: Look, twin: _Visit) -> None:
    """Whether two worlds of one factory start alike."""
    again = twin.world is first.world
    first.book.ask(
        Rule.WORLDS_INDEPENDENT, not again, "a new world from every call of the factory", "the same one again",
        "make a world in the factory, or give the world itself instead of a factory",
    )  # fmt: skip
    first._same(Rule.REPRODUCIBLE, start, twin.look(), "the first observation of two worlds of one factory")


def _see_no_traces(first: _Visit, start: Look, twin: _Visit, late: _Visit) -> None:
    """Whether what was done in the first world has left traces in others."""
    if not first.book.actions:
        first.book.skip("nothing could be done in the first world", Rule.WORLDS_INDEPENDENT)
        return
    twin._same(Rule.WORLDS_INDEPENDENT, twin.looks[0], twin.look(), "a world, while another one was acted in")
    late._same(Rule.WORLDS_INDEPENDENT, start, late.look(), "a world made after another one was acted in")


def _close_twice(book: Book, worlds: list[World]) -> None:
    for world in worlds:
        close = getattr(world, "close", None)
        if not callable(close):
            book.skip("the world has no close()", Rule.CLOSE_TWICE)
            return
        found = ""
        try:
            close()
            close()
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        book.ask(
            Rule.CLOSE_TWICE, not found, "close() to work, and to do nothing when called again", found,
            "remember that it is closed",
        )  # fmt: skip
