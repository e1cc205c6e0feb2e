"""What beliefs that are mixtures offer besides."""

from __future__ import annotations

from abc import abstractmethod

from corrbandits._core.checks import Array
from corrbandits.belief.base import Belief


class MixedBelief(Belief):
    """A belief that may be a mixture of components: what is believed under each of them, for rules that ask."""

    @property
    @abstractmethod
    def mixed(self) -> bool:
        """Whether it has components now."""

    @property
    @abstractmethod
    def weights(self) -> Array:
        """The posterior probability of each component."""

    @property
    @abstractmethod
    def part_locations(self) -> Array:
        """The mean of each arm under each component, (components, arms)."""

    @property
    @abstractmethod
    def part_deviations(self) -> Array:
        """The standard deviation of each arm's mean under each component."""

    @property
    @abstractmethod
    def part_noise(self) -> Array:
        """The noise variance over that of each arm's mean, under each component: how many rewards it is worth."""
