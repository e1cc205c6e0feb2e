"""What a stress test plays, compared with simulations by hand, and its files, byte for byte."""

import itertools
import math
import re
from functools import partial

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import stress
from corrbandits.stress import plan as stress_plan
from corrbandits.stress import playing as stress_play
from corrbandits.stress import priors as stress_priors
from corrbandits.stress.settings import AS_GIVEN, CONFIDENCE, LENGTH, Setting, corners, settings
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
    data = stressed(confidence=CONFIDENCE, length=LENGTH, runs=1, horizon=5).data
    first = data["kind"].values == "shift"
    spread = float(f"{SURFACE.means.std():.3g}")
    assert sorted(set(data["accuracy"].values[first])) == pytest.approx([-2 * spread, -spread, 0, spread, 2 * spread])
    assert sorted(set(data["confidence"].values)) == [0.01, 0.1, 1.0, 10.0, 100.0]
    assert sorted(set(data["length"].values)) == [0.1, 0.3162, 1.0, 3.162, 10.0]
    assert data.sizes["setting"] == 61 + 3 * 4
    assert data["time"].values[-1] == 5


def wrong_by_hand(setting, mean, noise, where):
    kind, x, confidence, length = setting
    changed = {
        "shift": mean + x,
        "scale": mean.mean() + x * (mean - mean.mean()),
        "noise": mean + x * noise,
        "swap": (1 - x) * mean + x * (mean.max() + mean.min() - mean),
    }[kind]
    kernel = 4 * confidence * cb.Exponential(2.0 * length)
    return cb.Correlated(mean=changed, kernel=kernel, coordinates=where, noise_variance=4.0)


def dealt_by_hand(run, surface=0, truth=SURFACE):
    """Return a run's order of arms, its noise on the means and its seed; the test's own is 0."""
    rng = np.random.default_rng(np.random.SeedSequence([0, surface, 1], spawn_key=(run,)))
    by_place = sorted(range(truth.arms), key=lambda arm: tuple(truth.coordinates[arm]))
    order = np.array(by_place)[rng.permutation(truth.arms)]
    words = np.random.SeedSequence([0, surface, 2], spawn_key=(run,)).generate_state(1, np.uint64)
    return order, rng.standard_normal(truth.arms), int(words[0]) >> 1


def played_by_hand(player, order, seed, truth=SURFACE, **options):
    """Return the trace of one run on arms in an order."""
    arms = cb.GaussianBandit(truth.means[order], 4.0)
    return cb.simulate({"one": player}, arms, seed=seed, **options)


def test_the_regret_is_that_of_simulations_with_priors_made_wrong_by_hand(whole):
    data, orders = whole.data, set()
    rules = {"printed": RULE, "plain": cb.CorrelatedUCL(a=1.5, factor=False)}
    for k, run in zip(range(0, data.sizes["setting"], 3), itertools.cycle(range(4))):
        order, noise, seed = dealt_by_hand(run)
        orders.add(tuple(order))
        setting = tuple(data[name].values[k] for name in ("kind", "accuracy", "confidence", "length"))
        prior = wrong_by_hand(setting, SURFACE.means[order], noise, SURFACE.coordinates[order])
        for name, rule in rules.items():
            trace = played_by_hand((rule, prior), order, seed, horizon=40)
            expected = trace.regret.sel(policy="one", time=data["time"].values).values[0]
            found = data["regret"].sel(candidate=name, run=run)[k]
            np.testing.assert_allclose(found, expected, rtol=1e-9, err_msg=str(setting))
            steps = trace.initialisation.values.item()
            assert data["initialisation"].sel(candidate=name, run=run).values[k] == steps
    assert len(orders) == 4


