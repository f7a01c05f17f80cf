"""`python -m eval.gif EPISODE.mp4 FILE.gif`: a small animated GIF of a video, for a README."""

from conf.command import run_function
from eval.gif.command import gif

if __name__ == "__main__":
    run_function(gif)
