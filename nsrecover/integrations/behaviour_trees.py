"""Behaviours for py_trees: is the world as the plan expects, and a subtree that brings it back onto the plan.

    from nsrecover.integrations.behaviour_trees import Course, follow_plan

    course = Course(nsrecover.load(), my_world, plan)
    tree = py_trees.trees.BehaviourTree(follow_plan(course))
    tree.setup()
    while tree.root.status is not py_trees.common.Status.SUCCESS:
        tree.tick()

docs/behaviour_trees.md shows the tree, and how its parts go into trees of your own.

Needs py_trees: `pip install 'nsrecover[py_trees]'`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph
from nsrecover.explanation.facts import violated_texts
from nsrecover.integrations import missing
from nsrecover.integrations.tree_course import Course, TreeWorld

try:
    from py_trees.behaviour import Behaviour
    from py_trees.common import Status
    from py_trees.composites import Selector, Sequence
    from py_trees.decorators import Decorator
except ImportError as absent:
    raise missing("py_trees", "py_trees") from absent

__all__ = ["AsExpected", "Course", "FindWayBack", "TreeWorld", "follow_plan", "next_action", "recovery_subtree"]


class AsExpected(Behaviour):
    """Condition: is the world as the plan expects? Looks at every tick; FAILURE with culprits and causes if it is not.

    Args:
        course: the plan under way.
        name: of the behaviour.
    """

    def __init__(self, course: Course, name: str = "as expected?") -> None:
        super().__init__(name)
        self._course = course

    def update(self) -> Status:
        """Look and compare."""
        found = self._course.look()
        self.feedback_message = told(found) if found else f"as expected, {self._course.step} steps done"
        return Status.FAILURE if found else Status.SUCCESS


class _Act(Behaviour):
    """Carries out an action by the course's world, in one tick; whether it worked is for the cameras to say."""

    def __init__(self, course: Course, action: Action) -> None:
        super().__init__(str(action))
        self._course, self._action = course, action

    def update(self) -> Status:
        self._course.world.execute(self._action)
        return Status.SUCCESS


class _Attempt(Decorator):
    """Counts the next action of the plan as attempted when the behaviour that carries it out ends.

    SUCCESS also if that fails: whether the action worked is for the cameras to say, and there may be a way back.
    """

    def __init__(self, course: Course, action: Action) -> None:
        super().__init__(f"attempt {action}", _Act(course, action) if course.act is None else course.act(action))
        self._course = course

    def update(self) -> Status:
        if self.decorated.status is Status.RUNNING:
            return Status.RUNNING
        self._course.attempted()
        failed = self.decorated.status is not Status.SUCCESS
        self.feedback_message = f"it says that it failed: {self.decorated.feedback_message}" if failed else ""
        return Status.SUCCESS


class FindWayBack(Behaviour):
    """Searches for the cheapest way back onto the plan, in a thread of its own: RUNNING meanwhile, for a tick at least.

    SUCCESS only with a way that was found for the world as it is now: when the search ends, it looks again, and if the
    world is no longer the one that was searched for, the result is stale and this is a FAILURE. It is one as well if
    there is no way, or none was found in time; then the course's `reason` says why. Interrupted, it stops the search.

    Args:
        course: the plan under way.
        name: of the behaviour.
    """

    def __init__(self, course: Course, name: str = "find the way back") -> None:
        super().__init__(name)
        self._course = course
        self._search: _Search | None = None
        course.attach(self)

    def setup(self, **_: Any) -> None:
        """A new episode."""
        self._course.reset()

    def initialise(self) -> None:
        """Begin the search, for the world as it was seen last."""
        self.feedback_message = ""
        wrong = self._course.discrepancy
        if wrong is None:
            wrong = self._course.look()
        may_search = self._course.begin_search()
        self._search = _Search(self._course, wrong) if wrong and may_search else None

    def update(self) -> Status:
        """Wait for the end of the search; then look whether its result is still true."""
        course, search = self._course, self._search
        if search is None:
            self.feedback_message = course.reason or "nothing to recover from"
            return Status.FAILURE if course.reason else Status.SUCCESS
        recovery = search.result() if self.status is Status.RUNNING else None  # what is wrong is to be seen for a tick
        if recovery is None:
            self.feedback_message = search.progress
            return Status.RUNNING
        now = course.look()
        if not course.same_scene(search.scene, now.observed):
            self.feedback_message = "stale: the world has changed since the search began"
            return Status.FAILURE
        if not recovery.found:
            course.give_up(recovery.reason)
            self.feedback_message = f"{recovery.status}: {recovery.reason}"
            return Status.FAILURE
        self.feedback_message = f"{recovery.status}: {len(recovery.actions)} actions"
        course.rejoin(recovery)
        return Status.SUCCESS

    def terminate(self, new_status: Status) -> None:
        """Stop a search that is under way."""
        if self._search is not None:
            self._search.cancel()
            self._search = None


