"""Kinds of people: the mixture beside another library's, its limits, and how many kinds are said."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture

from corrbandits.fits.kinds import mixture, number_of_kinds, places
from corrbandits.fits.outcomes import Outcome


def clouds(*centres, people=60, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(size=(people, 2)) @ [[1.0, 0.4], [0.0, 0.8]] + centre for centre in centres])


@pytest.mark.parametrize("kinds", [1, 2, 3])
def test_it_finds_what_another_library_finds(kinds):
    X = clouds([0, 0], [4, 1], [0, 5])
    peer = GaussianMixture(
        kinds, covariance_type="tied", n_init=5, tol=1e-9, max_iter=1000, reg_covar=1e-9, random_state=0
    )
    peer.fit(X)
    ours = mixture(X, kinds)
    assert ours.bic == pytest.approx(peer.bic(X), rel=1e-7)
    assert ours.log_likelihood == pytest.approx(peer.score(X) * len(X), rel=1e-7)
    order, other = np.argsort(ours.centres[:, 0]), np.argsort(peer.means_[:, 0])
    assert ours.centres[order] == pytest.approx(peer.means_[other], abs=1e-3)
    assert ours.covariance == pytest.approx(peer.covariances_, abs=1e-3)


def test_one_kind_is_one_gaussian():
    X = clouds([3, -2])
    law = multivariate_normal(X.mean(axis=0), np.cov(X.T, bias=True))
    found = mixture(X, 1)
    assert found.log_likelihood == pytest.approx(law.logpdf(X).sum(), rel=1e-9)
    assert found.belongs == pytest.approx(1.0)


def test_as_many_kinds_are_said_as_there_are():
    assert number_of_kinds(clouds([0, 0], people=80))[0].kinds == 1
    assert number_of_kinds(clouds([0, 0], [5, 0], people=40))[0].kinds == 2
    found = number_of_kinds(clouds([0, 0], [6, 0], [0, 6], people=30))[0]
    assert found.kinds == 3
    assert found.belongs.sum(axis=1) == pytest.approx(1.0)


def test_points_that_are_all_alike_are_of_one_kind_and_the_same_seed_gives_the_same_bits():
    alike = number_of_kinds(np.full((25, 2), 3.0))
    assert alike[0].kinds == 1
    X = clouds([0, 0], [3, 3])
    one, other = mixture(X, 2, seed=5), mixture(X, 2, seed=5)
    assert np.array_equal(one.centres, other.centres)


def test_people_lie_on_the_lines_of_their_parameters_and_those_at_an_end_are_left_out():
    def one(length, error):
        values = {"length": length, "prior_mean": 5.0}
        return Outcome("A", "m", "d", 9, 2, ("length",), values, {"length": error, "prior_mean": 1.0}, -1.0, (), ())

    found = places([one(1.0, 0.1), one(np.e, 0.1), one(7.0, np.inf)], ["length", "prior_mean"])
    assert found == pytest.approx(np.array([[0.0, 5.0], [1.0, 5.0]]))
