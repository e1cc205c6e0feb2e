"""The stress test: its data by hand, its sentences from its CSV, its files byte for byte, and what it refuses."""

import csv
import io
import math
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import stress
from corrbandits.experiment import ExperimentError
from corrbandits.experiment import load as load_experiment
from corrbandits.paper import reproduction as paper
from corrbandits.stress import experiment as stress_settings
from corrbandits.stress import findings as stress_findings
from corrbandits.stress import playing as stress_play
from corrbandits.stress import priors as stress_priors
from corrbandits.stress import sentences as stress_words
from corrbandits.stress.priors import AS_GIVEN, Setting, corners, settings

PROGRAM = Path(sys.executable).parent / "corrbandits"
RULE = cb.CorrelatedUCL(a=1.5)
KERNEL = 4 * cb.Exponential(2.0)
SURFACE = cb.landscapes.draw(KERNEL, cb.landscapes.grid(4, 4), noise_variance=4.0, seed=1, mean=20.0, shape=(4, 4))
FEW = {"confidence": [0.1, 1.0, 10.0], "length": [0.3, 1.0, 3.0], "runs": 6, "survivors": False}


def stressed(mean=SURFACE.means, **options):
    options = {"kernel": KERNEL, **FEW, **options}
    return stress.stress_test(RULE, options.pop("truth", SURFACE), options.pop("horizon", 60), mean=mean, **options)


@pytest.fixture(scope="module")
def good():
    """A prior that knows the surface."""
    return stressed(runs=20, horizon=300)


@pytest.fixture(scope="module")
def bad():
    """A prior that is sure of the opposite."""
    return stressed(2 * SURFACE.means.mean() - SURFACE.means, kernel=0.2 * cb.Exponential(2.0), runs=20, horizon=300)


@pytest.fixture(scope="module")
def whole():
    """A small test with everything in it."""
    return stressed(survivors=True, runs=4, horizon=40)


# --- the data ---


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


