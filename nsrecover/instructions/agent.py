"""A service robot that is told what to do: understands, carries out with the recovery agent, asks, and is corrected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from nsrecover.agent import RecoveryAgent
from nsrecover.core.actions import Plan
from nsrecover.core.episode import Episode, EpisodeStatus, StepRecord
from nsrecover.core.facts import FactScene
from nsrecover.core.sessions.supervision import Supervisor
from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.errors import InvalidConfiguration, InvalidObservation, UnknownObject
from nsrecover.instructions.belief import Belief
from nsrecover.instructions.choosing import task_text
from nsrecover.instructions.feedback import corrected
from nsrecover.instructions.goals import plain
from nsrecover.instructions.person import Person
from nsrecover.instructions.planning import StagePlan, plan_stage, tidying
from nsrecover.instructions.seeing import BelievedWorld, HomeWorld, called
from nsrecover.instructions.task import Refusal, RefusalCode, Stage, Task, TaskQuestion
from nsrecover.instructions.understanding import Understanding
from nsrecover.language.answers import Attitude, read_reply
from nsrecover.language.meaning import Clause, Phrase, Sort, Verb
from nsrecover.loading import symbolic
from nsrecover.monitoring.outlook import unmet_goal
from nsrecover.util.python310 import StrEnum

ASKED_AGAIN = 2
"""Questions about one sentence, and answers that name no option, after which it is not done."""

ATTEMPTS = 3
"""Attempts at one stage, each after everything that was looked at may be looked at again."""

CANDIDATES = 10
"""Places that one attempt looks at."""

KNOWS = 0.5
"""Probability that a person who is asked where something is knows it."""

BOTHER_S = 15.0
"""What it costs a person to be asked, as seconds of the robot's time."""

_RECOVERIES = 40
_REPHRASE = (RefusalCode.NOT_UNDERSTOOD, RefusalCode.UNKNOWN_NAME)


class OutcomeStatus(StrEnum):
    """How a command ended."""

    DONE = "done"
    REFUSED = "refused"
    ASKED_FOR_HELP = "asked_for_help"


@dataclass(frozen=True)
class Outcome:
    """What became of a command.

    Attributes:
        status: how it ended.
        text: for the person who gave the command.
        task: what was understood; None if nothing was.
        log: what happened, as pairs of a code (M1, M2, M3 for the three kinds of recovery) and a text.
        questions: number of questions that the robot asked the operator.
        belief: what is believed in the end; None if nothing was done.
        episodes: the parts of the task as they were planned and as they went, for reports.
    """

    status: OutcomeStatus
    text: str
    task: Task | None = None
    log: tuple[tuple[str, str], ...] = ()
    questions: int = 0
    belief: Belief | None = None
    episodes: tuple[tuple[StagePlan, Episode[FactScene]], ...] = ()


