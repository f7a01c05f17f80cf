"""Recordings of a microphone as WAV files: mono, 16 bits."""

import io
import struct
import wave

import numpy as np
import numpy.typing as npt

from nsrecover.core.observation import AUDIO_RATES_HZ
from nsrecover.errors import InvalidObservation
from nsrecover.records.arrays import AUDIO_STEPS


def wav_bytes(samples: npt.NDArray[np.float32], rate_hz: int) -> bytes:
    """Return the content of a WAV file.

    Args:
        samples: (S,) from -1 to 1.
        rate_hz: samples a second.
    """
    steps = np.clip(np.rint(np.asarray(samples, np.float64) * AUDIO_STEPS), -AUDIO_STEPS, AUDIO_STEPS - 1)
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate_hz)
        file.writeframes(steps.astype("<i2").tobytes())
    return buffer.getvalue()


def read_wav(data: bytes, label: str = "audio", max_s: float = 3600.0) -> tuple[npt.NDArray[np.float32], int]:
    """Decode an untrusted WAV file.

    Args:
        data: content of the file.
        label: name of the recording in errors.
        max_s: longest accepted recording, seconds.

    Returns:
        Samples (S,) float32 from -1 to 1, and their rate in hertz.

    Raises:
        InvalidObservation: the file is not WAV, damaged, too long, or not mono with 16 bits.
    """
    try:
        with wave.open(io.BytesIO(data), "rb") as file:
            channels, bits, rate_hz, frames = (
                file.getnchannels(), 8 * file.getsampwidth(), file.getframerate(), file.getnframes(),
            )  # fmt: skip
            content = file.readframes(frames)
    except (wave.Error, EOFError, struct.error, ValueError, RuntimeError, OverflowError, MemoryError) as problem:
        raise InvalidObservation(
            f"{label}: expected a WAV file with PCM samples, found {len(data)} bytes of something else ({problem}); "
            "write it mono with 16 bits"
        ) from problem
    if (channels, bits) != (1, 16):
        raise InvalidObservation(
            f"{label}: expected a WAV file with 1 channel of 16 bits, found {channels} of {bits}; convert it"
        )
    low, high = AUDIO_RATES_HZ
    if not low <= rate_hz <= high or frames > max_s * rate_hz:
        raise InvalidObservation(
            f"{label}: expected at most {max_s:g} s at {low} to {high} samples a second, found {frames} samples at "
            f"{rate_hz}; send what was heard since the last observation"
        )
    if len(content) != 2 * frames:
        raise InvalidObservation(
            f"{label}: expected a whole WAV file, found {len(content) // 2} of {frames} samples; send it again"
        )
    return np.frombuffer(content, "<i2").astype(np.float32) / np.float32(AUDIO_STEPS), rate_hz