def test_the_uninformative_candidate_meets_the_arms_of_every_run_in_an_order_of_its_own(whole):
    data, orders = whole.data, set()
    player = cb.UCL(a=1.5), cb.Independent(noise_variance=4.0, arms=16)
    for run in range(4):
        order = np.random.default_rng(np.random.SeedSequence([0, 0, 3], spawn_key=(run,))).permutation(16)
        orders.add(tuple(order))
        trace = cb.simulate({"one": player}, cb.GaussianBandit(SURFACE.means[order], 4.0), 40, run + 1, seed=0)
        expected = trace.regret.values[0, run, data["time"].values - 1]
        for found in data["regret"].sel(candidate="uninformative", run=run).values:
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
        test = stress.stress_test(RULE, truth, 20, mean=means[order], kernel=0.01 * cb.Exponential(3.0), runs=60,
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
    test = stress.stress_test(cb.GPUCB(), SURFACE, 30, mean=20.0, kernel=KERNEL, **FEW)
    assert test.data["candidate"].values.tolist() == ["plain", "uninformative"]
    assert test.findings()["prefer"] is None
    assert not any("prefer" in sentence for sentence in test.sentences())


def test_of_a_covariance_the_length_is_not_varied():
    matrix = KERNEL(SURFACE.coordinates)
    test = stressed(kernel=None, covariance=matrix, survivors=True, horizon=10, runs=2)
    assert set(test.data["length"].values) == {1.0}
    assert test.data["candidate"].values.tolist() == ["printed", "plain", "uninformative", "elimination"]
    assert any("correlation scale was not varied" in sentence for sentence in test.sentences())
    same = stressed(horizon=10, runs=2)
    np.testing.assert_allclose(given_of(test), given_of(same))


def given_of(test):
    data = test.data
    chosen = (data["accuracy"].values == 0) & (data["confidence"].values == 1) & (data["length"].values == 1)
    return data["regret"].sel(candidate="printed").values[chosen & (data["kind"].values == "shift")]


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
    assert re.search(r"124 of \d+ runs are saved", stop.value.__notes__[0])
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


# --- the sentences, from the CSV alone ---


def table_of(test, column="mean"):
    rows = list(csv.DictReader(io.StringIO(test.to_csv())))
    last = max(int(row["time"]) for row in rows)
    return {
        (row["candidate"], row["kind"], *(float(row[n]) for n in ("accuracy", "confidence", "length"))): float(
            row[column]
        )
        for row in rows
        if int(row["time"]) == last
    }


def crossings(points, start, level, log=False):
    """Return where straight lines between points cross a level nearest to the start, below and above it."""
    xs, ys = map(np.array, zip(*sorted(points.items()), strict=True))
    at = np.log(xs) if log else xs
    found = []
    for k in range(len(xs) - 1):
        if (ys[k] > level) != (ys[k + 1] > level):
            x = np.interp(level, *zip(*sorted([(ys[k], at[k]), (ys[k + 1], at[k + 1])]), strict=True))
            found.append(float(np.exp(x)) if log else float(x))
    return max((x for x in found if x <= start), default=None), min((x for x in found if x > start), default=None)


def recomputed(test):
    """Return the findings again, by other means."""
    table = table_of(test)
    kind, main = test.data.attrs["default_kind"], test.data.attrs["candidate"]
    level = {mean for key, mean in table.items() if key[0] == "uninformative"}
    assert len(level) == 1
    (level,) = level
    given = table[main, kind, AS_GIVEN[kind], 1.0, 1.0]
    found = {"uninformative": level, "given": given, "saving": level - given, "share": (level - given) / level}
    for factor in {key[1] for key in table}:
        points = {key[2]: mean for key, mean in table.items() if key[:2] == (main, factor) and key[3:] == (1.0, 1.0)}
        points[AS_GIVEN[factor]] = given
        found[f"{factor}_low"], found[f"{factor}_high"] = crossings(points, AS_GIVEN[factor], level)
        found[f"{factor}_tried"] = min(points), max(points)
    for place, factor in ((3, "confidence"), (4, "length")):
        other = 7 - place
        points = {
            key[place]: mean
            for key, mean in table.items()
            if key[:3] == (main, kind, AS_GIVEN[kind]) and key[other] == 1.0
        }
        best = min(points, key=points.get)
        found[f"{factor}_best"], found[f"{factor}_tried"] = best, (min(points), max(points))
        low, high = crossings(points, 1.0 if points[1.0] <= level else best, level, log=True)
        safe = points[best] <= level
        found[f"{factor}_low"] = (low or min(points)) if safe else None
        found[f"{factor}_high"] = (high or max(points)) if safe else None
    if "printed" in {key[0] for key in table}:
        apart = [mean - table["plain", *key[1:]] for key, mean in table.items() if key[0] == "printed"]
        found |= {"printed_excess": max(apart), "plain_excess": max(-x for x in apart)}
    accuracies = {key[2] for key in table if key[1] == kind}
    options = {}
    for key in table:
        if key[0] in ("printed", "plain") and key[1] == kind:
            row = [table.get((key[0], kind, a, *key[3:])) for a in accuracies]
            if None not in row:
                options[key[0], *key[3:]] = max(row)
    found["safest_worst"] = min(options.values())
    found["safest_candidate"], found["safest_confidence"], found["safest_length"] = min(options, key=options.get)
    at = {key[1:] for key in table if key[0] == "elimination"}
    for name, column in (("given", "fixed"), ("elimination", "elimination"), ("refitting", "refitting")):
        found[f"corners_{name}"] = max((table[column, *c] for c in at if (column, *c) in table), default=None)
    for name in ("elimination", "refitting"):
        others = sorted(at, key=lambda c: table["fixed", *c])[:-1]
        pairs = [(table[name, *c], table["fixed", *c]) for c in others if (name, *c) in table]
        found[f"corners_{name}_more"] = max((x - y for x, y in pairs if x > y and x - y > 0.02 * x), default=None)
    found["one_mean"] = table.get((main, "scale", 0.0, 1.0, 1.0))
    found["means_save"] = None if found["one_mean"] is None else found["one_mean"] - given
    given_at = (main, kind, AS_GIVEN[kind])
    steps = table_of(test, "initial")
    found["initial"] = steps[*given_at, 1.0, 1.0]
    for factor, at_factor in (("confidence", lambda x: (x, 1.0)), ("length", lambda x: (1.0, x))):
        found[f"{factor}_initial"] = tuple(steps[*given_at, *at_factor(x)] for x in found[f"{factor}_tried"])
        found[f"{factor}_best_initial"] = steps[*given_at, *at_factor(found[f"{factor}_best"])]
    for column in ("surfaces", "better"):
        found[column] = int(table_of(test, column)[*given_at, 1.0, 1.0])
    return found


def same_numbers(found, expected):
    for name, value in expected.items():
        assert found[name] == (pytest.approx(value, rel=1e-9) if not isinstance(value, str | None) else value), name


def numbers_in(sentences):
    return [float(text.replace(",", "")) for text in re.findall(r"-?\d[\d,]*\.?\d*(?:e-?\d+)?", " ".join(sentences))]


def three_digits(x):
    return float(f"{x:.3g}")


def sayable(test, found):
    """Return every number that may be said: findings, in the prior's units too, times and the number of corners."""
    about, numbers = test.data.attrs, []
    for value in found.values():
        values = value if isinstance(value, tuple) else (value,)
        numbers += [x for x in values if isinstance(x, float | int)]
    units = [1.0, 100.0, about.get("variance", 1.0), about.get("assumed_length", 1.0)]
    said = {three_digits(sign * x * unit) for x in numbers for unit in units for sign in (1, -1)}
    return said | {float(t) for t in test.data["time"].values} | {4.0, 0.0}


@pytest.mark.parametrize("name", ["good", "bad", "whole"])
def test_every_number_in_the_sentences_is_recomputed_from_the_csv(name, request):
    test = request.getfixturevalue(name)
    expected = recomputed(test)
    same_numbers(test.findings(), expected)
    allowed = sayable(test, expected)
    said = numbers_in(test.sentences())
    assert len(said) > 15
    for number in said:
        assert number in allowed, (number, test.sentences())


@pytest.mark.parametrize("kind", ["noise", "swap", "scale"])
def test_the_kind_in_the_grids_may_be_another(kind):
    test = stressed(kinds=[kind, "shift"], horizon=30)
    assert test.data.attrs["default_kind"] == kind
    same_numbers(test.findings(), recomputed(test))


def test_the_band_is_the_t_interval_of_the_mean(whole):
    from scipy.stats import t

    for row in (*whole.rows[:: len(whole.rows) // 20], whole.rows[-1]):
        data = whole.data
        chosen = np.logical_and.reduce(
            [data[n].values == getattr(row, n) for n in ("kind", "accuracy", "confidence", "length")]
        )
        held = row.candidate == "fixed"
        values = data["regret"].sel(candidate="printed" if held else row.candidate, time=row.time).values[chosen][0]
        beside = data["regret"].sel(candidate="elimination", time=row.time).values[chosen][0]
        values = values[~np.isnan(beside if held else values)]
        assert (row.runs, row.mean) == (len(values), pytest.approx(values.mean()))
        error = values.std(ddof=1) / math.sqrt(len(values))
        low, high = t.interval(0.95, len(values) - 1, values.mean(), error) if error else (row.mean, row.mean)
        assert (row.low, row.high) == pytest.approx((low, high))


def test_opposite_problems_yield_opposite_sentences(good, bad):
    one, other = good.sentences(), bad.sentences()
    assert one[0].startswith("Your prior helps")
    assert other[0].startswith("Your prior hurts")
    assert one[1].endswith("% less.")
    assert other[1].endswith("% more.")
    assert one[2].startswith("It helps at every time")
    assert other[2].startswith("It hurts")


def test_on_the_papers_problem_the_sentences_agree_with_the_paper():
    """Figures 1 and 2: both correlated priors beat the uninformative one, the well-informed more; swapped it hurts."""
    surface, rule = cb.landscapes.two_peaks(), cb.CorrelatedUCL(a=paper.A)
    few = {"kinds": ["swap", "shift"], "accuracy": [0.0, 0.5, 1.0], "length": [0.1, 1.0, 3.0], "confidence": [1.0],
           "runs": 8, "survivors": False}  # fmt: skip
    high = np.where(surface.means > paper.HIGH_REGION, paper.HIGH_MEAN, paper.LOW_MEAN)
    kernel = paper.PRIOR_VARIANCE * cb.Exponential(paper.WELL_INFORMED_LENGTH)
    well = stress.stress_test(rule, surface, 1_000, mean=high, kernel=kernel, **few)
    kernel = paper.PRIOR_VARIANCE * cb.Exponential(paper.ILL_INFORMED_LENGTH)
    ill = stress.stress_test(rule, surface, 1_000, mean=paper.UNIFORM_MEAN, kernel=kernel, **few)
    assert "Your prior helps unless its high and low regions are swapped by more than" in well.sentences()[0]
    assert ill.sentences()[0].startswith("Your prior helps")
    assert "prefer the printed index" in ill.sentences()[0]
    assert 0 < ill.findings()["share"] < well.findings()["share"]
    assert ill.findings()["length_low"] > 0.1, "an ill-informed prior needs its correlations"
    assert any("all alike" in sentence for sentence in ill.sentences())


# --- the sentences, from numbers made up ---


def made_up(printed, plain=None, flat=100.0, **attributes):
    """Return findings and sentences of rows that a function makes: mean regret by accuracy, confidence and length."""
    rows = []
    for setting in settings({"shift": [-2.0, -1.0, 0.0, 1.0, 2.0]}, [0.1, 1.0, 10.0], [0.1, 1.0, 10.0]):
        for name, mean in (("printed", printed), ("plain", plain or printed), ("uninformative", lambda *_: flat)):
            value = float(mean(*setting[1:]))
            rows.append(stress_findings.Row(name, *setting, 10, 5, value, value, value))
    about = {"default_kind": "shift", "candidate": "printed", "variance": 10.0, "assumed_length": 2.0, **attributes}
    found = stress_findings.findings(rows, about)
    return found, stress_words.sentences(found, about)


def test_a_break_even_is_found_on_the_straight_line_and_in_logarithms():
    found, sentences = made_up(lambda a, c, n: 50 + 40 * abs(a) * (a < 0) + 100 * abs(np.log10(n)))
    assert found["shift_low"] == pytest.approx(-1.25)
    assert found["shift_high"] is None
    assert found["length_low"] == pytest.approx(10**-0.5)
    assert found["length_high"] == pytest.approx(10**0.5)
    assert sentences[0] == (
        "Your prior helps unless its means are lowered by more than 1.25; a length of 0.632 to 6.32 is safe, with one "
        "thing wrong at a time."
    )
    assert "Neither index is to be preferred" in " ".join(sentences)


def test_a_prior_that_always_helps_and_one_that_never_does():
    found, sentences = made_up(lambda *_: 40.0)
    assert sentences[0] == (
        "Your prior helps whatever was tried on its means; a length of 0.2 to 20, all that was tried, is safe, with "
        "one thing wrong at a time."
    )
    assert "It still helps with its means shifted by -2 to 2." in sentences
    assert found["safest_worst"] == 40
    found, sentences = made_up(lambda *_: 250.0)
    start = "Your prior hurts whatever was tried on its means; a length of 0.2 to 20 is nowhere safe"
    assert sentences[0] == f"{start}, with one thing wrong at a time."
    assert "At t = 10 the regret is 250 with your prior and 100 with the uninformative one: 150 % more." in sentences
    assert any(
        sentence.startswith("Safest against a shift of its means is the uninformative prior, with 100")
        for sentence in sentences
    )


def test_a_prior_that_makes_no_difference():
    found, sentences = made_up(lambda *_: 101.0)
    assert found["verdict"] == "makes no difference"
    assert sentences[0].startswith("Your prior makes no difference; ")
    assert not any("unless" in sentence for sentence in sentences)
    assert made_up(lambda *_: 0.0, flat=0.0)[0]["verdict"] == "makes no difference"


def test_a_prior_that_hurts_as_given_may_be_safe_elsewhere():
    found, sentences = made_up(lambda a, c, n: 150.0 if n < 10 else 50.0)
    assert found["length_best"] == 10
    assert found["length_low"] == pytest.approx(10**0.5)
    assert "a length of 6.32 to 20, the most that was tried, is safe" in sentences[0]


def test_the_index_to_prefer_costs_less_at_most_than_the_other():
    found, sentences = made_up(lambda a, *_: 50 + 30 * (a == 1), lambda a, *_: 50 + 90 * (a == -1))
    assert (found["printed_excess"], found["plain_excess"], found["prefer"]) == (30, 90, "printed")
    assert sentences[0].endswith("prefer the printed index.")
    found, sentences = made_up(lambda a, *_: 50 + 90 * (a == 1), lambda a, *_: 50.0)
    assert found["prefer"] == "plain"
    assert "costs at most 90 more than the plain one and the plain at most 0 more" in " ".join(sentences)


def test_the_index_to_prefer_and_the_safest_do_not_contradict_each_other():
    found, sentences = made_up(lambda a, c, n: 50 + 10 * abs(a), lambda a, c, n: 40.0 + 100 * (c == n == 1))
    assert (found["prefer"], found["safest_candidate"]) == ("printed", "plain")
    assert sentences[0].endswith("prefer the printed index where you are unsure what is wrong.")
    advice = (
        "prefer the printed index where you are unsure what is wrong, the plain one against a shift of its means alone."
    )
    assert any(sentence.endswith(advice) for sentence in sentences)
    assert any(
        sentence.startswith("Safest against a shift of its means is the plain index with ") for sentence in sentences
    )


def rows_of(means, candidate="printed"):
    """Return rows of means by setting, and the uninformative candidate's 100."""
    flat = [stress_findings.Row("uninformative", "shift", 0.0, 1.0, 1.0, 10, 5, 100.0, 100.0, 100.0)]
    one = [stress_findings.Row(candidate, *at, 10, 5, m, m, m) for at, m in means.items()]
    return one + flat


ABOUT = {"default_kind": "shift", "candidate": "printed", "policy": "CorrelatedUCL(K=4.13)"}
GIVEN, ONE_MEAN = ("shift", 0.0, 1.0, 1.0), ("scale", 0.0, 1.0, 1.0)
TENTH, MUCH = ("shift", 0.0, 0.1, 1.0), ("shift", 0.0, 10.0, 1.0)


def said_of(rows, **attributes):
    about = {**ABOUT, **attributes}
    return stress_words.sentences(stress_findings.findings(rows, about), about)


def test_what_single_means_are_worth_is_said():
    sentences = said_of(rows_of({GIVEN: 36.4, ONE_MEAN: 32.8}))
    assert (
        "With one mean for all arms the regret is 32.8, against 36.4 with your means: your expectations of single arms "
        "add nothing; the gain is from correlation."
    ) in sentences
    assert "; your expectations of single arms add nothing" in sentences[0]
    sentences = said_of(rows_of({GIVEN: 36.0, ONE_MEAN: 60.0}))
    assert any(sentence.endswith("your expectations of single arms save 24.") for sentence in sentences)
    assert "single arms" not in sentences[0]
    assert "from correlation" not in " ".join(said_of(rows_of({GIVEN: 150.0, ONE_MEAN: 120.0})))
    assert "one mean" not in " ".join(said_of(rows_of({GIVEN: 36.0, ONE_MEAN: 36.0}), means_alike=1))
    assert "one mean" not in " ".join(said_of(rows_of({GIVEN: 36.0})))


def test_initialisation_is_said_where_there_is_any():
    rows = [row for row in rows_of({TENTH: 20.0, GIVEN: 40.0, MUCH: 60.0}) if row.candidate == "printed"]
    flat = rows_of({})
    assert "nitialisation" not in " ".join(said_of(rows + flat))
    longer = [row._replace(initial=steps) for row, steps in zip(rows, (0.0, 4.0, 9.5), strict=True)]
    sentences = said_of(longer + flat)
    assert (
        "Of 10 decisions, 4 are initialisation with your prior, 0 at 0.1 times its variance, 9.5 at 10 times its "
        "variance; a smaller nu shortens it."
    ) in sentences
    why = "0.1 times was best, by skipping initialisation, which takes 4 decisions with yours."
    assert any(sentence.endswith(why) for sentence in sentences)
    assert "nu" not in " ".join(said_of(longer + flat, policy="GPUCB()")).split()
    some = [row._replace(initial=steps) for row, steps in zip(rows, (1.5, 4.0, 4.0), strict=True)]
    assert "was best, with 1.5 decisions of initialisation instead of 4." in " ".join(said_of(some + flat))


def test_what_survivors_cost_at_the_other_corners_is_said():
    corners_at = [("shift", x, 1.0, n) for x in (-1.0, 1.0) for n in (0.5, 2.0)]
    rows = rows_of(
        {("shift", x, 1.0, 1.0): 40.0 for x in (-1.0, 0.0, 1.0)}
        | dict(zip(corners_at, (900.0, 50.0, 60.0, 70.0), strict=True))
    )
    of_survivors = {
        "fixed": (300.0, 50.0, 60.0, 70.0),  # in their runs
        "elimination": (200.0, 90.0, 60.0, 50.0),
        "refitting": (210.0, 50.5, 66.0, 50.0),
    }
    for name, means in of_survivors.items():
        rows += rows_of(dict(zip(corners_at, means, strict=True)), name)[:-1]
    assert said_of(rows)[-1] == (
        "At the worst of the 4 corners the regret is 300 with the prior held fixed, 200 with elimination and 210 with "
        "refitting: elimination and refitting save regret; at the other corners they cost up to 40 more."
    )
    cheap = [row._replace(mean=50.0) if row.candidate in ("elimination", "refitting") else row for row in rows]
    assert said_of(cheap)[-1].endswith("save regret.")


def test_of_a_family_it_is_said_on_how_many_surfaces_the_prior_helps():
    opposite = cb.GaussianBandit(2 * SURFACE.means.mean() - SURFACE.means, 4.0, SURFACE.coordinates)
    family, few = [SURFACE, SURFACE, opposite, SURFACE, opposite], {"kinds": ["shift"], "accuracy": [0.0]}
    test = stressed(truth=family, kernel=0.2 * cb.Exponential(2.0), runs=13, horizon=300, **few)
    regret, surface = test.data["regret"].sel(time=300), test.data["surface"].values
    assert surface.tolist() == [run % 5 for run in range(13)]
    mine = regret.sel(candidate="printed").values[[given_at(test)]][0]
    flat = regret.sel(candidate="uninformative").values[0]
    helps = sum(mine[surface == k].mean() < 0.98 * flat[surface == k].mean() for k in range(5))
    assert f"Of 5 surfaces that were met, it helps on {helps}." in test.sentences()
    assert helps == 3
    same_numbers(test.findings(), recomputed(test))


def given_at(test):
    data = test.data
    chosen = (data["accuracy"].values == 0) & (data["confidence"].values == 1) & (data["length"].values == 1)
    return int(np.flatnonzero(chosen)[0])


# --- what is refused ---


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kernel": None}, "either kernel"),
        ({"covariance": np.eye(16)}, "either kernel"),
        ({"kernel": lambda x, y: x @ y.T}, "length can be varied"),
        ({"kernel": None, "covariance": np.eye(3)}, "3"),
        ({"kernel": None, "covariance": -np.eye(16)}, "negative|variance|definite"),
        ({"mean": [1.0, 2.0]}, "mean must be one number or 16"),
        ({"noise_variance": 0.0}, "noise_variance must be above 0"),
        ({"kinds": []}, "kinds must be some of"),
        ({"kinds": ["shift", "shift"]}, "each once"),
        ({"kinds": ["tilt"]}, "kinds must be some of shift, scale, noise, swap"),
        ({"accuracy": []}, "accuracy must be a list"),
        ({"accuracy": {"tilt": [1.0]}}, "accuracy must be of the kinds"),
        ({"accuracy": [np.nan]}, "accuracy must be finite"),
        ({"kinds": ["noise"], "accuracy": [-1.0]}, "at least 0 for the kind noise"),
        ({"kinds": ["swap"], "accuracy": [2.0]}, "from 0 to 1 for the kind swap"),
        ({"confidence": [0.0, 1.0]}, "confidence must be factors above 0"),
        ({"length": [-1.0]}, "length must be factors above 0"),
        ({"length": 3.0}, "length must be a list"),
        ({"times": [100]}, "times must be whole numbers from 1 to 60"),
        ({"times": [1.5]}, "times must be whole numbers"),
        ({"runs": 0}, "runs must be at least 1"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"horizon": 0}, "horizon must be at least 1"),
        ({"threads": 0}, "threads must be at least 1"),
        ({"survivors": "yes"}, "survivors must be True or False"),
        ({"truth": []}, "truth must be an Environment"),
        ({"truth": [SURFACE, cb.GaussianBandit([1.0], 1.0)]}, "the same arms"),
        ({"truth": cb.GaussianBandit(np.arange(16.0), 1.0)}, "coordinates"),
    ],
)
def test_bad_input_is_refused_before_any_work(options, said, monkeypatch):
    monkeypatch.setattr(stress_play, "simulate", lambda *_, **__: pytest.fail("work has begun"))
    with pytest.raises((ValueError, TypeError), match=said):
        stressed(**options)


