"""What a stress test plays, compared with simulations by hand, and its files, byte for byte."""

import math
import re

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import stress
from corrbandits.stress import playing as stress_play
from corrbandits.stress import priors as stress_priors
from corrbandits.stress.priors import AS_GIVEN, Setting, corners, settings
from tests.support.stress_cases import FEW, KERNEL, RULE, SURFACE, stressed


def test_every_setting_is_listed_once_and_the_grids_are_complete():
    accuracy = {"shift": [-2.0, 0.0, 2.0], "swap": [0.0, 1.0]}
    listed = settings(accuracy, [0.1, 1.0, 10.0], [0.5, 1.0, 2.0])
    assert len(set(listed)) == len(listed) == 9 + 6 + 4 + 1
    for a in accuracy["shift"]:
        for factor in (0.1, 1.0, 10.0):
            assert Setting("shift", a, factor, 1.0) in listed
        for factor in (0.5, 1.0, 2.0):
            assert Setting("shift", a, 1.0, factor) in listed
    assert Setting("swap", 1.0) in listed
    assert sum(s[1:] == (AS_GIVEN[s.kind], 1.0, 1.0) for s in listed) == 1


def test_by_default_there_are_three_grids_of_five_by_five_and_four_kinds():
    data = stressed(confidence=stress_priors.CONFIDENCE, length=stress_priors.LENGTH, runs=1, horizon=5).data
    first = data["kind"].values == "shift"
    spread = float(f"{SURFACE.means.std():.3g}")
    assert sorted(set(data["accuracy"].values[first])) == pytest.approx([-2 * spread, -spread, 0, spread, 2 * spread])
    assert sorted(set(data["confidence"].values)) == [0.01, 0.1, 1.0, 10.0, 100.0]
    assert sorted(set(data["length"].values)) == [0.1, 0.3162, 1.0, 3.162, 10.0]
    assert data.sizes["setting"] == 61 + 3 * 4
    assert data["time"].values[-1] == 5


def wrong_by_hand(setting, mean, noise):
    kind, x, confidence, length = setting
    changed = {
        "shift": mean + x,
        "scale": mean.mean() + x * (mean - mean.mean()),
        "noise": mean + x * noise,
        "swap": (1 - x) * mean + x * (mean.max() + mean.min() - mean),
    }[kind]
    kernel = 4 * confidence * cb.Exponential(2.0 * length)
    return cb.Correlated(mean=changed, kernel=kernel, coordinates=SURFACE.coordinates, noise_variance=4.0)


def test_the_regret_is_that_of_simulations_with_priors_made_wrong_by_hand(whole):
    data, mean = whole.data, SURFACE.means
    noise = np.random.default_rng(np.random.SeedSequence([0, 0, 1])).standard_normal(16)
    for k in range(0, data.sizes["setting"], 3):
        setting = tuple(data[name].values[k] for name in ("kind", "accuracy", "confidence", "length"))
        prior = wrong_by_hand(setting, mean, noise)
        players = {"printed": (RULE, prior), "plain": (cb.CorrelatedUCL(a=1.5, factor=False), prior)}
        trace = cb.simulate(players, SURFACE, 40, 4, seed=0)
        for name in players:
            expected = trace.regret.sel(policy=name, time=data["time"].values).values
            np.testing.assert_allclose(data["regret"].sel(candidate=name)[k], expected, rtol=1e-9, err_msg=str(setting))
            steps = trace.initialisation.sel(policy=name).values
            np.testing.assert_array_equal(data["initialisation"].sel(candidate=name)[k], steps)


