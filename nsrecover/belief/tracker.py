"""What is believed of a scene of facts: a few weighted courses of events, from which everything else follows.

Each action lets every course go on in several ways: it worked, had no effect, worked partly. An observation weighs the
courses by what they predict. What is read otherwise than a course says is misread, or was changed since it was seen
last; a course in which it was changed is added only then. For each property the tracker also knows the odds that it was
changed unseen to a value that no course has. They grow with every action and shrink with every observation that shows
the property as believed.

The errors of different observations are taken to be independent, and so are changes of different properties by others.
A sensor that errs in the same way every time, or a person who undoes the same thing each time, is not modelled.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from nsrecover.belief.channels import CERTAIN, LearnedRates, Reads, other_values
from nsrecover.belief.courses import (
    ELSEWHERE,
    FAILED,
    OTHER_OBJECT,
    ActionOutcomes,
    CourseOfEvents,
    Incident,
    IncidentKind,
    merged,
)
from nsrecover.belief.rates import Rate
from nsrecover.core.actions import Action
from nsrecover.core.facts import PLACE, FactScene, Property
from nsrecover.domains.base import State
from nsrecover.domains.instance import Instance
from nsrecover.domains.properties import by_property, changed, drifts, driven

FIRST = 0.3
"""Odds that a property is otherwise than assumed before it is seen for the first time."""
LOST = 1.0
"""Odds that what is seen in no place is in one that was not in view."""
STRAY = 0.006
"""Probability that others change a property during an action."""
SHELTERED = 0.01
"""How much less probable that is of what is behind something closed, or closed in by the action, and of states that
only the domain's laws change."""
WIDTH, LEAST = 24, -14.0
"""Courses that are kept at most, and the logarithm of their least relative probability."""
LIKELY = -8.0
"""Changes by others are added only to courses above this logarithm of the relative probability."""
MOST_READ, MOST_CHANGED = 6, 3
"""Of so many properties that are read otherwise, changes of so many at once are considered, and of all of them."""
WHOLLY_WRONG = 0.02
"""Odds that an observation as a whole shows another course: a late frame, or a detector that is told what to expect. It
says no more than that, however many properties it shows."""
_SMALL = 1e-9
_NOTHING: State = frozenset()


@dataclass
class Streak:
    """Failures of an action in a row.

    Attributes:
        rate: how often the operator failed before the first of them.
        failures: their number.
    """

    rate: Rate
    failures: int = 0