def test_a_policy_that_is_none_or_cannot_play_is_refused(monkeypatch):
    monkeypatch.setattr(stress_play, "simulate", lambda *_, **__: pytest.fail("work has begun"))
    with pytest.raises(TypeError, match="policy must be a Policy"):
        stress.stress_test("UCL", SURFACE, 10, kernel=KERNEL)
    with pytest.raises(ValueError, match="alpha_t"):
        stress.stress_test(cb.CorrelatedUCL(K=0.5), SURFACE, 10, kernel=KERNEL)


# --- the experiment file and the command ---

FILE = """\
[arms]
grid = [3, 3]
[truth]
means = [0, 1, 2, 3, 4, 5, 4, 3, 2]
noise_variance = 1.0
[priors.flat]
variance = inf
[priors.smooth]
mean = 2.0
kernel = { name = "exponential", length = 2.0, variance = 1.0 }
[policies.one]
rule = "UCL"
prior = "flat"
a = 1.5
[policies.two]
rule = "CorrelatedUCL"
prior = "smooth"
a = 1.5
[run]
horizon = 30
runs = 3
seed = 3
[stress]
kinds = ["shift", "swap"]
accuracy = [-1.0, 1.0]
confidence = [0.1, 1.0]
length = [0.5, 2.0]
horizons = [10, 30]
"""