@pytest.mark.parametrize("candidate", ["uninformative", "independent"])
def test_who_has_no_prior_of_each_arm_meets_the_arms_of_every_run_in_an_order_of_its_own(whole, candidate):
    data, orders = whole.data, set()
    overall = {"mean": SURFACE.means.mean(), "variance": SURFACE.means.var()} if candidate == "independent" else {}
    player = cb.UCL(a=1.5), cb.Independent(noise_variance=4.0, arms=16, **overall)
    for run in range(4):
        order = np.random.default_rng(np.random.SeedSequence([0, 0, 3], spawn_key=(run,))).permutation(16)
        orders.add(tuple(order))
        trace = cb.simulate({"one": player}, cb.GaussianBandit(SURFACE.means[order], 4.0), 40, run + 1, seed=0)
        expected = trace.regret.values[0, run, data["time"].values - 1]
        for found in data["regret"].sel(candidate=candidate, run=run).values:
            np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert len(orders) == 4


@pytest.mark.parametrize("kind", ["Gaussian", "Bernoulli"])
def test_how_the_arms_are_sorted_does_not_matter(kind):
    """Met in the order of the list, the baseline would see the worst 20 of 30 arms only, or some of the best."""
    means, few = (
        np.linspace(0.0, 1.0, 30),
        {"kinds": ["shift"], "accuracy": [0.0], "length": [1.0], "confidence": [1.0]},
    )
    mixed = np.random.default_rng(1).permutation(30)
    flat, said = [], []
    for order in (np.arange(30), np.arange(30)[::-1], mixed):
        where = np.arange(30.0)[order, None]
        arms = means[order], *([0.04] if kind == "Gaussian" else []), where
        truth = (cb.GaussianBandit if kind == "Gaussian" else cb.BernoulliBandit)(*arms)
        test = stress.run(RULE, truth, 20, mean=means[order], kernel=0.01 * cb.Exponential(3.0), runs=60,
                                  noise_variance=0.04, survivors=False, **few)  # fmt: skip
        flat.append(test.data["regret"].sel(candidate="uninformative").values[0, :, -1])
        said.append(test.sentences()[0])
    assert len(set(said)) == 1
    error = max(one.std(ddof=1) / math.sqrt(len(one)) for one in flat)
    assert np.ptp([one.mean() for one in flat]) < 4 * error
    assert abs(flat[0].mean() - 20 * 0.5) < 4 * error, "a chance order has the mean gap at every step"


def test_an_environment_of_another_kind_is_reordered_too():
    class Doubled(cb.Environment):
        def __init__(self):
            super().__init__([1.0, 2.0, 3.0])
            self.noise_variance = np.array([1.0, 4.0, 9.0])

        def noise(self, rng, horizon):
            return rng.standard_normal(horizon)

        def reward(self, arm, noise):
            return self.means[arm] + (arm + 1) * noise

    found = stress_play.reordered(Doubled(), np.array([2, 0, 1]))
    assert (found.means.tolist(), found.noise_variance.tolist()) == ([3, 1, 2], [9, 1, 4])
    assert [found.reward(arm, 1.0) for arm in range(3)] == [6.0, 2.0, 4.0]
    assert found.noise(np.random.default_rng(0), 2).tolist() == np.random.default_rng(0).standard_normal(2).tolist()


def test_survivors_play_the_corners_of_accuracy_and_length_alone(whole):
    data = whole.data
    for name in ("elimination", "refitting"):
        there = data["regret"].sel(candidate=name).notnull().any(("run", "time")).values
        found = [
            tuple(float(data[n].values[k]) for n in ("accuracy", "confidence", "length")) for k in there.nonzero()[0]
        ]
        ends = data["accuracy"].values[data["kind"].values == "shift"]
        assert sorted(found) == sorted((a, 1.0, n) for a in (ends.min(), ends.max()) for n in (0.3, 3.0))
    assert not np.isnan(data["regret"].sel(candidate=["printed", "plain", "uninformative"])).any()


def test_survivors_play_at_most_twenty_runs():
    data = stressed(survivors=True, kinds=["shift"], accuracy=[0.0, 1.0, 3.0], confidence=[1.0], length=[1.0, 3.0],
                  runs=23, horizon=8).data  # fmt: skip
    played = data["regret"].sel(candidate="refitting").notnull().all("time").sum("run").values
    assert sorted(set(played.tolist())) == [0, 20]


