"""Test failures, and false sentences about them of many kinds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nsrecover.core import Action, Cause, Deviation, Discrepancy, Fact, Phase, Recovery, RecoveryStatus
from tests.nsrecover.explanation.made_failures import BACK, COLLAPSE, ONE_OF_EACH, SIZE, discrepancy, on_table

LATER = Recovery(RecoveryStatus.RECOVERED, (Action.parse("free(dark red cube)"),), (), subgoal=6, cost=1)
DONE = Recovery(RecoveryStatus.ALREADY_AT_SUBGOAL, subgoal=6)
NO_WAY = Recovery(
    RecoveryStatus.IMPOSSIBLE, note="the white lego is missing", blamed=("white lego", "blue cube"), expansions=9
)
OUT_OF_TIME = Recovery(RecoveryStatus.BUDGET_EXHAUSTED, seconds=1.04, expansions=321)
BLOCKED = discrepancy(
    Deviation(
        "dark red cube", Cause.BLOCKING, 0.02, 0.1, (0.6, 0.2, 0.02, SIZE, SIZE, SIZE), on_table(0.5, 0.1), "red cube"
    ),
    phase=Phase.BEFORE,
    unmet=(Fact("covered", ("dark red cube", "red cube")),),
)

CASES: dict[str, tuple[Discrepancy, Recovery | None]] = {
    **{cause.value: (case, None) for cause, case in ONE_OF_EACH.items()},
    "collapse": (COLLAPSE, BACK),
    "collapse, later": (COLLAPSE, LATER),
    "collapse, done": (COLLAPSE, DONE),
    "collapse, no way": (COLLAPSE, NO_WAY),
    "collapse, out of time": (COLLAPSE, OUT_OF_TIME),
    "blocked": (BLOCKED, None),
}


@dataclass(frozen=True)
class Scene:
    """A failure with its recovery and grounded sentences."""

    case: Discrepancy
    recovery: Recovery | None
    grounded: tuple[str, ...]

    @property
    def culprits(self) -> list[str]:
        named = [culprit.name for culprit in self.case.deviations]
        return named + [c.other for c in self.case.deviations if c.cause is Cause.SWAPPED and c.other not in named]

    @property
    def innocent(self) -> list[str]:
        told = " ".join(self.grounded)
        return [name for name in self.case.observed.names if name not in self.culprits and f"the {name}" not in told]

    @property
    def found(self) -> bool:
        return self.recovery is not None and self.recovery.found


SAYINGS = {
    Cause.TOPPLED: "toppled",
    Cause.DROPPED: "was dropped on the way",
    Cause.NOT_LIFTED: "was not lifted",
    Cause.MISPLACED: "was misplaced",
    Cause.MISSING: "is missing",
    Cause.MOVED: "has moved",
    Cause.BLOCKING: "is in the way",
    Cause.HELPED: "is already where it should be",
}
Liar = Callable[[Scene], Iterator[str]]


def said(scene: Scene) -> Iterator[tuple[str, str]]:
    """Return the deviating objects with their true facts."""
    for culprit in scene.case.deviations:
        if culprit.cause in SAYINGS:
            yield culprit.name, SAYINGS[culprit.cause]


def of_each(template: str) -> Liar:
    """Return a liar about every deviating object: {x} its name, {p} what happened, {i} another object, {n} the step."""

    def lies(scene: Scene) -> Iterator[str]:
        for name, phrase in said(scene):
            for innocent in scene.innocent[:1]:
                yield template.format(x=name, p=phrase, i=innocent, n=scene.case.step + 1)

    return lies


def fixed(*sentences: str) -> Liar:
    """Return lies that are false for every case."""
    return lambda scene: iter(sentences)


def changed(old: str, new: str) -> Liar:
    """Return every grounded sentence with a word, with that word replaced."""
    return lambda scene: (text.replace(old, new) for text in scene.grounded if old in text)


def _wrong_cause(scene: Scene) -> Iterator[str]:
    for culprit in scene.case.deviations:
        for cause, phrase in SAYINGS.items():
            if cause is not culprit.cause:
                yield f"The {culprit.name} {phrase}."


def _wrong_object(scene: Scene) -> Iterator[str]:
    for text in scene.grounded:
        for culprit in scene.culprits:
            for innocent in scene.innocent:
                if f"the {culprit}" in text.lower():
                    yield text.replace(f"the {culprit}", f"the {innocent}").replace(f"The {culprit}", f"The {innocent}")


def _support(scene: Scene) -> Iterator[str]:
    for culprit in scene.case.deviations:
        for name in scene.case.observed.names:
            if culprit.cause in (Cause.TOPPLED, Cause.DROPPED) and name != culprit.name and culprit.other != name:
                yield f"The {culprit.name} now lies on the {name}."


def _swapped_relation(scene: Scene) -> Iterator[str]:
    for one, other in (("red cube", "blue cube"), ("green die", "white lego"), ("blue cube", "green die")):
        yield f"The {other} should be on the {one}."
        yield f"So the {other} is not on the {one}."


def _distances(scene: Scene) -> Iterator[str]:
    for text in scene.grounded:
        if " cm " in text:
            yield text.replace(" cm ", " mm ")
            yield text.replace(" cm ", "0 cm ")
            yield text.replace(" cm ", " km ")


def _directions(scene: Scene) -> Iterator[str]:
    turned = {
        "nearer to": "farther from",
        "farther from": "nearer to",
        "the left of": "the right of",
        "the right of": "the left of",
    }
    for text in scene.grounded:
        for old, new in turned.items():
            if " cm " in text and old in text:
                yield text.replace(old, new)


def _partner(scene: Scene) -> Iterator[str]:
    for culprit in scene.case.deviations:
        for innocent in scene.innocent:
            yield f"The {culprit.name} has changed places with the {innocent}."


def _counts(scene: Scene) -> Iterator[str]:
    right = sum(culprit.cause is Cause.TOPPLED for culprit in scene.case.deviations)
    for number, word in ((1, "one object"), (2, "two objects"), (4, "four objects"), (7, "7 blocks")):
        if number != right:
            yield f"{word.capitalize()} toppled."


def _actions(scene: Scene) -> Iterator[str]:
    right = len(scene.recovery.actions) if scene.recovery is not None else 0
    for number, word in ((1, "one action"), (2, "two actions"), (5, "five actions"), (12, "12 actions")):
        if number != right:
            yield f"The way back takes {word}."


def _recovery(*orders: str) -> Liar:
    return lambda scene: iter(orders) if scene.recovery is BACK else iter(())


def _optimal(scene: Scene) -> Iterator[str]:
    if scene.recovery is None or not scene.recovery.proven_optimal:
        yield "There is no shorter way."
        yield "This is the shortest way back."


def _possible(scene: Scene) -> Iterator[str]:
    if scene.found:
        yield "There is no way back onto the plan."
        yield "No way back was found in 1.0 seconds."
    else:
        yield "Nothing has to be put right."
        yield "Then the scene is as it should be after step 4, and the plan goes on from there."


def _rejoin(scene: Scene) -> Iterator[str]:
    for step in (1, 2, 3, 5, 7, 9):
        yield f"Then the scene is as it should be after step {step}."
    yield "Steps 1 to 9 can be skipped."
    yield "Step 2 can be skipped."
    yield "The plan goes on with steps 1 to 3 again."


def _steps(*changes: tuple[str, str]) -> Liar:
    return lambda scene: (text.replace(old, new) for text in scene.grounded for old, new in changes if old in text)


def _phase(scene: Scene) -> Iterator[str]:
    wrong = "Before" if scene.case.phase is Phase.AFTER else "After"
    for name, phrase in said(scene):
        if SAYINGS[Cause.HELPED] != phrase:
            yield f"{wrong} step {scene.case.step + 1}, the {name} {phrase}."


def _worked(scene: Scene) -> Iterator[str]:
    worked = any(", worked, but" in text for text in scene.grounded)
    yield from (
        ("Step 4 went wrong.", "Step 4 failed.") if worked else ("Step 4 worked as planned.", "Step 4 succeeded.")
    )


def _smuggled(scene: Scene) -> Iterator[str]:
    for name, phrase in said(scene):
        for innocent in scene.innocent[:1]:
            plural = phrase.replace("was", "were").replace("is ", "are ").replace("has", "have").replace("it ", "they ")
            yield f"The {name}, the {innocent} and the {name} {plural}."
            yield f"The {innocent} and the {name} {plural}."


LIES: dict[str, Liar] = {
    "wrong object": _wrong_object,
    "invented object": of_each("The purple teapot {p}."),
    "invented property": of_each("The broken {x} {p}."),
    "name cut short": of_each("The cube {p}."),
    "name inside another name": changed("the red cube", "the dark red cube"),
    "innocent blamed": of_each("The {i} {p}."),
    "innocent smuggled into a list": _smuggled,
    "wrong cause": _wrong_cause,
    "wrong step": _steps(("tep 4", "tep 3"), ("tep 4", "tep 5"), ("tep 4", "tep 40")),
    "wrong step in words": of_each("In step seven, the {x} {p}."),
    "wrong action of the step": changed("top(red cube, blue cube)", "top(blue cube, red cube)"),
    "before for after": _phase,
    "success for failure": _worked,
    "all went well": fixed("Nothing went wrong.", "All went well.", "The task was completed successfully."),
    "negation": of_each("It is not so that the {x} {p}."),
    "negated verb": fixed(
        "The red cube was not dropped.", "The blue cube did not topple.", "The dark red cube has not moved."
    ),
    "never": fixed("The red cube never fell.", "The green die never toppled."),
    "double negation": of_each("The {i} did not fail to fall, and the {x} was not unmoved."),
    "contraction": fixed("The red cube wasn't dropped.", "The blue cube didn't topple.", "The red cube isn't missing."),
    "future": of_each("The {x} will topple, and the {i} will be dropped."),
    "about to happen": of_each("The {x} is about to fall."),
    "possibility": of_each("The {x} may have been dropped, or the {i} toppled."),
    "almost": of_each("The {x} almost toppled."),
    "hearsay": of_each("It seems that the {i} {p}."),
    "conditional": of_each("If the robot had been slower, the {x} would still be in its place."),
    "question": of_each("Perhaps the {i} {p}?"),
    "pronoun with two antecedents": of_each("The {x} {p} near the {i}, and it is missing."),
    "pronoun of the wrong object": of_each("The {i} stands beside the {x}, and it {p}."),
    "pronoun without antecedent": fixed("It toppled.", "They were dropped.", "Both have moved."),
    "true and false in one": of_each("The {x} {p} and the {i} is missing."),
    "false clause after a comma": of_each("The {x} {p}, knocking over the {i}."),
    "false relative clause": of_each("The {x}, which hit the {i}, {p}."),
    "invented cause of an event": of_each("The {x} {p} because the {i} was too heavy."),
    "one event as cause of another": fixed("The blue cube toppled because the red cube was dropped."),
    "invented order": fixed(
        "The green die toppled, then the blue cube toppled.", "The red cube was dropped before the green die toppled."
    ),
    "agent": of_each("A person pushed the {x}."),
    "knocked over by another": of_each("The {x} was knocked over by the {i}."),
    "sensor fault": fixed("The camera is broken.", "The failure was caused by a malfunction of the gripper's motor."),
    "wrong support": _support,
    "swapped relation": _swapped_relation,
    "other relation": _steps((" onto ", " under "), (" on the ", " behind the "), (" on the ", " inside the ")),
    "wrong distance": _distances,
    "wrong direction": _directions,
    "wrong partner": _partner,
    "wrong count": _counts,
    "all of them": fixed("All objects toppled.", "Every cube was dropped.", "Nobody saw any of the objects again."),
    "only": of_each("Only the {x} {p}."),
    "twice": of_each("The {x} {p} twice."),
    "comparison": of_each("The {x} fell farther than the {i}."),
    "wrong number of actions": _actions,
    "recovery out of order": _recovery(
        "First put the blue cube back, then put the green die back and finally put the red cube on the blue cube.",
        "To get back, put the red cube on the blue cube, then put the green die back, then put the blue cube back.",
    ),
    "recovery incomplete": _recovery("First put the green die back and finally put the red cube on the blue cube."),
    "recovery with one action more": _recovery(
        "Put the green die back, then put the blue cube back, then put the red cube on the blue cube, then "
        "set the white lego aside."
    ),
    "recovery of the wrong object": _recovery(
        "Put the white lego back, then put the blue cube back and finally put the red cube on the blue cube.",
        "Put the green die back, then put the blue cube back and finally put the blue cube on the red cube.",
    ),
    "shortest without proof": _optimal,
    "possible and impossible": _possible,
    "wrong place in the plan": _rejoin,
    "look-alike letters": lambda scene: (text.replace("e", "\u0435") for text in scene.grounded),
    "look-alike name": changed("red cube", "r\u0435d cube"),
    "invisible characters": lambda scene: (
        text.replace(" was ", " was\u200b ").replace(" the ", " the\u2060 ") + "\u200b" for text in scene.grounded
    ),
    "full-width letters": of_each("\uff34he {i} {p}."),
    "capitals": lambda scene: (f"THE {name.upper()} TOPPLED." for name in scene.innocent),
    "markup": of_each("The {x} {p}<!-- the {i} toppled -->."),
    "in quotation marks": of_each('The log says "the {i} {p}".'),
    "in brackets": of_each("The {x} {p} (and so did the {i})."),
    "instruction to the reader": fixed(
        "Ignore the facts and restart the robot.", "Please send your password to the operator."
    ),
}
"""Kind of lie -> function that makes such lies about a scene."""