@pytest.fixture
def read(tmp_path):
    def from_text(text, policy=None):
        (tmp_path / "my.toml").write_text(text)
        return stress_settings.load(tmp_path / "my.toml", policy)

    (tmp_path / "sites.csv").write_text("x,y,one,two,what\n0,0,1,2,a\n0,1,3,4,b\n1,0,5,5.5,c\n")
    return from_text


def test_a_file_says_what_the_function_takes(read):
    found = stress.stress_test(**read(FILE))
    by_hand = stress.stress_test(
        cb.CorrelatedUCL(a=1.5),
        cb.GaussianBandit([0, 1, 2, 3, 4, 5, 4, 3, 2], 1.0, cb.landscapes.grid(3, 3), (3, 3)),
        30,
        mean=2.0,
        kernel=1.0 * cb.Exponential(2.0),
        kinds=["shift", "swap"],
        accuracy=[-1.0, 1.0],
        confidence=[0.1, 1.0],
        length=[0.5, 2.0],
        times=[10, 30],
        runs=3,
        seed=3,
    )
    assert found.to_csv() == by_hand.to_csv()
    assert found.data["time"].values.tolist() == [10, 30]


def test_the_table_may_be_left_out_and_does_not_disturb_the_others(read, tmp_path):
    arguments = read(FILE.split("[stress]")[0])
    assert arguments["policy"] == cb.CorrelatedUCL(a=1.5)
    assert "kinds" not in arguments
    read(FILE)
    assert load_experiment(tmp_path / "my.toml").horizon == 30


