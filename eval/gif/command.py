"""`python -m eval.gif EPISODE.mp4 FILE.gif`: a small animated GIF of a video, for a README."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Annotated

import imageio_ffmpeg
import typer

from nsrecover.errors import InvalidConfiguration


def gif(
    video: Annotated[Path, typer.Argument(help="An mp4 of the demo.")],
    path: Annotated[Path, typer.Argument(help="The file to write, ending in .gif.")],
    speed: Annotated[float, typer.Option(min=0.1, help="Speed relative to the video.")] = 2.0,
    rate: Annotated[int, typer.Option(min=1, help="Frames a second.")] = 8,
    colours: Annotated[int, typer.Option(min=4, max=256, help="Size of the palette.")] = 48,
) -> None:
    """Convert a video to an animated GIF with its own palette."""
    if not video.is_file():
        raise InvalidConfiguration(f"expected a video at {video}, found no file; run `make demo` first")
    path.parent.mkdir(parents=True, exist_ok=True)
    chain = (
        f"setpts=PTS/{speed},fps={rate},split[a][b];[a]palettegen=max_colors={colours}:stats_mode=full[p];"
        "[b][p]paletteuse=dither=none:diff_mode=rectangle"
    )
    subprocess.run(
        [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-loglevel", "error", "-i", str(video), "-vf", chain, str(path)],
        check=True,
    )
    print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")
