"""Sequential decisions among arms whose rewards are related.

The reference implementation of the upper credible limit (UCL) algorithms of Srivastava, Reverdy and Leonard,
"Correlated Multiarmed Bandit Problem: Bayesian Algorithms and Regret Analysis". Names load when they are first
used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corrbandits import adapters, audit, errata, evidence, landscapes, plots, remarks, stress, theory
    from corrbandits.baselines import UCB1, EpsilonGreedy, KnowledgeGradient, Thompson, Uniform
    from corrbandits.belief import Belief, Beta, Correlated, Implicit, Independent
    from corrbandits.environments import BernoulliBandit, Environment, GaussianBandit
    from corrbandits.journal import Journal
    from corrbandits.kernels import Exponential, Kernel, Matern32, Matern52, RationalQuadratic, SquaredExponential
    from corrbandits.policies import GPUCB, UCL, BayesUCB, CorrelatedUCL, Greedy, Policy
    from corrbandits.simulation import simulate
    from corrbandits.study import Study, Trial
    from corrbandits.survivors import Elimination, Refitting
    from corrbandits.trace import Trace

__version__ = "0.1.0"

_HOMES = {
    "baselines": ("UCB1", "EpsilonGreedy", "KnowledgeGradient", "Thompson", "Uniform"),
    "belief": ("Belief", "Beta", "Correlated", "Implicit", "Independent"),
    "environments": ("BernoulliBandit", "Environment", "GaussianBandit"),
    "journal": ("Journal",),
    "kernels": ("Exponential", "Kernel", "Matern32", "Matern52", "RationalQuadratic", "SquaredExponential"),
    "policies": ("GPUCB", "UCL", "BayesUCB", "CorrelatedUCL", "Greedy", "Policy"),
    "simulation": ("simulate",),
    "study": ("Study", "Trial"),
    "survivors": ("Elimination", "Refitting"),
    "trace": ("Trace",),
}
_MODULES = ("adapters", "audit", "errata", "evidence", "landscapes", "plots", "remarks", "stress", "theory")

__all__ = [
    "GPUCB",
    "UCB1",
    "UCL",
    "BayesUCB",
    "Belief",
    "BernoulliBandit",
    "Beta",
    "Correlated",
    "CorrelatedUCL",
    "Elimination",
    "Environment",
    "EpsilonGreedy",
    "Exponential",
    "GaussianBandit",
    "Greedy",
    "Implicit",
    "Independent",
    "Journal",
    "Kernel",
    "KnowledgeGradient",
    "Matern32",
    "Matern52",
    "Policy",
    "RationalQuadratic",
    "Refitting",
    "SquaredExponential",
    "Study",
    "Thompson",
    "Trace",
    "Trial",
    "Uniform",
    "adapters",
    "audit",
    "errata",
    "evidence",
    "landscapes",
    "plots",
    "remarks",
    "simulate",
    "stress",
    "theory",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"corrbandits.{name}")
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"corrbandits.{module}"), name)
    raise AttributeError(f"module 'corrbandits' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
