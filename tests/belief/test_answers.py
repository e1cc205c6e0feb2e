"""What a belief says of itself: its mirror image, its evidence, its words, how it is stored."""

import math

import numpy as np
import pytest

import corrbandits
from corrbandits import (
    UCL,
    Beta,
    Correlated,
    Discounted,
    Drifting,
    Elimination,
    Exponential,
    GaussianBandit,
    Implicit,
    Refitting,
    Windowed,
    simulate,
)
from corrbandits.belief import KINDS, Belief, GaussianBelief
from corrbandits.study.codec import prior_data
from tests.support.contracts import BETA_PRIORS, FIVE, GAUSSIAN_PRIORS, IMPLICIT_PRIORS, same_bits

SETTINGS = {"mean": [1.0, 2.0, 3.0, 4.0, 5.0], "kernel": 2 * Exponential(1.5), "coordinates": FIVE}
PRIORS = {
    **GAUSSIAN_PRIORS,
    **BETA_PRIORS,
    **IMPLICIT_PRIORS,
    "elimination": Elimination([kind(**SETTINGS, noise_variance=0.2) for kind in (Correlated, Implicit)], delta=0.1),
    "refitting": Refitting(**SETTINGS, noise_variance=0.2),
    "drifting": Drifting(prior=GAUSSIAN_PRIORS["smooth"], scale=9.0),
    "drifting, scale not known": Drifting(prior=GAUSSIAN_PRIORS["smooth"], scale=(3.0, 300.0)),
    "windowed": Windowed(prior=GAUSSIAN_PRIORS["mixed"], window=20),
    "discounted": Discounted(prior=GAUSSIAN_PRIORS["smooth"], factor=0.9),
}


@pytest.mark.parametrize("name", PRIORS)
def test_the_mirror_image_believes_the_opposite(name):
    prior = PRIORS[name]
    arms, rewards = [0, prior.arms - 1, 0], [1.0, 0.0, 0.0]
    for belief in (prior, prior.observe(arms, rewards), prior.observe(arms, rewards).assume([0])):
        image = belief.mirrored()
        np.testing.assert_allclose(image.mean, belief.mirror - belief.mean, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(image.variance, belief.variance, rtol=1e-12)
        assert image.awaited == belief.awaited
        assert same_bits(image.mirrored(), belief)
    turned = prior.mirrored().observe(arms, [prior.mirror - reward for reward in rewards])
    np.testing.assert_array_equal(turned.mean, prior.observe(arms, rewards).mirrored().mean)


def test_some_beliefs_in_words():
    words = {name: prior.in_words() for name, prior in PRIORS.items()}
    assert words["independent"] == "independent arms, mean 1 to 5 ± 1.732; noise ± 0.8367"
    assert words["uninformative"] == "independent arms, of which nothing is known; noise ± 3.162"
    assert words["correlated"] == "exponential kernel of length 3, mean 30 ± 3.162; noise ± 3.162"
    assert words["rank one"] == "a covariance of all arms, mean 0 ± 1; noise ± 1"
    assert words["uniform"] == "independent arms, rewards 0 or 1; assumed of each: successes 1, failures 1"
    assert words["refitting"] == "Refitting, mean 1 to 5 ± 1.414; noise ± 0.4472"
    first = "exponential kernel of length 1.5, mean 1 to 5 ± 1.414; noise ± 0.4472"
    assert words["elimination"] == f"Elimination of 2 beliefs, the first: {first}"


@pytest.mark.parametrize("name", ["elimination", "refitting", "beta"])
def test_evidence_that_is_not_known_is_refused_in_words(name):
    with pytest.raises(
        TypeError, match=f"evidence of the belief must be known, .* got a {type(PRIORS[name]).__name__}"
    ):
        PRIORS[name].log_evidence()


def test_elimination_takes_gaussian_beliefs_whose_evidence_is_known():
    with pytest.raises(TypeError, match="Elimination needs Gaussian beliefs, got a Beta"):
        Elimination([Beta(arms=5)])
    with pytest.raises(TypeError, match=r"evidence of the belief must be known, .* got a Refitting"):
        Elimination([PRIORS["refitting"]])


def test_the_table_names_every_belief_of_the_package():
    exported = {
        kind for kind in vars(corrbandits.belief).values() if isinstance(kind, type) and issubclass(kind, Belief)
    }
    assert set(KINDS.values()) == exported - {Belief, GaussianBelief}


class Certain(Belief):
    """A belief of one's own: all it defines is what it must."""

    def __init__(self, level, arms):
        self.level, self._tally = level, Beta(arms=arms)._tally
        self.mean, self.variance = np.full(arms, level), np.zeros(arms)

    def credible_limit(self, log_tail):
        return self.mean

    def sample(self, rng):
        return self.mean

    def prior_arguments(self):
        return {"level": self.level, "arms": self.arms}

    def _same_prior(self, other):
        return self.level == other.level

    def _conditioned(self, tally):
        return self._changed(_tally=tally)

    def _shrunk(self, awaited):
        return self


def test_a_belief_of_ones_own_works_or_is_refused_in_words():
    own = Certain(2.0, arms=3)
    trace = simulate({"own": (UCL(), own)}, GaussianBandit([1.0, 2.0, 3.0], 1.0), horizon=5, seed=0)
    assert (trace.arms.values == 0).all()
    assert own.in_words() == "Certain, mean 2 ± 0"
    with pytest.raises(TypeError, match="does not say what its mirror image is"):
        own.mirrored()
    with pytest.raises(TypeError, match=r"evidence of the belief must be known, .* got a Certain"):
        own.log_evidence()
    with pytest.raises(TypeError, match="a study's prior must be one of Independent, Correlated"):
        prior_data(own)


def test_a_gaussian_belief_of_ones_own_has_evidence_once_it_says_its_prior():
    class Same(GaussianBelief):
        """One mean for all arms, known to be 0."""

        def __init__(self, arms):
            self._tally, self.noise_variance = Beta(arms=arms)._tally, np.full(arms, 2.0)
            self.mean = self.variance = np.zeros(arms)

        def covariance_with(self, arm):
            return np.zeros(self.arms)

        def spread(self):
            return np.ones(self.arms)

        sample, prior_arguments, _same_prior = Certain.sample, dict, Certain._same_prior
        _conditioned, _shrunk = Certain._conditioned, Certain._shrunk

    class Evident(Same):
        def _prior_of(self, arms):
            return np.zeros(arms.size), np.zeros((arms.size, arms.size))

    with pytest.raises(TypeError, match=r"evidence of the belief must be known, .* got a Same"):
        Same(2).log_evidence()
    assert Evident(2).observe(0, 3.0).log_evidence() == pytest.approx(-0.25 * 9 - 0.5 * math.log(4 * math.pi))
    assert Same(2).jointly_gaussian
    np.testing.assert_array_equal(Same(2).covariance_of(), np.zeros((2, 2)))
