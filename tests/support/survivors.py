"""Beliefs that outlive a wrong prior: some of each kind, shared by their tests."""

from corrbandits.belief import Correlated, Elimination, Refitting
from corrbandits.kernels import Exponential
from tests.support.contracts import (
    FIVE,
    GRID,
)


def correlated(length, variance=10.0, mean=0.0, noise=10.0, points=FIVE):
    return Correlated(mean=mean, kernel=variance * Exponential(length), coordinates=points, noise_variance=noise)


def three(delta=0.05):
    return Elimination([correlated(length, 10.0, noise=1.0, points=GRID) for length in (0.3, 3.0, 30.0)], delta)


def refitting(length, variance=10.0, mean=0.0):
    return Refitting(mean=mean, kernel=variance * Exponential(length), coordinates=GRID, noise_variance=1.0)