@pytest.mark.parametrize("candidate", ["uninformative", "independent"])
def test_who_has_no_prior_of_each_arm_meets_the_arms_in_the_order_of_the_run(whole, candidate):
    data = whole.data
    overall = {"mean": SURFACE.means.mean(), "variance": SURFACE.means.var()} if candidate == "independent" else {}
    player = cb.UCL(a=1.5), cb.Independent(noise_variance=4.0, arms=16, **overall)
    for run in range(4):
        order, _, seed = dealt_by_hand(run)
        expected = played_by_hand(player, order, seed, horizon=40).regret.values[0, 0, data["time"].values - 1]
        for found in data["regret"].sel(candidate=candidate, run=run).values:
            np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_who_is_told_nothing_is_the_recommended_rule_on_the_places_alone(whole):
    for run in range(4):
        order, _, seed = dealt_by_hand(run)
        player = cb.Gittins(40), cb.Vague(coordinates=SURFACE.coordinates[order])
        trace = played_by_hand(player, order, seed, horizon=40)
        expected = trace.regret.values[0, 0, whole.data["time"].values - 1]
        for found in whole.data["regret"].sel(candidate="vague", run=run).values:
            np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_who_is_told_nothing_knows_no_deviations_and_goes_by_the_distance_of_the_kernel():
    where, shared = np.array([[50.0, 7.0], [51.0, 8.0], [52.0, 7.5]]), {"noise_variance": 1.0}
    truth = cb.GaussianBandit([1.0, 2.0, 3.0], 1.0)
    kernel = cb.kernels.WithDeviations(cb.Exponential(90.0, "great_circle"))
    told = stress_priors.assumed(truth, 0.0, kernel, np.column_stack([where, [1.0, 2.0, 3.0]]), None, None)
    assert told.told_nothing().prior_arguments()["distance"] == "great_circle"
    np.testing.assert_array_equal(told.told_nothing().coordinates, where)
    summed = stress_priors.assumed(truth, 0.0, cb.Exponential(1.0, "cityblock") + cb.Exponential(2.0), where, None, 1.0)
    assert summed.told_nothing().prior_arguments()["distance"] == "cityblock"
    by_matrix = stress_priors.assumed(truth, 0.0, None, None, np.eye(3), shared["noise_variance"])
    assert (by_matrix.told_nothing().coordinates, by_matrix.told_nothing().arms) == (None, 3)
    placed = stress_priors.assumed(SURFACE, 0.0, None, None, np.eye(16), 1.0)
    np.testing.assert_array_equal(placed.told_nothing().coordinates, SURFACE.coordinates)


def test_of_very_many_arms_nobody_is_told_nothing(monkeypatch):
    monkeypatch.setattr(stress_plan, "MOST_VAGUE", 15)
    test = stressed(horizon=10, runs=2)
    assert "vague" not in test.data["candidate"].values
    assert test.findings()["vague"] is None
    assert not any("Told nothing" in sentence for sentence in test.sentences())


@pytest.mark.parametrize("rule", [cb.Gittins(30), cb.HorizonUCL(30)], ids=str)
def test_rules_that_know_the_horizon_are_tested_as_they_are(rule):
    test = stress.run(rule, SURFACE, 30, mean=20.0, kernel=KERNEL, **FEW)
    order, _, seed = dealt_by_hand(1)
    prior = cb.Correlated(mean=20.0, kernel=KERNEL, coordinates=SURFACE.coordinates[order], noise_variance=4.0)
    expected = played_by_hand((rule, prior), order, seed, horizon=30).regret.values[0, 0, -1]
    assert given_of(test, "plain")[0, 1, -1] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("kind", ["Gaussian", "Bernoulli"])
@pytest.mark.parametrize("prior", ["kernel", "covariance"])
def test_the_same_arms_listed_in_another_order_give_the_same_file(kind, prior):
    """Means are alike, so that the first arm is a tie of all; taken from the list it is the worst, or the best."""
    means, few = np.linspace(0.0, 1.0, 30), {"kinds": ["shift", "noise"], "confidence": [1.0], "length": [1.0, 2.0]}
    matrix, files = 0.01 * cb.Exponential(3.0)(np.arange(30.0)[:, None]), set()
    for order in (np.arange(30), np.arange(30)[::-1], np.random.default_rng(1).permutation(30)):
        where = np.arange(30.0)[order, None]
        arms = means[order], *([0.04] if kind == "Gaussian" else []), where
        truth = (cb.GaussianBandit if kind == "Gaussian" else cb.BernoulliBandit)(*arms)
        given = {"kernel": 0.01 * cb.Exponential(3.0)} if prior == "kernel" else {"covariance": matrix[order][:, order]}
        test = stress.run(RULE, truth, 20, mean=0.5, noise_variance=0.04, runs=3, survivors=False, **given, **few)
        files.add(test.to_csv())
    assert len(files) == 1


