"""`Implicit` against `Correlated`, against 60 digits, against scikit-learn, and against what it must not cost."""

import math
import pickle
import subprocess
import sys
from decimal import localcontext

import numpy as np
import pytest
import threadpoolctl
from hypothesis import given
from hypothesis import strategies as st
from scipy import fft
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

from corrbandits.belief import Correlated, Implicit
from corrbandits.belief.implicit import grid as grid_module
from corrbandits.belief.implicit import scattered as scattered_module
from corrbandits.belief.implicit.grid import Grid, prior_covariance
from corrbandits.belief.implicit.scattered import Scattered
from corrbandits.kernels import Exponential, Matern52, SquaredExponential, as_kernel
from corrbandits.policies import UCL, CorrelatedUCL
from corrbandits.simulation.fingerprint import fingerprint
from tests.support.contracts import (
    FIVE,
    GRID,
    IMPLICIT,
    IMPLICIT_PRIORS,
    QUICK,
    GaussianContract,
    assert_accurate,
    assert_close,
    at_once,
    covariance_of,
    exact_posterior,
    histories,
    same_bits,
    told,
)

SEVEN = np.array([[x, y] for x in range(7) for y in range(7)], dtype=float)
CLOUD = np.random.default_rng(7).uniform(0, 7, (49, 2))


@pytest.mark.parametrize("prior", IMPLICIT_PRIORS.values(), ids=IMPLICIT_PRIORS.keys())
class TestImplicit(GaussianContract): ...


# against Correlated


@QUICK
@given(data=st.data())
@pytest.mark.parametrize("kind", IMPLICIT)
def test_every_history_leaves_what_it_leaves_of_the_matrix(kind, data):
    prior, twin = IMPLICIT_PRIORS[kind], Correlated(**IMPLICIT[kind])
    history, awaited = data.draw(histories(prior)), [arm for arm, _ in data.draw(histories(prior, 3))]
    for tell in (told, at_once):
        one, other = tell(prior, history).assume(awaited), tell(twin, history).assume(awaited)
        assert_close(one, other, 1e-10)
        assert one.spread() == pytest.approx(other.spread(), rel=1e-9)


@pytest.mark.parametrize("where", [SEVEN, CLOUD], ids=["grid", "scattered"])
@pytest.mark.parametrize("policy", [UCL(a=1.0), CorrelatedUCL(a=1.0)], ids=["plain", "with the factor"])
def test_policies_see_the_same_index_all_along_a_run(where, policy):
    settings = {"mean": 3.0, "kernel": 4 * Matern52(1.5), "coordinates": where, "noise_variance": 1.0}
    one, other, rng = Implicit(**settings), Correlated(**settings), np.random.default_rng(0)
    for t in range(1, 60):
        arm, reward = policy.choose(other, t), rng.normal(3, 1)
        one, other = one.observe(arm, reward), other.observe(arm, reward)
        assert policy.index(one, t + 1) == pytest.approx(policy.index(other, t + 1), rel=1e-10)


# against 60 digits

COUNTS = np.maximum(10**6 * 10.0 ** (-0.12 * np.arange(49)), 1).astype(int) * (np.arange(49) % 3 > 0)


@pytest.mark.parametrize("where", [SEVEN, CLOUD], ids=["grid", "scattered"])
@pytest.mark.parametrize(
    ("kernel", "counts"),
    [
        (10 * Exponential(3.0), COUNTS),
        (10 * Exponential(300.0), COUNTS * 10),
        (10 * Matern52(3.0), COUNTS),
        (10 * Exponential(3.0), 10**6 * (np.arange(49) % 2)),
    ],
    ids=["10^6 to 1", "a long kernel, 10^7 to 10", "a smooth kernel", "10^6 each"],
)
def test_mean_covariance_and_spread_agree_with_60_digits(where, kernel, counts):
    settings = {"mean": 30.0, "kernel": kernel, "coordinates": where, "noise_variance": 10.0}
    sums = np.sqrt(10 * counts) * np.random.default_rng(0).standard_normal(49)
    belief = Implicit(**settings).observe_all(counts, sums)
    mean, S = exact_posterior(Correlated(**settings), counts, belief.sums)
    assert_accurate(belief, mean, S, 1e-11)
    with localcontext(prec=60):
        W = (S * S / S.diagonal()).sum(axis=1) / S.diagonal()  # sum_j rho_ij^2
        exact = [float(w.sqrt()) for w in W]
    assert np.abs(belief.spread() / exact - 1).max() <= 1e-10


