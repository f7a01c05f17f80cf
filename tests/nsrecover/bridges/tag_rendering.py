"""Images of AprilTags (tag36h11) as a pinhole camera sees them."""

import numpy as np
import numpy.typing as npt

HEIGHT, WIDTH, FOCAL = 480, 640, 600.0
SIDE_M = 0.04
CODES = {0: 0xD5D628584, 1: 0xD97F18B49}
"""Number of a tag -> its 36 bits, row by row (Wang and Olson, "AprilTag 2", 2016)."""

Pose = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]


def image_of(tags: dict[int, Pose]) -> npt.NDArray[np.uint8]:
    """Grey image of tags at poses (3, 3), (3,) in the camera's frame, metres; x right, y down, z into the tag."""
    v, u = np.mgrid[0:HEIGHT, 0:WIDTH] + 0.5
    rays = np.stack([(u - WIDTH / 2) / FOCAL, (v - HEIGHT / 2) / FOCAL, np.ones_like(u)], axis=-1)
    image = np.full((HEIGHT, WIDTH), 110.0)
    for number, (turn, place) in tags.items():
        far = (place @ turn[:, 2]) / (rays @ turn[:, 2])
        cells = np.floor(((rays * far[..., None] - place) @ turn)[..., :2] / (SIDE_M / 8) + 5).astype(int)
        inside = ((cells >= 0) & (cells < 10)).all(axis=-1)
        image[inside] = np.where(_pattern(number)[cells[inside][:, 1], cells[inside][:, 0]], 235.0, 20.0)
    noise = np.random.default_rng(0).normal(0, 3, image.shape)
    return np.clip(image + noise, 0, 255).astype(np.uint8)


def _pattern(number: int) -> npt.NDArray[np.bool_]:
    """(10, 10): a white frame, a black frame, and the bits."""
    grid = np.ones((10, 10), np.bool_)
    grid[1:-1, 1:-1] = False
    bits = [CODES[number] >> (35 - place) & 1 for place in range(36)]
    grid[2:8, 2:8] = np.array(bits, np.bool_).reshape(6, 6)
    return grid