def test_the_first_of_arms_that_look_alike_is_any_of_them():
    """With means from 0 to 1, any of 30 arms, loses 0.5 at t = 1; the first of the list 1, the last 0."""
    truth = cb.GaussianBandit(np.linspace(0.0, 1.0, 30), 0.04, np.arange(30.0)[:, None])
    few = {"kinds": ["shift"], "accuracy": [0.0], "length": [1.0], "confidence": [1.0], "survivors": False}
    test = stress.run(cb.GPUCB(), truth, 1, mean=0.5, kernel=0.01 * cb.Exponential(3.0), runs=200, **few)
    lost = test.data["regret"].sel(candidate="plain").values.ravel()
    assert abs(lost.mean() - 0.5) < 4 * lost.std() / math.sqrt(len(lost))
    assert lost.std() > 0.2
    assert test.findings()["verdict"] == "makes no difference", "the uninformative prior takes the same first arm"


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
    as_given = (test.data["accuracy"].values == 0) & (test.data["length"].values == 1)
    found = test.data["regret"].sel(candidate="printed").values[as_given][0, :, -1]
    for run in range(7):
        order, _, seed = dealt_by_hand(run // 3, surface=run % 3)
        prior = cb.Correlated(kernel=KERNEL, coordinates=SURFACE.coordinates[order], noise_variance=4.0)
        trace = played_by_hand((RULE, prior), order, seed, truth=family[run % 3], horizon=60)
        assert found[run] == pytest.approx(trace.regret.values[0, 0, -1], rel=1e-9)


def test_a_family_of_more_surfaces_than_runs_is_refused_since_some_would_not_be_met():
    with pytest.raises(ValueError, match="runs must be at least 5, so that every surface of the family is met, got 3"):
        stressed(0.0, truth=[SURFACE] * 5, runs=3, horizon=10)


def test_another_rule_plays_as_it_is():
    test = stress.run(cb.GPUCB(), SURFACE, 30, mean=20.0, kernel=KERNEL, **FEW)
    assert test.data["candidate"].values.tolist() == ["plain", "uninformative", "independent", "vague"]
    assert test.findings()["prefer"] is None
    assert not any("prefer the" in sentence or "preferred" in sentence for sentence in test.sentences())


def test_of_a_covariance_the_length_is_not_varied():
    matrix = KERNEL(SURFACE.coordinates)
    test = stressed(kernel=None, covariance=matrix, survivors=True, horizon=10, runs=2)
    assert set(test.data["length"].values) == {1.0}
    names = ["printed", "plain", "uninformative", "independent", "vague", "elimination"]
    assert test.data["candidate"].values.tolist() == names
    assert any("correlation scale was not varied" in sentence for sentence in test.sentences())
    same = stressed(horizon=10, runs=2)
    np.testing.assert_allclose(given_of(test), given_of(same))


def given_of(test, candidate="printed"):
    data = test.data
    chosen = (data["accuracy"].values == 0) & (data["confidence"].values == 1) & (data["length"].values == 1)
    return data["regret"].sel(candidate=candidate).values[chosen & (data["kind"].values == "shift")]


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
    monkeypatch.setattr(stress_plan, "PART", 16**2 * 40 * 4 * 2 * 5)  # five settings a part
    calls = []

    def stopping(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 14:  # in the fourth part of four runs
            raise KeyboardInterrupt
        return cb.simulate(*arguments, **options)

    monkeypatch.setattr(stress_play, "simulate", stopping)
    options = {"survivors": True, "runs": 4, "horizon": 40, "checkpoint": tmp_path / "here"}
    with pytest.raises(KeyboardInterrupt) as stop:
        stressed(**options)
    assert re.search(r"132 of \d+ runs are saved", stop.value.__notes__[0])
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


def test_what_chance_may_have_decided_is_no_verdict():
    test = stressed(20.0, horizon=20, times=[1, 3, 20])
    given, flat = (test.data["regret"].sel(candidate=name) for name in ("printed", "uninformative"))
    apart = given_of(test)[0] - flat.values[0]
    chance = [t for t, x in zip((1, 3, 20), apart.T, strict=True) if abs(x.mean()) <= 2.571 * x.std(ddof=1) / 6**0.5]
    assert given.sizes["run"] == 6
    assert test.findings()["chance_decides_at"] == chance == [1, 20]


def test_a_short_campaign_is_measured_by_independent_arms():
    swapped = {"accuracy": {"shift": [0.0], "swap": [0.25, 0.5, 0.75, 1.0]}, "kinds": ["shift", "swap"]}
    short, long = (stressed(horizon=horizon, runs=20, **swapped) for horizon in (15, 60))
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
    curve = [row for row in short.rows if row.time == 15 and row.candidate == "printed" and row.kind == "swap"]
    safe = [row.accuracy for row in curve if row.mean <= found["independent"]]
    assert max(safe) <= found["independent_swap_high"] < min({row.accuracy for row in curve} - set(safe))
    assert found["independent_swap_high"] != found["swap_high"]
    share = f"{100 * found['independent_swap_high']:.3g}"
    said = f"It is safe unless its high and low regions are swapped by more than {share} %."
    assert said in short.sentences()


RING = [(k, k + 1, 1.0 + k) for k in range(7)] + [(0, 7, 2.5)]
ON_WAYS = {
    "graph": lambda roads, where: cb.OnGraph(cb.UCL(), roads),
    "roads": lambda roads, where: cb.Blocked(cb.Travelling(cb.UCL(), cb.Moves(0.5, 0.3, graph=roads), horizon=20)),
    "places": lambda roads, where: cb.Travelling(cb.UCL(), cb.Moves(0.5, 0.3, coordinates=where), horizon=20),
    "the truth's": lambda roads, where: cb.Travelling(cb.UCL(), cb.Moves(0.5, 0.3), horizon=20),
}


def ways_stressed(make, order):
    """Return a test of a rule that minds ways, as its file, of arms in an order."""
    new = np.argsort(order).tolist()
    roads, where = [(new[i], new[j], length) for i, j, length in RING], np.arange(8.0)[order, None] ** 2
    truth = cb.GaussianBandit(np.sin(np.arange(8.0))[order], 1.0, where)
    few = {"kinds": ["shift"], "accuracy": [0.0, 1.0], "confidence": [1.0], "length": [1.0], "survivors": False}
    return stress.run(make(roads, where), truth, 20, kernel=cb.Exponential(9.0), noise_variance=1.0, runs=3, **few)


@pytest.mark.parametrize("way", ON_WAYS)
def test_a_rule_that_minds_ways_knows_them_in_every_order_of_the_arms(way, monkeypatch):
    """Every run has an order of its own: numbers of arms in a graph, or places by number, go along."""
    monkeypatch.setattr(stress_play, "simulate", partial(stress_play.simulate, engine="reference"))
    files = {
        ways_stressed(ON_WAYS[way], order).to_csv() for order in (np.arange(8), np.random.default_rng(1).permutation(8))
    }
    assert len(files) == 1


def test_where_a_rule_says_the_places_of_the_truth_it_is_as_if_it_said_none(monkeypatch):
    monkeypatch.setattr(stress_play, "simulate", partial(stress_play.simulate, engine="reference"))
    said, unsaid = (ways_stressed(ON_WAYS[way], np.arange(8)).data["regret"] for way in ("places", "the truth's"))
    np.testing.assert_array_equal(said.values, unsaid.values)


OTHERS = [(k, k + 1) for k in range(11)]


@pytest.mark.parametrize("arms", [12, 5])
@pytest.mark.parametrize("way", ["graph", "roads", "places"])
def test_ways_between_other_arms_than_there_are_are_refused(way, arms):
    rule = ON_WAYS[way](OTHERS[: arms - 1], np.arange(float(arms))[:, None])
    with pytest.raises(ValueError, match=f"the 8 arms there are, but .* {arms}"):
        ways_stressed(lambda roads, where: rule, np.arange(8))
