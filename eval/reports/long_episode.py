"""A long episode on a crowded table, with photographs: towers are built and taken down, and a person moves a block."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import count, islice, pairwise

import numpy as np

import nsrecover
from eval.common import video
from nsrecover.core.actions import Action, Plan
from nsrecover.core.episode import Episode, StepRecord
from nsrecover.core.scene import Box, FloatArray, SceneGraph
from nsrecover.errors import InvalidConfiguration
from nsrecover.reports.media import Clip, Media, Photo
from sim.tabletop.faults.displaced import Displaced
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.placing import true_graph
from sim.tabletop.sampling import sample_scene
from sim.tabletop.world import TabletopWorld

TOWER = 4
"""Most objects in a tower."""
PHOTO_SIZE = (400, 300)
"""Pixels, as in the demo."""
RATE_HZ = 16_000
OFFSET_M = (0.05, 0.05)
"""How far the person moves the block."""


class _Table:
    """The simulator as a world of scene graphs, with a photograph after every action."""

    def __init__(self, world: TabletopWorld) -> None:
        self._world = world
        self.before = self.after = self.photo()

    def photo(self) -> Photo:
        """A photograph of the objects."""
        return Photo(self._world.render(*PHOTO_SIZE, video.PHOTO_VIEW), video.PHOTO_VIEW.camera(*PHOTO_SIZE))

    def observe(self) -> SceneGraph:
        """The exact boxes."""
        return true_graph(self._world.estimates())

    def execute(self, action: Action) -> None:
        """Carry out an action."""
        self.before = self.after
        self._world.execute(action)
        self.after = self.photo()


def check_size(objects: int, steps: int, sound_s: float) -> None:
    """Refuse numbers that are too small for a long episode."""
    if objects < 2 or steps < 1 or sound_s < 0:
        raise InvalidConfiguration(
            f"expected at least 2 objects and 1 step and no negative sound_s, found {objects}, {steps} and {sound_s}"
        )


def long_episode(objects: int, steps: int, sound_s: float, seed: int) -> tuple[Episode, list[Media]]:
    """Carry out a long plan without an arm; halfway a person moves a block.

    Args:
        objects: how many are on the table.
        steps: actions of the plan; the recovery adds some.
        sound_s: length of the sound of every turn, seconds. It is noise: a WAV file of it is as large as of any other
            sound. 0: none.
        seed: of the scene and the noise.

    Raises:
        InvalidConfiguration: the table has no room.
    """
    rng = np.random.default_rng(seed)
    scene = sample_scene(rng, objects, seed=seed)
    media = []
    with TabletopWorld(scene, fidelity=Fidelity.KINEMATIC, seed=seed) as empty:
        plan = Plan(tuple(islice(_actions(true_graph(empty.estimates())), steps)))
    # the last object is on the table or on top of its tower
    fault = Displaced(steps // 2, scene.names[-1], OFFSET_M)
    with TabletopWorld(scene, (fault,), plan=plan, fidelity=Fidelity.KINEMATIC, seed=seed) as world:
        table = _Table(world)

        def keep(record: StepRecord) -> None:
            noise = (0.1 * rng.standard_normal(round(sound_s * RATE_HZ))).clip(-1, 1).astype(np.float32)
            media.append(Media(table.before, table.after, Clip(noise, RATE_HZ) if sound_s else None))

        episode = nsrecover.RecoveryAgent(nsrecover.geometric(), table).run(plan, keep)
    return episode, media


def _actions(start: SceneGraph) -> Iterator[Action]:
    """Build towers and take them down again, over and over, each time in another order."""
    places: dict[str, Box] = {name: _box(box) for name, box in zip(start.names, start.boxes, strict=True)}
    for shift in count():
        names = deque(start.names)
        names.rotate(shift)
        towers = [list(names)[i : i + TOWER] for i in range(0, len(names), TOWER)]
        build = [Action("top", (upper, lower)) for tower in towers for lower, upper in pairwise(tower)]
        yield from build
        yield from (Action("free", each.arguments[:1], places[each.arguments[0]]) for each in reversed(build))


def _box(values: FloatArray) -> Box:
    x, y, z, length, width, height = map(float, values)
    return (x, y, z, length, width, height)
