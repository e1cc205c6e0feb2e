"""The groups of people whose parameters are looked for: spread as they should be, and within the study's ends."""

import numpy as np
import pytest
from benchmarks import madeup
from scipy.stats import spearmanr

from corrbandits import choices


def test_who_is_alike_has_the_quantiles_and_the_rank_correlations_of_the_others():
    rng = np.random.default_rng(3)
    own = rng.multivariate_normal([0.0, 0.0], [[1.0, -0.7], [-0.7, 1.0]], 80)
    own[:, 1] = np.exp(own[:, 1])  # skewed
    drawn = madeup.alike(own, 4_000, seed=[0])
    for share in (0.1, 0.3, 0.5, 0.7, 0.9):  # 0.03: four standard errors of a share of 4,000
        assert (drawn < np.quantile(own, share, axis=0)).mean(axis=0) == pytest.approx([share, share], abs=0.03)
    assert spearmanr(*drawn.T).statistic == pytest.approx(spearmanr(*own.T).statistic, abs=0.06)
    assert (drawn.min(axis=0) >= own.min(axis=0)).all()
    assert (drawn.max(axis=0) <= own.max(axis=0)).all()


def test_parameters_beyond_the_ends_of_the_study_are_at_these():
    """Its logarithms go from -5 to 5, of rewards over 100."""
    far = {"prior_sd": 1e-9, "length": 1e9, "temperature": 3.0}
    (one,) = madeup.held([far])
    assert one == pytest.approx({"prior_sd": 100 * np.exp(-5), "length": np.exp(5), "temperature": 3.0})
    places = np.full((1, 3), -99.0)
    assert madeup.within(places, madeup.MODEL.free) is places


def test_what_is_kept_is_not_made_again(tmp_path):
    made = []

    def make():
        made.append(1)
        return {"found": [1.5]}

    for _ in range(2):
        assert madeup.from_folder(tmp_path, "kept", [1, 2], make) == {"found": [1.5]}
    assert made == [1]
    madeup.from_folder(tmp_path, "kept", [1, 3], make)  # of something else
    assert made == [1, 1]


def test_somebody_of_a_short_length_is_found_no_lower_than_the_parameters_that_were_given():
    """A length below half of the way to the next arm; the likelihood has another, lower top at lengths near 0."""
    given = {"prior_sd": 43.4, "length": 0.357, "temperature": 1.43}
    somebody = choices.simulate(madeup.STUDY, given, madeup.surfaces(39), horizon=madeup.HORIZON, seed=(1, 1, 39))
    assert choices.fit(somebody, madeup.STUDY).log_likelihood > choices.log_likelihood(somebody, madeup.STUDY, given)


def test_who_takes_a_new_arm_each_time_is_said_to_tell_nothing_of_the_temperature():
    """Exploration and temperature may both be anything, so long as one is far above the other."""
    given = {"prior_sd": 1466.0, "length": 0.19, "temperature": 0.677}
    somebody = choices.simulate(madeup.STUDY, given, madeup.surfaces(36), horizon=madeup.HORIZON, seed=(1, 1, 36))
    notes = choices.fit(somebody, madeup.STUDY).notes
    assert any("temperature cannot be told" in note for note in notes), notes