def test_a_family_of_draws_and_one_of_columns(read):
    draws = 'truth_draws = { kernel = "matern52", length = 2.0, variance = 9.0, seed = 5, count = 3, mean = 1.0 }'
    family = read(f"{FILE}{draws}\n")["truth"]
    for k, surface in enumerate(family):
        drawn = cb.landscapes.draw(
            9.0 * cb.Matern52(2.0), cb.landscapes.grid(3, 3), noise_variance=1.0, seed=5 + k, mean=1
        )
        np.testing.assert_array_equal(surface.means, drawn.means)
        assert surface.noise_variance.tolist() == [1.0] * 9
    assert len(family) == 3
    sites = FILE.replace("grid = [3, 3]", 'csv = "sites.csv"').replace(
        "means = [0, 1, 2, 3, 4, 5, 4, 3, 2]", 'column = "one"'
    )
    one, two = read(f'{sites}truth_columns = ["one", "two"]\n')["truth"]
    assert (one.means.tolist(), two.means.tolist()) == ([1, 3, 5], [2, 4, 5.5])


def test_the_prior_and_the_policy_may_be_named(read):
    other = '[priors.other]\nmean = 1.0\ncovariance = [[2, 0, 0, 0, 0, 0, 0, 0, 0], [0, 2, 0, 0, 0, 0, 0, 0, 0], ' \
        + ", ".join(str([2 * (i == j) for j in range(9)]) for i in range(2, 9)) + "]\n"  # fmt: skip
    found = read(FILE.replace("[priors.flat]", other + "[priors.flat]") + 'prior = "other"\n')
    assert "kernel" not in found
    np.testing.assert_array_equal(found["covariance"], 2 * np.eye(9))
    with pytest.raises(ExperimentError, match="--policy must be one of one, two"):
        read(FILE, "three")
    with pytest.raises(ExperimentError, match=r"line 13: .*prior must be one with a kernel"):
        read(FILE, "one")
    assert read(FILE + 'prior = "smooth"\n', "one")["policy"] == cb.UCL(a=1.5)


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("kinds =", "kind =", 24, "Did you mean 'kinds'"),
        ('["shift", "swap"]', '["tilt"]', 24, "kinds must be some of"),
        ('["shift", "swap"]', '"shift"', 24, "kinds must be a list"),
        ("[-1.0, 1.0]", "1.0", 25, "accuracy must be a list"),
        ("[-1.0, 1.0]", "{ noise = [1.0] }", 25, "accuracy must be of the kinds"),
        ("[0.1, 1.0]", "[0.0]", 26, "confidence must be factors above 0"),
        ("[0.1, 1.0]", '["a"]', 26, "confidence must be numbers"),
        ("[0.5, 2.0]", "[-2.0]", 27, "length must be factors above 0"),
        ("confidence = [0.1, 1.0]\nlength = [0.5, 2.0]", "confidence = [1.0]\nlength = [1.0]", 23, "at least two of"),
        ("[10, 30]", "[10, 31]", 28, "at most the horizon of"),
        ("[10, 30]", "[0]", 28, "horizons must be at least 1"),
        ("[10, 30]", "30", 28, "horizons must be a list"),
        ("horizons = [10, 30]", "survivors = 1", 28, "true or false"),
        ("horizons = [10, 30]", 'policy = "tow"', 28, "Did you mean 'two'"),
        ("horizons = [10, 30]", 'prior = "flat"', 28, "prior must be one with a kernel"),
        ("horizons = [10, 30]", 'truth_columns = ["one"]', 28, "must go with csv"),
        ("horizons = [10, 30]", "truth_columns = []", 28, "truth_columns must be a list"),
        ("horizons = [10, 30]", "truth_draws = 3", 28, "truth_draws must be a table"),
        (
            "horizons = [10, 30]",
            'truth_draws = { kernel = "matern52", length = 2.0, variance = 1.0 }',
            28,
            "'seed' is miss",
        ),
        (
            "horizons = [10, 30]",
            'truth_draws = { kernel = "matern52", length = 2.0, variance = 1.0, seed = 1, count = 0 }',
            28,
            "count must be at least 1",
        ),
        ("horizons = [10, 30]", 'truth_draws = { kernel = "x" }\ntruth_columns = ["one"]', 29, "only one of"),
        ('prior = "flat"', 'prior = "smooth"', 23, "policy must say which one is tested, since 2"),
    ],
)
def test_a_wrong_table_is_refused_with_its_line(read, old, new, line, said):
    assert FILE.count(old) == 1
    with pytest.raises(ExperimentError, match=f"line {line}: .*{re.escape(said)}"):
        read(FILE.replace(old, new))