class _Search:
    """A search in a thread of its own.

    Args:
        course: the plan under way.
        wrong: what was found to be wrong.
    """

    def __init__(self, course: Course, wrong: Discrepancy) -> None:
        self.scene: SceneGraph = wrong.observed
        self.progress = "searching"
        self._cancelled = threading.Event()
        self._recovery: Recovery | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(course, wrong, course.trace), daemon=True)
        self._thread.start()

    def _run(self, course: Course, wrong: Discrepancy, trace: Any) -> None:
        try:
            self._recovery = course.system.planner.recover(
                self.scene,
                trace,
                wrong,
                budget_s=course.budget_s,
                on_improvement=self._improved,
                cancelled=self._cancelled.is_set,
            )
        except BaseException as error:  # raised again in the thread that ticks
            self._error = error

    def _improved(self, found: Recovery) -> None:
        self.progress = f"searching for less than {len(found.actions)} actions"

    def result(self) -> Recovery | None:
        """What was found; None while it is being searched."""
        if self._thread.is_alive():
            return None
        if self._error is not None:
            raise self._error
        return self._recovery

    def cancel(self) -> None:
        """Stop the search and wait until it has."""
        self._cancelled.set()
        self._thread.join()


class _Inserted(Sequence):
    """A sequence whose children are made anew whenever it begins; interrupted, it has none.

    Args:
        name: of the behaviour.
        course: the plan under way.
        make: makes the children.
    """

    def __init__(self, name: str, course: Course, make: Callable[[], Iterable[Behaviour]]) -> None:
        super().__init__(name, memory=True)
        self._make = make
        course.attach(self)

    def initialise(self) -> None:
        """Make the children."""
        self.remove_all_children()
        self.add_children(list(self._make()))
        self.current_child = self.children[0] if self.children else None

    def terminate(self, new_status: Status) -> None:
        """Forget them if they were interrupted."""
        if new_status is Status.INVALID:
            self.remove_all_children()


def recovery_subtree(course: Course, name: str = "recover") -> Sequence:
    """A subtree that finds the way back onto the plan, inserts its actions, and looks after each whether it worked.

    SUCCESS means that the world was seen, after the last action, to be as the plan expects from there on; the course
    then goes on with the step of the plan that the way back leads to, which may be an earlier or a later one. FAILURE
    means that there is no way (`course.reason` says why), that the way was found for a world that has changed since, or
    that an action did not do what it should; tick it again to search anew.

    Args:
        course: the plan under way.
        name: of the subtree.
    """

    def way_back() -> Iterable[Behaviour]:
        actions = course.inserted
        for action in actions:
            yield _Attempt(course, action)
            yield AsExpected(course, f"{action} worked?")
        if not actions:
            yield AsExpected(course, "back on the plan?")

    return Sequence(name, memory=True, children=[FindWayBack(course), _Inserted("way back", course, way_back)])


def next_action(course: Course, name: str = "next action") -> Sequence:
    """A subtree that carries out the next action of the plan; SUCCESS when it was attempted, or if none is left.

    Args:
        course: the plan under way.
        name: of the subtree.
    """

    def following() -> Iterable[Behaviour]:
        if course.next_action is not None:
            yield _Attempt(course, course.next_action)

    return _Inserted(name, course, following)


class _UntilComplete(Decorator):
    """Goes on, one step after the other, until the plan is complete or there is no way to go on.

    Args:
        course: the plan under way.
        child: does one step; its failure is final only if the course has a reason to give up.
        name: of the behaviour.
    """

    def __init__(self, course: Course, child: Behaviour, name: str) -> None:
        super().__init__(name, child)
        self._course = course
        course.attach(self)

    def setup(self, **_: Any) -> None:
        """A new episode."""
        self._course.reset()

    def update(self) -> Status:
        """Whether the plan is complete."""
        course = self._course
        if self.decorated.status is Status.FAILURE and course.reason:
            self.feedback_message = course.reason
            return Status.FAILURE
        self.feedback_message = f"{course.step} steps done, {len(course.plan) - course.num_executed} actions ahead"
        complete = self.decorated.status is Status.SUCCESS and course.complete
        return Status.SUCCESS if complete else Status.RUNNING


def follow_plan(course: Course, name: str = "follow the plan") -> Behaviour:
    """A subtree that carries out the whole plan, recovering whenever the world is not as expected.

    SUCCESS when all is done and was seen to be as it should be; FAILURE when there is no way to go on. Ticked again
    after that it looks again: a goal that is disturbed is restored, and where somebody has helped it goes on.

    Args:
        course: the plan under way.
        name: of the subtree.
    """
    mend = Selector("as expected, or mended", memory=True, children=[AsExpected(course), recovery_subtree(course)])
    step = Sequence("one step", memory=True, children=[mend, next_action(course)])
    return _UntilComplete(course, step, name)


def told(found: Discrepancy) -> str:
    """What is wrong, in a few words: culprits with their cause codes, and preconditions that do not hold."""
    wrong = [f"{culprit.name}: {culprit.cause}" for culprit in found.deviations]
    return "; ".join([*wrong, *violated_texts(found)])
