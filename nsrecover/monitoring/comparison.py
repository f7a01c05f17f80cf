"""The comparison of the expected with the observed scene, before and after an action."""

from __future__ import annotations

import numpy as np

from nsrecover.core.actions import Trace
from nsrecover.core.discrepancy import Deviation, Discrepancy, Phase
from nsrecover.core.explanation import Fact
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.tabletop.operators import TABLETOP, moved_object
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.models.protocols import RecoveryModels
from nsrecover.monitoring.causes import Situation, cause_of
from nsrecover.monitoring.imagination import as_expected


class Comparison:
    """Finds the objects that deviate from the expected scene, with causes (Kalithasan et al., section IV-C).

    It is stateless: the caller hands over the scene, the trace and the step. `nsrecover.Monitor` keeps these.

    Args:
        models: their discriminator and calibrated threshold are used.
        domain: has the operators.
    """

    def __init__(self, models: RecoveryModels, domain: SpatialDomain = TABLETOP) -> None:
        self._models = models
        self._domain = domain

    def before(self, graph: SceneGraph, trace: Trace, step: int) -> Discrepancy:
        """The discrepancy before an action, with the unmet preconditions of the action.

        Args:
            graph: the scene as it is now.
            trace: the expected scenes.
            step: number of the action, from 0.

        Returns:
            A discrepancy that is false in a condition if the scene is as expected and the preconditions hold.
        """
        action = trace.plan[step]
        unmet = self._domain.operator_of(action).violated(graph, action)
        return self._compare(graph, trace, step, Phase.BEFORE, unmet)

    def after(self, graph: SceneGraph, trace: Trace, step: int) -> Discrepancy:
        """The discrepancy after an action, over all objects; arguments as for `before`."""
        return self._compare(graph, trace, step, Phase.AFTER, ())

    def _compare(
        self, graph: SceneGraph, trace: Trace, step: int, phase: Phase, unmet: tuple[Fact, ...]
    ) -> Discrepancy:
        action = trace.plan[step]
        done = step + 1 if phase is Phase.AFTER else step
        probabilities = as_expected(self._models, trace.graphs[done], graph)
        wrong = tuple(int(i) for i in np.flatnonzero(probabilities < self._models.threshold))
        deviations: tuple[Deviation, ...] = ()
        if wrong:
            later = np.zeros((len(trace.graphs), len(graph)), dtype=np.bool_)
            for number, imagined in enumerate(trace.graphs[done + 1 :], done + 1):
                later[number] = as_expected(self._models, imagined, graph) >= self._models.threshold
            situation = Situation(
                trace=trace,
                done=done,
                moved=moved_object(graph, action) if phase is Phase.AFTER else None,
                observed=graph,
                probabilities=probabilities,
                wrong=wrong,
                later=later,
            )
            deviations = tuple(cause_of(situation, index) for index in wrong)
        return Discrepancy(
            step=step,
            phase=phase,
            action=action,
            expected=trace.graphs[done],
            observed=graph,
            probabilities=probabilities,
            total=float(len(graph) - probabilities.sum()),
            threshold=self._models.threshold,
            deviations=deviations,
            unmet=unmet,
        )
