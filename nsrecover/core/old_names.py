"""The tables of old public names; `nsrecover.core.deprecation` serves them."""

from __future__ import annotations

from collections.abc import Mapping


class Gone(str):
    """What to use instead of a name that no longer exists: the text of an error."""


INTERNAL = Gone("nothing: it was internal")


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
    "nsrecover.explain.logs.household_operators": "nsrecover.domains.household.domain",
    "nsrecover.explain.logs.household": "nsrecover.explanation.logs.run",
    "nsrecover.explain.logs.judging": "nsrecover.explanation.logs.rewording",
    "nsrecover.explain.logs.reading": "nsrecover.explanation.logs.format",
    "nsrecover.explain.logs.report": "nsrecover.explanation.logs.templates",
    "nsrecover.explain.logs.telling": "nsrecover.explanation.logs.templates",
    "nsrecover.explain.logs.wording": "nsrecover.explanation.logs.rewording",
    "nsrecover.explain.logs.writing": "nsrecover.explanation.logs.format",
    "nsrecover.explain.logs.names": "nsrecover.domains.household.names",
    "nsrecover.explain.logs.state": "nsrecover.domains.household.scene",
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
    "nsrecover.integrations.server.events": "nsrecover.integrations.server.sessions",
    "nsrecover.integrations.server.page": "nsrecover.integrations.server.app",
    "nsrecover.integrations.server.schema": "nsrecover.integrations.server.app",
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


def _field(**names: str) -> dict[str, str]:
    """A renamed attribute that is a keyword of the constructor, too."""
    return names | {f"{old}=": new for old, new in names.items()}


_LANGUAGE_MODEL = "nsrecover.explanation.language_model"

