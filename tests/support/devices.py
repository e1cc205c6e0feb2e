"""What tests of kernels share."""

import sys

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.simulation.engines import Runs
from corrbandits.simulation.engines.gpu import device, paying, state, strips

SIMULATED = device.simulated()

POLICIES = {
    "UCL": cb.UCL(a=2.0),
    "printed": cb.CorrelatedUCL(a=2.0, nu=0.5),
    "plain": cb.CorrelatedUCL(a=2.0, nu=0.5, factor=False),
    "Bayes": cb.BayesUCB(horizon=40, c=1.0),
    "GP": cb.GPUCB(),
    "greedy": cb.Greedy(),
    "Thompson": cb.Thompson(),
    "horizon": cb.HorizonUCL(horizon=40),
    "Gittins": cb.Gittins(horizon=40),
}


@pytest.fixture(autouse=True)
def quick_switches():
    """The simulator's threads wait for each other at every barrier: Python must switch between them at once."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def make_all_work_large(monkeypatch):
    """Have a device taken for any work that it can play."""
    enough = ("ENOUGH_APART", "ENOUGH_JOINTLY", "ENOUGH_MIXED", "ENOUGH_ON_GRID")
    for name in (*enough, "LEAST_JOINTLY", "LEAST_MIXED"):
        monkeypatch.setattr(paying, name, 1e-9)


def bandit_of(rewards, arms):
    rng = np.random.default_rng(5)
    if rewards == "gaussian":
        return cb.GaussianBandit(rng.normal(0, 2, arms), rng.uniform(0.5, 2.0, arms))
    return cb.BernoulliBandit(rng.uniform(0.1, 0.9, arms))


def belief_of(kind, arms):
    where, rng = np.random.default_rng(4).uniform(0, 5, (arms, 2)), np.random.default_rng(6)
    mean, noise = rng.normal(0, 1, arms), rng.uniform(0.5, 2.0, arms)
    return {
        "flat": cb.Independent(noise_variance=noise),
        "half known": cb.Independent(mean=mean, variance=np.resize([np.inf, 4.0, 0.0], arms), noise_variance=noise),
        "joint": cb.Correlated(mean=mean, kernel=4 * cb.Exponential(2.0), coordinates=where, noise_variance=noise),
    }[kind]


def on_grid(shape):
    where = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1).reshape(-1, len(shape))
    mean = np.random.default_rng(6).normal(0, 1, len(where))
    noise = np.random.default_rng(7).uniform(0.5, 2.0, len(where))
    return cb.Implicit(mean=mean, kernel=4 * cb.Exponential(2.0), coordinates=where, noise_variance=noise)


def game_of(policy, belief, seed, horizon=20, rewards="gaussian", times=None):
    """Return a single run of a problem of its own."""
    rng = np.random.default_rng(seed)
    bandit = (
        cb.BernoulliBandit(rng.uniform(0.1, 0.9, belief.arms))
        if rewards == "binary"
        else cb.GaussianBandit(rng.normal(0, 2, belief.arms), rng.uniform(0.5, 2.0, belief.arms))
    )
    return Runs(policy, belief, bandit, horizon, seed, seed % 3, seed % 3 + 1, times)


def other_belief(kind, arms, seed):
    """Return a belief of a kind that is like no other: places, means, variances and noise are drawn anew."""
    rng = np.random.default_rng(seed)
    where, mean, noise = rng.uniform(0, 5, (arms, 2)), rng.normal(0, 1, arms), rng.uniform(0.5, 2.0, arms)
    if kind == "flat":
        return cb.Independent(mean=mean, variance=rng.uniform(1.0, 9.0, arms), noise_variance=noise)
    if kind == "joint":
        kernel = rng.uniform(2, 6) * cb.Exponential(rng.uniform(1, 4))
        return cb.Correlated(mean=mean, kernel=kernel, coordinates=where, noise_variance=noise)
    told = {"sd": 2.0, "mean": 1.0} if seed % 2 else {}
    return cb.Vague(coordinates=where, parts=4, relative_noise=noise, **told)


def joint_now(playing, arms, run=0):
    """Return mean, covariance and w0 of a run that a block plays, as the kernel has left them."""
    S, own, at, of_run = (device.fetched(one)[run] for one in playing._kept[:4])
    covariance = np.diag(own[state.D, :arms])
    for i in range(arms):
        for j in range(arms):
            if i != j:
                covariance[i, j] = S[state.place(i, j, arms)]
                if at[state.ARM] >= 0:
                    covariance[i, j] -= of_run[state.PRECISION] * own[state.H, i] * own[state.H, j]
    return own[state.MU, :arms], covariance, own[state.W0, :arms]


def team_now(playing, arms, run=0):
    """Return mean, covariance and w0 of a run that a team plays, as the kernel has left them."""
    kept = playing._kept
    S, own, at, G = (device.fetched(one)[run] for one in (kept.S, kept.own, kept.at, kept.G))
    waiting = at[state.WAITING] + (at[state.ARM] >= 0)
    covariance = -G[:waiting, :arms].T @ G[:waiting, :arms]
    for i in range(arms):
        for j in range(arms):
            covariance[i, j] = own[i, state.D] if i == j else covariance[i, j] + S[strips.place(i, j, arms)]
    return own[:arms, state.MU], covariance, own[:arms, state.W0]


def assert_is_belief(belief, mean, covariance):
    """Refuse a mean and a covariance that are not those of a belief to 1e-10."""
    scale = np.sqrt(np.outer(belief.variance, belief.variance))
    assert np.all(np.abs(covariance - belief.covariance) <= 1e-10 * scale)
    np.testing.assert_allclose(mean, belief.mean, rtol=1e-10, atol=1e-10)


@pytest.fixture
def no_shared_memory(monkeypatch):
    """No covariance fits into a block, so that a team plays even on few arms."""
    monkeypatch.setattr(device, "shared_limit", lambda: 0)