class Tracker:
    """Follows a scene of facts through actions and observations.

    Args:
        instance: the domain over the objects of the scene.
        state: the facts in the beginning.
        assumed: whether they are known from elsewhere; else what is not seen is unknown.
        rates: how often actions fail and readings are wrong, in the beginning; learned from then on.
        first: odds that a property is otherwise than in `state` before it is seen for the first time.

    Attributes:
        props: all properties that are known to exist.
    """

    def __init__(
        self,
        instance: Instance,
        state: State,
        assumed: bool = False,
        rates: LearnedRates | None = None,
        first: float = FIRST,
    ) -> None:
        self.rates = copy.deepcopy(rates) or LearnedRates()
        self.failures, self.misread = self.rates.failures, self.rates.misread
        self._outcomes, self._domain = ActionOutcomes(instance), instance.domain
        effects = [law.effect for law in instance.domain.laws]
        self._by_laws = {atom[0] for each in effects for atom in (*each.adds, *each.deletes)}
        named = {
            (variable.name, name)
            for variable in instance.domain.variables.values()
            for name in instance.having(variable.trait)
        }
        self.props = dict.fromkeys(sorted(named | by_property(state, self._domain).keys(), key=self._outcomes.order))
        # odds that a property is otherwise than in any course: from the start or by suspicion, and by chance since
        self._doubts: dict[Property, float] = {}
        self._strayed: dict[Property, float] = {}
        self._unknown = set[Property]() if assumed else set(self.props)
        self._assumed, self._first = assumed, first
        self._read = set[Property]()
        self._courses = [CourseOfEvents(0.0, state, state)]
        self._looks: list[Reads] = []
        self._before: tuple[list[CourseOfEvents], dict[Property, float], dict[Property, float]] | None = None
        self._actions: list[Action] = []
        self._streaks: dict[Action, Streak] = {}
        self._learned, self._may_stick = 0, True

    # -- what happens

    def acted(self, action: Action) -> None:
        """An action was done."""
        self.learn()
        self._before = self._courses, dict(self._doubts), dict(self._strayed)
        step, rate = len(self._actions), self.failures.of(action.operator)
        streak = self._streaks.get(action) or Streak(rate)
        fails, failures = streak.rate.mean, streak.failures if self._may_stick else 0
        fresh = [each for one in self._courses for each in self._outcomes.of(one, action, step, fails, failures)]
        written = set[Property]().union(*(changed(each.before, each.state, self._domain) for each in fresh))
        self._actions.append(action)
        self._looks = []
        self._courses = merged(fresh, True, WIDTH, LEAST)
        self._unknown -= written
        self._add(written - self.props.keys())
        strays = self._strays()
        for prop in self.props:
            elsewhere = prop[1] in action.arguments and other_values(prop, self._domain) > 1.0
            misdone = fails * ELSEWHERE if elsewhere else 0.0
            if prop in written:
                self._doubts[prop] = self._strayed[prop] = 0.0
            self._strayed[prop] = self._strayed.get(prop, 0.0) + misdone + strays[prop]

    def waited(self, disturbed: bool = False) -> None:
        """Time has passed without an action.

        Args:
            disturbed: whether others are known to have changed something.
        """
        self._looks, strays = [], self._strays()
        for prop in self.props:
            self._strayed[prop] = self._strayed.get(prop, 0.0) + strays[prop]
            if disturbed:
                self._doubts[prop] = self._doubts.get(prop, self._first) + FIRST

    def _strays(self) -> dict[Property, float]:
        """How probable it is that others change each property meanwhile."""
        instance, predicate, enclosed = self._outcomes.instance, self._domain.enclosed, set[str]()
        if predicate:
            names, state = {name for _, name in self.props}, self.best.state
            enclosed = {name for name in names if instance.holds(state, instance.condition((predicate, name)))}
        return {prop: STRAY * SHELTERED if prop[1] in enclosed or self._rests(prop) else STRAY for prop in self.props}

    def undone(self) -> None:
        """The last action was stopped before it began: what was seen since was seen without it."""
        assert self._before is not None
        looks = self._looks
        (self._courses, self._doubts, self._strayed), self._before = self._before, None
        self._actions.pop()
        self.waited()
        for reads in looks:
            self._weigh(reads, {})
            self._looks.append(reads)

    # -- what is seen

    def saw(self, look: FactScene) -> None:
        """Take in an observation: what it shows, and how certain that is; of what has certainty 0 it says nothing."""
        reads = self._reads(look)
        self._weigh(reads, look.since_action)
        self._looks.append(reads)

    def doubt(self, props: Iterable[Property], times: float) -> None:
        """Take properties to be otherwise than believed so many times more likely: what rests on them has failed.

        What observations since the last action have shown counts as it did before.
        """
        shown = set[Property]().union(*self._looks)
        for prop in props:
            fresh = self._strayed.get(prop, 0.0)
            self._doubts[prop] = max(self._doubt(prop), 0.0 if prop in shown else STRAY) * times - fresh

    def _reads(self, look: FactScene) -> Reads:
        now = by_property(look.facts, self._domain)
        fresh = (now.keys() | look.certainty.keys()) - self.props.keys()
        self._add(fresh)
        self._unknown |= set() if self._assumed else fresh
        reads = {prop: (now.get(prop, _NOTHING), look.certainty.get(prop, 1.0)) for prop in self.props}
        return {prop: (value, sure) for prop, (value, sure) in reads.items() if self._tells(prop, sure)}

    def _tells(self, prop: Property, sure: float) -> bool:
        """Whether a reading with some certainty is more likely to be right than each other value."""
        return sure * (1.0 + other_values(prop, self._domain)) > 1.0

    def _add(self, props: Iterable[Property]) -> None:
        """Take properties into account that were not known to exist: that they are absent is a reading, too."""
        self.props |= dict.fromkeys(sorted(props, key=self._outcomes.order))

    def _weigh(self, reads: Reads, since_action: Mapping[Property, float]) -> None:
        """Weigh the courses by readings, and add those in which what is read otherwise was changed.

        Args:
            reads: the readings.
            since_action: how certain they are if those before the last action are left out, where that differs. It
                counts for what chance may have changed: readings from before a change are no errors.
        """
        first = not self._looks
        fresh = self._bounded([self._read_by(one, self._wrong(one, reads), reads) for one in self._courses])
        top = max(each.weight for each in fresh)
        for one, read in zip(self._courses, tuple(fresh), strict=True):
            if read.misread and read.weight > top + LIKELY:
                wrong = self._wrong(one, reads)
                fresh += self._changed(one, wrong, reads, top + LEAST)
                fresh += self._with_other_object(one, wrong, reads) if first else ()
        self._courses = merged(fresh, False, WIDTH, LEAST)
        best, odds = self._outcomes.values(self.best.state), dict[tuple[str, float], float]()

        def against(prop: Property, certainty: float) -> float:
            channel = prop[0], certainty
            if channel not in odds:
                odds[channel] = min(self.misread.odds(prop, certainty) / other_values(prop, self._domain), 1.0)
            return odds[channel]

        for prop, (value, sure) in reads.items():
            if best.get(prop, _NOTHING) == value:
                self._doubts[prop] = self._doubts.get(prop, self._first) * against(prop, sure)
                self._strayed[prop] = self._strayed.get(prop, 0.0) * against(prop, since_action.get(prop, sure))
        self._unknown -= reads.keys()
        self._read |= reads.keys()

    def _bounded(self, read: list[CourseOfEvents]) -> list[CourseOfEvents]:
        """The courses after an observation, none of them less likely by it than if it is wrong as a whole."""
        pairs = list(zip(self._courses, read, strict=True))
        least = max(each.weight - one.weight for one, each in pairs) + math.log(WHOLLY_WRONG)
        return [
            replace(each, weight=one.weight + least) if each.weight < one.weight + least else each
            for one, each in pairs
        ]

    def _wrong(self, one: CourseOfEvents, reads: Reads) -> list[Property]:
        """The properties that read otherwise than a course predicts."""
        values = self._predicted(one)
        return [prop for prop, (value, _) in reads.items() if values.get(prop, _NOTHING) != value]

    def _read_by(self, one: CourseOfEvents, wrong: Collection[Property], reads: Reads) -> CourseOfEvents:
        """A course after an observation of which some readings are wrong."""
        if not wrong:
            return replace(one, misread=0) if one.misread else one
        cost = sum(self._cost(one, prop, reads[prop][1]) for prop in wrong)
        errors = (*one.errors, *(prop[0] for prop in wrong))
        return replace(one, weight=one.weight + cost, misread=len(wrong), errors=errors)

    def _cost(self, one: CourseOfEvents, prop: Property, sure: float) -> float:
        """Logarithm of the likelihood of a wrong reading, relative to that of a right one."""
        odds = self.misread.odds(prop, sure, one.errors.count(prop[0]))
        return math.log(odds / other_values(prop, self._domain))

    def _predicted(self, one: CourseOfEvents) -> dict[Property, State]:
        """What a course says that observations show."""
        values = self._outcomes.values(one.state)
        return {**values, **dict(one.stuck)} if one.stuck else values

    def _changed(
        self, one: CourseOfEvents, wrong: Sequence[Property], reads: Reads, least: float
    ) -> Iterator[CourseOfEvents]:
        """The same course, with some of what reads otherwise changed unseen; those above a weight."""
        stuck, values = {prop for prop, _ in one.stuck}, self._outcomes.values(one.state)

        def chance(prop: Property) -> float:
            lost = prop[0] == PLACE and not values.get(prop)
            odds = LOST if lost else max(self._doubt(prop), _SMALL)
            return math.log(odds / other_values(prop, self._domain))

        chances = {prop: chance(prop) for prop in wrong if prop not in stuck}
        gain = {prop: each - self._cost(one, prop, reads[prop][1]) for prop, each in chances.items()}
        likely = sorted(gain, key=lambda prop: -gain[prop])[:MOST_READ]
        chosen = [each for size in range(1, MOST_CHANGED + 1) for each in combinations(likely, size)]
        if len(gain) > MOST_CHANGED:
            chosen += [tuple(gain), tuple(prop for prop in gain if gain[prop] > 0.0)]
        step = len(self._actions) - 1
        for props in dict.fromkeys(chosen):
            changes = Incident(step, IncidentKind.CHANGED, props)
            weight, left = one.weight + sum(chances[prop] for prop in props), [p for p in wrong if p not in props]
            found = self._read_by(replace(one, weight=weight, incidents=(*one.incidents, changes)), left, reads)
            if props and found.weight > least:
                state = self._outcomes.with_values(one.state, {prop: reads[prop][0] for prop in props})
                yield replace(found, state=state)

    def _with_other_object(
        self, one: CourseOfEvents, wrong: Sequence[Property], reads: Reads
    ) -> Iterator[CourseOfEvents]:
        """The last action done with another object, if that explains what is read otherwise."""
        step = len(self._actions) - 1
        if step < 0 or one.at(step):
            return
        action = self._actions[step]
        names = {name for _, name in wrong} | {fact[2] for prop in wrong for fact in reads[prop][0] if len(fact) > 2}
        fails = self.failures.of(action.operator).mean
        for other in self._outcomes.with_other_objects(one, action, names):
            taken = Incident(step, IncidentKind.OTHER_OBJECT, (), other)
            weight = one.weight + math.log(fails * OTHER_OBJECT / len(names) / (1.0 - fails))
            state, incidents = self._outcomes.after(one.before, other), (*one.incidents, taken)
            fresh = replace(one, weight=weight, state=state, incidents=incidents)
            left = self._wrong(fresh, reads)
            if len(left) < len(wrong):
                yield self._read_by(fresh, left, reads)

    # -- what is believed

    @property
    def best(self) -> CourseOfEvents:
        """The most likely course."""
        return self._courses[0]

    def shares(self, streaks: bool = False) -> list[tuple[CourseOfEvents, float]]:
        """Every course with its probability, the most likely one first.

        Args:
            streaks: whether the last action is as likely to have failed as it did in a row before; else by its rate
                from before these failures, which may mean that it cannot work, or that its effect cannot be read.
        """
        raw = [math.exp(one.weight) for one in self._courses]
        last = self._actions[-1] if streaks and self._actions else None
        if last is not None and last in self._streaks:
            now, before = self.failures.of(last.operator), self._streaks[last].rate
            more, step = max(1.0, now.bad / now.good * before.good / before.bad), len(self._actions) - 1
            failed = [any(each.kind in FAILED for each in one.at(step)) for one in self._courses]
            raw = [each * more if bad else each for each, bad in zip(raw, failed, strict=True)]
        total = sum(raw)
        return [(one, each / total) for one, each in zip(self._courses, raw, strict=True)]

    def as_read(self, least: float) -> CourseOfEvents:
        """The course that fits the last observation best, of those that have at least some probability."""
        likely = [one for one, share in self.shares() if share >= least]
        return min(likely, key=lambda one: (one.misread, -one.weight))

    def disputed(self, course: CourseOfEvents, predicted: bool = False) -> dict[Property, float]:
        """Properties that another course has otherwise -> the probability that they are as in this one.

        Args:
            course: one of the courses.
            predicted: whether courses are compared by what observations will show: only that can still be told apart.
        """
        against = dict[Property, float]()
        for one, share in self.shares():
            if one is course:
                continue
            props = changed(one.state, course.state, self._domain)
            if predicted and (one.stuck or course.stuck):
                values, mine = self._predicted(one), self._predicted(course)
                fixed = {prop for prop, _ in (*one.stuck, *course.stuck)}
                props = frozenset(p for p in props | fixed if values.get(p, _NOTHING) != mine.get(p, _NOTHING))
            for prop in props:
                against[prop] = against.get(prop, 0.0) + share
        return {prop: 1.0 - share for prop, share in against.items()}

    def unseen(self, prop: Property) -> float:
        """The probability that a property has a value that no course has: it was changed, and not seen since."""
        if drifts(prop, self._domain) and prop not in self._read:
            return 0.0  # it follows from the laws alone
        doubt = self._doubt(prop)
        return doubt / (1.0 + doubt)

    def scene(self, course: CourseOfEvents | None = None, least: float = 0.0) -> FactScene:
        """A scene: the state of a course, by default of the most likely one.

        Args:
            course: one of the courses.
            least: certainties above 1 - `least` count as 1.
        """
        course = course or self.best
        disputed, certainty = self.disputed(course), dict[Property, float]()
        for prop in self.props:
            if prop not in disputed and prop not in self._unknown and self._doubt(prop) < least:
                continue
            sure = 0.0 if prop in self._unknown else disputed.get(prop, 1.0) * (1.0 - self.unseen(prop))
            if sure < 1.0 - least:
                certainty[prop] = sure
        return FactScene(course.state, certainty)

    def trust_readings(self) -> None:
        """Believe from now on that no property reads the same whatever it is; if all courses say so, what was read."""
        self._may_stick = False
        kept = [one for one in self._courses if not one.stuck]
        self._courses = merged(kept or [self._unstuck(one) for one in self._courses], True, WIDTH, LEAST)

    def _unstuck(self, one: CourseOfEvents) -> CourseOfEvents:
        """A course with what was read in place of what is stuck: the actions had no effect."""
        read = {prop: value for reads in self._looks for prop, (value, _) in reads.items()}
        values = {prop: read.get(prop, value) for prop, value in one.stuck}
        incidents = tuple(
            replace(each, kind=IncidentKind.NO_EFFECT) if each.kind is IncidentKind.STUCK else each
            for each in one.incidents
        )
        return replace(one, state=self._outcomes.with_values(one.state, values), incidents=incidents, stuck=())

    # -- how often actions fail

    def streak(self, action: Action) -> Streak:
        """The failures of an action in a row until now, that of the last step included."""
        known = self._streaks.get(action) or Streak(self.failures.of(action.operator))
        if not self._actions or self._actions[-1] != action:
            return known
        bad, _, stuck = self._failed()
        return Streak(known.rate, known.failures + 1 if bad + stuck > 0.5 else 0)

    def _failed(self) -> tuple[float, float, float]:
        """Probabilities that the last action failed, that it worked, and that its effect cannot be read.

        An action that could not be done has neither failed nor worked.
        """
        step, action = len(self._actions) - 1, self._actions[-1]
        bad = good = stuck = 0.0
        for one, share in self.shares():
            found = one.at(step)
            misdone = any(
                each.kind in FAILED
                or (each.kind is IncidentKind.CHANGED and any(name in action.arguments for _, name in each.props))
                for each in found
            )
            bad += share if one.possible and misdone else 0.0
            good += share if one.possible and not misdone else 0.0
            stuck += share if any(each.kind is IncidentKind.STUCK for each in found) else 0.0
        return bad, good, stuck

    @property
    def refused(self) -> bool:
        """Whether the last action most likely could not be done."""
        return any(each.kind is IncidentKind.REFUSED for each in self.best.at(len(self._actions) - 1))

    @property
    def worked(self) -> float:
        """The probability that the last action worked and nothing was changed by others since; 1 before the first."""
        bad, good, _ = self._failed() if self._actions else (0.0, 1.0, 0.0)
        return good / (good + bad) if good + bad else 0.0

    def learn(self) -> None:
        """Learn from the last step, now that its observations are in: how often the action fails, and looks err."""
        if len(self._actions) > self._learned:
            action, self._learned = self._actions[-1], len(self._actions)
            self._streaks[action] = self.streak(action)
            if not self._streaks[action].failures:
                del self._streaks[action]
            bad, good, _ = self._failed()
            self.failures.count(action.operator, bad, good)
        values = self._predicted(self.best)
        disputed = self.disputed(self.best, predicted=True)
        for reads in self._looks:
            for prop, (value, sure) in reads.items():
                if sure >= CERTAIN:
                    share = disputed.get(prop, 1.0)
                    right = share if values.get(prop, _NOTHING) == value else 1.0 - share
                    self.misread.count(prop[0], 1.0 - right, right)

    def _rests(self, prop: Property) -> bool:
        """Whether a property that drifts does not now, but by a law: without one it may while laws drive the object."""
        if not drifts(prop, self._domain):
            return False
        return prop[0] in self._by_laws or not driven(prop[1], self.best.state, self._outcomes.instance)

    def _doubt(self, prop: Property) -> float:
        return self._doubts.get(prop, self._first) + self._strayed.get(prop, 0.0)
