"""WAV files are read as they were written, or refused with a clear error."""

import io
import wave

import numpy as np
import pytest

from nsrecover.errors import InvalidObservation
from nsrecover.records.wav import read_wav, wav_bytes
from nsrecover.serving import client

TONE = (0.5 * np.sin(np.arange(1600) / 5)).astype(np.float32)


def _wav(channels=1, width=2, rate=16_000, data=b"\0\0" * 100):
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(data)
    return buffer.getvalue()


@pytest.mark.parametrize("encode", [wav_bytes, client.wav])
def test_what_is_written_is_read_back(encode):
    samples, rate = read_wav(encode(TONE, 44_100))
    assert (samples.dtype, rate) == (np.float32, 44_100)
    np.testing.assert_allclose(samples, TONE, atol=0.51 / 32_768)
    assert read_wav(encode(np.array([-1.0, 1.0], np.float32), 8_000))[0].tolist() == [-1.0, 32_767 / 32_768]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "expected a WAV file with PCM samples, found 0 bytes"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "found 108 bytes of something else"),
        (_wav()[:30], "something else"),
        (_wav()[:-20], "expected a whole WAV file, found 90 of 100 samples"),
        (_wav(channels=2), "1 channel of 16 bits, found 2 of 16"),
        (_wav(width=1), "1 channel of 16 bits, found 1 of 8"),
        (_wav(rate=100), "4000 to 384000 samples a second, found 100 samples at 100"),
        (_wav(rate=16_000, data=bytes(2 * 16_000 * 3)), "expected at most 2 s .* found 48000 samples at 16000"),
    ],
)
def test_other_files_are_refused(data, said):
    with pytest.raises(InvalidObservation, match=said):
        read_wav(data, max_s=2.0)


def test_damaged_files_raise_nothing_else():
    rng = np.random.default_rng(0)
    whole = bytearray(_wav())
    refused = 0
    for _ in range(500):
        damaged = bytearray(whole)
        for place in rng.integers(0, 44, 3):
            damaged[place] = int(rng.integers(256))
        try:
            read_wav(bytes(damaged))
        except InvalidObservation:
            refused += 1
    assert 0 < refused < 500  # some are refused, some are still sound, and no other error comes out
