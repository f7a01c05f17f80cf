"""Films: an episode is carried out once, and shown with its pictures, captions, sound and events."""

import json
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import imageio.v3 as imageio
import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from nsrecover.core.actions import Plan
from nsrecover.errors import InvalidConfiguration
from sim.datasets.household import HouseholdEpisode, read_episodes
from sim.datasets.shipped import shipped_lines
from sim.film.command import FilmConfig, film, record_of, scripts_of
from sim.film.episodes import chosen, script_of
from sim.film.page import MOST_BYTES, write_page
from sim.film.script import Script
from sim.film.shooting import Footage, shoot
from sim.film.video import SIZE, listenable, sounding, write_film
from sim.kitchen.faults.people import Switched
from sim.kitchen.tasks import draw_task
from sim.sound.events import SoundKind
from tests.commands import run

TAP = Plan.parse("toggle_on(faucet); put_on(pot, sink)")


@pytest.fixture(scope="module")
def footage() -> Footage:
    """The tap is turned on; then the robot is to put something down that it does not hold."""
    spec = draw_task("boil water", 0)
    return shoot(Script("tap", spec, TAP), frames_a_second=2.0)


def test_footage_has_pictures_words_sound_and_events(footage: Footage) -> None:
    assert [act.text for act in footage.acts] == ["toggle_on(faucet)", "put_on(pot, sink)"]
    assert [act.words for act in footage.acts] == ["turn on the faucet", "put the pot on the sink"]
    assert [act.failure for act in footage.acts] == ["", "the hand does not hold the pot"]
    assert [still.number for still in footage.stills] == [-1, 0, 1]
    assert footage.acts[-1].end_s == pytest.approx(footage.start_s + footage.seconds - 1.5, abs=1e-3)
    assert len(footage.frames) == pytest.approx(2 * footage.seconds, abs=2)
    assert {SoundKind.RUNNING_WATER, SoundKind.CLICK, SoundKind.BASE_MOTOR} <= {event.kind for event in footage.events}
    assert footage.verdict.startswith("goal missed: ")
    assert footage.sound_cpu_s / footage.seconds < 0.5, "0.05 on an idle machine"


def test_a_film_has_pictures_and_a_sound_track_of_the_same_length(footage: Footage, tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    write_film(footage, 2.0, path)
    frames, seconds = imageio_ffmpeg.count_frames_and_secs(str(path))
    assert frames == pytest.approx(len(footage.frames), abs=2)
    assert seconds == pytest.approx(footage.seconds, abs=1.0)
    first = imageio.imread(path, index=1)
    assert first.shape == (SIZE[1], SIZE[0], 3)
    assert b"mp4a" in path.read_bytes()


def test_a_caption_names_what_is_heard(footage: Footage) -> None:
    (water,) = [event for event in footage.events if event.kind is SoundKind.RUNNING_WATER]
    assert "running_water" in sounding(footage, water.start_s + 0.5)
    assert "running_water" not in sounding(footage, water.start_s - 0.5)
    assert "fridge_hum" not in sounding(footage, water.start_s)


def test_a_page_is_small_and_shows_every_action(footage: Footage, tmp_path: Path) -> None:
    path = tmp_path / "page.jpg"
    write_page(footage, path)
    assert path.stat().st_size <= MOST_BYTES
    page = np.asarray(Image.open(BytesIO(path.read_bytes())).convert("RGB")).astype(int)
    red = (page[..., 0] > 150) & (page[..., 1] < 90) & (page[..., 2] < 90)
    assert red.sum() > 100, "the failed action and the missed goal are red"


def test_quiet_and_loud_sounds_can_both_be_heard() -> None:
    rng = np.random.default_rng(0)
    samples = 0.001 * rng.standard_normal(16_000).astype(np.float32)
    samples[100] = 1.0
    louder = listenable(samples)
    assert 0.05 < float(np.std(louder)) < 0.5
    assert np.abs(louder).max() <= 0.6 + 1e-6
    assert not listenable(np.zeros(10, np.float32)).any()


def test_an_episode_with_a_fault_shows_it(tmp_path: Path) -> None:
    spec = draw_task("boil water", 0, 0)
    fault = Switched(0, "faucet", True)
    episode = HouseholdEpisode("H1", 3, "T1", 0, 0, spec.plan, (fault,))
    (tmp_path / "H1").mkdir()
    (tmp_path / "H1" / "episodes.jsonl").write_text(episode.to_json() + "\n")
    assert chosen(tmp_path / "H1", []) == chosen(tmp_path / "H1", [3])
    (script,) = scripts_of(FilmConfig(dataset="H1", errors=str(tmp_path)))
    assert script.trouble.startswith(f"{fault.kind} at step 1: ")
    short = replace(script_of(episode), plan=Plan(spec.plan.actions[:1]))
    filmed = shoot(short, 0.0)
    assert filmed.acts[0].trouble == (fault.meaning,)
    assert not filmed.frames
    with pytest.raises(InvalidConfiguration, match="no number 7"):
        chosen(tmp_path / "H1", [7])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("task=boil_watr",), "did you mean 'boil water'"),
        ((), "expected either task=NAME"),
        (("task=T1", "dataset=H1"), "found both"),
        (("task=T1", "layout=99"), "expected a layout of 0 to"),
        (("task=T1", "frames_a_second=0"), "expected frames_a_second from 1 to 50"),
        (("dataset=H9",), "H9"),
    ],
)
def test_wrong_settings_are_one_line(arguments: tuple[str, ...], told: str) -> None:
    done = run("sim.film", *arguments)
    assert done.code == 2
    assert told.lower() in done.err.lower()
    assert len(done.err.strip().splitlines()) == 1


def test_what_is_there_is_not_made_again(footage: Footage, tmp_path: Path) -> None:
    spec = draw_task("boil water", 0)
    assert footage.script.spec == spec
    for ending in (".jpg", ".json"):
        (tmp_path / f"T1_boil_water-0{ending}").write_text(json.dumps(record_of(footage)))
    records = film(FilmConfig(task="T1", video=False, out=str(tmp_path)))
    assert records == [record_of(footage)]


def test_without_numbers_the_first_episode_of_every_kind_is_filmed(tmp_path: Path) -> None:
    (tmp_path / "episodes.jsonl").write_text("\n".join(shipped_lines("H2", 0, 6)))
    found = chosen(tmp_path, [])
    every = list(read_episodes(tmp_path))
    assert found[0] == every[0]
    assert len({episode.number for episode in found}) == len(found) <= 6
    assert {f.kind for e in found for f in e.faults} == {f.kind for e in every for f in e.faults}
