"""The live page as the supervisor of an agent, and as a person whom the robot can ask."""

import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from nsrecover.core.actions import Action, Plan
from nsrecover.core.episode import Decided, Episode, EpisodeStatus, StepRecord
from nsrecover.core.observation import Observation
from nsrecover.core.recovery import Recovery
from nsrecover.core.sessions.requests import Answer, AnyDecision, Question, Stopped
from nsrecover.core.sessions.supervision import Stoppable, Supervisor
from nsrecover.errors import InvalidConfiguration
from nsrecover.explanation.answers.questions import ask
from nsrecover.explanation.safety import safety_sentences
from nsrecover.serving.live import panels
from nsrecover.serving.live.card import card_of
from nsrecover.serving.live.desk import MOST_NAME, MOST_TEXT, UNDO_S, Chosen, Desk
from nsrecover.serving.live.injecting import Injector
from nsrecover.serving.live.panels import Chances, RunStatus, Utterance
from nsrecover.serving.live.serving import PageServer
from nsrecover.serving.live.story import Story
from nsrecover.serving.reports.build import report_of
from nsrecover.serving.reports.model import MarkedAs, ReportStep
from nsrecover.serving.reports.page import html_of
from nsrecover.serving.reports.pictures import stored
from nsrecover.util.english import capital

ROBOT, VIEWER = "robot", "a viewer"
WAITS = "It stands still and waits for a person."
CHOSEN = {Answer.YES: "Do it", Answer.NO: "Not this", Answer.LOOK_AGAIN: "I have fixed it, look again"}
NEXT = {
    Answer.YES: "It begins the recovery.",
    Answer.NO: "It searches for another way.",
    Answer.LOOK_AGAIN: "It looks again.",
}
MOST_DIGITS = 16
MOST_TALK = 30
"""Older entries of the conversation are not shown."""

YES, NO, DO, ANOTHER, FIX, LOOK, STOP = "yes", "no", "do", "another", "fix", "look", "stop"
YES_NO = ((YES, "Yes"), (NO, "No"))
CHOICES = ((DO, "Do it"), (ANOTHER, "Another way"), (FIX, "I will fix it, then look again"), (STOP, "Stop"))
FIXED = ((LOOK, "I have fixed it: look again"), (STOP, "Stop"))
ANSWERS = {YES: Answer.YES, DO: Answer.YES, LOOK: Answer.LOOK_AGAIN}
"""Choice -> answer; the others are a no."""


