"""The paper's remarks hold in simulation, by margins of four standard errors; where theory has a number, it is met."""

import math

import numpy as np
import pytest

from corrbandits import UCL, Correlated, Independent, theory
from corrbandits.environments import landscapes
from corrbandits.paper import remarks


@pytest.fixture(scope="module")
def confidence():
    return remarks.confidence().columns


def test_confidence_lowers_the_regret_of_right_means(confidence):
    right, margin = confidence["right"], 4 * confidence["error of right"]
    assert right[0] == 0.0
    assert (np.diff(right)[:2] > margin[:2] + margin[1:3]).all()
    assert right[-1] == pytest.approx(confidence["uninformative"][-1], abs=margin[-1] + 40)


def test_confidence_raises_the_regret_of_swapped_means(confidence):
    swapped, margin = confidence["swapped"], 4 * confidence["error of swapped"]
    assert (-np.diff(swapped)[:2] > margin[:2] + margin[1:3]).all()
    assert swapped[0] > 5 * confidence["uninformative"][0]


def test_there_is_a_variance_at_which_even_swapped_means_beat_the_uninformative_prior(confidence):
    gain = confidence["uninformative"] - confidence["swapped"]
    assert gain.max() > 4 * math.sqrt(2) * confidence["error of swapped"][gain.argmax()]


def test_the_confident_right_prior_never_leaves_the_best_arm():
    surface = landscapes.two_peaks()
    prior = Independent(mean=surface.means, variance=1.0, noise_variance=10.0)
    index = UCL(a=3.3).index(prior, t=1_000)
    best = int(surface.means.argmax())
    assert np.delete(index, best).max() < surface.means[best]  # to the end no other limit reaches what it yields
    assert remarks.confidence((1.0,), runs=2).columns["right"][0] == 0.0


@pytest.fixture(scope="module")
def long_run():
    return remarks.long_run(runs=60).columns


def test_in_the_long_run_the_lead_of_a_prior_stays_while_regret_grows(long_run):
    grown = np.diff(long_run["uninformative"])[-3:]
    asymptotic = 1.5 * (3 * 2 / 1 + 6 * 2 / 2) * math.log(10)  # a times Lai and Robbins' rate, per decade
    assert grown == pytest.approx([asymptotic] * 3, rel=0.3)
    for lead, error in (("lead of right", "error"), ("lead of swapped", "error of it")):
        per_decade = (long_run[lead][-1] - long_run[lead][-3]) / 2
        margin = 4 * math.hypot(long_run[error][-1], long_run[error][-3]) / 2
        assert abs(per_decade) < margin
        assert margin < asymptotic / 2  # else the line above would say nothing


def test_the_lead_of_a_right_prior_is_delta_squared_samples_of_every_arm(long_run):
    assert long_run["lead of right"][-1] == pytest.approx(long_run["theory's lead"][-1], abs=4 * long_run["error"][-1])
    assert long_run["theory's lead"][-1] == pytest.approx((3 * 1 + 6 * 2) / 0.3)


def test_a_swapped_prior_starts_and_stays_behind(long_run):
    assert long_run["lead of swapped"].min() < -10 * long_run["error of it"][1]
    assert -long_run["theory's lead"][-1] < long_run["lead of swapped"][-1] < -2 * long_run["error of it"][-1]


def test_clusters_need_as_many_initial_samples_as_there_are_clusters():
    columns = remarks.clusters().columns
    for name in ("by theory", "played", "clusters met"):
        assert columns[name].tolist() == columns["clusters"].tolist(), name
    assert columns["arms"].tolist() == [48.0] * 5
    alone = Independent(variance=5.0, noise_variance=1.0, arms=48)
    assert len(theory.initialisation(alone, 1.0)) == 48


@pytest.mark.parametrize("variance", [6.0, 8.0, 20.0])
def test_one_sample_is_enough_for_a_cluster_just_where_the_variance_left_is_below_the_noise(variance):
    shrunk = Correlated(covariance=landscapes.cluster_covariance([12], variance=variance), noise_variance=1.0)
    left = shrunk.observe(0, 0.0).variance[1]
    assert left == pytest.approx(variance * (1 - 0.99**2 * variance / (variance + 1)))
    study = remarks.clusters((4,), variance=variance, runs=2)
    assert (study.columns["by theory"][0] == 4) == (left <= 1)
    assert study.columns["by theory"][0] == study.columns["played"][0]
    assert ("as many samples as clusters" in study.found) == (left <= 1)


def test_large_true_scales_shorten_exploration():
    columns = remarks.true_scale().columns
    for name in ("initial samples", "arms tried", "share printed", "share plain"):
        assert (np.diff(columns[name]) <= 0).all(), name
    assert columns["initial samples"][-1] < 20 < 90 < columns["initial samples"][0]
    plain, margin = columns["plain"], 4 * columns["error of plain"]
    assert plain[0] - plain[-1] > margin[0] + margin[-1]
    assert columns["share plain"][-1] < 0.6 < 0.9 < columns["share plain"][0]
    assert columns["plain"][-1] < columns["printed"][-1]  # the factor explores more where all arms are alike


def test_wrong_large_scales_cost_far_more_than_the_lower_bound():
    study = remarks.wrong_scale()
    columns = study.columns
    plain, printed = columns["plain / bound"], columns["printed / bound"]
    assert plain[-1] - 4 * columns["error of plain"][-1] > 2 * plain[0]
    assert plain[-1] > 5
    assert plain[-1] > 2 * printed[-1] > 2 * printed[0]  # the factor is the insurance
    assert plain[0] < 1.5 * 1.5 * 1.2  # with the true length it is near a times the bound and what a start costs
    assert f"{plain[-1]:.3g}" in study.found


def test_with_much_noise_wrong_large_scales_do_not_cost_far_more_than_the_lower_bound():
    columns = remarks.wrong_scale(noise_variance=10.0).columns
    assert columns["plain / bound"].max() < 3
    printed, margin = columns["printed / bound"], 4 * columns["error of printed"]
    assert printed[0] - printed[-1] > margin[0] + margin[-1]  # the printed index even gains


def test_a_remark_prints_its_claim_its_numbers_and_what_was_found():
    text = str(remarks.clusters((2,), runs=2)).splitlines()
    assert text[0].startswith("Clusters need")
    assert text[1].split() == ["clusters", "arms", "by", "theory", "played", "clusters", "met"]
    assert text[3].split() == ["2", "48", "2", "2", "2"]
    assert text[-1].endswith("as many samples as clusters.")


def test_studies_repeat_with_their_seed():
    first, second, other = (remarks.confidence((10.0,), runs=3, seed=seed).columns["swapped"] for seed in (1, 1, 2))
    assert first.tolist() == second.tolist() != other.tolist()
