import pytest

from tests.nsrecover.planning.geometric import GeometricModels


@pytest.fixture
def models() -> GeometricModels:
    return GeometricModels()
