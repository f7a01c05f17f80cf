"""Effects are learned from demonstrations of conventions that they have not been told."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import nsrecover
from nsrecover import Action, Plan
from nsrecover.core.geometry import as_box
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.errors import InvalidCheckpoint, InvalidConfiguration
from nsrecover.models.effects import effect as effect_module
from nsrecover.models.effects.context import Shown
from nsrecover.models.effects.effect import LearnedEffect, fit
from nsrecover.models.effects.law import Cases
from nsrecover.models.effects.operator import learn, operators_in, with_operators
from sim.datasets.own_operators.conventions import Boxes, Convention, convention
from sim.datasets.own_operators.scenes import demonstrations, episode, noisy

SEED = 3


def shown(world: Convention, number: int, count: int, seed: int = SEED) -> list[Shown]:
    """Demonstrations of a world."""
    return [
        Shown(nsrecover.scene_of_boxes(each.before), each.arguments, as_box(each.after[each.arguments[0]]))
        for each in demonstrations(seed, number, world, count)
    ]


@pytest.mark.parametrize("number", [1, 3, 4, 12, 14, 16, 17])
def test_fifty_demonstrations_are_enough(number: int) -> None:
    world, rng = convention(SEED, number), np.random.default_rng(0)
    effect, errors = fit(shown(world, number, 50)), []
    for plan in (episode(SEED, number, world, index) for index in range(10)):
        for before, after, arguments in zip(plan.scenes, plan.scenes[1:], plan.actions, strict=False):
            imagined = effect(nsrecover.scene_of_boxes(noisy(rng, before)), Action("place", arguments))
            errors.append(float(np.linalg.norm(np.array(imagined[:3]) - after[arguments[0]][:3])))
    assert np.median(errors) < 0.005
    assert np.median(effect.errors_m) < 0.006
    assert effect.relative == (number in (3, 16, 17))


def across(boxes: Boxes, arguments: Sequence[str]) -> np.ndarray:
    """As far behind the middle of the table as the second one is before it."""
    box, other = boxes[arguments[0]].copy(), boxes[arguments[1]]
    box[:3] = 1.3 - other[0], other[1], box[5] / 2
    return box


def by_footprint(boxes: Boxes, arguments: Sequence[str]) -> np.ndarray:
    """Left of what covers less of the table, else right of it."""
    box, other = boxes[arguments[0]].copy(), boxes[arguments[1]]
    side = 1 if box[3] * box[4] > other[3] * other[4] else -1
    box[:3] = other[0], other[1] + side * ((box[4] + other[4]) / 2 + 0.03), box[5] / 2
    return box


@pytest.mark.parametrize("place", [across, by_footprint])
def test_a_place_may_be_mirrored_and_a_side_may_depend_on_which_one_is_larger(place: Callable) -> None:
    world = Convention("another", place)
    effect, more = fit(shown(world, 0, 80)), shown(world, 1, 30)
    found = effect.boxes([(each.graph, each.arguments) for each in more])
    errors = np.linalg.norm(found[:, :3] - np.array([each.after for each in more])[:, :3], axis=1)
    assert np.mean(errors < 0.012) > 0.8
    assert not effect.relative


def test_one_argument_counts_from_the_place_before() -> None:
    world = convention(SEED, 16)
    operator = learn("push", shown(world, 16, 30))
    system = nsrecover.geometric(domain=with_operators(TABLETOP, [operator]))
    boxes = {"red cup": np.array([0.6, 0.1, 0.05, 0.06, 0.06, 0.1])}
    plan, pushed = Plan.parse("push(red cup)"), {"red cup": world.place(boxes, ("red cup",))}
    assert system.monitor(plan, boxes).step(plan[0], pushed).as_expected
    assert system.monitor(plan, boxes).step(plan[0], boxes).deviating == ("red cup",)
    graphs = [nsrecover.scene_of_boxes(each) for each in (boxes, pushed)]
    assert operator.achieved(graphs[0], graphs[1], plan[0])
    assert not operator.achieved(graphs[1], graphs[1], plan[0])


def test_it_is_kept_in_a_checkpoint(tmp_path: Path) -> None:
    operator = learn("serve", shown(convention(SEED, 7), 7, 40))
    domain = with_operators(TABLETOP, [operator])
    nsrecover.geometric(domain=domain).save(tmp_path)
    (again,) = operators_in(tmp_path)
    assert again == operator
    assert nsrecover.load(tmp_path).domain.operators["serve"] == operator
    with pytest.raises(InvalidConfiguration, match="not taken, found 'top'"):
        with_operators(TABLETOP, [learn("top", shown(convention(SEED, 0), 0, 12))])
    path = tmp_path / "operators" / "serve.json"
    path.write_text(path.read_text().replace('"coefficients"', '"others"'))
    with pytest.raises(InvalidCheckpoint, match="learn it again"):
        nsrecover.load(tmp_path)


def test_too_few_demonstrations_are_refused() -> None:
    with pytest.raises(InvalidConfiguration, match="at least 10"):
        fit(shown(convention(SEED, 0), 0, 9))


def test_where_no_law_fits_it_says_so_soon() -> None:
    rng = np.random.default_rng(1)
    random = [
        Shown(s.graph, s.arguments, (*rng.uniform(0.3, 0.9, 2), *s.after[2:]))
        for s in shown(convention(SEED, 8), 8, 200)
    ]
    before = time.process_time()
    effect = fit(random)
    assert time.process_time() - before < 5.0
    assert effect.spread_m > 0.1


def test_more_demonstrations_than_decide_on_the_form_leave_no_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effect_module, "STRUCTURE", 50)
    world = convention(0, 10)
    operator = learn("nest", shown(world, 10, 60, seed=0))
    assert isinstance(operator.place, LearnedEffect)
    assert isinstance(operator.place.law, Cases)
    law = operator.place.law
    while isinstance(law, Cases):  # the last one is for kinds that nobody has shown
        law = law.below
    assert 0.0 not in (law.first.coefficients[0], law.second.coefficients[0])
