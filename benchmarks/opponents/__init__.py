"""Other libraries as players: told where the arms lie and how long the campaign is, and nothing else.

Each is used as its own documents recommend, with its defaults where it has them. What had to be chosen was chosen in
its favour, and stands in the docstring of its class. Every player may take an arm again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks.opponents.bandits import BayesianBandits, PyMAB
from benchmarks.opponents.player import Player
from benchmarks.opponents.surrogates import BoTorch, ScikitLearn
from benchmarks.opponents.trials import Optuna
from corrbandits._core.checks import Array

Factory = Callable[[Array, int, int], Player]
"""Makes a player from coordinates, horizon and seed."""

PEERS: dict[str, Factory] = {
    "Optuna TPE": partial(Optuna, sampler="TPESampler"),
    "Optuna GP": partial(Optuna, sampler="GPSampler"),
    "BoTorch qLogNEI": BoTorch,
    "BoTorch UCB": partial(BoTorch, beta=0.2),
    "BoTorch fully Bayesian qLogNEI": partial(BoTorch, bayesian=True),
    "BoTorch fully Bayesian UCB": partial(BoTorch, beta=0.2, bayesian=True),
    "scikit-learn UCB": ScikitLearn,
    "bayesianbandits UCB": partial(BayesianBandits, policy="UpperConfidenceBound"),
    "bayesianbandits IDS": partial(BayesianBandits, policy="InformationDirectedSampling"),
    "PyMAB UCB1": partial(PyMAB, policy="UCBPolicy"),
    "PyMAB Bayesian UCB": partial(PyMAB, policy="GaussianBayesianUCBPolicy"),
}
"""Every peer by its name."""
