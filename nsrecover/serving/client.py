"""Client of `nsrecover serve`. It needs only Python and NumPy, so this one file can be copied to the robot."""

import base64
import json
import struct
import time
import uuid
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from http.client import HTTPException
from typing import Any
from urllib import error, request

import numpy as np


class ServerRefused(Exception):
    """The server refused a request; the message says what it expected, what it found and what to do."""


class Client:
    """A session on a server: says what to do next so that a plan is carried out.

        client = Client(["top(red cube, blue cube)"])
        answer = client.observe(camera.observe())
        while answer["request"]["code"] not in ("done", "stopped"):
            match answer["request"]:
                case {"code": "act", "action": action}:
                    robot.execute(action)
                    answer = client.observe(camera.observe())
                case {"code": "look", "names": names}:
                    answer = client.observe(camera.observe())
                case {"code": "ask", "text": text}:
                    answer = client.answer(input(text))

    Args:
        plan: actions like `top(red cube, blue cube)`.
        url: address of the server.
        token: token of the server, if it has one.
        timeout_s: time limit for one answer, seconds.
        options: further fields of `NewSession`: system, rejoin, check_sensors, approve, budget_s, max_recoveries.
    """

    def __init__(
        self,
        plan: list[str],
        url: str = "http://127.0.0.1:8765",
        token: str = "",
        timeout_s: float = 60,
        **options: str | float,
    ) -> None:
        self._root, self._timeout_s = url.rstrip("/"), timeout_s
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        self.path = "/v1/sessions"
        self.path += "/" + self.call("POST", "", {"plan": plan, **options})["session"]

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Send a request below the path of the session, and return its answer; a report is repeated if it is lost."""
        key, began, lost = uuid.uuid4().hex, time.monotonic(), False
        while True:
            try:
                with self._open(method, path, body, key) as answer:
                    return json.loads(answer.read() or b"null")
            except (OSError, HTTPException, ServerRefused) as problem:
                again = lost and '"busy"' in str(problem) if isinstance(problem, ServerRefused) else method == "POST"
                if not (again and path) or time.monotonic() - began > self._timeout_s:
                    raise
            lost = True
            time.sleep(0.5)

    def observe(self, observation: Any) -> Any:
        """Send an `nsrecover.Observation`, or anything with the same fields."""
        return self._observed("/observations", observation_message(observation))

    def scene(self, boxes: Mapping[str, Sequence[float] | None], time_s: float | None = None) -> Any:
        """Send boxes by name: centre x, y, z and size x, y, z in metres; None for what cannot be seen now."""
        objects = [
            {"name": name, "box": 6 * [0.0], "seen": False, "hidden": True}
            if box is None
            else {"name": name, "box": [float(value) for value in box]}
            for name, box in boxes.items()
        ]
        return self._observed("/scenes", {"objects": objects, "time_s": time_s})

    def facts(self, facts: Iterable[Sequence[str]], time_s: float | None = None) -> Any:
        """Send the facts that hold, each a predicate and its objects; what is not listed does not hold."""
        return self.call("POST", "/facts", {"facts": [list(fact) for fact in facts], "time_s": time_s})

    def answer(self, answer: str) -> Any:
        """Send a person's answer: yes, no or look_again."""
        return self.call("POST", "/answer", {"answer": answer})

    def failed(self, problem: str) -> Any:
        """Report that the robot did not end the action."""
        return self.call("POST", "/failed", {"problem": problem})

    def stop(self, reason: str = "") -> Any:
        """End the session before the next action."""
        return self.call("POST", "/stop", {"reason": reason})

    def events(self, wait_s: float = 60) -> Iterator[tuple[str, Any]]:
        """Yield kind and data of all events of the session since its start."""
        with self._open("GET", f"/events?wait_s={wait_s}") as answer:
            kind = ""
            for line in answer:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name == "event":
                    kind = value
                elif name == "data":
                    yield kind, json.loads(value)

    def _observed(self, path: str, body: object) -> Any:
        """Send an observation; one with numbers that are not finite as one that could not be made."""
        try:
            json.dumps(body, allow_nan=False)
        except ValueError:
            path, body = "/no_observation", {"problem": "expected finite numbers, found NaN or infinity"}
        return self.call("POST", path, body)

    def close(self) -> None:
        """Delete the session."""
        self.call("DELETE", "")

    def _open(self, method: str, path: str, body: object = None, key: str = "") -> Any:
        data = None if body is None else json.dumps(body).encode()
        try:
            headers = self._headers | ({"Idempotency-Key": key} if key else {})
            asked = request.Request(self._root + self.path + path, data, headers, method=method)
            return request.urlopen(asked, timeout=self._timeout_s)
        except error.HTTPError as refused:
            with refused:
                text = refused.read().decode("utf-8", "replace")
            raise ServerRefused(f"{refused.code}: {text}") from None


def observation_message(observation: Any) -> dict[str, Any]:
    """Return an observation as JSON: PNG and WAV files in base64, depth in tenths of a millimetre."""
    depth = np.rint(np.asarray(observation.depth_m) * 10_000)
    depth = np.where((depth >= 0) & (depth <= 65_535), depth, 0).astype(np.uint16)  # not finite: no reading
    views = [
        {
            "rgb_png": base64.b64encode(png(observation.rgb[view])).decode(),
            "depth_png": base64.b64encode(png(depth[view])).decode(),
            "instances_png": base64.b64encode(png(np.asarray(observation.instances[view], np.uint16))).decode(),
            "camera": {
                "intrinsics": np.asarray(camera.intrinsics).tolist(),
                "world_from_camera": np.asarray(camera.world_from_camera).tolist(),
                "name": camera.name,
            },
        }
        for view, camera in enumerate(observation.cameras)
    ]
    audio = getattr(observation, "audio", None)
    heard = {} if audio is None else {"audio_wav": base64.b64encode(wav(audio, observation.audio_rate_hz)).decode()}
    return {
        **heard,
        "views": views,
        "labels": {str(number): name for number, name in observation.labels.items()},
        "depth_unit_m": 0.0001,
        "gripper_opening_m": float(observation.gripper_opening_m),
        "holding": bool(observation.holding),
        "time_s": float(observation.time_s),
        "shared_ids": bool(getattr(observation, "shared_ids", True)),
    }


def wav(samples: Any, rate_hz: int) -> bytes:
    """Encode (S,) samples from -1 to 1 as a WAV file, mono with 16 bits."""
    data = np.clip(np.rint(np.asarray(samples, np.float64) * 32_768), -32_768, 32_767).astype("<i2").tobytes()
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate_hz, 2 * rate_hz, 2, 16)
    return (
        struct.pack("<4sI4s", b"RIFF", 36 + len(data), b"WAVE") + form + struct.pack("<4sI", b"data", len(data)) + data
    )


def png(pixels: Any) -> bytes:
    """Encode (H, W, 3) uint8, or (H, W) uint8 or uint16, as a PNG file."""
    pixels = np.ascontiguousarray(pixels)
    height, width = pixels.shape[:2]
    rows = pixels.astype(pixels.dtype.newbyteorder(">")).view(np.uint8).reshape(height, -1)
    lines = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1)  # 0: the line as it is
    header = struct.pack(">IIBBBBB", width, height, 8 * pixels.itemsize, 2 if pixels.ndim == 3 else 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 1)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
