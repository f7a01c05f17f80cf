"""Old public names: for one more release they work with a DeprecationWarning, or raise an error; both name the new one.

A renamed module, member or keyword is one entry in a table below. `nsrecover` calls `install` when it is imported, so
modules and classes themselves contain nothing about their old names.
"""

from __future__ import annotations

import functools
import importlib
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any


class Gone(str):
    """What to use instead of a name that no longer exists: the text of an error."""


_MANY = Gone("nsrecover.planning.planner.RecoveryPlanner.recover_many")
_DECLARED = Gone("nsrecover.domains.tabletop.spatial.SpatialOperator")

MODULES: dict[str, str] = {
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
    "nsrecover.explanation.logs.household": "nsrecover.explanation.logs.run",
    "nsrecover.explanation.logs.judging": "nsrecover.explanation.logs.rewording",
    "nsrecover.explanation.logs.reading": "nsrecover.explanation.logs.format",
    "nsrecover.explanation.logs.report": "nsrecover.explanation.logs.templates",
    "nsrecover.explanation.logs.telling": "nsrecover.explanation.logs.templates",
    "nsrecover.explanation.logs.wording": "nsrecover.explanation.logs.rewording",
    "nsrecover.explanation.logs.writing": "nsrecover.explanation.logs.format",
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
    **dict.fromkeys(
        (f"nsrecover.planning.{name}" for name in ("fleet", "fleet_realise", "fleet_search", "fleet_tables", "packed")),
        _MANY,
    ),
}
"""Old module -> new module. A submodule of an old package that is not listed has kept its name in the new package."""

