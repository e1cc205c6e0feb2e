"""The limit: how much the best possible rule earns on two or three arms."""

from corrbandits.arena.optimal.optimum import Optimum, expected_largest

__all__ = ["Optimum", "expected_largest"]
