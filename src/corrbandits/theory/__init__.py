"""What the paper's analysis says of a problem: the lower bound, the lemmas, both theorems, as printed and as corrected.

Both theorems are at the paper's own level of rigour: their proofs treat the numbers of samples as if they were
fixed beforehand, though they depend on the rewards (see `errata`). `bayes_bound` is not of the paper: it bounds the
regret of rules that know the horizon, on average over mean rewards drawn from the prior, and treats nothing as fixed.
"""

from corrbandits.theory.bayes import BayesBound, bayes_bound
from corrbandits.theory.best import Best, best_correlated, best_uncorrelated
from corrbandits.theory.bounds import correlated_bound, uncorrelated_bound
from corrbandits.theory.curves import bounds_for, regret_curve, regret_curves, spread_times
from corrbandits.theory.estimate import (
    beta,
    bias,
    conditional_variance,
    delta_cond,
    estimate_covariance,
    prior_distance,
)
from corrbandits.theory.groups import Group, grouped
from corrbandits.theory.information import information_gain, most_information
from corrbandits.theory.initial import initialisation
from corrbandits.theory.lemmas import (
    Sides,
    difference_of_squares,
    estimate_variance_lower,
    estimate_variance_upper,
    initial_variance,
    quantile_lower,
    quantile_upper,
    schedule_lower,
    tail_lower,
    tail_upper,
    tail_upper_loose,
    variance_lower,
    variance_upper,
)
from corrbandits.theory.lower import centralised, lai_robbins, lai_robbins_counts
from corrbandits.theory.signs import Signed, sign_refined_bound, signed_distances

__all__ = [
    "BayesBound",
    "Best",
    "Group",
    "Sides",
    "Signed",
    "bayes_bound",
    "best_correlated",
    "best_uncorrelated",
    "beta",
    "bias",
    "bounds_for",
    "centralised",
    "conditional_variance",
    "correlated_bound",
    "delta_cond",
    "difference_of_squares",
    "estimate_covariance",
    "estimate_variance_lower",
    "estimate_variance_upper",
    "grouped",
    "information_gain",
    "initial_variance",
    "initialisation",
    "lai_robbins",
    "lai_robbins_counts",
    "most_information",
    "prior_distance",
    "quantile_lower",
    "quantile_upper",
    "regret_curve",
    "regret_curves",
    "schedule_lower",
    "sign_refined_bound",
    "signed_distances",
    "spread_times",
    "tail_lower",
    "tail_upper",
    "tail_upper_loose",
    "uncorrelated_bound",
    "variance_lower",
    "variance_upper",
]