def test_the_runs_are_spread_over_a_family_and_all_meet_the_same():
    family = [cb.landscapes.draw(KERNEL, SURFACE.coordinates, noise_variance=4.0, seed=k) for k in range(3)]
    test = stressed(
        0.0, truth=family, runs=7, kinds=["shift"], accuracy=[0.0, 1.0], length=[1.0, 2.0], confidence=[1.0]
    )
    flat = test.data["regret"].sel(candidate="uninformative").values
    assert (flat == flat[:1]).all()
    for k, surface in enumerate(family):
        seed = int(np.random.SeedSequence([0, k, 2]).generate_state(1, np.uint64)[0] >> np.uint64(1))
        prior = cb.Correlated(kernel=KERNEL, coordinates=SURFACE.coordinates, noise_variance=4.0)
        trace = cb.simulate({"one": (RULE, prior)}, surface, 60, len(range(k, 7, 3)), seed=seed)
        as_given = (test.data["accuracy"].values == 0) & (test.data["length"].values == 1)
        found = test.data["regret"].sel(candidate="printed").values[as_given][0, k::3, -1]
        np.testing.assert_allclose(found, trace.regret.values[0, :, -1], rtol=1e-9)


def test_a_family_of_more_surfaces_than_runs_is_refused_since_some_would_not_be_met():
    with pytest.raises(ValueError, match="runs must be at least 5, so that every surface of the family is met, got 3"):
        stressed(0.0, truth=[SURFACE] * 5, runs=3, horizon=10)


def test_another_rule_plays_as_it_is():
    test = stress.run(cb.GPUCB(), SURFACE, 30, mean=20.0, kernel=KERNEL, **FEW)
    assert test.data["candidate"].values.tolist() == ["plain", "uninformative", "independent"]
    assert test.findings()["prefer"] is None
    assert not any("prefer" in sentence for sentence in test.sentences())


def test_of_a_covariance_the_length_is_not_varied():
    matrix = KERNEL(SURFACE.coordinates)
    test = stressed(kernel=None, covariance=matrix, survivors=True, horizon=10, runs=2)
    assert set(test.data["length"].values) == {1.0}
    assert test.data["candidate"].values.tolist() == ["printed", "plain", "uninformative", "independent", "elimination"]
    assert any("correlation scale was not varied" in sentence for sentence in test.sentences())
    same = stressed(horizon=10, runs=2)
    np.testing.assert_allclose(given_of(test), given_of(same))


def given_of(test):
    data = test.data
    chosen = (data["accuracy"].values == 0) & (data["confidence"].values == 1) & (data["length"].values == 1)
    return data["regret"].sel(candidate="printed").values[chosen & (data["kind"].values == "shift")]


def test_corners_of_a_grid_with_one_value_are_fewer():
    assert len(corners({"shift": [0.0]}, [1.0], [1.0])) == 1


# --- files ---


def test_the_same_seed_gives_the_same_bytes_whatever_the_threads(whole):
    again = stressed(survivors=True, runs=4, horizon=40, threads=1)
    assert again.to_csv() == whole.to_csv()
    assert bytes(again.to_netcdf()) == bytes(whole.to_netcdf())
    assert stressed(survivors=True, runs=4, horizon=40, seed=1).to_csv() != whole.to_csv()


def test_what_is_saved_is_loaded(whole, tmp_path):
    whole.save(tmp_path / "test.nc")
    loaded = stress.StressTest.load(tmp_path / "test.nc")
    assert loaded.data.identical(whole.data)
    assert loaded.to_csv() == whole.to_csv()
    assert loaded.sentences() == whole.sentences()
    assert bytes(loaded.to_netcdf()) == bytes(whole.to_netcdf())