def test_without_their_own_rows_the_arms_most_seen_would_lose_their_spread(monkeypatch):
    # what the test above guards against: the convolution form cancels where a variance is small
    counts = 10**6 * (np.arange(49) % 2)
    prior = Implicit(kernel=10 * Exponential(3.0), coordinates=SEVEN, noise_variance=10.0)
    belief = prior.observe_all(counts, 0.0 * counts)
    u = 1 / np.sqrt(belief.variance)
    raw, right = belief._prior.squared_correlations(u, belief._factor), belief.spread() ** 2
    assert np.abs(raw / right - 1)[1::2].max() > 1e-6


def test_two_thousand_updates_agree_with_60_digits():
    rng = np.random.default_rng(1)
    noise = rng.uniform(1, 20, 49)
    settings = {"mean": 30.0, "kernel": 10 * Exponential(3.0), "coordinates": SEVEN, "noise_variance": noise}
    arms = np.minimum(rng.geometric(0.12, 2000) - 1, 48)
    rewards = rng.standard_normal(2000) * np.sqrt(noise[arms])
    prior = Implicit(**settings)
    belief = told(prior, zip(arms.tolist(), rewards.tolist(), strict=True))
    assert_accurate(belief, *exact_posterior(Correlated(**settings), belief.counts, belief.sums), 1e-11)
    assert_close(belief, prior.observe(arms, rewards), 1e-11)


# against scikit-learn


@pytest.mark.parametrize("where", [GRID, FIVE], ids=["grid", "scattered"])
@pytest.mark.parametrize(
    ("kernel", "theirs"),
    [
        (10 * Exponential(3.0), 10.0 * sk.Matern(3.0, nu=0.5)),
        (4.0 * sk.RBF(1.5) + sk.RationalQuadratic(2.0, 0.7), 4.0 * sk.RBF(1.5) + sk.RationalQuadratic(2.0, 0.7)),
    ],
    ids=["ours", "theirs"],
)
def test_the_posterior_is_that_of_scikit_learn(where, kernel, theirs):
    rng = np.random.default_rng(0)
    prior = Implicit(mean=30.0, kernel=kernel, coordinates=where, noise_variance=rng.uniform(1, 3, len(where)))
    arms, rewards = rng.integers(0, len(where) - 1, 40), rng.normal(30, 3, 40)
    process = GaussianProcessRegressor(theirs, alpha=prior.noise_variance[arms], optimizer=None)
    mean, S = process.fit(where[arms], rewards - 30).predict(where, return_cov=True)
    for belief in (prior.observe(arms, rewards), told(prior, zip(arms.tolist(), rewards.tolist(), strict=True))):
        assert belief.mean == pytest.approx(mean + 30, rel=1e-9)
        assert covariance_of(belief) == pytest.approx(S, rel=1e-9, abs=1e-10)


# which priors are grids

LAYOUTS = {
    "rows": [(x, y) for x in range(5) for y in range(4)],
    "columns": [(x, y) for y in range(4) for x in range(5)],
    "downwards": [(-x, 9.0 - 0.5 * y) for x in range(5) for y in range(4)],
    "a line": 0.1 * np.arange(20),
    "a column": [(3.0, y) for y in range(20)],
    "space": [(x, y, z) for z in range(2) for x in range(5) for y in range(2)],
    "steps of 0.1": np.stack(np.meshgrid(0.1 * np.arange(5), 7 + 0.1 * np.arange(4)), axis=-1).reshape(-1, 2),
}
OTHERS = {
    "one moved": np.array(LAYOUTS["rows"]) + 1e-9 * np.eye(20, 2),
    "one missing": LAYOUTS["rows"][:-1],
    "in no order": np.random.default_rng(0).permutation(LAYOUTS["rows"]),
    "uneven": [(x**2, y) for x in range(5) for y in range(4)],
    "far away": np.array(LAYOUTS["rows"]) * 0.1 + 1e7,
    "four dimensions": [(x, y, 0, 0) for x in range(5) for y in range(4)],
}


