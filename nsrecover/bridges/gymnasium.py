"""Gymnasium: a wrapper that drives a session in any environment.

    system = nsrecover.geometric()
    env = MonitorWrapper(env, lambda boxes, info: system.session(plan, boxes), boxes_of, finished, Response.END)
    observation, reward, terminated, truncated, info = env.step(action)
    print(info["request"], info["discrepancy"])

Needs gymnasium: `pip install 'nsrecover[gymnasium]'`.
"""

from collections.abc import Callable, Sequence
from typing import Any, SupportsFloat

from nsrecover.core.actions import Action
from nsrecover.core.episode import StepRecord
from nsrecover.core.sessions.requests import Act, Answer, Ask, Decision, Done, Look, Stopped
from nsrecover.core.sessions.supervision import Supervisor
from nsrecover.errors import InvalidConfiguration
from nsrecover.session import AnySession
from nsrecover.util.extras import needs_extra
from nsrecover.util.python310 import StrEnum

with needs_extra("gymnasium", "gymnasium"):
    import gymnasium

Info = dict[str, Any]
StepResult = tuple[Any, SupportsFloat, bool, bool, Info]
"""Result of `step`: observation, reward, terminated, truncated, info."""
Env = gymnasium.Env[Any, Any]
SceneOf = Callable[[Any, Info], object]
LookFor = Callable[[Env, Sequence[str]], StepResult]


class Response(StrEnum):
    """Response of a wrapper to a deviation that further looks have confirmed."""

    TELL = "tell"
    """Report it in `info`; `info["request"]` says what leads back."""
    END = "end"
    """Truncate the episode."""
    REPAIR = "repair"
    """Carry out what the session asks for until it is back on the plan; if it stops, truncate the episode."""


class MonitorWrapper(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Drives a session in the episodes of an unmodified environment; an action may take many steps.

    A step that ends the action that the session asks for is reported to it, and so is the step after a request to look,
    in which a policy should do nothing. `info` always has "request" (what the session asks for, see
    `nsrecover.core.sessions.requests`), "discrepancy" (of a turn that is over with this step: the first that deviates,
    else the last; None without one), "recovery" (the recovery from it, if there is one) and "repaired" (whether every
    action of the last recovery was seen to work, and the plan goes on).

    Args:
        env: any environment.
        session: (scene, info of `reset`) -> the session of an episode, from `System.session`.
        scene_of: (observation, info) -> what the session observes: boxes by name, a scene graph, camera images, facts.
        finished: (action, observation, info) -> whether that action has ended, successfully or not.
        response: what to do about a deviation.
        carry_out: (environment, action) -> the result of the last `step`, with the rewards added up; carries out one
            action. Required for `Response.REPAIR`.
        look: (environment, names) -> the result of the last `step`, with the rewards added up; another observation of
            the same scene, by doing nothing for instance. By default the next step counts as one.
        decide: a person's answers; by default every recovery is taken, and nothing given up.

    Raises:
        InvalidConfiguration: `carry_out` is missing.
    """

    def __init__(
        self,
        env: Env,
        session: Callable[[Any, Info], AnySession],
        scene_of: SceneOf,
        finished: Callable[[Action, Any, Info], bool],
        response: Response = Response.TELL,
        carry_out: Callable[[Env, Action], StepResult] | None = None,
        look: LookFor | None = None,
        decide: Callable[[Decision[object]], Answer | bool] | None = None,
    ) -> None:
        super().__init__(env)
        if response is Response.REPAIR and carry_out is None:
            raise InvalidConfiguration(
                "expected carry_out for Response.REPAIR, found none; give a function that carries out an action"
            )
        self._make, self._scene_of, self._finished, self._response = session, scene_of, finished, Response(response)
        self._carry_out = carry_out if response is Response.REPAIR else None
        self._look, self._decide = look, decide or Supervisor().decides
        self._session: AnySession | None = None

    @property
    def session(self) -> AnySession:
        """The session of the current episode.

        Raises:
            InvalidConfiguration: no episode has begun.
        """
        if self._session is None:
            raise InvalidConfiguration("expected an episode to have begun, found none; call reset() first")
        return self._session

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Any, Info]:
        """Begin an episode with a session of its own; see `gymnasium.Env.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._session = self._make(self._scene_of(observation, info), info)
        result = self._serve((observation, 0.0, False, False, info), None)
        return result[0], self._with_findings(result[4], ())

    def step(self, action: object) -> StepResult:
        """Carry out a step, and report it if the session waits for it; see `gymnasium.Env.step`."""
        session = self.session
        known, result = len(session.records), self.env.step(action)
        due = session.request.action if isinstance(session.request, Act) else None
        if isinstance(session.request, Look) or (due is not None and self._finished(due, result[0], result[4])):
            session.observed(self._scene_of(result[0], result[4]))
        result = self._serve(result, self._carry_out)
        records = session.records[known:]
        deviates = any(each.discrepancy.deviates for each in records)
        over = isinstance(session.request, Stopped) or (self._response is Response.END and deviates)
        truncated = result[3] or (over and self._response is not Response.TELL)
        return (*result[:3], truncated, self._with_findings(result[4], records))

    def _serve(self, result: StepResult, carry_out: Callable[[Env, Action], StepResult] | None) -> StepResult:
        """Do what the session asks for as far as no policy is needed for it."""
        session = self.session
        while not (result[2] or result[3]):
            match session.request:
                case Act(action) if carry_out is not None and session.num_executed < session.num_inserted:
                    result = _together(result, carry_out(self.env, action))
                case Look(names) if self._look is not None:
                    result = _together(result, self._look(self.env, names))
                case Ask(decision):
                    session.answered(self._decide(decision))
                    continue
                case _:
                    break
            session.observed(self._scene_of(result[0], result[4]))
        return result

    def _with_findings(self, info: Info, records: Sequence[StepRecord[object]]) -> Info:
        chosen = next((each for each in records if each.discrepancy.deviates), records[-1] if records else None)
        return {
            **info,
            "request": self.session.request,
            "discrepancy": chosen.discrepancy if chosen is not None else None,
            "recovery": chosen.recovery if chosen is not None else None,
            "repaired": _repaired(self.session),
        }


def _repaired(session: AnySession) -> bool:
    """Whether every action of the last recovery was seen to work, and the plan goes on."""
    records = session.records
    last = max((number for number, each in enumerate(records) if each.recovery is not None), default=len(records))
    seen = all(each.discrepancy.as_expected for each in records[last + 1 :] if each.recovering)
    back = isinstance(session.request, Act | Done) and session.num_executed >= session.num_inserted
    return last < len(records) and seen and back


def _together(before: StepResult, after: StepResult) -> StepResult:
    """The later result, with the rewards of both."""
    return (after[0], float(before[1]) + float(after[1]), *after[2:])
