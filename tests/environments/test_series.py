"""Mean rewards that change with time: the bandit on a path, and the functions that draw or read one."""

import pickle

import numpy as np
import pandas as pd
import pytest

import corrbandits as cb
from corrbandits import series
from corrbandits.environments import gaps_of
from corrbandits.stress.truth import reordered

PATH = np.array([[0.0, 2.0, 1.0], [3.0, 2.0, 1.0], [0.1 + 0.2, 0.3, -5.0]])
BANDIT = cb.ChangingBandit(PATH, noise_variance=[1.0, 4.0, 9.0])
WHERE = cb.landscapes.grid(2, 2)
KERNEL = 4 * cb.Exponential(2.0)


class TestTheBandit:
    def test_has_the_means_of_each_time(self):
        assert BANDIT.changes
        assert BANDIT.horizon == 3
        assert BANDIT.means.tolist() == PATH[0].tolist()
        for t in (1, 2, 3):
            assert BANDIT.means_at(t).tolist() == PATH[t - 1].tolist()
            assert BANDIT.reward(1, noise=0.5, t=t) == PATH[t - 1, 1] + 2.0 * 0.5

    def test_loses_against_the_best_arm_of_each_time(self):
        for t in (1, 2, 3):
            np.testing.assert_array_equal(BANDIT.gaps_at(t), gaps_of(PATH[t - 1]))
        for first, arms in ((1, [0, 1, 2]), (2, [2, 0]), (3, [1])):
            expected = [gaps_of(PATH[first - 1 + i])[arm] for i, arm in enumerate(arms)]
            assert BANDIT.losses(np.array(arms), first).tolist() == expected
        assert BANDIT.losses(np.array([0]), 3).tolist() == [0.0]  # arm 1 is above it by rounding alone

    def test_is_read_only_also_as_a_copy(self):
        for bandit in (BANDIT, pickle.loads(pickle.dumps(BANDIT))):
            with pytest.raises(ValueError, match="read-only"):
                bandit.path[0, 0] = 1.0
            assert bandit.losses(np.array([0, 0])).tolist() == [2.0, 0.0]

    def test_with_its_arms_in_another_order_is_of_the_same_kind(self):
        turned = reordered(BANDIT, np.array([2, 0, 1]))
        assert isinstance(turned, cb.ChangingBandit)
        assert turned.path.tolist() == PATH[:, [2, 0, 1]].tolist()
        assert turned.noise_variance.tolist() == [9.0, 1.0, 4.0]

    @pytest.mark.parametrize("t", [4, 10**9])
    def test_knows_nothing_past_its_end(self, t):
        with pytest.raises(ValueError, match=f"known up to time 3, got t = {t:,}"):
            BANDIT.means_at(t)

    def test_says_what_it_is(self):
        assert repr(BANDIT) == "<ChangingBandit with 3 arms, means -5 to 3 over 3 decisions>"

    @pytest.mark.parametrize("path", [[1.0, 2.0], np.zeros((0, 3)), np.zeros((3, 0)), np.zeros((2, 2, 2))])
    def test_needs_a_row_per_time(self, path):
        with pytest.raises(ValueError, match="path must be a matrix with a row per time"):
            cb.ChangingBandit(path, noise_variance=1.0)

    def test_refuses_what_is_not_finite(self):
        with pytest.raises(ValueError, match=r"path must be finite, got nan at index \(1, 0\)"):
            cb.ChangingBandit([[1.0], [np.nan]], noise_variance=1.0)

    def test_is_not_played_past_its_end(self):
        player = {"a": (cb.UCL(), cb.Independent(noise_variance=1.0, arms=3))}
        assert cb.simulate(player, BANDIT, horizon=3).horizon == 3
        with pytest.raises(ValueError, match=r"horizon must be at most 3, .* got 4\. Take a shorter horizon"):
            cb.simulate(player, BANDIT, horizon=4)


def correlation(path, lag):
    """Correlation of each arm's mean with itself `lag` steps later, about 0, averaged over arms."""
    return float((path[lag:] * path[:-lag]).mean() / np.square(path).mean())