@pytest.mark.parametrize("layout", [*LAYOUTS, *OTHERS])
def test_a_regular_grid_is_found_and_nothing_else(layout):
    where = (LAYOUTS | OTHERS)[layout]
    settings = {"kernel": 4 * Matern52(0.7) + Exponential(2.0), "coordinates": where, "noise_variance": 1.0}
    prior, twin = Implicit(**settings), Correlated(**settings)
    assert isinstance(prior._prior, Grid if layout in LAYOUTS else Scattered)
    history = [(0, 1.0), (7, 2.0), (18, -1.0), (7, 3.0)]
    assert_close(told(prior, history), told(twin, history), 1e-10)
    assert at_once(prior, history).spread() == pytest.approx(at_once(twin, history).spread(), rel=1e-10)


def test_a_length_per_dimension_goes_with_its_dimension_in_draws_too():
    kernel, where = Exponential((0.5, 50.0)), LAYOUTS["columns"]
    draws = [
        Implicit(kernel=kernel, coordinates=where, noise_variance=1.0).sample(np.random.default_rng(s))
        for s in range(400)
    ]
    # along y all is alike: correlation exp(-3/50); along x nothing is: exp(-8). Standard error 0.05 at most
    rho = np.corrcoef(np.array(draws).T)
    assert rho[0, 15] == pytest.approx(math.exp(-3 / 50), abs=0.05)
    assert rho[0, 4] == pytest.approx(0.0, abs=0.25)


def test_kernels_of_the_offset_are_known():
    grid = np.array(LAYOUTS["columns"], dtype=float)
    two, globe = SquaredExponential(1.0), Exponential(9.0, distance="great_circle")
    for kernel in (two, 3 * two, two + two, two * (2 * two), Exponential(1.0, distance="cityblock")):
        assert kernel.depends_on_offset
        assert type(prior_covariance(kernel, grid)) is Grid
    for kernel in (globe, 3 * globe, two + globe, globe * two, two + sk.RBF(1.0)):
        assert not kernel.depends_on_offset
        assert type(prior_covariance(kernel, grid)) is Scattered
    assert type(prior_covariance(as_kernel(sk.RBF(1.0)), grid)) is Scattered


# a million arms


def test_a_million_arms_agree_with_small_matrices():
    side, rng = 1000, np.random.default_rng(0)
    where = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), axis=-1).reshape(-1, 2)
    kernel, noise = 10 * Exponential(30.0), np.where(np.arange(side**2) % 2, 1.0, 3.0)
    prior = belief = Implicit(mean=5.0, kernel=kernel, coordinates=where, noise_variance=noise)
    history = []
    for t in range(1, 11):
        arm, reward = UCL(a=1.0).choose(belief, t), rng.normal(5, 3)
        history.append((arm, reward))
        belief = belief.observe(arm, reward)
    history += [(history[0][0], 4.0), (777_777, 8.0)]
    belief = told(belief, history[-2:])
    arms, rewards = (np.array(x) for x in zip(*history, strict=True))
    probes = np.array([0, 1, 999, 500_500, 777_777, 777_778, 999_999, *arms])
    # one row of M per reward: the textbook form, on a dozen rewards
    M, K = kernel(where[arms]) + np.diag(noise[arms]), kernel(where[arms], where[probes])
    mean = 5 + K.T @ np.linalg.solve(M, rewards - 5)
    S = kernel(where[probes]) - K.T @ np.linalg.solve(M, K)
    for one in (belief, at_once(prior, history)):
        assert one.mean[probes] == pytest.approx(mean, rel=1e-10)
        assert one.variance[probes] == pytest.approx(S.diagonal(), rel=1e-10)
        for arm in (777_777, 500_500):
            row = S[np.flatnonzero(probes == arm)[0]]
            assert one.covariance_with(arm)[probes] == pytest.approx(row, abs=1e-11)
    v = belief.variance[0]
    assert belief.assume([0]).variance[0] == pytest.approx(3 * v / (3 + v))
    assert np.isfinite(belief.sample(rng)).all()


def test_seen_arms_of_a_large_grid_keep_their_digits():
    # between seen arms S = D - D M^-1 D: no digit is lost to a convolution over 90,000 arms
    where = np.stack(np.meshgrid(np.arange(300), np.arange(300)), axis=-1).reshape(-1, 2)
    kernel, seen = 10 * Exponential(30.0), np.arange(40_000, 40_020)
    D = 1 / np.array([10**6, 1] * 10)
    belief = Implicit(kernel=kernel, coordinates=where, noise_variance=1.0)
    belief = belief.observe_all(np.bincount(seen, (1 / D).round(), 90_000).astype(int), np.zeros(90_000))
    S = np.diag(D) - np.linalg.inv(kernel(where[seen]) + np.diag(D)) * np.outer(D, D)
    rows = np.array([belief.covariance_with(arm)[seen] for arm in seen.tolist()])
    deviation = np.sqrt(S.diagonal())
    assert (np.abs(rows - S) <= 2e-13 * np.outer(deviation, deviation)).all()


