"""Old public names: they work for one more release, with a DeprecationWarning that says the new name.

A renamed module, class, function, attribute or keyword is one entry in a table below. `nsrecover` installs
`OldModules`; a module with renamed members calls `serve_old_names`; a class with renamed members is decorated with
`with_old_names`.
"""

from __future__ import annotations

import functools
import importlib.abc
import inspect
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)

MODULES = {
    "eval.sac": "eval.train_sac",
    "eval.sweep.stage": "eval.sweep.evaluation_world",
    "nsrecover.archive": "nsrecover.records.archive",
    "nsrecover.boxes": "nsrecover.perception.boxes",
    "nsrecover.causes": "nsrecover.monitoring.causes",
    "nsrecover.compare": "nsrecover.monitoring.comparison",
    "nsrecover.completion": "nsrecover.core.completion",
    "nsrecover.conformance": "nsrecover.testing",
    "nsrecover.conformance.acting": "nsrecover.testing.probe_actions",
    "nsrecover.conformance.look": "nsrecover.testing.lifted",
    "nsrecover.conformance.looking": "nsrecover.testing.observation_rules",
    "nsrecover.episode_arrays": "nsrecover.records.arrays",
    "nsrecover.episode_log": "nsrecover.records.episode_log",
    "nsrecover.explain": "nsrecover.explanation",
    "nsrecover.explain.case": "nsrecover.explanation.language_model.rewording_task",
    "nsrecover.explain.embedded": "nsrecover.explanation.language_model.embedded",
    "nsrecover.explain.endpoint": "nsrecover.explanation.language_model.endpoint",
    "nsrecover.explain.knowledge": "nsrecover.explanation.language_model.entailment",
    "nsrecover.explain.llm": "nsrecover.explanation.language_model.explainer",
    "nsrecover.explain.reading": "nsrecover.explanation.language_model.parser",
    "nsrecover.explain.realise": "nsrecover.explanation.templates",
    "nsrecover.explain.rules": "nsrecover.explanation.language_model.failure_rules",
    "nsrecover.explain.rules_recovery": "nsrecover.explanation.language_model.recovery_rules",
    "nsrecover.explain.strategies": "nsrecover.explanation.language_model.prompting",
    "nsrecover.explain.verdict": "nsrecover.explanation.language_model.judge",
    "nsrecover.explain.voice": "nsrecover.explanation.audience",
    "nsrecover.explain.whatif": "nsrecover.explanation.counterfactuals",
    "nsrecover.explain.wording": "nsrecover.explanation.language_model.rewording",
    "nsrecover.explaining": "nsrecover.records.explain_file",
    "nsrecover.export": "nsrecover.models.export",
    "nsrecover.free_place": "nsrecover.models.free_place",
    "nsrecover.geometric_models": "nsrecover.models.geometric",
    "nsrecover.imagine": "nsrecover.monitoring.imagination",
    "nsrecover.integrations.tree_course": "nsrecover.integrations.plan_execution",
    "nsrecover.integrations.up_engine": "nsrecover.integrations.unified_planning.engine",
    "nsrecover.integrations.up_export": "nsrecover.integrations.unified_planning.export",
    "nsrecover.integrations.up_grounding": "nsrecover.integrations.unified_planning.grounding",
    "nsrecover.integrations.up_pddl": "nsrecover.integrations.unified_planning.pddl",
    "nsrecover.integrations.up_reduction": "nsrecover.integrations.unified_planning.reduction",
    "nsrecover.integrations.up_scenes": "nsrecover.integrations.unified_planning.scenes",
    "nsrecover.learned": "nsrecover.models.protocols",
    "nsrecover.monitor": "nsrecover.monitoring.monitor",
    "nsrecover.observation": "nsrecover.core.observation",
    "nsrecover.operators": "nsrecover.domains.tabletop.operators",
    "nsrecover.perceive": "nsrecover.perception.perceiver",
    "nsrecover.planning.aside": "nsrecover.planning.placement",
    "nsrecover.planning.courses": "nsrecover.planning.alternative_trace",
    "nsrecover.planning.frontier": "nsrecover.planning.search_tree",
    "nsrecover.planning.instantiate": "nsrecover.planning.symbolic.grounding",
    "nsrecover.planning.landmark_cut": "nsrecover.planning.symbolic.landmark_cut",
    "nsrecover.planning.neural": "nsrecover.planning.neural_model",
    "nsrecover.planning.problem": "nsrecover.planning.batch",
    "nsrecover.planning.realise": "nsrecover.planning.refine",
    "nsrecover.planning.recover": "nsrecover.planning.planner",
    "nsrecover.planning.relaxation": "nsrecover.planning.symbolic.relaxation",
    "nsrecover.planning.strips": "nsrecover.planning.symbolic.strips",
    "nsrecover.protocols": "nsrecover.core.protocols",
    "nsrecover.recording": "nsrecover.records.recording",
    "nsrecover.review": "nsrecover.records.review",
    "nsrecover.same_place": "nsrecover.models.same_place",
    "nsrecover.scene.geometry": "nsrecover.core.geometry",
    "nsrecover.scene": "nsrecover.core",
    "nsrecover.scene.match": "nsrecover.perception.association",
    "nsrecover.scene.memory": "nsrecover.perception.memory",
    "nsrecover.scene.relations": "nsrecover.domains.tabletop.relations",
    "nsrecover.scene.spatial": "nsrecover.perception.spatial_relations",
    "nsrecover.scene.visibility": "nsrecover.perception.visibility",
    "nsrecover.structs": "nsrecover.core",
    "nsrecover.whole_file": "nsrecover.core.atomic_write",
}
"""Old module -> new module. A submodule of an old package that is not listed has kept its name in the new package."""