class LivePage(Supervisor):
    """Shows the runs of an agent to viewers, and lets them decide; `nsrecover.serving.live.page` makes one.

    Panels are drawn in a thread of their own, so that the run does not wait for that.

    Args:
        server: shows the panels and passes on what viewers want.
        paused: whether the first run waits before its first action.
        approve: whether every recovery waits for a person at first.
        answer_s: time after which a question of the robot counts as not answered, seconds. Recoveries wait without a
            limit.
        injector: makes things go wrong on demand.
    """

    def __init__(
        self,
        server: PageServer,
        paused: bool = False,
        approve: bool = False,
        answer_s: float = 300.0,
        injector: Injector | None = None,
    ) -> None:
        self._board, self._injector = server, injector
        self.url = server.url
        """Address with the token, to be opened in a browser."""
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._painter = threading.Thread(target=self._paint, name="painter of the live page", daemon=True)
        self._status = RunStatus(MarkedAs.DOUBT, "ready", "No run has begun.", running=False)
        self._story: Story | None = None
        self._agent: Stoppable | None = None
        self._early: list[Any] = []
        self._asked = 0
        self._chances, self._draft = Chances(), ""
        self._problem: ReportStep | None = None
        self._said: list[Utterance] = []
        self._questions: list[str] = []
        self._talking, self._showing = threading.Lock(), threading.Lock()
        self.desk, self._answer_s = Desk(paused, approve, self._show_desk, UNDO_S), answer_s
        self._painter.start()
        self._show_desk()
        self._show_talk()
        if injector is not None:
            self._show("faults", lambda: panels.render("faults", faults=injector.faults, objects=injector.objects))
        server.command, server.report = self.command, self.report

    def close(self) -> None:
        """Let everything that waits go on, and draw what is left to draw."""
        self.desk.release()
        self._work.put(None)
        self._painter.join()

    # --- the agent's supervisor

    def begins(self, agent: Stoppable, plan: Plan, start: Any) -> None:
        """Begin a new story."""
        story = self._story = Story(agent.system, plan, start, self._early)
        self._agent, self._early, self._asked, self._questions = agent, [], self.desk.asked, []
        self.desk.begin()
        self._work.put(self._forget)
        for name in ("text", "scenes", "chances", "search", "sound"):
            self._show(name, str)
        episode = story.episode
        self._show("way", lambda: panels.way(episode, story.words))
        self._show_talk()

    def observes(self, observation: Any) -> None:
        """Show the camera images."""
        if self._story is None or not self._status.running:
            self._early.append(observation)
        else:
            self._story.observed(observation)
        self._show_cameras(observation, None)

    def held(self, action: Action) -> bool:
        """Wait while the run is paused."""
        self._say(MarkedAs.OK, "running", f"{self._heading(action)}.")
        held, asked = self.desk.hold(), self.desk.asked
        before, self._asked = self._asked, asked
        return held or asked > before

    def compares(self, discrepancy: Any) -> None:
        """Say what is wrong before a recovery is searched for."""
        if discrepancy.deviates and self._story is not None:
            what = capital(self._story.words.in_short(discrepancy))
            self._say(MarkedAs.ERROR, "planning", f"{what}. Searching for a recovery.")
            label = self._heading(discrepancy.action)
            self._show_search(None, label, over=False)

    def improves(self, recovery: Recovery) -> None:
        """Show the best recovery so far."""
        self._show_search(recovery, "The search continues", over=False)

    def turned(self, record: StepRecord) -> None:
        """Show the turn."""
        story = self._story
        if story is None:
            return
        seen = story.last_observation
        media, episode = story.turned(record), story.episode
        if seen is not None and not record.discrepancy.as_expected:
            self._show_cameras(seen, record.discrepancy)
        at = time.time()

        def paint() -> None:
            self._draft = ""
            step, shown = panels.turn(episode, story.words, media.clip, self._chances, self._problem)
            self._board.show(shown, at)
            self._problem = self._problem if step.kind is MarkedAs.OK else step

        self._work.put(paint)
        recovery = record.recovery
        if recovery is not None:
            label = self._heading(record.discrepancy.action)
            self._show_search(recovery, label, over=True)
            self._show_talk()

    approves = True

    def decides(self, decision: AnyDecision) -> Decided:
        """Ask the viewers; the robot stands still until they answer."""
        recovery, plan = decision.recovery, decision.plan
        rest = plan.actions[recovery.resumes_at(len(plan)) :]
        if decision.question is not Question.APPROVE:
            actions = tuple(map(self._heading, (*recovery.actions, *rest)))
            return self._decided(self.desk.decide(decision.text, YES_NO, actions, NO, self._answer_s))
        if not self.desk.approve:
            return Decided(Answer.YES)
        self._say(MarkedAs.DOUBT, "waiting", WAITS)
        # without actions of its own, the plan goes on at another step
        actions = tuple(map(self._heading, recovery.actions or rest[:1]))
        question = "Take this way back?" if recovery.actions else "Go on with this step?"
        story = self._story
        card = None if story is None else card_of(story.episode, story.words, recovery, story.latest)
        chosen = self.desk.decide(question, CHOICES, actions, card=card)
        if chosen.text == FIX:
            chosen = self.desk.decide("Put it right now: the robot stands still until you say that it may look.", FIXED)
        decided = self._decided(chosen)
        if self.desk.approve:
            what = "; ".join(map(self._heading, recovery.actions)) or "go on with the plan"
            self._add(Utterance(decided.by or VIEWER, f"{CHOSEN[Answer(decided.answer)]}: {what}."))
            self._say(MarkedAs.OK, "running", NEXT[Answer(decided.answer)])
        return decided

    def helps(self, stopped: Stopped) -> Decided | None:
        """Ask the viewers whether they have put right what the run stopped for."""
        self._say(MarkedAs.DOUBT, "needs help", WAITS)
        reason = stopped.reason.rstrip(". ")
        question = f"The robot asks for help: {reason}. Put it right, and let it look again."
        chosen = self.desk.decide(question, FIXED, limit_s=self._answer_s)
        if chosen.text != LOOK:
            return None
        self._add(Utterance(chosen.by or VIEWER, "I have fixed it: look again."))
        return self._decided(chosen)

    def stops(self) -> None:
        """Let what waits go on."""
        self.desk.release()

    def reconsiders(self, record: StepRecord) -> None:
        """Show another recovery."""
        story, recovery = self._story, record.recovery
        if story is None or recovery is None:
            return
        story.reconsidered(record)
        episode, at = story.episode, time.time()
        self._work.put(lambda: self._board.show(panels.other_way(episode, story.words), at))
        self._show_search(recovery, "Another recovery", over=True)
        self._show_talk()

    def recorded(self, record: StepRecord) -> None:
        """Keep what was decided."""
        if self._story is not None:
            self._story.recorded(record)

    def ended(self, episode: Episode) -> None:
        """Say how the run ended."""
        if self._story is not None:
            self._story.episode = episode
        good = episode.status is EpisodeStatus.COMPLETED
        text = "The robot completed the plan." if good else f"The robot asks for help: {episode.reason.rstrip('. ')}."
        self._status = RunStatus(
            MarkedAs.OK if good else MarkedAs.DOUBT, "done" if good else "needs help", text, running=False
        )
        self.desk.release()
        self._show_desk()
        self._show_talk()

    # --- a person whom the robot can talk to

    def tell(self, text: str) -> None:
        """Show what the robot says."""
        self._add(Utterance(ROBOT, text))

    def ask(self, question: str) -> str:
        """Ask the viewers; empty without an answer in time."""
        self._add(Utterance(ROBOT, question))
        answer = self.desk.decide(question, (), limit_s=self._answer_s)
        self._add(Utterance(answer.by or VIEWER, answer.text or "(no answer)"))
        return answer.text

    # --- for programs

    def write(self, text: str) -> None:
        """Show a further piece of a text that a language model is writing; unverified until the turn ends."""

        def paint() -> None:
            self._draft += text
            self._board.show({"text": panels.render("text", step=None, problem=None, draft=self._draft)}, at)

        at = time.time()
        self._work.put(paint)

    def picture(self, name: str, rgb: npt.NDArray[np.uint8]) -> None:
        """Show a picture (H, W, 3) in place of the camera images, of a film while the robot moves for instance."""
        self._show("cameras", lambda: panels.extra_picture(name, stored(rgb)))

    def report(self) -> str:
        """The report of the run so far, as HTML.

        Raises:
            InvalidConfiguration: no run has begun.
        """
        story = self._story
        if story is None:
            raise InvalidConfiguration("expected a run, found none; start one")
        episode, media = story.episode, list(story.media)
        media = media[: len(episode.records)]
        return html_of(report_of(episode, "The run so far", media=media, domain=story.words.domain))

    def command(self, name: str, fields: Mapping[str, str]) -> str:
        """Carry out what a viewer wants.

        Args:
            name: of the command.
            fields: its arguments.

        Returns:
            What to answer to that viewer.

        Raises:
            InvalidConfiguration: the command cannot be carried out.
        """
        text, by = fields.get("text", "").strip()[:MOST_TEXT], fields.get("by", "").strip()[:MOST_NAME]
        number = fields.get("number", "")
        asked = int(number) if number.isdecimal() and len(number) < MOST_DIGITS else 0
        if name in ("pause", "resume"):
            self.desk.switch(paused=name == "pause")
            return "The robot waits before its next action." if name == "pause" else "The robot continues."
        if name == "approve":
            self.desk.switch(approve=not self.desk.approve)
            return "Every recovery waits for a person." if self.desk.approve else "Recoveries start without asking."
        if name == "stop" and self._agent is not None:
            self._end(by)
            return "The run ends before the next action."
        if name == "answer" and (text or "choice" in fields):
            self.desk.answer(asked, fields.get("choice", text), by)
            return "The robot has the answer."
        if name == "undo":
            self.desk.undo(asked)
            return "The choice is taken back; nothing was done."
        if name == "ask" and text:
            return self._answered(text, by)
        if name == "inject" and self._injector is not None:
            said = self._injector.inject(fields.get("fault", ""), fields.get("name", ""))
            self._add(Utterance("simulator", said))
            return said
        raise InvalidConfiguration("expected a command of this page with its text, found another one")

    def _answered(self, question: str, by: str) -> str:
        story = self._story
        if story is None:
            raise InvalidConfiguration("expected a run to ask about, found none; start one")
        with self._talking:
            self._questions.append(question)
            waits = self.desk.decision.question if self.desk.decision is not None else ""
            domain, supposing = story.words.domain, story.symbolic
            said = ask(story.episode, self._questions, domain=domain, waits_for=waits, supposing=supposing)
            text = said[-1].text
            self._add(Utterance(by or VIEWER, question), Utterance(ROBOT, text))
        return text

    def _decided(self, chosen: Chosen) -> Decided:
        if chosen.text == STOP:
            self._end(chosen.by)
        return Decided(ANSWERS.get(chosen.text, Answer.NO), chosen.by)

    def _end(self, by: str) -> None:
        if self._agent is not None:
            self._agent.stop(f"{by} stopped it" if by else "")

    # --- drawing

    def _paint(self) -> None:
        while (work := self._work.get()) is not None:
            try:
                work()
            except Exception:  # the other panels must not stand still while the page says that it is live
                logging.getLogger("nsrecover.serving.live").exception("a panel could not be drawn")

    def _show(self, name: str, html: Callable[[], str]) -> None:
        """Draw a panel after all earlier ones.

        What several threads change is read and put here under `_showing`: the thread that knows most draws last.
        """
        at = time.time()
        self._work.put(lambda: self._board.show({name: html()}, at))

    def _show_desk(self) -> None:
        self._show_state()
        with self._showing:
            decision = self.desk.decision
            self._show("decision", lambda: panels.render("decision", question=decision))

    def _show_search(self, recovery: Recovery | None, label: str, over: bool) -> None:
        if (story := self._story) is not None:
            self._show("search", lambda: panels.search(recovery, label, over, story.words.domain))

    def _show_talk(self) -> None:
        with self._showing:
            said, story = tuple(self._said), self._story
            suggestions = () if story is None else story.suggested()
            self._show("talk", lambda: panels.render("talk", said=said[-MOST_TALK:], suggestions=suggestions))

    def _show_cameras(self, observation: Any, found: Any) -> None:
        if isinstance(observation, Observation):
            scenes = [] if self._story is None else [self._story.episode.start]
            scenes += [] if found is None else [found.expected, found.observed]
            self._show("cameras", lambda: panels.cameras(observation, found, scenes))

    def _say(self, kind: MarkedAs, word: str, text: str) -> None:
        self._status = RunStatus(kind, word, text)
        self._show_state()

    def _show_state(self) -> None:
        with self._showing:
            status, story = self._status, self._story
            still = not status.running or self.desk.waiting or self.desk.decision is not None
            known = () if story is None else safety_sentences(story.episode, story.words.domain, still)
            safety = tuple(each.text.rstrip(".") for each in known)
            self._show("state", lambda: panels.state(status, self.desk, safety))

    def _add(self, *said: Utterance) -> None:
        self._said += said
        self._show_talk()

    def _forget(self) -> None:
        self._chances, self._problem, self._draft = Chances(), None, ""

    def _heading(self, action: Action) -> str:
        return str(action) if self._story is None else self._story.words.heading(action)