def test_what_is_not_a_stress_test_is_not_loaded(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        stress.StressTest.load(tmp_path / "none.nc")
    (tmp_path / "text.nc").write_text("text")
    with pytest.raises(ValueError, match="not a NetCDF file"):
        stress.StressTest.load(tmp_path / "text.nc")
    flat = cb.Independent(noise_variance=4.0, arms=16)
    cb.simulate({"one": (cb.UCL(), flat)}, SURFACE, 5).save(tmp_path / "trace.nc")
    with pytest.raises(ValueError, match="not a saved stress test"):
        stress.StressTest.load(tmp_path / "trace.nc")


def test_a_stopped_test_goes_on_to_the_same_bytes(whole, tmp_path, monkeypatch):
    monkeypatch.setattr(stress_play, "PART", 16**2 * 40 * 4 * 2 * 5)  # five settings a part
    calls = []

    def stopping(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return cb.simulate(*arguments, **options)

    monkeypatch.setattr(stress_play, "simulate", stopping)
    options = {"survivors": True, "runs": 4, "horizon": 40, "checkpoint": tmp_path / "here"}
    with pytest.raises(KeyboardInterrupt) as stop:
        stressed(**options)
    assert re.search(r"128 of \d+ runs are saved", stop.value.__notes__[0])
    test = stressed(**options)
    assert bytes(test.to_netcdf()) == bytes(whole.to_netcdf())
    assert test.to_csv() == whole.to_csv()
    before = len(calls)
    assert stressed(**options).to_csv() == whole.to_csv()
    assert len(calls) == before, "what is done is not played again"
    with pytest.raises(ValueError, match="another prior"):
        stressed(1.0, **options)
    with pytest.raises(ValueError, match="seed 0 there, 1 here"):
        stressed(seed=1, **options)


def test_what_the_order_of_the_list_decides_is_no_verdict():
    alike = stressed(20.0, horizon=20, times=[1, 20])
    apart = stressed(horizon=20, times=[1, 20])
    assert alike.data.attrs["tied_gap"] == pytest.approx(np.ptp(SURFACE.means))
    assert apart.data.attrs["tied_gap"] == 0
    assert alike.findings()["order_decides_at"][0] == 1
    assert alike.sentences()[0].startswith("Your prior has no verdict at t = 20, since the order of the list may")
    assert "At t = 1, 20 there is no verdict, since the order of the list may decide it." in alike.sentences()
    assert apart.findings()["times"] == [1, 20]


def test_a_short_campaign_is_measured_by_independent_arms():
    noisy = {"accuracy": {"shift": [0.0], "noise": [0.5, 1.0, 2.0, 4.0, 8.0]}, "kinds": ["shift", "noise"]}
    short, long = stressed(horizon=15, **noisy), stressed(horizon=60, **noisy)
    for test, told in ((short, True), (long, False)):
        said, arms = test.sentences(), "independent arms of the right mean and deviation"
        whole = " ".join(said)
        assert f"With {arms}" in whole
        assert ("the uninformative prior tries arms only once: its regret is mostly chance" in whole) == told
        assert (f", measured against {arms}" in said[0]) == told
        assert (", measured against the uninformative one" in said[0]) != told
        assert ("with independent arms" in said[-1] or "are independent arms" in said[-1]) == told
    found = short.findings()
    assert found["independent_verdict"] == "helps"
    curve = [row for row in short.rows if row.time == 15 and row.candidate == "printed" and row.kind == "noise"]
    safe = [row.accuracy for row in curve if row.mean <= found["independent"]]
    assert max(safe) <= found["independent_noise_high"] < min({row.accuracy for row in curve} - set(safe))
    assert found["independent_noise_high"] != found["noise_high"]
    said = f"It is safe unless noise of a deviation above {found['independent_noise_high']:.3g} is added to its means."
    assert said in short.sentences()
