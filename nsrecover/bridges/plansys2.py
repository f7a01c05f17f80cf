"""Plans of PlanSys2 and PDDL planners: lines such as `0.000: (stack green red) [1.000]`, to our plans and back.

Nothing here needs PlanSys2. PDDL does not tell upper from lower case, and its names
have no blanks; `PlanVocabulary` translates.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from nsrecover.core.actions import Action, Plan
from nsrecover.domains.base import State
from nsrecover.domains.instance import Instance
from nsrecover.errors import InvalidPlan, did_you_mean, require_known

_NUMBER = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_LINE = re.compile(
    rf"\s*(?:(?:step\s+)?(?P<time>{_NUMBER})\s*:?)?\s*\((?P<action>[^()]+)\)"
    rf"\s*(?:\[\s*(?:d:\s*)?(?P<duration>{_NUMBER})\s*(?:;[^\]]*)?\]|(?P<bare>{_NUMBER}))?\s*(?:;.*)?",
    re.IGNORECASE,
)
_SOLUTION = re.compile(
    r"solution found|plan found|found plan|found legal plan|plan computed|^\s*(sequential)?plan:\s*$", re.IGNORECASE
)
_BETWEEN = re.compile(r"\s*;\s*(cost\s*[=:]|version\b|seed\b|time\s+[\d.]|metricvalue\b)", re.IGNORECASE)
"""After a plan of Fast Downward, and before one of LPG or POPF."""
_REPORTED = tuple(
    re.compile(form)
    for form in (
        r"(?P<action>[\w-]+(?: [\w-]+)*) \(\d+\)\s*",  # the log of Fast Downward
        r"(?:step)?\s+(?P<time>\d+): (?P<action>[A-Z][A-Z0-9_-]*(?: [A-Z0-9_-]+)*)\s*",  # FF
        r"\s+(?P<action>[\w-]+\([^()]*\))\s*",  # unified-planning
    )
)
"""Lines of actions that count after a word of `_SOLUTION` only."""
_ITEM = re.compile(rf"\s*(?:{_NUMBER}\s*:?\s*)?\(")
_NAME = re.compile(r"[^\s()A-Z;:]+")


@dataclass(frozen=True)
class PlanItem:
    """One line.

    Attributes:
        time_s: when it starts.
        action: name and objects, in lower case.
        duration_s: how long it takes; 0 if the line does not say.
    """

    time_s: float
    action: tuple[str, ...]
    duration_s: float = 0.0

    @property
    def end_s(self) -> float:
        """When it ends."""
        return self.time_s + self.duration_s

    def __str__(self) -> str:
        return f"{self.time_s:.3f}: ({' '.join(self.action)}) [{self.duration_s:.3f}]"


@dataclass(frozen=True)
class PlanVocabulary:
    """Meaning of PDDL actions for the monitor.

    Attributes:
        actions: PDDL action -> operator and places of its arguments among the PDDL ones, from 0; None for actions that
            an operator contains, such as picking up.
        names: PDDL object -> name in the scene; an underscore stands for a blank otherwise.
    """

    actions: Mapping[str, tuple[str, tuple[int, ...]] | None]
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TranslatedPlan:
    """A plan of PlanSys2 for the monitor.

    Attributes:
        items: all lines.
        plan: the monitor's.
        ends: number of the line that completes each action of `plan`, from 0.
    """

    items: tuple[PlanItem, ...]
    plan: Plan
    ends: tuple[int, ...]

    def first_item(self, step: int) -> int:
        """The line to go on with when a number of our actions are done; the number of lines at the end."""
        return 0 if step == 0 else self.ends[step - 1] + 1


def read_plan(text: str) -> tuple[PlanItem, ...]:
    """Read the text of a plan: of PlanSys2 (`get plan` and its files), POPF, LPG, ENHSP, FF or Fast Downward.

    A planner's report around the plan is left out; of several plans the last counts, which is the best. Lines without
    times follow one another. Actions that overlap come in the order of their ends; `sequential` finds one that works.

    Raises:
        InvalidPlan: a line is no item, there is none, or the times begin anew, as those of several plans do.
    """
    items, wrong, report, ended = list[PlanItem](), "", False, False
    for line in text.replace("\ufeff", "").splitlines():
        match = _LINE.fullmatch(line)
        if match is None and report:
            match = next(filter(None, (form.fullmatch(line) for form in _REPORTED)), None)
        if match is not None and (words := re.findall(r"[^\s(),]+", match["action"].lower())):
            items, ended = ([], False) if ended else (items, False)
            given = match.groupdict()
            time_s = float(given.get("time") or len(items))
            duration_s = float(given.get("duration") or given.get("bare") or 0)
            if not math.isfinite(time_s + duration_s):
                wrong = wrong or line.strip()
            items.append(PlanItem(time_s, tuple(words), duration_s))
        elif _SOLUTION.search(line):
            items, wrong, report = [], "", True
        elif _BETWEEN.match(line):
            ended = True
        elif line.strip() and not line.lstrip().startswith(";") and (not report or _ITEM.match(line)):
            wrong = wrong or line.strip()
    if wrong:
        raise InvalidPlan(f"expected lines like '0.000: (stack green red) [1.000]', found {wrong[:120]!r}")
    if not items:
        raise InvalidPlan("expected a plan with at least one line, found none; ask the planner's log")
    times = [item.time_s for item in items]
    again = next((n for n, time_s in enumerate(times) if time_s == times[0] < max(times[: n + 1])), None)
    if again is not None:
        raise InvalidPlan(
            f"expected one plan, found that the times begin anew with {str(items[again])!r}, as if a second plan "
            "followed; give the last plan alone, or sort the lines by time if it is one"
        )
    return tuple(sorted(items, key=lambda item: (item.end_s, item.time_s)))


def sequential(items: Sequence[PlanItem], instance: Instance, state: State) -> tuple[PlanItem, ...]:
    """Actions that overlap in an order in which each can be done after the ones before.

    Args:
        items: the lines, of a domain that was read from PDDL with `in_sequence`.
        instance: the scene.
        state: before the plan.

    Raises:
        InvalidPlan: there is none: an action needs what holds only while another one runs.
        InvalidAction: the domain has no such action.
    """
    problem = ""
    for first in (attrgetter("end_s", "time_s"), attrgetter("time_s", "end_s")):
        left, done, now = sorted(items, key=first), list[PlanItem](), state
        while left:
            due = [each for each in left if not any(other.end_s <= each.time_s for other in left if other != each)]
            able = (each for each in due or left[:1] if not instance.unmet(now, each.action[0], each.action[1:]))
            if (chosen := next(able, None)) is None:
                problem = problem or " and ".join(f"({' '.join(each.action)})" for each in due)
                break
            now = instance.apply(now, chosen.action[0], chosen.action[1:])
            done.append(chosen)
            left.remove(chosen)
        if not left:
            return tuple(done)
    raise InvalidPlan(
        f"expected actions that can be done one after the other, found {problem}: what one of them needs does not "
        "hold, or holds only while another one runs; join the two in one action"
    )


def translate(items: Sequence[PlanItem], vocabulary: PlanVocabulary | None = None) -> TranslatedPlan:
    """The monitor's plan.

    Args:
        items: the lines.
        vocabulary: what they mean; None if the domain was read from PDDL and has the same actions and objects.

    Raises:
        InvalidPlan: an action is not in the vocabulary, lacks an object, or nothing is left.
    """
    actions, ends = [], []
    for number, item in enumerate(items):
        name, *objects = item.action
        if vocabulary is None:
            actions.append(Action(name, tuple(objects)))
            ends.append(number)
            continue
        require_known(name, vocabulary.actions, "a known action", InvalidPlan)
        meaning = vocabulary.actions[name]
        if meaning is None:
            continue
        operator, places = meaning
        if max(places, default=-1) >= len(objects):
            raise InvalidPlan(f"expected {max(places) + 1} objects of {name}, found {len(objects)}: {item}")
        arguments = tuple(vocabulary.names.get(objects[i], objects[i].replace("_", " ")) for i in places)
        actions.append(Action(operator, arguments))
        ends.append(number)
    if not actions:
        raise InvalidPlan("expected an action that the monitor knows, found none; fill in Vocabulary.actions")
    return TranslatedPlan(tuple(items), Plan(tuple(actions)), tuple(ends))


def write_plan(plan: Plan | Sequence[Action], vocabulary: PlanVocabulary | None = None, duration_s: float = 1.0) -> str:
    """The text of a plan, one action after another; what an operator contains is left out.

    Args:
        plan: ours, such as a recovery.
        vocabulary: with an action for each operator in the plan; None as for `translate`.
        duration_s: of each action.

    Raises:
        InvalidPlan: an operator has no action in the vocabulary, or a name would be read as another one.
    """
    if vocabulary is None:
        vocabulary = PlanVocabulary(
            {action.operator: (action.operator, tuple(range(len(action.arguments)))) for action in plan},
            {name: name for action in plan for name in action.arguments},
        )
    known = {meaning[0]: (name, meaning[1]) for name, meaning in vocabulary.actions.items() if meaning is not None}
    back = {scene: pddl for pddl, scene in vocabulary.names.items()}
    items = []
    for number, action in enumerate(plan):
        if action.operator not in known:
            raise InvalidPlan(
                f"expected an action for {action.operator!r} in the vocabulary, found none."
                f"{did_you_mean(action.operator, known)}"
            )
        name, places = known[action.operator]
        objects = [""] * (max(places, default=-1) + 1)
        for place, argument in zip(places, action.arguments, strict=True):
            objects[place] = back.get(argument, argument.replace(" ", "_"))
            if not _NAME.fullmatch(objects[place]) or ("_" in argument and argument not in back):
                raise InvalidPlan(
                    f"expected an object that is read again as {argument!r}, found {objects[place]!r}; give its PDDL "
                    "name in Vocabulary.names"
                )
        if "" in objects:
            raise InvalidPlan(f"expected every object of {name} to be an argument of {action.operator}, found a gap")
        items.append(PlanItem(number * duration_s, (name, *objects), duration_s))
    return "\n".join(map(str, items)) + "\n"