_MANY = "nsrecover.planning.planner.RecoveryPlanner.recover_many"
_DECLARED = "nsrecover.domains.tabletop.spatial.SpatialOperator"

GONE: dict[str, str] = {
    "nsrecover.integrations.behaviour_trees.told": "feedback_message of AsExpected",
    "nsrecover.integrations.unified_planning.to_strips": "nsrecover.integrations.unified_planning.grounding.Grounded",
    **dict.fromkeys(
        (f"nsrecover.planning.{name}" for name in ("fleet", "fleet_realise", "fleet_search", "fleet_tables", "packed")),
        _MANY,
    ),
    **dict.fromkeys(
        (f"nsrecover.domains.tabletop.operators.{name}" for name in ("Beside", "Stack", "ToTarget")), _DECLARED
    ),
}
"""Module, or dotted name of a module's member, that no longer exists -> what to use instead."""

NAMES = {
    "nsrecover": {"Culprit": "Deviation"},
    "nsrecover.core": {"Culprit": "Deviation"},
    "nsrecover.core.actions.Trace": {"joined_by": "with_objects_of"},
    "nsrecover.core.atomic_write": {"written_whole": "atomic_write"},
    "nsrecover.core.discrepancy.Discrepancy": {"culprits": "deviations", "culprit_names": "deviating"},
    "nsrecover.core.recovery.Recovery": {"reason": "note"},
    "nsrecover.core.scene.SceneGraph": {"hidden": "occluded", "joined_by": "with_objects_of"},
    "nsrecover.errors": {"told_in_one_line": "cli_errors"},
    "nsrecover.explanation": {"Register": "Audience", "realise": "verbalize"},
    "nsrecover.explanation.audience": {"Register": "Audience", "Voice": "Phrasing"},
    "nsrecover.explanation.audience.Phrasing": {"register": "audience"},
    "nsrecover.explanation.grounded.GroundedExplainer": {"register": "audience"},
    "nsrecover.explanation.logs": {"Register": "Audience"},
    "nsrecover.integrations.behaviour_trees": {
        "Course": "PlanExecution",
        "TreeWorld": "nsrecover.core.protocols.World",
    },
    "nsrecover.integrations.plan_execution": {"Course": "PlanExecution"},
    "nsrecover.integrations.unified_planning": {"told": "plan_repair"},
    "nsrecover.integrations.plan_execution.PlanExecution": {
        "following": "next_action",
        "done": "num_executed",
        "look": "observe",
        "attempted": "mark_attempted",
    },
    "nsrecover.monitoring.monitor.Monitor": {
        "done": "num_executed",
        "follow": "set_plan",
        "following": "next_action",
    },
    "nsrecover.planning.alternative_trace": {"standing_course": "alternative_trace"},
    "nsrecover.planning.placement": {"FreePlaces": "PlacementSampler"},
    "nsrecover.planning.planner": {
        "FreePlaces": "nsrecover.planning.placement.PlacementSampler",
        "realise": "nsrecover.planning.refine.refine",
        "standing_course": "nsrecover.planning.alternative_trace.alternative_trace",
    },
    "nsrecover.planning.planner.RecoveryPlanner": {"bundle": "models", "free_places": "placement_sampler"},
    "nsrecover.planning.refine": {"realise": "refine"},
    "nsrecover.planning.search": {"Ending": "nsrecover.core.recovery.ReasonCode"},
    "nsrecover.planning.search_tree": {
        "Ending": "nsrecover.core.recovery.ReasonCode",
        "Frontier": "SearchTree",
    },
    "nsrecover.planning.subgoals": {"considered": "chosen_subgoals", "done_by": "steps_expected"},
}
"""Module or class -> old name of a member -> new name; a dotted new name is in another module."""