@dataclass
class ServiceAgent:
    """Carries out commands in a home.

    Three kinds of recovery (Shirasaka et al., section IV): missing information (M1) by a question, or by a search that
    orders places by probability over cost, whichever is expected to take less time; a wrong plan (M2) by what the
    operator says about the sentence or the result; failed skills (M3) by the recovery agent.

    Attributes:
        understanding: of the home's sentences.
        world: the robot.
        operator: who gives the commands.
        feedback: whether the operator is asked in the end whether that was wanted.
        read_back: whether the operator is told what was understood, and has to agree, before anything moves.
        attempts: at one stage, each after everything that was looked at may be looked at again.
        remember: notes an object that the home does not know and where it usually is; without it nobody is asked.
        log: what happened in the current command, as pairs of a code and a text.
        on_record: called after every turn of the recovery agent, with the scene's stage.
        action_limit_s: time in which a skill has to end, seconds; see `RecoveryAgent`. After one that did not end,
            nothing else is begun.
    """

    understanding: Understanding
    world: HomeWorld
    operator: Person
    feedback: bool = False
    on_record: Callable[[StagePlan, StepRecord], None] | None = None
    read_back: bool = False
    attempts: int = ATTEMPTS
    action_limit_s: float | None = None
    remember: Callable[[str, str], None] | None = None
    log: list[tuple[str, str]] = field(default_factory=list)
    supervisor: Supervisor | None = None
    _questions: int = 0
    _episodes: list[tuple[StagePlan, Episode[FactScene]]] = field(default_factory=list)
    _busy: bool = False
    _stopped: bool = False
    _running: RecoveryAgent[FactScene] | None = None

    @property
    def episodes(self) -> tuple[tuple[StagePlan, Episode[FactScene]], ...]:
        """The parts of the current command that have ended, as they were planned and as they went."""
        return tuple(self._episodes)

    def stop(self, reason: str = "") -> None:
        """End the command before the robot's next action; may be called from any thread."""
        self._stopped = True
        if self._running is not None:
            self._running.stop(reason)
        elif self.supervisor is not None:
            self.supervisor.stops()

    def run(self, sentence: str) -> Outcome:
        """Understand a sentence and do what it says."""
        self.log, self._questions, self._episodes, self._busy, self._stopped = [], 0, [], False, False
        choices: dict[Phrase, str | tuple[str, ...]] = {}
        task = self._understood(sentence, choices)
        second = self.understanding.second
        for problem in second.problems if second is not None else ():
            self.operator.tell(problem)
        if isinstance(task, Refusal):
            return self._ended(OutcomeStatus.REFUSED, task.text)
        for note in task.notes:
            self.operator.tell(note)
        if self.read_back:
            agreed = self._agreed(task, choices)
            if agreed is None:
                return self._ended(OutcomeStatus.REFUSED, "I did nothing.", task)
            task = agreed
        self._learn(task)
        belief = Belief.at_start(self.understanding.home, task.operator_at)
        failure = self._carried_out(task, belief)
        for _ in range(ASKED_AGAIN * self.feedback * (not (self._busy or self._stopped))):
            answer = self._ask("Is that what you wanted?")
            wanted = self._wanted_instead(task, answer, choices)
            if wanted is None:
                failure = f"I did not understand what was wrong with that: {answer or 'no answer'}"
                break
            if not wanted:
                break
            for task in wanted:
                failure = self._carried_out(task, belief)
        if failure:
            return self._ended(OutcomeStatus.ASKED_FOR_HELP, f"I need help: {failure}", task, belief)
        return self._ended(OutcomeStatus.DONE, "Done.", task, belief)

    def _agreed(self, task: Task, choices: dict[Phrase, str | tuple[str, ...]]) -> Task | None:
        """The task that the operator has agreed to, after corrections; None if there is none."""
        for _ in range(ASKED_AGAIN):
            answer = self._ask(f"I am going to {task_text(task, self.understanding.home)}. Shall I?")
            reply = read_reply(answer)
            if reply.attitude is Attitude.YES and not reply.rest:
                return task
            other = self._corrected(task, answer, choices) if reply.rest else None
            if reply.attitude is Attitude.CANCEL or other is None:
                return None
            task = other
        return None

    def _wanted_instead(
        self, task: Task, answer: str, choices: dict[Phrase, str | tuple[str, ...]]
    ) -> list[Task] | None:
        """What the operator wants after a report: nothing, further tasks, or None if that is not understood."""
        origins = self._origins()
        for question in ("I did not understand what is wrong. What should I do instead?", ""):
            reply = read_reply(answer, tuple(origins))
            if reply.attitude is Attitude.CANCEL or (question and not answer.strip()):
                return []
            if reply.attitude is Attitude.YES and not reply.rest:
                return [] if question else None
            found = list[Task]()
            if reply.attitude is Attitude.UNDO and origins:
                found.append(self._put_back(next((n for n in origins if n in answer.lower()), [*origins][-1]), origins))
            if reply.rest:
                said = reply.rest if reply.attitude in (Attitude.YES, Attitude.UNDO) else answer
                other = self._corrected(task, said, choices)
                found = [*found, other] if other is not None else []
            if found:
                self.log.append(("M2", f"corrected by the operator: {answer}"))
                return found
            answer = self._ask(question) if question else ""
        return None

    def _origins(self) -> dict[str, str]:
        """What was moved in the current command -> where it was taken from first."""
        picks = (
            record.action.arguments
            for _, episode in self._episodes
            for record in episode.records
            if record.action is not None and record.action.operator == "pick"
        )
        found: dict[str, str] = {}
        for name, place in picks:
            found.setdefault(name, place)
        return found

    def _put_back(self, name: str, origins: Mapping[str, str]) -> Task:
        """The task of putting something where it was."""
        clause = Clause(Verb.PLACE, Phrase(Sort.THING, name), target=Phrase(Sort.PLACE, origins[name]))
        stage = Stage((("at", name, origins[name]),), {name: ""}, {}, (origins[name],))
        return Task(f"put the {name} back", (stage,), clauses=(clause,))

    def _corrected(self, task: Task, answer: str, choices: dict[Phrase, str | tuple[str, ...]]) -> Task | None:
        """The task as the operator has corrected it, after a question where that is not clear; None if it stays so."""
        found = corrected(self.understanding, task, answer, choices)
        if isinstance(found, TaskQuestion):
            names = self.understanding.chosen(found, self._ask(found.text)).names
            if not names:
                return None
            choices[found.phrase] = names if len(names) > 1 else names[0]
            found = corrected(self.understanding, task, answer, choices)
        return found if isinstance(found, Task) else None

    def _learn(self, task: Task) -> None:
        """Ask once about every object of a task that the home does not know, and remember it."""
        home = self.understanding.home
        named = {name: within for stage in task.stages for name, within in stage.things.items()}
        for name, within in named.items():
            if self.remember is None or {name, home.kind(name)} & {*home.items, *home.categories, *home.nouns}:
                continue
            answer = within or self._ask(f"I do not know the {name}. Where is it usually?")
            places = self.understanding.place_in(answer).names
            place = places[0] if len(places) == 1 else ""
            self.remember(name, place)
            self.log.append(
                ("M1", f"learned that the {name} is usually at the {place}" if place else f"learned of {name}")
            )
            home = home.with_item(name, place)
        if home is not self.understanding.home:
            self.understanding = Understanding(home, self.understanding.second)

    def _ended(
        self, status: OutcomeStatus, text: str, task: Task | None = None, belief: Belief | None = None
    ) -> Outcome:
        self.operator.tell(text)
        return Outcome(status, text, task, tuple(self.log), self._questions, belief, tuple(self._episodes))

    def _ask(self, question: str) -> str:
        self._questions += 1
        return self.operator.ask(question)

    def _understood(self, sentence: str, choices: dict[Phrase, str | tuple[str, ...]]) -> Task | Refusal:
        """The task of a sentence, after questions where it is not clear."""
        unclear = 0
        while True:
            found = self.understanding.task(sentence, choices)
            if isinstance(found, Task):
                return found
            if isinstance(found, Refusal):
                if found.code not in _REPHRASE or unclear >= ASKED_AGAIN - 1:
                    return found
                rephrased = self._ask(found.text)
                if not rephrased.strip():
                    return found
                self.log.append(("M2", f"rephrased: {rephrased}"))
                sentence, unclear = rephrased, unclear + 1
                continue
            answer = self._ask(found.text)
            choice = self.understanding.chosen(found, answer)
            if choice.attitude in (Attitude.CANCEL, Attitude.NONE):
                return Refusal(RefusalCode.CANCELLED, "Then I leave it. I did nothing.")
            if choice.names:
                meant = choice.names if len(choice.names) > 1 else choice.names[0]
                self.log.append(
                    (_kind(found), f"{found.phrase.text} is the {' and the '.join(choice.names)}, said the operator")
                )
                choices[found.phrase] = meant
            elif isinstance(self.understanding.task(answer), Task):
                self.log.append(("M2", f"another command: {answer}"))
                sentence = answer
                choices.clear()
            elif (unclear := unclear + 1) >= ASKED_AGAIN:
                return Refusal(RefusalCode.NOT_UNDERSTOOD, f"I still do not know that: {found.text} I did nothing.")

    # --- carrying out

    def _carried_out(self, task: Task, belief: Belief) -> str:
        """Do every stage of a task; returns what failed, empty if nothing did."""
        said: list[str] = []
        asked = {stage.goal[0][1] for stage in task.stages if stage.goal[0][0] == "asked"}
        for stage in task.stages:
            for name, within in stage.things.items():
                if name not in asked and not within and self._worth_asking(name, belief):
                    asked.add(name)
                    self._questions += 1
                    self._stage(Stage((("asked", name),), {name: ""}, {OPERATOR: ""}), belief, said, attempts=1)
            if stage.people.get(OPERATOR):
                belief.facts = {fact for fact in belief.facts if fact[:2] != ("at", OPERATOR)}
            failure = self._stage(_reporting(stage, said) if stage.reports else stage, belief, said)
            if failure:
                return failure
        last = tidying(task, belief)
        return self._stage(last, belief, said) if last is not None else ""

    def _worth_asking(self, name: str, belief: Belief) -> bool:
        """Whether asking the operator where something is takes less time than it is expected to save."""
        if belief.placed(name) or name in belief.said or belief.within.get(name) or len(belief.probabilities(name)) < 2:
            return False
        place = next((fact[2] for fact in belief.facts if fact[:2] == ("at", OPERATOR)), "")
        if place not in belief.home.places:
            return False
        chances = belief.probabilities(name)
        direct = sum(p * belief.cost(belief.robot, spot) for spot, p in chances.items())
        return KNOWS * (belief.search_cost(name) - direct) > belief.cost(belief.robot, place) + BOTHER_S

    def _stage(self, stage: Stage, belief: Belief, said: list[str], attempts: int | None = None) -> str:
        reason, attempt = "", 0
        while True:
            if self._stopped:
                return reason or "it was stopped"
            if self._busy:
                return reason or "a skill has not ended, so the robot may still be moving"
            gone = next((name for name in stage.things if name in belief.gone), "")
            if gone and stage.goal[0][0] != "asked":
                teller = "you" if belief.gone[gone] == OPERATOR else belief.gone[gone].capitalize()
                return f"{teller} said that there is no {gone}, so I stopped looking for it"
            looked = belief.num_excluded
            try:
                found = plan_stage(stage, belief, CANDIDATES)
            except InvalidConfiguration as problem:  # something said by a person is no name, as `core.names` has it
                return f"I cannot plan with what was said: {problem}"
            if found is None:
                reason = (
                    f"I found no way to do my part with {', '.join((*stage.things, *stage.people)) or 'that place'}"
                )
            else:
                if not found.actions:
                    return ""
                reason = self._run(found, belief, said)
                if not reason:
                    return ""
            stage, goes_on = self._wider(stage, belief, reason)
            attempt += not goes_on or belief.num_excluded <= looked
            if attempt >= (attempts or self.attempts):
                return reason

    def _wider(self, stage: Stage, belief: Belief, reason: str) -> tuple[Stage, bool]:
        """The stage for another attempt, and whether its search goes on: in the room, the home, then from the start."""
        missing = [name for name in (*stage.things, *stage.people) if not belief.placed(name)]
        things, people, goes_on = dict(stage.things), dict(stage.people), False
        for name in missing:
            goes_on |= bool(belief.within.get(name) or belief.candidates(name, name in people))
            group = people if name in people else things
            within = belief.within.get(name, "")
            if within and not belief.candidates(name, name in people):
                room = belief.home.places[within].room
                group[name] = room if room != within else ""
                belief.within[name] = group[name]
                where = f"in the whole {room}" if group[name] else "everywhere"
                self.log.append(("M3", f"looked for {called(name, stage)} {where}"))
            elif not belief.candidates(name, name in people):
                belief.excluded.pop(name, None)
        for name in stage.things:
            belief.forget(("hard_to_grasp", name))
        self.log.append(("M3", f"began again: {reason}"))
        return replace(stage, things=things, people=people), goes_on

    def _run(self, found: StagePlan, belief: Belief, said: list[str]) -> str:
        """Carry out one plan of a stage; returns why it failed, empty if it did not."""
        stage, instance = found.stage, found.instance
        world = BelievedWorld(self.world, belief, stage, instance, self.understanding.place_in, self.log, said)
        for name in stage.things:
            if (
                not belief.placed(name)
                and not stage.things[name]
                and not belief.home.prior(name).get(_only(belief, name))
            ):
                places = " and ".join(f"the {place}" for place in belief.candidates(name)[:2])
                self.log.append(("M1", f"nobody said where the {name} is; it is likely at {places}"))
        system = symbolic(instance, stage.goal, assumed=found.start)
        agent = RecoveryAgent(
            system,
            world,
            max_recoveries=_RECOVERIES,
            action_limit_s=self.action_limit_s,
            supervisor=self.supervisor,
        )
        self._running, on_record = agent, self.on_record
        if self._stopped:  # meanwhile
            agent.stop()
        note = None if on_record is None else lambda record: on_record(found, record)
        try:
            episode = agent.run(Plan(found.actions), note)
        except (InvalidObservation, UnknownObject) as problem:
            return f"it cannot be told how the scene is: {problem}"
        finally:
            self._running = None
        self._busy = world.busy
        self._episodes.append((found, episode))
        state = belief.state(instance, stage)
        unmet = unmet_goal(instance, state, stage.goal)
        if episode.status is EpisodeStatus.COMPLETED and not unmet:
            return ""
        return episode.reason or "the goal is not reached"


def _kind(question: TaskQuestion) -> str:
    """The kind of recovery that a question is: words that are not understood make a wrong plan, the rest is missing."""
    return "M2" if question.phrase.words else "M1"


def _only(belief: Belief, name: str) -> str:
    """The place of something of which the home knows it; empty otherwise."""
    known = belief.home.items.get(name)
    return known.place if known is not None else belief.said.get(name, ("", ""))[0]


def _reporting(stage: Stage, said: list[str]) -> Stage:
    """A stage that tells what was found out, with the text for it."""
    old = next(fact[1] for fact in stage.goal if fact[0] == "told")
    text = " and ".join(dict.fromkeys(map(plain, said))) or "I found nothing"
    said.clear()

    def renamed(facts: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(text if term == old else term for term in fact) for fact in facts)

    more: Mapping[str, frozenset[str]] = {text if name == old else name: traits for name, traits in stage.more.items()}
    return replace(stage, goal=renamed(stage.goal), static=renamed(stage.static), more=more, reports=False)
