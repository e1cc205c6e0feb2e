"""Stress tests that several files look at."""

import pytest

import corrbandits as cb
from tests.support.stress_cases import SURFACE, stressed


@pytest.fixture(scope="session")
def good():
    """A prior that knows the surface."""
    return stressed(runs=20, horizon=300)


@pytest.fixture(scope="session")
def bad():
    """A prior that is sure of the opposite."""
    return stressed(2 * SURFACE.means.mean() - SURFACE.means, kernel=0.2 * cb.Exponential(2.0), runs=20, horizon=300)


@pytest.fixture(scope="session")
def whole():
    """A small test with everything in it."""
    return stressed(survivors=True, runs=4, horizon=40)