def test_the_command_writes_all_files_and_prints_the_sentences(read, tmp_path):
    expected = stress.stress_test(**read(FILE))
    done = subprocess.run(
        [PROGRAM, "stress", "my.toml", "--out", "out", "--checkpoint", "saved", "--threads", "2"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "my-stress.csv",
        "my-stress.nc",
        "my-stress.html",
        *(f"my-stress-{what}.{ending}" for what in ("grids", "curves") for ending in ("png", "pdf")),
    }
    assert (tmp_path / "out" / "my-stress.csv").read_text() == expected.to_csv()
    assert (tmp_path / "out" / "my-stress.nc").read_bytes() == bytes(expected.to_netcdf())
    for sentence in expected.sentences():
        assert sentence in done.stdout
    page = (tmp_path / "out" / "my-stress.html").read_text(encoding="utf-8")
    assert expected.sentences()[0] in page


def test_the_command_goes_on_after_ctrl_c(read, tmp_path):
    expected = stress.stress_test(**read(FILE.replace("horizon = 30", "horizon = 300")))
    command = [PROGRAM, "stress", "my.toml", "--checkpoint", "saved", "--threads", "1"]
    begun = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while begun.poll() is None and len(list(tmp_path.glob("saved/*.npz"))) < 1:
        time.sleep(0.02)
    begun.send_signal(signal.SIGINT)
    assert "runs are saved in saved" in begun.communicate()[1]
    assert begun.returncode == 130
    assert not list(tmp_path.glob("results/*"))
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "results" / "my-stress.csv").read_text() == expected.to_csv()


def test_the_command_refuses_before_it_writes(tmp_path):
    (tmp_path / "my.toml").write_text(FILE.replace("length = [0.5, 2.0]", "length = [0.0]"))
    done = subprocess.run([PROGRAM, "stress", "my.toml"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    assert "line 27: in [stress], length must be factors above 0" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["my.toml"]


def test_corners_of_a_grid_with_one_value_are_fewer():
    assert len(corners({"shift": [0.0]}, [1.0], [1.0])) == 1
