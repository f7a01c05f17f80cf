"""The command that draws a kitchen."""

from pathlib import Path

import imageio.v3 as imageio

from tests.commands import run


def test_it_writes_one_picture_of_the_kitchen_and_one_of_each_camera(tmp_path: Path) -> None:
    done = run("sim.kitchen.show", "seed=2", "layout=7", f"out={tmp_path}")
    assert done.code == 0, done.err
    assert "layout 7 of 24" in done.out
    for name, shape in (("kitchen", (640, 960)), ("ahead", (240, 320)), ("steep", (240, 320))):
        image = imageio.imread(tmp_path / f"{name}.png")
        assert image.shape[:2] == shape
        assert image.std() > 20


def test_an_unknown_kind_gets_a_hint(tmp_path: Path) -> None:
    done = run("sim.kitchen.show", "things=[potatoe]", f"out={tmp_path}")
    assert done.code == 2
    assert "'potato'" in done.err
