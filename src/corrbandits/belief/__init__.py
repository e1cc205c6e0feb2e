"""What is believed of every arm's mean reward. A prior is a belief that has seen nothing; observing returns a belief.

    name             shape   meaning                                              paper
    mean             (N,)    posterior mean                                       mu_i(t)
    variance         (N,)    posterior variance                                   sigma_i^2(t)
    covariance       (N, N)  posterior covariance (`Correlated`)                  Sigma(t)
    noise_variance   (N,)    variance of a reward about its arm's mean            sigma_s^2, here one per arm
    counts           (N,)    rewards seen per arm                                 n_i(t)
    sums             (N,)    their sums, correctly rounded                        n_i(t) mbar_i(t)

Beliefs never change: `observe` leaves the belief it is called on as it was. Inference depends on counts and sums
alone (eq. inference-corr-simplified), unless means change with time (`changing`). `observe` with one reward is the
update of eq. correlated-inference, done as a rank-one change of the covariance; with many rewards, and in
`observe_all` and `merge`, the belief is computed afresh from its prior, so that the order of rewards cannot matter.
"""

from corrbandits.belief.base import Belief
from corrbandits.belief.beta import Beta
from corrbandits.belief.changing import Discounted, Drifting, LearntScale, Windowed
from corrbandits.belief.correlated import Correlated
from corrbandits.belief.elimination import Elimination
from corrbandits.belief.gaussian import GaussianBelief
from corrbandits.belief.history import History
from corrbandits.belief.implicit import Implicit
from corrbandits.belief.independent import Independent
from corrbandits.belief.refitting import Refitting
from corrbandits.belief.vague import Learnt, Vague

__all__ = [
    "KINDS",
    "Belief",
    "Beta",
    "Correlated",
    "Discounted",
    "Drifting",
    "Elimination",
    "GaussianBelief",
    "History",
    "Implicit",
    "Independent",
    "Learnt",
    "LearntScale",
    "Refitting",
    "Vague",
    "Windowed",
]

KINDS: dict[str, type[Belief]] = {
    kind.__name__: kind
    for kind in (Independent, Correlated, Implicit, Beta, Elimination, Refitting, Vague, Drifting, Windowed, Discounted)
}
"""The beliefs of this package by name: a study stores that name and `prior_arguments()`."""
