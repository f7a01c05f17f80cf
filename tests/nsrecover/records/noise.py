"""Recordings of noise, to be stored and read again."""

from dataclasses import replace

import numpy as np

from nsrecover.core import Action, Camera, Observation, Plan
from nsrecover.records.recording import Recording

PLAN = Plan(
    (Action("top", ("red cube", "blåe die")), Action("free", ("red cube",), (0.5, 0.1, 0.02, 0.04, 0.08, 0.04)))
)


def observation(seed: int, height: int = 12) -> Observation:
    rng = np.random.default_rng(seed)
    return Observation(
        rgb=rng.integers(0, 256, (2, height, 16, 3), dtype=np.uint8),
        depth_m=rng.uniform(0.0, 3.0, (2, height, 16)).astype(np.float32),
        instances=rng.integers(0, 4, (2, height, 16), dtype=np.int32),
        cameras=tuple(Camera(np.eye(3, dtype=np.float32) * (seed + 1), np.eye(4, dtype=np.float32), n) for n in "lr"),
        labels={1: "red cube", 2: "blåe die"},
        gripper_opening_m=0.01 * seed,
        holding=seed % 2 == 1,
        time_s=1.5 * seed,
    )


def recorded(seed: int = 0) -> Recording:
    notes = {"seed": seed, "grüße": ["é", 1], "scene": {"objects": [1, 2]}}
    return Recording(PLAN, tuple(observation(seed + t) for t in range(3)), notes)


def heard(seed: int = 0, samples: tuple[int | None, ...] = (None, 1000, 0)) -> Recording:
    """With audio of some lengths; None: without."""
    steps = {t: np.random.default_rng(n).integers(-32_768, 32_768, n) for t, n in enumerate(samples) if n is not None}
    audio = {t: (each / 32_768).astype(np.float32) for t, each in steps.items()}
    return changed(recorded(seed), **{f"at_{t}": {"audio": each, "audio_rate_hz": 16_000} for t, each in audio.items()})


def changed(recording: Recording, **at: dict[str, object]) -> Recording:
    """The recording with other fields of some observations: `at_1={"time_s": 2.0}`."""
    seen = list(recording.observations)
    for name, fields in at.items():
        number = int(name.removeprefix("at_"))
        seen[number] = replace(seen[number], **fields)
    return replace(recording, observations=tuple(seen))


def assert_same(one: Recording, other: Recording) -> None:
    assert (one.plan, dict(one.notes)) == (other.plan, dict(other.notes))
    assert [action.target for action in one.plan] == [action.target for action in other.plan]
    for a, b in zip(one.observations, other.observations, strict=True):
        for name in (
            "rgb",
            "instances",
            "labels",
            "gripper_opening_m",
            "holding",
            "time_s",
            "shared_ids",
            "audio_rate_hz",
        ):
            np.testing.assert_equal(getattr(a, name), getattr(b, name))
        assert (a.audio is None) == (b.audio is None)
        np.testing.assert_array_equal(a.audio, b.audio)
        assert (a.depth_m.dtype, a.instances.dtype) == (np.float32, np.int32)
        np.testing.assert_allclose(a.depth_m, b.depth_m, atol=5.1e-5)
        for mine, theirs in zip(a.cameras, b.cameras, strict=True):
            assert mine.name == theirs.name
            np.testing.assert_array_equal(mine.intrinsics, theirs.intrinsics)
