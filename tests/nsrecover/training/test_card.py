"""The model card tells where every part comes from."""

from dataclasses import replace

from nsrecover.models.bundle import Bundle, BundleConfig
from nsrecover.models.checkpoint import CARD, CHECKPOINTS
from nsrecover.training.card import model_card


def test_a_part_that_was_trained_by_itself_is_told() -> None:
    how = {"command": "python -m train stage=free_space", "seed": 4, "revision": "abc", "seconds": {"free_space": 9.0}}
    config = BundleConfig(provenance={"command": "python -m train", "parts": {"free_space": how}})
    card = model_card(config)
    assert "free_space part was trained by itself" in card
    assert "`python -m train stage=free_space`, seed 4" in card
    assert "by itself" not in model_card(replace(config, provenance={"command": "python -m train"}))


def test_the_shipped_card_tells_it_of_the_shipped_parts() -> None:
    card, config = (CHECKPOINTS / "tabletop_sensors" / CARD).read_text(), Bundle.load().config
    assert config.provenance["command"] in card
    for part, how in config.provenance.get("parts", {}).items():
        assert f"The {part} part was trained by itself" in card
        assert how["command"] in card