NAMES: dict[str, dict[str, str]] = {
    "nsrecover": {"Culprit": "Deviation"},
    "nsrecover.core": {"Culprit": "Deviation"},
    "nsrecover.core.actions.Trace": {"joined_by": "with_objects_of"},
    "nsrecover.core.atomic_write": {"written_whole": "atomic_write"},
    "nsrecover.core.discrepancy.Discrepancy": {
        "culprits": "deviations",
        "culprits=": "deviations",
        "culprit_names": "deviating",
        "violated": Gone("unmet, which holds facts, or the texts nsrecover.explanation.violated_texts(discrepancy)"),
        "violated=": Gone("unmet=, which holds facts"),
    },
    "nsrecover.core.recovery.Recovery": {"reason": "nsrecover.explanation.reason_text", "reason=": "note"},
    "nsrecover.core.scene.SceneGraph": {"hidden": "occluded", "hidden=": "occluded", "joined_by": "with_objects_of"},
    "nsrecover.domains.tabletop.operators": dict.fromkeys(("Beside", "Stack", "ToTarget"), _DECLARED),
    "nsrecover.errors": {"told_in_one_line": "cli_errors"},
    "nsrecover.explanation": {"Register": "Audience", "realise": "verbalize"},
    "nsrecover.explanation.audience": {"Register": "Audience", "Voice": "Phrasing"},
    "nsrecover.explanation.audience.Phrasing": {"register": "audience", "register=": "audience"},
    "nsrecover.explanation.grounded.GroundedExplainer": {"register": "audience", "register=": "audience"},
    "nsrecover.explanation.logs": {"Kind": "FailureKind", "Register": "Audience", "tell": "verbalize"},
    "nsrecover.explanation.logs.findings": {"Kind": "FailureKind"},
    "nsrecover.explanation.logs.format": {"told": "seen_text"},
    "nsrecover.explanation.logs.subgoals": {"Verdict": "CheckResult"},
    "nsrecover.explanation.logs.templates": {"tell": "verbalize"},
    "nsrecover.integrations.behaviour_trees": {
        "Course": "PlanExecution",
        "TreeWorld": "nsrecover.core.protocols.World",
        "told": Gone("feedback_message of AsExpected"),
    },
    "nsrecover.integrations.plan_execution": {"Course": "PlanExecution"},
    "nsrecover.integrations.unified_planning": {
        "told": "plan_repair",
        "to_strips": Gone("nsrecover.integrations.unified_planning.grounding.Grounded"),
    },
    "nsrecover.integrations.plan_execution.PlanExecution": {
        "following": "next_action",
        "done": "num_executed",
        "look": "observe",
        "attempted": "mark_attempted",
    },
    "nsrecover.models.bundle.Bundle": {"predict_all": "predict"},
    "nsrecover.monitoring.monitor.Monitor": {
        "done": "num_executed",
        "done=": "num_executed",
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
    "nsrecover.planning.planner.RecoveryPlanner": {
        "bundle": "models",
        "bundle=": "models",
        "free_places": "placement_sampler",
        "free_places=": "placement_sampler",
    },
    "nsrecover.planning.refine": {"realise": "refine"},
    "nsrecover.planning.search": {"Ending": "nsrecover.core.recovery.ReasonCode"},
    "nsrecover.planning.search_tree": {
        "Ending": "nsrecover.core.recovery.ReasonCode",
        "Frontier": "SearchTree",
    },
    "nsrecover.planning.subgoals": {"considered": "chosen_subgoals", "done_by": "steps_expected"},
}
"""Module, class or function -> old name of a member -> new name; a dotted new name is in another module.

An old name that ends in `=` is a keyword of the class or function. For an attribute of a class, a dotted new name is a
function of the instance.
"""


def install() -> None:
    """Let every module answer to its old names: those imported so far, and those imported from now on."""
    sys.meta_path.insert(0, OldNames())
    for module in [module for name, module in sys.modules.items() if name in NAMES]:
        _serve(module)


class OldNames(MetaPathFinder, Loader):
    """Import hook that resolves old module names and adds their old names to the members of new modules."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module with old names, or of an old module; None for every other module."""
        if any(fullname in (home, home.rpartition(".")[0]) for home in NAMES):
            spec = PathFinder.find_spec(fullname, path, target)
            if spec is not None and isinstance(spec.loader, SourceFileLoader):
                spec.loader = _ServingLoader(fullname, spec.loader.path)
            return spec
        new = _new_module(fullname)
        if new is None:
            return None
        _report(fullname, new, ImportError)
        return ModuleSpec(fullname, self, loader_state=new, is_package=True)

    def exec_module(self, module: ModuleType) -> None:
        """Fill an old module: it forwards every attribute to the new one."""
        assert module.__spec__ is not None
        new = importlib.import_module(module.__spec__.loader_state)
        module.__doc__ = new.__doc__
        vars(module)["__getattr__"] = functools.partial(getattr, new)


class _ServingLoader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        _serve(module)


def _new_module(old: str) -> str | None:
    if old in MODULES:
        return MODULES[old]
    package, _, name = old.rpartition(".")
    new = _new_module(package) if package else None
    return new and f"{new}.{name}"


def _report(old: str, new: str, error: type[Exception]) -> None:
    if isinstance(new, Gone):
        raise error(f"{old} no longer exists, use {new}")
    warnings.warn(f"{old} is deprecated, use {new}", DeprecationWarning, stacklevel=3)


def _serve(module: ModuleType) -> None:
    """Let a module, and the classes and functions in it, answer to their old names."""
    for home, names in NAMES.items():
        package, _, last = home.rpartition(".")
        if home == module.__name__:
            vars(module)["__getattr__"] = _module_getattr(module, names)
        elif package == module.__name__ and not isinstance(owner := vars(module).get(last), ModuleType | None):
            keywords = {old.removesuffix("="): new for old, new in names.items() if old.endswith("=")}
            if not isinstance(owner, type):
                setattr(module, last, _with_old_keywords(owner, keywords))
                continue
            for old in names.keys() - {f"{keyword}=" for keyword in keywords}:
                setattr(owner, old, property(functools.partial(_member, old=old, new=names[old], keywords=keywords)))
            if keywords:
                setattr(owner, "__init__", _with_old_keywords(vars(owner)["__init__"], keywords))  # noqa: B010


def _module_getattr(module: ModuleType, names: Mapping[str, str]) -> Callable[[str], Any]:
    otherwise = vars(module).get("__getattr__")

    def member(name: str) -> Any:
        if name in names:
            home, _, last = names[name].rpartition(".")
            new = names[name] if home or isinstance(names[name], Gone) else f"{module.__name__}.{last}"
            _report(f"{module.__name__}.{name}", new, ImportError)
            return getattr(importlib.import_module(home) if home else module, last)
        if otherwise is not None:
            return otherwise(name)
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    return member


def _member(instance: Any, old: str, new: str, keywords: Mapping[str, str]) -> Any:
    kind = type(instance).__name__
    _report(f"{kind}.{old}", new if "." in new or isinstance(new, Gone) else f"{kind}.{new}", AttributeError)
    home, _, last = new.rpartition(".")
    value = getattr(importlib.import_module(home), last)(instance) if home else getattr(instance, new)
    return _with_old_keywords(value, keywords) if callable(value) else value


def _with_old_keywords(function: Callable[..., Any], names: Mapping[str, str]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        for old in names.keys() & keywords:
            _report(f"{old}=...", names[old] if isinstance(names[old], Gone) else f"{names[old]}=...", TypeError)
            keywords[names[old]] = keywords.pop(old)
        return function(*arguments, **keywords)

    return call