def warn_of(old: str, new: str, stacklevel: int = 3) -> None:
    """Warn that a name is deprecated."""
    warnings.warn(f"{old} is deprecated, use {new}", DeprecationWarning, stacklevel)


class OldModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import finder that resolves old module names; Python asks it only after it has found no such module."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module that forwards to the new one; None if the name is no old one."""
        if fullname in GONE:
            raise ImportError(f"{fullname} no longer exists, use {GONE[fullname]}", name=fullname)
        new = _new_module(fullname)
        if new is None:
            return None
        warn_of(fullname, new)
        return ModuleSpec(fullname, self, loader_state=new, is_package=True)

    def exec_module(self, module: ModuleType) -> None:
        """Fill an old module: it forwards every attribute to the new one."""
        assert module.__spec__ is not None
        new = importlib.import_module(module.__spec__.loader_state)
        module.__doc__ = new.__doc__
        vars(module)["__getattr__"] = functools.partial(getattr, new)


def _new_module(old: str) -> str | None:
    if old in MODULES:
        return MODULES[old]
    package, _, name = old.rpartition(".")
    new = _new_module(package) if package else None
    return new and f"{new}.{name}"


def serve_old_names(module_name: str) -> None:
    """Let a module answer to the old names of its members."""
    module = sys.modules[module_name]
    otherwise = vars(module).get("__getattr__")

    def member(name: str) -> Any:
        new, full = NAMES.get(module_name, {}).get(name), f"{module_name}.{name}"
        if full in GONE:
            raise ImportError(f"{full} no longer exists, use {GONE[full]}")
        if new is not None:
            home, _, last = new.rpartition(".")
            warn_of(full, f"{home or module_name}.{last}")
            return getattr(importlib.import_module(home) if home else module, last)
        if otherwise is not None:
            return otherwise(name)
        raise AttributeError(f"module {module_name!r} has no attribute {name!r}")

    vars(module)["__getattr__"] = member


def with_old_names(cls: Class) -> Class:
    """Class decorator: the class answers to the old names of its members and of its constructor's keywords."""
    names = NAMES[f"{cls.__module__}.{cls.__qualname__}"]
    for old, new in names.items():
        if old not in vars(cls):
            setattr(cls, old, property(functools.partial(_member, old=old, new=new, names=names)))
    init = vars(cls)["__init__"]
    renamed = {old: new for old, new in names.items() if new in inspect.signature(init).parameters}
    if renamed:
        setattr(cls, "__init__", _with_old_keywords(init, renamed))  # noqa: B010
    return cls


def _member(instance: Any, old: str, new: str, names: Mapping[str, str]) -> Any:
    warn_of(f"{type(instance).__name__}.{old}", f"{type(instance).__name__}.{new}")
    value = getattr(instance, new)
    return _with_old_keywords(value, names) if inspect.ismethod(value) else value


def _with_old_keywords(function: Callable[..., Any], names: Mapping[str, str]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        for old in names.keys() & keywords:
            warn_of(f"{old}=...", f"{names[old]}=...")
            keywords[names[old]] = keywords.pop(old)
        return function(*arguments, **keywords)

    return call
