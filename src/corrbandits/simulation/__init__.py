"""Ensembles of runs: what is asked, who plays it, what is kept."""

from corrbandits.simulation.simulator import simulate
from corrbandits.simulation.trace import Trace

__all__ = ["Trace", "simulate"]
