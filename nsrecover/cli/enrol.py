"""`nsrecover enrol`: sounds of one's own from a folder of recordings."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from nsrecover.cli.options import AsJson, show


def enrol(
    folder: Annotated[Path, typer.Argument(help="A folder of wav files for each sound, named as the sound.")],
    out: Annotated[Path, typer.Option(help="Folder for the household checkpoint.")] = Path("enrolled"),
    checkpoint: Annotated[str, typer.Option(help="Household checkpoint to add them to.")] = "household",
    as_json: AsJson = False,
) -> None:
    """Teach sounds of your own from recordings: FOLDER/kettle/1.wav, FOLDER/timer/1.wav and so on.

    At least 2 recordings of each, better 5 or more, made where they will be heard. Recordings in FOLDER/others are
    sounds that must not be taken for one of them. Of long files the loud stretches count. Each sound gets a threshold
    of its own from its recordings and all others. The folder that is written is for `HouseholdModels.load(FOLDER)`;
    its folder `sounds` is for `SoundModel.load`. `--checkpoint` adds to what is known.
    """
    from nsrecover.models.household import HouseholdModels
    from nsrecover.onboarding import sounds

    models = HouseholdModels.load(checkpoint)
    known, counts = sounds.enrolled_from(folder, models.sounds)
    replace(models, sounds=known).save(out)
    lines = sounds.lines_of(known, counts)
    show({"enrolled": counts, "checkpoint": str(out)}, [*lines, f"checkpoint: {out}"], as_json)
