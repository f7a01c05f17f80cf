"""`python -m eval.gif EPISODE.mp4 FILE.gif`: a small animated picture of a film, for a README."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Annotated

import imageio_ffmpeg
import typer

from nsrecover.errors import InvalidConfiguration


def gif(
    film: Annotated[Path, typer.Argument(help="An mp4 of the demo.")],
    path: Annotated[Path, typer.Argument(help="The file to write, ending in .gif.")],
    speed: Annotated[float, typer.Option(min=0.1, help="Times faster than the film.")] = 2.0,
    rate: Annotated[int, typer.Option(min=1, help="Frames a second.")] = 8,
    colours: Annotated[int, typer.Option(min=4, max=256, help="Size of the palette.")] = 48,
) -> None:
    """Turn a film into an animated GIF with one palette of its own."""
    if not film.is_file():
        raise InvalidConfiguration(f"expected a film at {film}, found no file; run `make demo` first")
    path.parent.mkdir(parents=True, exist_ok=True)
    chain = (
        f"setpts=PTS/{speed},fps={rate},split[a][b];[a]palettegen=max_colors={colours}:stats_mode=full[p];"
        "[b][p]paletteuse=dither=none:diff_mode=rectangle"
    )
    subprocess.run(
        [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-loglevel", "error", "-i", str(film), "-vf", chain, str(path)],
        check=True,
    )
    print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")
