"""What tests of kernels share."""

import sys

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.simulation.engines.gpu import device

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
