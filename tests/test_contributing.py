"""The contributor's page: its map is the folders, and its skeletons run and keep the contracts of our own kinds."""

import doctest
import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sk

import corrbandits as cb
from corrbandits.policies import RULES
from corrbandits.simulation.engines import ENGINES, Runs
from tests import test_kernels
from tests.simulation.engines import test_protocol
from tests.support import ROOT
from tests.support.contracts import BeliefContract
from tests.support.skeletons import KINDS, PAGE, MemoryJournal, code, skeleton

BANDIT = cb.GaussianBandit([0.0, 1.0, 2.0], 1.0)
FLAT = cb.Independent(mean=1.0, variance=4.0, noise_variance=1.0, arms=3)


def played(policy=None, belief=FLAT, environment=BANDIT):
    """The number of decisions of each run of a small simulation."""
    trace = cb.simulate({"new": (policy or cb.Thompson(), belief)}, environment, horizon=30, runs=3, seed=1)
    return trace.counts.sum("arm").values.ravel().tolist()


def test_the_skeletons_say_where_they_belong():
    places = re.findall(r"^```python\n# (\S+)\n", PAGE, re.MULTILINE)
    assert len(places) == len(KINDS) == PAGE.count("```python")
    for place in places:
        assert (ROOT / place).parent.is_dir(), place


@pytest.mark.parametrize("kind", KINDS)
def test_the_examples_of_a_skeleton_hold(kind):
    module = skeleton(kind)
    found = [test for test in doctest.DocTestFinder().find(module, module=module) if test.examples]
    assert found
    for test in found:
        assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test).failed == 0


