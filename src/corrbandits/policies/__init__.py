"""Rules that choose an arm from a belief: the paper's two algorithms, and the limits they are compared with.

    name       meaning                                                          paper
    index      the number an arm is chosen by                                   Q_i(t)
    log_tail   logarithm of the tail probability of a credible limit            log alpha_t
    width      how many standard deviations the limit lies above the mean       Phi^-1(1 - alpha_t)
    K, a, nu   parameters of the two algorithms                                 K, a, nu

A policy is frozen and holds no state: what it knows is the belief and the time t, which counts every decision from
1. Ties go to the arm of lowest index; HorizonUCL and Gittins choose the same arms whatever the order of rows, see
`first_of_equals`. An arm of which nothing is known (infinite variance) is taken before any
other, whatever the rule.
"""

from typing import Any

from corrbandits.policies.base import CrediblePolicy, IndexPolicy, LimitPolicy, Policy, best, by_place, gaussian
from corrbandits.policies.baselines import UCB1, EpsilonGreedy, KnowledgeGradient, Thompson, Uniform
from corrbandits.policies.blocks import Blocked
from corrbandits.policies.enough import Safe, Satisficing
from corrbandits.policies.horizon import Gittins, HorizonUCL
from corrbandits.policies.information import InformationDirected
from corrbandits.policies.on_graph import OnGraph
from corrbandits.policies.recommended import Recommended, recommend
from corrbandits.policies.softmax import Softmax
from corrbandits.policies.travelling import Travelling, placed
from corrbandits.policies.ucl import GPUCB, UCL, BayesUCB, CorrelatedUCL, Greedy
from corrbandits.policies.wrapping import IndexWrapper, Wrapper

_RULES = (
    UCL,
    CorrelatedUCL,
    HorizonUCL,
    Gittins,
    BayesUCB,
    GPUCB,
    Thompson,
    InformationDirected,
    KnowledgeGradient,
    UCB1,
    EpsilonGreedy,
    Greedy,
    Uniform,
    Blocked,
    OnGraph,
    Softmax,
    Satisficing,
    Safe,
    Travelling,
)
RULES: dict[str, Any] = {rule.__name__: rule for rule in _RULES}
"""Every rule of the package by name."""

__all__ = [
    "GPUCB",
    "RULES",
    "UCB1",
    "UCL",
    "BayesUCB",
    "Blocked",
    "CorrelatedUCL",
    "CrediblePolicy",
    "EpsilonGreedy",
    "Gittins",
    "Greedy",
    "HorizonUCL",
    "IndexPolicy",
    "IndexWrapper",
    "InformationDirected",
    "KnowledgeGradient",
    "LimitPolicy",
    "OnGraph",
    "Policy",
    "Recommended",
    "Safe",
    "Satisficing",
    "Softmax",
    "Thompson",
    "Travelling",
    "Uniform",
    "Wrapper",
    "best",
    "by_place",
    "gaussian",
    "placed",
    "recommend",
]
