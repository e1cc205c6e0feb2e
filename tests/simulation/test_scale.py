"""Many arms: what the dense engine takes of memory, and what is done beyond it."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from corrbandits import Correlated, Exponential, GaussianBandit, Implicit, experiment, simulate, theory
from corrbandits.environments import landscapes
from corrbandits.policies import UCL, CorrelatedUCL, KnowledgeGradient, Thompson
from tests.support.commands import alone


def memory(what):
    """Return an entry of this process's status, in bytes."""
    return 1024 * int(re.search(what + r":\s+(\d+)", Path("/proc/self/status").read_text()).group(1))


def taken(policy, side, runs):
    """Return how far the memory of this process rises while it plays."""
    where = landscapes.grid(side, side)
    prior = Correlated(kernel=Exponential(3.0), coordinates=where, noise_variance=1.0)
    bandit = GaussianBandit(np.linspace(0, 1, side * side), 1.0, where)
    Path("/proc/self/clear_refs").write_text("5")  # the peak is measured from here
    before = memory("VmRSS")
    simulate({"a": (policy, prior)}, bandit, 20, runs, threads=2)
    return memory("VmHWM") - before


def taken_at_last(policy):
    taken(policy, 3, 2)  # loads and compiles
    return taken(policy, 55, 4)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak of memory from /proc")
@pytest.mark.parametrize("policy", [CorrelatedUCL(), UCL(), Thompson(), KnowledgeGradient(20)])
def test_the_dense_engine_takes_no_more_than_one_covariance_per_run_in_flight(policy):
    assert alone(taken_at_last, policy) <= 1.2 * 2 * 3025**2 * 8


BIG = """
[arms]
grid = [101, 100]
[truth]
draw = { kernel = "exponential", length = 20.0, variance = 10.0, seed = 1 }
noise_variance = 1.0
[priors.smooth]
kernel = { name = "exponential", length = 20.0, variance = 10.0 }
[policies.plain]
rule = "UCL"
prior = "smooth"
[run]
horizon = 10
runs = 1
"""


def test_an_experiment_of_more_arms_than_a_matrix_should_hold_has_an_implicit_belief(tmp_path):
    (tmp_path / "big.toml").write_text(BIG)
    problem = experiment.load(tmp_path / "big.toml")
    assert isinstance(problem.policies["plain"][1], Implicit)
    assert simulate(problem.policies, problem.environment, 10).arms.size == 10
    (tmp_path / "small.toml").write_text(BIG.replace("[101, 100]", "[10, 10]"))
    assert not isinstance(experiment.load(tmp_path / "small.toml").policies["plain"][1], Implicit)


def test_a_large_surface_is_drawn_with_the_covariance_of_its_kernel():
    where = landscapes.grid(101, 100)
    surfaces = np.array([landscapes.draw(Exponential(5.0), where, noise_variance=1.0, seed=k).means for k in range(40)])
    fields = surfaces.reshape(-1, 101, 100)
    for lag in (0, 2, 5):  # averages over 40 x 10,000 places, some 1,000 of them independent
        product = (fields[:, :, : 100 - lag] * fields[:, :, lag:]).mean()
        assert product == pytest.approx(np.exp(-lag / 5.0), abs=0.1)
    again = landscapes.draw(Exponential(5.0), where, noise_variance=1.0, seed=3)
    np.testing.assert_array_equal(again.means, surfaces[3])


def test_the_theory_refuses_a_belief_without_a_covariance_at_hand():
    surface = landscapes.two_peaks()
    prior = Implicit(kernel=10 * Exponential(4.0), coordinates=surface.coordinates, noise_variance=10.0)
    for refused in (
        lambda: theory.initialisation(prior, 0.5),
        lambda: theory.correlated_bound(surface, prior, CorrelatedUCL(a=3.284), 100),
        lambda: theory.conditional_variance(prior),
    ):
        with pytest.raises(TypeError, match="Independent or Correlated, got <Implicit belief"):
            refused()
    assert theory.bounds_for(surface, UCL(a=3.284), prior) == {}