NAMES: dict[str, Mapping[str, str]] = {
    "nsrecover": {"Culprit": "Deviation"},
    "nsrecover.core": {"Culprit": "Deviation"},
    "nsrecover.core.actions.Trace": {"joined_by": "with_objects_of"},
    "nsrecover.core.atomic_write": {"written_whole": "atomic_write"},
    "nsrecover.core.discrepancy.Discrepancy": {
        **_field(culprits="deviations"),
        "culprit_names": "deviating",
        "violated": Gone("unmet, which holds facts, or the texts nsrecover.explanation.violated_texts(discrepancy)"),
        "violated=": Gone("unmet=, which holds facts"),
    },
    "nsrecover.core.recovery.Recovery": {"reason": "nsrecover.explanation.reason_text", "reason=": "note"},
    "nsrecover.core.scene.SceneGraph": {**_field(hidden="occluded"), "joined_by": "with_objects_of"},
    "nsrecover.domains.household.domain": {
        "Change": Gone("nsrecover.domains.base.Effect"),
        "HOUSEHOLD_OPERATORS": Gone("HOUSEHOLD.operators"),
        "HouseholdOperator": Gone("nsrecover.domains.base.Operator"),
        "Need": Gone("nsrecover.domains.base.Formula"),
        "apply": "nsrecover.domains.household.scene.apply",
        "operator_of": Gone("Household.operator"),
        "settle": Gone("Household.settle"),
        "unmet": "nsrecover.domains.household.scene.unmet",
    },
    "nsrecover.domains.household.scene": {
        "basins": Gone("Household.having(Trait.BASIN)"),
        "matching": Gone("Household.holds with a formula of nsrecover.domains.base"),
        "on_it": Gone("contents, or Household.holds with a formula of nsrecover.domains.base"),
    },
    "nsrecover.domains.tabletop.operators": dict.fromkeys(("Beside", "Stack", "ToTarget"), _DECLARED),
    "nsrecover.domains.tabletop.operators.operator_of": {"operators=": Gone("operator_of of a SpatialDomain")},
    "nsrecover.domains.tabletop.relations": {"stands_beside": Gone("beside")},
    "nsrecover.errors": {"told_in_one_line": "cli_errors"},
    "nsrecover.explanation": {"Register": "Audience", "realise": "verbalize"},
    "nsrecover.explanation.audience": {"Register": "Audience", "Voice": "Phrasing", "doing": "participle"},
    "nsrecover.explanation.audience.Phrasing": {
        **_field(register="audience"),
        "one_of": "choose",
        "told": "step_with_action",
    },
    "nsrecover.explanation.counterfactuals": {
        "Course": Gone("Moves"),
        "Whereabouts": "Location",
        "shortest": Gone("shortest_moves, which returns Moves"),
    },
    "nsrecover.explanation.episodes.report_of_episode": {"register=": "audience"},
    "nsrecover.explanation.facts.facts_of": {"operators=": Gone("domain=")},
    "nsrecover.explanation.grammar": {"unkept": "not_achieved"},
    "nsrecover.explanation.grounded.GroundedExplainer": {
        **_field(register="audience"),
        "operators": Gone("domain"),
        "operators=": Gone("domain="),
    },
    f"{_LANGUAGE_MODEL}.entailment": {"Knowledge": "Entailment", "knowledge_of": "entailed_by"},
    f"{_LANGUAGE_MODEL}.failure_rules": {
        "FAILURE_RULES": Gone("failure_rules(operators)"),
        "RELATIONS": Gone("Words.relation of the operators of a domain"),
    },
    f"{_LANGUAGE_MODEL}.judge": {"Verdict": "Judgement"},
    f"{_LANGUAGE_MODEL}.judge.Judge": _field(knowledge="known", reader="parser"),
    f"{_LANGUAGE_MODEL}.parser": {
        "Kind": f"{_LANGUAGE_MODEL}.sentence_rules.Topic",
        "MARK": f"{_LANGUAGE_MODEL}.vocabulary.MARK",
        "Masked": f"{_LANGUAGE_MODEL}.vocabulary.MaskedText",
        "Place": f"{_LANGUAGE_MODEL}.sentence_rules.Position",
        "Reader": "Parser",
        "Rule": f"{_LANGUAGE_MODEL}.sentence_rules.SentenceRule",
        "Said": f"{_LANGUAGE_MODEL}.sentence_rules.RuleMatch",
        "Says": f"{_LANGUAGE_MODEL}.sentence_rules.ClaimMaker",
        "claim": f"{_LANGUAGE_MODEL}.sentence_rules.claim",
        "digits": INTERNAL,
        "each": f"{_LANGUAGE_MODEL}.sentence_rules.each",
        "rule": Gone("rules_of of sentence_rules"),
        "sentences_of": f"{_LANGUAGE_MODEL}.vocabulary.sentences_of",
    },
    f"{_LANGUAGE_MODEL}.prompting": {
        "Reflect": "ReflectPrompt",
        "Strategy": "PromptStrategy",
        "Structured": "StructuredPrompt",
        "Wording": "PromptTemplate",
        "wording": "prompt_template",
    },
    f"{_LANGUAGE_MODEL}.recovery_rules": {"RECOVERY_RULES": Gone("recovery_rules(operators)")},
    f"{_LANGUAGE_MODEL}.rewording": {"Worded": "Reworded", "word": "reword"},
    f"{_LANGUAGE_MODEL}.rewording.reword": {"case=": "task"},
    f"{_LANGUAGE_MODEL}.rewording_task": {"Case": "RewordingTask", "Story": "RobotExperience", "case_of": "task_of"},
    f"{_LANGUAGE_MODEL}.rewording_task.RewordingTask": _field(story="experience"),
    "nsrecover.explanation.logs": {"Kind": "FailureKind", "Register": "Audience", "tell": "verbalize"},
    "nsrecover.explanation.logs.correction": dict.fromkeys(
        ("DEPTH", "ROUNDS", "WORK", "fetched_again", "shortened", "tidied"),
        Gone("nsrecover.planning.symbolic.domain_model.solve"),
    ),
    "nsrecover.explanation.logs.findings": {"KINDS": Gone("FailureKind"), "Kind": "FailureKind"},
    "nsrecover.explanation.logs.format": {"told": "seen_text"},
    "nsrecover.explanation.logs.run": {
        "is_kind_word": "nsrecover.domains.household.kinds.is_category",
        "slice_of": "nsrecover.domains.household.names.slice_of",
    },
    "nsrecover.explanation.logs.questions.ask_log": {"register=": "audience"},
    "nsrecover.explanation.logs.rewording.household_case": {"register=": "audience"},
    "nsrecover.explanation.logs.rewording.reworded": {"register=": "audience"},
    "nsrecover.explanation.logs.subgoals": {"Check": INTERNAL, "Verdict": "CheckResult"},
    "nsrecover.explanation.logs.templates": {"tell": "verbalize"},
    "nsrecover.explanation.logs.templates.report_of": {"register=": "audience"},
    "nsrecover.explanation.logs.templates.verbalize": {"register=": "audience"},
    "nsrecover.explanation.questions.ask": {"register=": "audience"},
    "nsrecover.explanation.templates": {"realise": "verbalize"},
    "nsrecover.explanation.templates.verbalize": {"register=": "audience"},
    "nsrecover.integrations": {"missing": Gone("nsrecover.core.extras.needs_extra")},
    "nsrecover.integrations.behaviour_trees": {
        "Course": "PlanExecution",
        "TreeWorld": "nsrecover.core.protocols.World",
        "told": Gone("feedback_message of AsExpected"),
    },
    **{
        f"nsrecover.integrations.behaviour_trees.{name}": {"course=": "execution"}
        for name in ("AsExpected", "FindWayBack", "follow_plan", "next_action", "recovery_subtree")
    },
    "nsrecover.integrations.gym_world": {"AnyWorld": "nsrecover.core.protocols.World", "Outcome": "StepResult"},
    "nsrecover.integrations.plan_execution": {
        "Course": "PlanExecution",
        "TreeWorld": "nsrecover.core.protocols.World",
    },
    "nsrecover.integrations.plan_execution.PlanExecution": {
        "following": "next_action",
        "done": "num_executed",
        "look": "observe",
        "attempted": "mark_attempted",
    },
    "nsrecover.integrations.server.sessions": {"Event": INTERNAL},
    "nsrecover.integrations.server.app": {
        "STYLE": INTERNAL,
        "create_app": "nsrecover.integrations.server.create_app",
    },
    "nsrecover.integrations.server.routes": dict.fromkeys(
        ("CountedRequest", "CountedRoute", "Recover", "When"), INTERNAL
    ),
    "nsrecover.integrations.server.service": {"out_of_turn": INTERNAL},
    "nsrecover.integrations.server.watch": {"Kind": "InputKind", "Look": "StepResult"},
    "nsrecover.integrations.unified_planning": {
        "told": "plan_repair",
        "to_strips": Gone("nsrecover.integrations.unified_planning.grounding.Grounded"),
    },
    "nsrecover.models.bundle.Bundle": {"predict_all": "predict"},
    "nsrecover.models.free_place": {
        "MUCH_PADDING": INTERNAL,
        "checked_place": Gone("find_free_place"),
        "find_free_places": Gone("find_free_place"),
    },
    "nsrecover.models.free_space": {"TOLD": "TOKEN_SIZE"},
    "nsrecover.monitoring.monitor.Monitor": {
        **_field(done="num_executed"),
        "follow": "set_plan",
        "following": "next_action",
    },
    "nsrecover.perception.memory.Memory": _field(hidden="occluded"),
    "nsrecover.perception.perceiver.ScenePerceiver": {"bundle=": "appearance"},
    "nsrecover.planning.alternative_trace": {"standing_course": "alternative_trace"},
    "nsrecover.planning.batch": {"Problem": Gone("nsrecover.planning.neural_model.NeuralModel")},
    "nsrecover.planning.lazy": {"LazyFrontier": "LazySearchTree"},
    "nsrecover.planning.neural_model.NeuralModel": {**_field(free_places="placement_sampler"), "courses=": "traces"},
    "nsrecover.planning.placement": {"FreePlaces": "PlacementSampler"},
    "nsrecover.planning.places": {"meeting": Gone("pairwise"), "shared_footprint": INTERNAL},
    "nsrecover.planning.planner": {
        "FreePlaces": "nsrecover.planning.placement.PlacementSampler",
        "realise": "nsrecover.planning.refine.refine",
        "standing_course": "nsrecover.planning.alternative_trace.alternative_trace",
    },
    "nsrecover.planning.planner.RecoveryPlanner": _field(bundle="models", free_places="placement_sampler"),
    "nsrecover.planning.refine": {
        "realise": "refine",
        **dict.fromkeys(("Searched", "another_height", "realised", "rested", "slip"), INTERNAL),
    },
    "nsrecover.planning.search": {
        "Ending": "nsrecover.core.recovery.ReasonCode",
        **{name: f"nsrecover.planning.search_tree.{name}" for name in ("EVERY", "GREEDY_WEIGHT", "PHASE_EXPANSIONS")},
    },
    "nsrecover.planning.search_tree": {"Ending": "nsrecover.core.recovery.ReasonCode", "Frontier": "SearchTree"},
    "nsrecover.planning.search_tree.SearchResult": _field(ending="reason_code"),
    "nsrecover.planning.subgoals": {"considered": "chosen_subgoals", "done_by": "steps_expected"},
    "nsrecover.planning.subgoals.chosen_subgoals": {"courses=": "traces"},
    "nsrecover.planning.symbolic": {
        name: f"nsrecover.planning.symbolic.repair.{name}" for name in ("LEAST_COST", "NEARNESS", "SUBGOALS_CONSIDERED")
    },
    "nsrecover.planning.symbolic.repair.Repair": {
        **_field(ending="reason_code"),
        "reason": Gone("reason_code and blamed"),
        "reason=": Gone("reason_code= and blamed="),
    },
    "nsrecover.records.explain_file": {"Words": "Rewording"},
    "nsrecover.records.explain_file.explain_file": {"register=": "audience"},
    "nsrecover.testing": {
        "MakeWorld": "nsrecover.testing.kit.MakeWorld",
        "NOWHERE": "nsrecover.testing.examination.NOWHERE",
    },
    "nsrecover.testing.lifted": {"Look": "LiftedObservation", "take": "lift"},
    "nsrecover.testing.lifted.graph_of": {"look=": "lifted"},
    "nsrecover.testing.observation_rules": {
        "agreeing": "check_agreement",
        "depth": "check_depth",
        "fields": "check_fields",
        "intrinsics": "check_intrinsics",
        "placed": "check_table",
        "rigid": "check_poses",
        "sizes": "check_sizes",
        "valid": "check_type",
    },
    "nsrecover.testing.probe_actions": {
        "choose": "choose_action",
        "impossible": "unreachable_action",
        "kept": "promise_holds",
        "put_at": "action_back_to",
    },
    "nsrecover.testing.rules": {"Book": "RuleLog"},
}
"""Module, class or function -> old name of a member -> new name; a dotted new name is in another module.

An old name that ends in `=` is a keyword of the class or function. For an attribute of a class, a dotted new name is a
function of the instance.
"""