@pytest.mark.parametrize("scale", [3.0, 20.0])
def test_drift_has_the_covariance_and_the_autocorrelation_it_says(scale):
    path = series.drift(KERNEL, WHERE, steps=200_000, scale=scale, noise_variance=1.0, seed=0).path
    effective = len(path) / scale  # about so many independent surfaces
    np.testing.assert_allclose(np.cov(path.T), KERNEL(WHERE, WHERE), atol=5 * 4 * np.sqrt(2 / effective))
    for lag in (1, 2, 7):
        assert correlation(path, lag) == pytest.approx(np.exp(-lag / scale), abs=5 / np.sqrt(effective))
    later = path[1:] - np.exp(-1 / scale) * path[:-1]  # what is new in a step is new in every way
    assert np.abs(np.corrcoef(later[1:, 0], path[:-2, 0])[0, 1]) < 5 / np.sqrt(len(path))


def test_drift_is_stationary_from_its_first_step_on():
    first = [series.drift(np.eye(50), steps=1, scale=10.0, noise_variance=1.0, seed=s).path for s in range(40)]
    assert np.var(first) == pytest.approx(1.0, abs=5 * np.sqrt(2 / 2000))


def test_without_an_end_of_the_scale_nothing_changes():
    path = series.drift(
        KERNEL, WHERE, steps=50, scale=np.inf, noise_variance=1.0, seed=3, mean=[1.0, 2.0, 3.0, 4.0]
    ).path
    assert (path == path[0]).all()
    surface = cb.landscapes.draw(KERNEL, WHERE, noise_variance=1.0, seed=3, mean=[1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(path[0], surface.means, rtol=1e-12)


def test_of_a_tiny_scale_every_step_is_a_draw_of_its_own():
    path = series.drift(np.eye(3), steps=20_000, scale=1e-3, noise_variance=1.0, seed=0).path
    assert abs(correlation(path, 1)) < 5 / np.sqrt(path.size)


def test_switches_come_at_the_times_given_and_at_no_other():
    path = series.switches(KERNEL, WHERE, steps=10, at=[9, 4], noise_variance=1.0, seed=0).path
    changed = 2 + np.flatnonzero((path[1:] != path[:-1]).all(axis=1))
    assert changed.tolist() == [4, 9]
    assert len(np.unique(path[:, 0])) == 3


def test_switches_come_as_often_as_it_says():
    path = series.switches(np.eye(2), steps=100_000, every=50, noise_variance=1.0, seed=0).path
    number = (path[1:] != path[:-1]).any(axis=1).sum()
    assert abs(number - 2000) < 5 * np.sqrt(2000)
    surfaces = path[np.concatenate([[True], (path[1:] != path[:-1]).any(axis=1)])]
    assert np.var(surfaces) == pytest.approx(1.0, abs=5 * np.sqrt(2 / surfaces.size))


def test_seasons_return_and_have_the_covariance_at_every_time():
    one = series.seasons(KERNEL, WHERE, steps=30, period=10, noise_variance=1.0, seed=0, mean=7.0).path - 7.0
    np.testing.assert_allclose(one[:10], one[10:20], atol=1e-12)
    np.testing.assert_allclose(one[:5], -one[5:10], atol=1e-12)  # half a period later
    rng = np.random.default_rng(1)
    many = np.array(
        [series.seasons(KERNEL, WHERE, steps=4, period=7.3, noise_variance=1.0, seed=rng).path for _ in range(4000)]
    )
    for t in range(4):
        np.testing.assert_allclose(np.cov(many[:, t].T), KERNEL(WHERE, WHERE), atol=5 * 4 * np.sqrt(2 / 4000))


@pytest.mark.parametrize("make", [series.drift, series.switches, series.seasons])
def test_a_seed_gives_the_same_bits_and_a_generator_goes_on(make):
    how = {series.drift: {"scale": 5.0}, series.switches: {"every": 5}, series.seasons: {"period": 5}}[make]
    given = {"steps": 20, "noise_variance": 1.0, **how}
    one, two = (make(KERNEL, WHERE, seed=4, **given).path for _ in range(2))
    assert one.tobytes() == two.tobytes()
    rng = np.random.default_rng(4)
    assert make(KERNEL, WHERE, seed=rng, **given).path.tobytes() == one.tobytes()
    assert make(KERNEL, WHERE, seed=rng, **given).path.tobytes() != one.tobytes()
    bandit = make(KERNEL, WHERE, seed=4, shape=(2, 2), **given)
    assert (bandit.shape, bandit.coordinates.tolist()) == ((2, 2), WHERE.tolist())


def test_recorded_arrays_and_files_give_the_same(tmp_path):
    file = tmp_path / "speeds.csv"
    file.write_text("name,08:00,x,09:00,y\nbridge,30.5,1,20,5\nford,25,2,26.5,6\n", encoding="utf-8")
    bandit = series.recorded(file, noise_variance=2.0)
    assert bandit.path.tolist() == [[30.5, 25.0], [20.0, 26.5]]
    assert bandit.coordinates.tolist() == [[1.0, 5.0], [2.0, 6.0]]
    assert series.recorded([[30.5, 20], [25, 26.5]], noise_variance=2.0).path.tolist() == bandit.path.tolist()
    frame = series.recorded(pd.read_csv(file), noise_variance=2.0)
    assert frame.path.tolist() == bandit.path.tolist()
    assert frame.coordinates.tolist() == bandit.coordinates.tolist()
    plain = series.recorded(pd.DataFrame([[0.1 + 0.2, 20], [25, 1 / 3]]), noise_variance=2.0)
    assert plain.path.tolist() == [[0.1 + 0.2, 25], [20, 1 / 3]]  # to the last bit
    assert plain.coordinates is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,t1,t2\na,1,2\nb,3,\n", r"speeds.csv, line 3: column 't2' must hold finite numbers"),
        ("name,t1\na,1\nb,3,4\n", r"speeds.csv, line 3: expected 2 entries"),
        ("name,x\na,1\n", r"speeds.csv, line 1: expected a column for each time, but the columns are name, x"),
        ("road,t1\na,1\nb,3\n", r"speeds.csv, line 1: .* got 'road' with 'a' in it.*call it name"),
        ("", r"speeds.csv, line 1: expected a header"),
    ],
)
def test_what_is_wrong_in_a_record_is_said_with_its_line(tmp_path, text, message):
    (tmp_path / "speeds.csv").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        series.recorded(tmp_path / "speeds.csv", noise_variance=1.0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: series.drift(KERNEL, WHERE, steps=5, scale=0.0, noise_variance=1.0, seed=0),
            ValueError,
            "scale must be",
        ),
        (lambda: series.drift(KERNEL, steps=5, scale=1.0, noise_variance=1.0, seed=0), TypeError, "give a kernel such"),
        (
            lambda: series.drift(np.eye(4), WHERE, steps=5, scale=1.0, noise_variance=1.0, seed=0),
            TypeError,
            "a covariance matrix without coordinates",
        ),
        (
            lambda: series.drift(-np.eye(2), steps=5, scale=1.0, noise_variance=1.0, seed=0),
            ValueError,
            "variances must be at least 0",
        ),
        (lambda: series.switches(np.eye(2), steps=5, noise_variance=1.0, seed=0), TypeError, "say either every"),
        (
            lambda: series.switches(np.eye(2), steps=5, every=9, at=[2], noise_variance=1.0, seed=0),
            TypeError,
            "say either every",
        ),
        (
            lambda: series.switches(np.eye(2), steps=5, at=[1], noise_variance=1.0, seed=0),
            ValueError,
            "at must be whole numbers from 2 to 5",
        ),
        (
            lambda: series.switches(np.eye(2), steps=5, every=0.5, noise_variance=1.0, seed=0),
            ValueError,
            "every must be at least 1",
        ),
        (
            lambda: series.seasons(np.eye(2), steps=5, period=-1, noise_variance=1.0, seed=0),
            ValueError,
            "period must be above 0",
        ),
        (lambda: series.recorded([1.0, 2.0], noise_variance=1.0), ValueError, "series must have a row per arm"),
        (
            lambda: series.drift(np.eye(2), steps=5, scale=1.0, noise_variance=1.0, seed=-1),
            ValueError,
            "seed must be at least 0",
        ),
    ],
)
def test_what_makes_no_path_is_refused_in_words(call, error, message):
    with pytest.raises(error, match=message):
        call()