MEMORY = """
import resource, numpy as np, corrbandits as cb
where = np.stack(np.meshgrid(np.arange(300), np.arange(300)), axis=-1).reshape(-1, 2)
belief = cb.Implicit(kernel=10 * cb.Exponential(9.0), coordinates=where, noise_variance=1.0)
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
for t in range(1, 201):
    belief = belief.observe(cb.UCL(a=1.0).choose(belief, t), 0.0)
    if t == 10: before = peak()
print(int((belief.counts > 0).sum()), peak() - before)
"""


def test_on_a_grid_no_rows_are_kept():
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    distinct, growth = map(int, done.stdout.split())
    assert distinct >= 150
    assert growth < 190 * 90_000 * 8 / 10  # a tenth of the rows


def test_at_scattered_points_beliefs_share_the_rows_they_keep():
    prior = Implicit(kernel=Exponential(1.0), coordinates=CLOUD, noise_variance=1.0)
    one = prior.observe(3, 1.0)
    other = one.observe(5, 1.0).observe(3, 2.0)
    assert other._prior.row(3) is one._prior.row(3)
    assert prior._prior.row(3) is not prior._prior.row(3)
    assert other.observe([7], [1.0])._prior.row(5) is other._prior.row(5)


# bits


@pytest.mark.parametrize("where", [SEVEN, CLOUD], ids=["grid", "scattered"])
def test_the_bits_do_not_depend_on_threads(where, monkeypatch):
    rng = np.random.default_rng(0)
    arms, rewards = rng.integers(0, 49, 200), rng.normal(0, 1, 200)

    def results():
        prior = Implicit(kernel=10 * Exponential(3.0), coordinates=where, noise_variance=1.0)
        belief = prior.observe(arms, rewards)
        return [
            belief.mean,
            belief.variance,
            belief.covariance_with(3),
            belief.spread(),
            belief.sample(np.random.default_rng(0)),
        ]

    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        monkeypatch.setattr(grid_module, "WORKERS", 1)
        alone = results()
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        monkeypatch.setattr(grid_module, "WORKERS", 2)
        assert [x.tobytes() for x in results()] == [x.tobytes() for x in alone]


@pytest.mark.parametrize("where", [SEVEN, CLOUD], ids=["grid", "scattered"])
def test_a_copy_goes_on_where_the_belief_was(where):
    belief = Implicit(kernel=10 * Exponential(3.0), coordinates=where, noise_variance=1.0).observe([3, 4], [1.0, 2.0])
    belief.sample(np.random.default_rng(0))
    copy = pickle.loads(pickle.dumps(belief))
    assert same_bits(copy, belief)
    assert same_bits(copy.observe(9, 1.0).merge(belief), belief.observe(9, 1.0).merge(copy))
    with pytest.raises(ValueError, match="read-only"):
        copy.mean[0] = 1
    with pytest.raises(AttributeError):
        _ = belief.covariance


def test_a_copy_leaves_the_tables_behind():
    where = np.stack(np.meshgrid(np.arange(100), np.arange(100)), axis=-1).reshape(-1, 2)
    belief = Implicit(kernel=Exponential(3.0), coordinates=where, noise_variance=1.0).observe(5, 1.0)
    belief.sample(np.random.default_rng(0))
    # mean twice, variance, noise, counts, two coordinates: 7 numbers per arm
    assert len(pickle.dumps(belief)) < 8 * 8 * 10_000


# draws


@pytest.mark.parametrize(
    ("kernel", "shape"),
    [(10 * Exponential(3.0), (40, 30)), (SquaredExponential(2.0), (50,)), (Matern52(0.5), (9, 8, 7))],
)
def test_the_torus_has_the_covariance_of_the_grid(kernel, shape):
    where = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1).reshape(-1, len(shape))
    prior = prior_covariance(kernel, where.astype(float))
    root, size = prior._torus_root
    around = fft.irfftn(root**2, size)[tuple(slice(n) for n in shape)].ravel()
    assert around == pytest.approx(kernel(where[:1], where)[0], abs=1e-12)


