"""A film shows what was done, with its sound."""

from pathlib import Path

import imageio.v3 as imageio
import imageio_ffmpeg
import numpy as np
import pytest

from nsrecover.core.actions import Action, Plan
from sim.film import SIZE, Act, Footage, Script, listenable, sounding, still, write_film
from sim.kitchen.sounding import microphone_in
from sim.kitchen.tasks import draw_task
from sim.kitchen.world import KitchenWorld
from sim.sound.events import SoundKind

TAP = Action("toggle_on", ("faucet",))
FRAMES_A_SECOND = 2.0


@pytest.fixture(scope="module")
def footage() -> Footage:
    """The tap is turned on."""
    spec = draw_task("boil water", 0)
    footage = Footage(Script("tap", spec, Plan((TAP,))), acts=[Act(TAP, 0.0, 0.0, "the hand is full", ("late",))])
    with KitchenWorld(
        spec.kitchen,
        on_frame=lambda world: footage.frames.append(still(world, 0)),
        frame_steps=round(200 / FRAMES_A_SECOND),
        microphone=microphone_in(spec.kitchen, spec.seed),
    ) as world:
        assert world.hearing is not None
        footage.start_s = world.hearing.soundscape.heard_until_s
        world.execute(TAP)
        footage.sound, footage.rate_hz = world.hearing.listen()
        footage.events, footage.verdict = world.hearing.soundscape.events, footage.script.verdict(world)
    return footage


def test_a_film_has_pictures_and_a_sound_track_of_the_same_length(footage: Footage, tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    write_film(footage, FRAMES_A_SECOND, path)
    frames, seconds = imageio_ffmpeg.count_frames_and_secs(str(path))
    assert frames == pytest.approx(len(footage.frames), abs=2)
    assert seconds == pytest.approx(footage.seconds, abs=1.0)
    first = imageio.imread(path, index=1)
    assert first.shape == (SIZE[1], SIZE[0], 3)
    caption = first[-96:].astype(int)
    assert ((caption[..., 0] > 150) & (caption[..., 2] < 150)).sum() > 50, "what went wrong is red"
    assert b"mp4a" in path.read_bytes()
    assert footage.verdict.startswith("goal missed: ")
    assert footage.acts[0].words == "turn on the faucet"


def test_a_caption_names_what_is_heard(footage: Footage) -> None:
    (water,) = [event for event in footage.events if event.kind is SoundKind.RUNNING_WATER]
    assert "running_water" in sounding(footage, water.start_s + 0.5)
    assert "running_water" not in sounding(footage, water.start_s - 0.5)
    assert "fridge_hum" not in sounding(footage, water.start_s)


def test_quiet_and_loud_sounds_can_both_be_heard() -> None:
    rng = np.random.default_rng(0)
    samples = 0.001 * rng.standard_normal(16_000).astype(np.float32)
    samples[100] = 1.0
    louder = listenable(samples)
    assert 0.05 < float(np.std(louder)) < 0.5
    assert np.abs(louder).max() <= 0.6 + 1e-6
    assert not listenable(np.zeros(10, np.float32)).any()