@pytest.mark.slow
def test_the_skeletons_are_typed_and_in_our_style(tmp_path):
    names = [f"{kind.split()[-1]}.py" for kind in KINDS]
    for kind, name in zip(KINDS, names, strict=True):
        (tmp_path / name).write_text(code(kind), encoding="utf-8")
    settings = ROOT / "pyproject.toml"
    for command in (
        ["mypy", "--config-file", settings, "--cache-dir", ROOT / ".mypy_cache"],
        ["ruff", "check", "--config", settings, "--config", "lint.isort.known-first-party = ['corrbandits']"],
        ["ruff", "format", "--check", "--config", settings],
    ):
        done = subprocess.run([sys.executable, "-m", *command, *names], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def test_the_kernel_is_a_kernel_like_ours(monkeypatch):
    kernel = skeleton("A kernel").Matern72
    points, others = test_kernels.POINTS, test_kernels.OTHERS
    assert kernel(2.5)(points, others) == pytest.approx(sk.Matern(2.5, nu=3.5)(points, others), rel=1e-10, abs=1e-15)
    s = np.sqrt(7.0)

    def formula(r):
        return (1 + s * r + 0.4 * (s * r) ** 2 + (s * r) ** 3 / 15) * np.exp(-s * r)

    monkeypatch.setitem(test_kernels.TEXTBOOK, kernel, formula)
    test_kernels.test_kernels_are_frozen_and_equal_when_their_fields_are(kernel)
    test_kernels.test_a_vector_is_points_on_a_line(kernel)
    test_kernels.test_chords_suit_every_kernel(kernel, 5_000.0)
    for distance in ("euclidean", "chordal"):
        test_kernels.test_points_far_apart_are_uncorrelated_and_never_nan(kernel, distance)
    r, h = np.array([0.1, 0.7, 2.0]), 1e-6
    difference = (formula(r * np.exp(h)) - formula(r * np.exp(-h))) / (2 * h)
    assert kernel(1.0).slope(r) == pytest.approx(difference, abs=1e-9)
    assert kernel(1.0).slope(np.array([0.0, 1e150])).tolist() == [0.0, 0.0]
    assert (4 * kernel(1.0)).stretched(2.0).in_words() == "matern72 kernel of length 2"
    prior = cb.Correlated(mean=1.0, kernel=4 * kernel(2.0), coordinates=[0.0, 1.0, 3.0], noise_variance=1.0)
    assert played(cb.CorrelatedUCL(), prior) == [30] * 3


def test_the_rule_plays(monkeypatch):
    rule = skeleton("A rule").Cautious
    assert played(rule(width=0.5)) == [30] * 3
    monkeypatch.setitem(RULES, "Cautious", rule)  # as one of the package's own, without a compiled loop
    assert played(rule(width=0.5)) == [30] * 3
    assert rule().index(FLAT, t=1).tolist() == [-1.0] * 3
    with pytest.raises(ValueError, match="width must be above 0"):
        rule(width=-1.0)


GAMMA = skeleton("A belief").Gamma(shape=[5.0, 6.0, 8.0, 20.0], rate=[1.0, 2.0, 3.0, 5.0])


@pytest.mark.parametrize("prior", [GAMMA], ids=["gamma"])
class TestTheBelief(BeliefContract): ...


def test_the_belief_plays_and_refuses_what_is_no_count():
    belief = skeleton("A belief").Gamma(arms=3)
    assert played(cb.BayesUCB(horizon=30), belief, cb.BernoulliBandit([0.1, 0.5, 0.9])) == [30] * 3
    waiting = belief.assume([1, 1])
    assert waiting.mean.tobytes() == belief.mean.tobytes()
    assert waiting.variance == pytest.approx([1.0, 1 / 3, 1.0])
    with pytest.raises(ValueError, match=r"whole number from 0, got -1"):
        belief.observe(0, -1.0)


def test_the_environment_gives_rewards_of_its_means():
    bandit = skeleton("An environment").ExponentialBandit([1.0, 2.0, 3.0])
    assert played(environment=bandit) == [30] * 3
    noise = bandit.noise(np.random.default_rng(0), 4000)
    rewards = np.array([bandit.reward(2, eps) for eps in noise])
    assert abs(rewards.mean() - 3.0) <= 5 * 3.0 / np.sqrt(4000)
    assert abs(rewards.var() - bandit.noise_variance[2]) <= 5 * 9.0 * np.sqrt(8 / 4000)


def test_the_journal_keeps_a_study():
    """What every journal must do is tested beside our own, in tests/study/test_journal.py."""
    journal = MemoryJournal()
    with cb.Study.create(journal, "meadow", prior=FLAT, policy=cb.UCL()) as study:
        study.tell(study.ask(), 3.0)
    with cb.Study.open(journal, "meadow") as study:
        assert study.belief.sums.tolist() == [3.0, 0.0, 0.0]
        assert study.database == "memory"


class TestTheEngine(test_protocol.TestEveryEngine):
    """The engine's skeleton does what every engine must do."""

    @pytest.fixture
    def engine(self, monkeypatch):
        engine = skeleton("An engine").Plain()
        monkeypatch.setitem(ENGINES, "plain", engine)
        return engine

    @pytest.mark.parametrize("record", [{}, {"record": "summary", "times": [1, 5, 30]}], ids=["full", "summary"])
    def test_plays_what_the_reference_engine_plays(self, engine, record):
        players = {"limits": (cb.UCL(), FLAT), "draws": (cb.Thompson(), FLAT)}
        traces = [cb.simulate(players, BANDIT, 30, 4, engine=name, **record) for name in ("plain", "reference")]
        for name in traces[0].data.variables:
            np.testing.assert_array_equal(*(trace.data[name] for trace in traces))

    def test_says_what_it_cannot_play(self, engine):
        drifting = skeleton("An environment").ExponentialBandit([1.0, 2.0, 3.0])
        assert engine.refuses(Runs(cb.UCL(), FLAT, drifting, 30, 0, 0, 1)) == ""
        type(drifting).means_at = lambda self, t: self.means * t
        with pytest.raises(ValueError, match="the plain engine cannot play this because the mean rewards change"):
            cb.simulate({"limits": (cb.UCL(), FLAT)}, drifting, 30, engine="plain")