def test_a_kernel_too_long_for_a_torus_draws_from_a_root(monkeypatch):
    monkeypatch.setattr(grid_module, "MOST_TORUS", 2**16)
    prior = Implicit(kernel=SquaredExponential(1e4), coordinates=GRID, noise_variance=1.0)
    assert prior._prior._torus_root[0] is None
    assert np.ptp(prior.sample(np.random.default_rng(0))) < 1e-2  # all but one number
    large = np.stack(np.meshgrid(np.arange(80), np.arange(80)), axis=-1).reshape(-1, 2)
    for kernel in (SquaredExponential(1e4), sk.RBF(1.0)):
        with pytest.raises(ValueError, match="at most 5000 arms, but there are 6400"):
            Implicit(kernel=kernel, coordinates=large, noise_variance=1.0).sample(np.random.default_rng(0))


@pytest.mark.parametrize("where", [GRID, FIVE], ids=["grid", "scattered"])
def test_the_root_is_found_once_and_left_out_of_copies(where, monkeypatch):
    roots, found = [], scattered_module.covariance_root
    monkeypatch.setattr(scattered_module, "covariance_root", lambda S: roots.append(1) or found(S))
    monkeypatch.setattr(grid_module, "MOST_TORUS", 0)
    belief = Implicit(kernel=Exponential(3.0), coordinates=where, noise_variance=1.0)
    before, size = fingerprint(belief), len(pickle.dumps(belief))
    for arm in range(3):
        belief.sample(np.random.default_rng(arm))
        assert (fingerprint(belief), len(pickle.dumps(belief))) == (before, size)
        belief = belief.observe(arm, 1.0)
        before, size = fingerprint(belief), len(pickle.dumps(belief))
    assert len(roots) == 1


def test_draws_of_an_arm_that_is_all_but_known_keep_their_digits():
    prior = Implicit(kernel=10 * Exponential(3.0), coordinates=SEVEN, noise_variance=1e-40)
    belief, rng = prior.observe([8, 24], [0.0, 0.0]), np.random.default_rng(0)
    draws = np.array([belief.sample(rng) for _ in range(2000)])
    # the standard error of a deviation is 1 / sqrt(2 n) of it
    assert draws.std(axis=0) / np.sqrt(belief.variance) == pytest.approx(np.ones(49), rel=5 / math.sqrt(2 * 2000))


# what is refused


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"kernel": 3.0}, TypeError, "a kernel must be called with two sets of points"),
        ({"kernel": lambda x, y: np.ones((2, 2))}, ValueError, "as many rows and columns, not"),
        ({"kernel": lambda x, y: np.full((len(x), len(y)), np.nan)}, ValueError, "must be finite"),
        ({"kernel": lambda x, y: x[:, :1] + 2 * y[:, :1].T + 9}, ValueError, "must be symmetric"),
        (
            {"kernel": lambda x, y: -np.ones((len(x), len(y)))},
            ValueError,
            "at least 0, but the kernel has -1 for arm 0",
        ),
        ({"kernel": lambda x, y: 1.0 - np.abs(x[:, :1] - y[:, :1].T)}, ValueError, "no negative eigenvalue"),
        ({"coordinates": [[0.0, np.inf]]}, ValueError, "coordinates must be finite"),
        ({"noise_variance": 0.0}, ValueError, "noise_variance must be above 0"),
        ({"mean": [1.0, 2.0]}, ValueError, "one number or 5"),
    ],
)
def test_bad_priors_are_refused(change, error, message):
    with pytest.raises(error, match=message):
        Implicit(**IMPLICIT["scattered"] | change)


@pytest.mark.parametrize(
    "change",
    [{"mean": 31.0}, {"noise_variance": 11.0}, {"kernel": 10 * Exponential(2.9)}, {"coordinates": 2 * GRID[:6]}],
)
def test_priors_that_differ_in_anything_do_not_merge(change):
    prior, equal = Implicit(**IMPLICIT["grid"]), Implicit(**IMPLICIT["grid"])
    assert same_bits(prior.observe(1, 2.0).merge(equal), prior.observe([1], [2.0]))
    for other in (Implicit(**IMPLICIT["grid"] | change), Correlated(**IMPLICIT["grid"])):
        with pytest.raises(ValueError, match="started from the same prior"):
            prior.merge(other)
