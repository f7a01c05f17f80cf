"""The checkpoint of a household: loading by name, other domains, damaged files, and what it makes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import nsrecover
from nsrecover.domains.household import HOUSEHOLD, LASTING, household
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.errors import InvalidCheckpoint, InvalidConfiguration
from nsrecover.models.checkpoint import CHECKPOINTS
from nsrecover.models.household import HouseholdConfig, HouseholdModels
from nsrecover.perception.household import HouseholdPerceiver, Sign


def test_it_is_loaded_by_its_name_and_is_small() -> None:
    learned = nsrecover.load("household")
    home = household(["countertop", "pot"], complete=True, one_handed=True, domain=LASTING)
    system = learned.system(home, [("at", "pot", "countertop")])
    assert isinstance(system.perceiver(), HouseholdPerceiver)
    size = sum(path.stat().st_size for path in (CHECKPOINTS / "household").rglob("*") if path.is_file())
    assert size <= 20e6


def test_durations_and_signs_are_saved_and_demonstrated_durations_are_the_costs(tmp_path: Path) -> None:
    sign = Sign("running_water", "running", "faucet", 0.95, 0.01)
    config = HouseholdConfig(signs=(sign,), durations={"pick_up": 7.5})
    replace(nsrecover.load("household").models, config=config).save(tmp_path)
    learned = nsrecover.load(tmp_path, domain=HOUSEHOLD)
    assert learned.models.config.signs == (sign,)
    home = household(["countertop", "pot"], complete=True)
    assert learned.system(home).domain.operators["pick_up"].cost == 7.5


def test_a_checkpoint_for_another_domain_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidCheckpoint, match="domain 'tabletop', found one for 'household'"):
        nsrecover.load("household", domain=TABLETOP)
    nsrecover.load("household").models.save(tmp_path)
    with pytest.raises(InvalidCheckpoint, match="domain 'tabletop', found one for 'household'"):
        nsrecover.load(tmp_path)
    with pytest.raises(InvalidCheckpoint, match="domain 'household', found one for 'the tabletop'"):
        nsrecover.load("tabletop", domain=HOUSEHOLD)
    with pytest.raises(InvalidCheckpoint, match="domain 'kitchenette', found one for 'household'"):
        nsrecover.load("household", domain=replace(HOUSEHOLD, name="kitchenette"))


def test_settings_of_the_tabletop_and_damaged_files_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match="no alpha"):
        nsrecover.load("household", alpha=0.01, domain=HOUSEHOLD)  # type: ignore[call-overload]
    path = nsrecover.load("household").models.save(tmp_path) / "config.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "format": 99}))
    with pytest.raises(InvalidCheckpoint, match="format 1"):
        HouseholdModels.load(tmp_path)
    path.write_text(json.dumps({**document, "signs": 3}))
    with pytest.raises(InvalidCheckpoint, match=r"settings of a household checkpoint.*signs"):
        HouseholdModels.load(tmp_path)
