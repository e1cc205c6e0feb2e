import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from corrbandits import (
    UCB1,
    UCL,
    BayesUCB,
    BernoulliBandit,
    Beta,
    Correlated,
    CorrelatedUCL,
    EpsilonGreedy,
    Exponential,
    GaussianBandit,
    Independent,
    KnowledgeGradient,
    Thompson,
    Trace,
    Uniform,
    simulate,
)
from corrbandits._core.single_thread import one_thread
from corrbandits.environments import Environment, landscapes
from corrbandits.policies import LimitPolicy
from corrbandits.simulation.engines import one_by_one
from corrbandits.simulation.engines.one_by_one import BLOCK
from tests.support.commands import alone

WHERE = landscapes.grid(3, 3)
BANDIT = landscapes.draw(4 * Exponential(2.0), WHERE, noise_variance=1.0, seed=0, shape=(3, 3))
FLAT = Independent(noise_variance=1.0, arms=9)
JOINT = Correlated(mean=0.0, kernel=4 * Exponential(2.0), coordinates=WHERE, noise_variance=1.0)
PLAYERS = {
    "flat": (UCL(a=1.5), FLAT),
    "joint": (CorrelatedUCL(a=1.5), JOINT),
    "Thompson": (Thompson(), JOINT),
    "random": (Uniform(), FLAT),
}


def same(one, other, **where):
    for name in ("arms", "rewards", "initialisation"):
        np.testing.assert_array_equal(one.data[name].sel(**where), other.data[name].sel(**where))


@settings(deadline=None, max_examples=15)
@given(
    runs=st.integers(1, 6),
    threads=st.integers(1, 4),
    names=st.permutations(list(PLAYERS)).flatmap(lambda p: st.integers(1, 4).map(lambda n: p[:n])),
    longer=st.integers(0, 30),
)
def test_run_k_is_the_same_whatever_runs_beside_it(runs, threads, names, longer):
    whole = simulate(PLAYERS, BANDIT, horizon=25, runs=6, seed=3, threads=2)
    part = simulate({n: PLAYERS[n] for n in names}, BANDIT, horizon=25 + longer, runs=runs, seed=3, threads=threads)
    where = {"policy": names, "run": range(runs)}
    for name in ("arms", "rewards"):
        np.testing.assert_array_equal(whole.data[name].sel(**where), part.data[name].sel(**where, time=range(1, 26)))


def test_all_policies_meet_the_same_noise_and_seeds_differ():
    trace = simulate(PLAYERS, BANDIT, horizon=40, runs=3, seed=1)
    noise = trace.rewards - BANDIT.means[trace.arms.values]
    assert np.ptp(noise.values, axis=0).max() < 1e-12
    other = simulate(PLAYERS, BANDIT, horizon=40, runs=3, seed=2)
    assert not np.array_equal(trace.rewards, other.rewards)
    assert np.unique(noise.sel(policy="flat")).size == 120


def test_the_streams_are_those_promised():
    trace = simulate({"flat": (UCL(), FLAT)}, BANDIT, horizon=10, runs=3, seed=5)
    stream = np.random.SeedSequence(5, spawn_key=(2,)).spawn(2)[0]
    noise = np.random.default_rng(stream).standard_normal(10)
    arms = trace.arms.sel(run=2).values[0]
    np.testing.assert_allclose(trace.rewards.sel(run=2).values[0], BANDIT.means[arms] + noise, rtol=1e-15)


def test_the_trace_counts_and_sums_what_happened():
    trace = simulate(PLAYERS, BANDIT, horizon=50, runs=4)
    for p in range(4):
        for r in range(4):
            arms = trace.arms.values[p, r]
            np.testing.assert_array_equal(trace.counts.values[p, r], np.bincount(arms, minlength=9))
            by_hand = np.cumsum([max(BANDIT.means) - BANDIT.means[k] for k in arms])
            np.testing.assert_allclose(trace.regret.values[p, r], by_hand, rtol=1e-13)
    # the paper's two ways to write regret: sum of R_t, and sum of Delta_i n_i(T)
    np.testing.assert_allclose((trace.counts * BANDIT.gaps).sum("arm"), trace.regret.isel(time=-1), rtol=1e-12)
    assert trace.regret.dims == ("policy", "run", "time")
    assert trace.data["time"].values[[0, -1]].tolist() == [1, 50]


def test_an_uninformative_prior_takes_each_arm_once_first():
    trace = simulate({"flat": (UCL(a=3.0), FLAT)}, BANDIT, horizon=20, runs=5)
    assert (trace.arms.values[0, :, :9] == np.arange(9)).all()
    assert (trace.initialisation == 9).all()


def test_initialisation_is_the_phase_the_policy_goes_through():
    wide = Correlated(covariance=landscapes.cluster_covariance([4, 5], variance=50.0), noise_variance=1.0)
    trace = simulate({"clusters": (CorrelatedUCL(nu=0.3), wide)}, BANDIT, horizon=20, runs=3)
    assert (trace.initialisation == 2).all()  # as many as there are clusters (remark on initialisation)


def test_the_band_is_the_t_interval_of_the_mean():
    trace = simulate({"random": (Uniform(), FLAT)}, BANDIT, horizon=5, runs=12)
    last = trace.regret.values[0, :, -1]
    low, high = stats.t.interval(0.9, 11, loc=last.mean(), scale=stats.sem(last))
    band = trace.band(level=0.9).isel(time=-1)
    np.testing.assert_allclose([band["low"].item(), band["high"].item()], [low, high], rtol=1e-12)
    assert np.isnan(simulate({"random": (Uniform(), FLAT)}, BANDIT, horizon=5).band()["low"]).all()


def test_the_mean_of_random_choices_is_what_probability_says():
    trace = simulate({"random": (Uniform(), FLAT)}, BANDIT, horizon=200, runs=200, engine="reference")
    band = trace.band(level=0.9999).isel(time=-1, policy=0)
    assert band["low"] < 200 * BANDIT.gaps.mean() < band["high"]


def test_every_policy_plays_and_beats_chance():
    players = {
        "UCL": (UCL(a=1.2), JOINT),
        "KG": (KnowledgeGradient(horizon=120), JOINT),
        "UCB1": (UCB1(), FLAT),
        "eps": (EpsilonGreedy(0.1), FLAT),
        "Thompson": (Thompson(), FLAT),
        "Bayes": (BayesUCB(horizon=120, c=0.0), JOINT),
        "random": (Uniform(), FLAT),
    }
    regret = simulate(players, BANDIT, horizon=120, runs=20).regret.isel(time=-1).mean("run")
    chance = float(regret.sel(policy="random"))
    for name in players:
        assert name == "random" or float(regret.sel(policy=name)) < 0.7 * chance, name


def test_bernoulli_rewards_with_a_beta_belief():
    bandit = BernoulliBandit([0.2, 0.5, 0.8])
    trace = simulate({"Bayes": (BayesUCB(horizon=300), Beta(arms=3))}, bandit, horizon=300, runs=10)
    assert set(np.unique(trace.rewards)) == {0.0, 1.0}
    assert (trace.counts.mean("run").values[0].argmax()) == 2


def test_saving_and_loading_gives_the_same_trace(tmp_path):
    trace = simulate(PLAYERS, BANDIT, horizon=30, runs=3, seed=9)
    path = tmp_path / "trace.nc"
    trace.save(path)
    trace.save(path)  # over itself
    again = Trace.load(path)
    assert again.data.drop_attrs().identical(trace.data.drop_attrs())
    np.testing.assert_array_equal(again.regret, trace.regret)
    assert again.data.attrs["seed"] == 9
    assert [p.name for p in tmp_path.iterdir()] == ["trace.nc"]


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    trace = simulate({"flat": PLAYERS["flat"]}, BANDIT, horizon=5)
    path = tmp_path / "trace.nc"
    trace.save(path)
    before = path.read_bytes()
    monkeypatch.setattr("xarray.Dataset.to_netcdf", lambda *_, **__: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        trace.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["trace.nc"]


def test_what_is_not_a_trace_is_refused_in_words(tmp_path):
    import xarray as xr

    text, other = tmp_path / "text.nc", tmp_path / "other.nc"
    text.write_text("not a file of arrays")
    xr.Dataset({"x": ("i", [1.0])}).to_netcdf(other, engine="h5netcdf")
    with pytest.raises(ValueError, match="is not a NetCDF file"):
        Trace.load(text)
    with pytest.raises(ValueError, match="is not a saved trace"):
        Trace.load(other)
    with pytest.raises(FileNotFoundError):
        Trace.load(tmp_path / "missing.nc")


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"horizon": 0}, ValueError, "horizon must be at least 1, got 0"),
        ({"horizon": 2.5}, TypeError, "horizon must be a whole number"),
        ({"runs": 0}, ValueError, "runs must be at least 1"),
        ({"runs": True}, TypeError, "runs must be a whole number"),
        ({"seed": "7"}, TypeError, "seed must be a whole number, got '7'"),
        ({"seed": 1.0}, TypeError, "seed must be a whole number"),
        ({"seed": -1}, ValueError, "seed must be at least 0"),
        ({"seed": None}, TypeError, "seed must be a whole number"),
        ({"threads": 0}, ValueError, "threads must be at least 1"),
        ({"engine": "steam"}, ValueError, "engine must be auto, gpu, gpu-same-noise, compiled or reference"),
        ({"policies": {}}, TypeError, "dictionary of name"),
        ({"policies": {"a": UCL()}}, TypeError, r"'a' must be a pair \(policy, belief\)"),
        ({"policies": {"a": (FLAT, UCL())}}, TypeError, r"got <Independent belief on 9 arms.*, no Policy"),
        ({"policies": {3: (UCL(), FLAT)}}, TypeError, "name must be text"),
        ({"policies": {"a\0": (UCL(), FLAT)}}, TypeError, "name must be text"),
        ({"policies": {"a": (UCL(), FLAT, 1)}}, TypeError, r"'a' must be a pair \(policy, belief\)"),
        ({"policies": {"a": (UCL(), Beta(arms=2))}}, ValueError, "has 2 arms, but the environment has 9"),
        ({"environment": [1.0, 2.0]}, TypeError, "environment must be an Environment"),
    ],
)
def test_bad_input_is_refused_before_any_work(changes, error, message):
    arguments = {"policies": {"a": (UCL(), FLAT)}, "environment": BANDIT, "horizon": 5} | changes
    with pytest.raises(error, match=message):
        simulate(**arguments)


class Contrary(LimitPolicy):
    """A rule of a user's own that must not be mistaken for one of ours."""

    def width(self, t, arms):
        return 0.0

    def index(self, belief, t):
        return -belief.mean


class Constant(Environment):
    """An environment of a user's own: rewards without noise."""

    noise_variance = np.zeros(9)

    def noise(self, rng, horizon):
        return np.zeros(horizon)

    def reward(self, arm, noise):
        return float(self.means[arm])


def test_a_rule_of_ones_own_is_played_as_it_is():
    prior = Independent(mean=np.arange(9.0), variance=1e-9, noise_variance=1.0)
    assert (simulate({"mine": (Contrary(), prior)}, BANDIT, 20).arms == 0).all()


def test_awaited_rewards_count_in_every_engine():
    waiting = JOINT.assume([2, 2, 1])
    by_default, plain = (simulate({"a": (UCL(), waiting)}, BANDIT, 50, 3, engine=e) for e in ("auto", "reference"))
    same(by_default, plain)


def test_rewards_beyond_doubles_are_refused_in_every_engine():
    huge = GaussianBandit([1e308, -1e308, 0.0], 1.0)
    prior = Correlated(mean=0.0, covariance=np.eye(3), noise_variance=1.0)
    for engine in ("compiled", "reference"):
        with pytest.raises(OverflowError, match="larger unit"):
            simulate({"a": (UCL(), prior)}, huge, 50, engine=engine)


def test_more_than_memory_holds_is_refused_with_its_size():
    with pytest.raises(MemoryError, match="12,000 GB to record"):
        simulate({"a": (UCL(), FLAT)}, BANDIT, horizon=10**12)


@pytest.mark.parametrize("copy", [pickle.loads, None])
def test_copied_beliefs_stay_read_only(copy):
    for belief in (JOINT, FLAT, JOINT.observe(1, 2.0).assume([2]), Beta(arms=2).observe(0, 1)):
        twin = deepcopy(belief) if copy is None else copy(pickle.dumps(belief))
        np.testing.assert_array_equal(twin.mean, belief.mean)
        np.testing.assert_array_equal(twin.observe(0, 1.0).variance, belief.observe(0, 1.0).variance)
        for array in (twin.mean, twin.variance, twin.counts):
            assert not array.flags.writeable


def test_a_forked_child_finds_blas_free():
    held, leave = threading.Event(), threading.Event()

    def hold():
        with one_thread():
            held.set()
            leave.wait(20)

    keeper = threading.Thread(target=hold)
    keeper.start()
    held.wait(20)
    child = os.fork()
    if child == 0:
        with one_thread():
            os._exit(7)
    deadline = time.monotonic() + 20
    status = (0, 0)
    while status[0] == 0 and time.monotonic() < deadline:
        status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.05)
    leave.set()
    keeper.join()
    if status[0] == 0:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status[1]) == 7


@pytest.mark.parametrize(
    ("pair", "bandit", "reason"),
    [
        ((Thompson(), Correlated(covariance=np.ones((9, 9)), noise_variance=1e-9)), BANDIT, "would lose their digits"),
        ((Contrary(), FLAT), BANDIT, "Contrary is not one of UCL"),
        ((UCL(), FLAT.assume([1])), BANDIT, "awaits rewards"),
        ((UCL(), Correlated(covariance=1e200 * np.eye(9), noise_variance=1.0)), BANDIT, "must lie between 1e-140"),
        ((UCL(), Beta(arms=9)), BernoulliBandit(np.full(9, 0.5)), "belief is a Beta"),
        ((UCL(), FLAT), Constant(np.full(9, 0.5)), "rewards are those of a Constant"),
        ((BayesUCB(horizon=9, c=0.0), FLAT), BANDIT, "limit at t = 1 is not finite"),
    ],
)
def test_the_compiled_engine_says_what_it_cannot_play(pair, bandit, reason):
    with pytest.raises(ValueError, match=reason):
        simulate({"a": pair}, bandit, 5, engine="compiled")
    assert simulate({"a": pair}, bandit, 5).arms.size == 5


def test_a_schedule_that_begins_later_is_played_by_the_reference_engine():
    late = {"late": (CorrelatedUCL(K=0.9), FLAT)}  # alpha_t is below 1 from t = 2; till then arms are initialised
    assert (simulate(late, BANDIT, 20).arms.values[0, 0, :9] == np.arange(9)).all()
    with pytest.raises(ValueError, match="Take K above 1"):
        simulate({"late": (CorrelatedUCL(K=0.9), JOINT)}, BANDIT, 20, engine="compiled")


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_unknown_arms_come_first_though_the_threshold_is_beyond_doubles(engine):
    policy, flat = CorrelatedUCL(K=1.0001, a=0.05, nu=1e-308), Independent(noise_variance=10.0, arms=3)
    trace = simulate({"a": (policy, flat)}, GaussianBandit([0.0, 1.0, 2.0], 10.0), 6, engine=engine)
    assert trace.arms.values[0, 0, :3].tolist() == [0, 1, 2]
    assert trace.initialisation.item() == 3


def test_an_error_in_one_run_reaches_the_caller_at_once():
    with pytest.raises(ValueError, match="t = 6 is past it"):
        simulate({"late": (KnowledgeGradient(horizon=5), JOINT)}, BANDIT, horizon=100_000, runs=4)


def test_several_simulations_at_once_do_not_disturb_each_other():
    alone = simulate(PLAYERS, BANDIT, horizon=60, runs=4, seed=4)
    results = []
    workers = [
        threading.Thread(target=lambda: results.append(simulate(PLAYERS, BANDIT, horizon=60, runs=4, seed=4)))
        for _ in range(3)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(results) == 3
    for trace in results:
        same(alone, trace)


LONG = """
import numpy as np, corrbandits as cb
where = cb.landscapes.grid(40, 40)
prior = cb.Correlated(mean=0.0, kernel=cb.Exponential(3.0), coordinates=where, noise_variance=1.0)
bandit = cb.GaussianBandit(np.zeros(1600), 1.0)
print("begun", flush=True)
cb.simulate({name: (cb.CorrelatedUCL(), prior)}, bandit, 10**6, 8, engine=engine)
"""


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_ctrl_c_ends_long_work_at_once(engine):
    code = f"name, engine = 'long', {engine!r}\n" + LONG
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as child:
        try:
            assert child.stdout.readline() == "begun\n"
            time.sleep(3)
            child.send_signal(signal.SIGINT)
            _, errors = child.communicate(timeout=30)
        finally:
            child.kill()
    assert child.returncode == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")


# summaries


SIX = GaussianBandit([0.0, 0.5, 1.0, 1.5, 2.0, 0.1], 1.0)
PRIORS = {
    "flat": Independent(noise_variance=1.0, arms=6),
    "joint": Correlated(covariance=np.eye(6) + 0.5, noise_variance=1.0),
}


@pytest.mark.parametrize("engine", ["auto", "reference"])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_summary_has_the_bits_of_the_full_record(engine, threads):
    players = {
        f"{type(policy).__name__} {name}": (policy, prior)
        for policy in (UCL(a=1.2), CorrelatedUCL(a=1.2), Thompson(), EpsilonGreedy(0.3), Uniform())
        for name, prior in PRIORS.items()
    }
    times = [1, 2, 3, 50, 76, 77]
    full = simulate(players, SIX, 77, 5, seed=1, engine=engine)
    summary = simulate(players, SIX, 77, 5, seed=1, engine=engine, threads=threads, record="summary", times=times)
    same_summary(summary, full, times)


def same_summary(summary, full, times):
    assert summary.data["time"].values.tolist() == times
    np.testing.assert_array_equal(summary.regret, full.regret.sel(time=times))
    np.testing.assert_array_equal(summary.counts, full.counts)
    np.testing.assert_array_equal(summary.initialisation, full.initialisation)
    assert summary.horizon == full.horizon
    assert summary.regret.dims == full.regret.dims
    assert summary.regret.attrs == full.regret.attrs


@pytest.mark.parametrize("horizon", [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 777])
def test_a_summary_is_the_same_whatever_blocks_it_is_made_of(horizon):
    players = {name: (UCL(a=1.2), prior) for name, prior in PRIORS.items()}
    times = [t for t in (1, 1000, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 1, horizon) if t <= horizon]
    times = sorted(set(times))
    full = simulate(players, SIX, horizon, 2, seed=1)
    same_summary(simulate(players, SIX, horizon, 2, seed=1, record="summary", times=times), full, times)


@pytest.mark.parametrize("block", [1, 2, 7, 10**6])
def test_the_size_of_a_block_does_not_matter(block, monkeypatch):
    full = simulate(PLAYERS, BANDIT, 40, 3, seed=1)
    monkeypatch.setattr(one_by_one, "BLOCK", block)
    same_summary(simulate(PLAYERS, BANDIT, 40, 3, seed=1, record="summary"), full, list(range(1, 41)))


@pytest.mark.parametrize("horizon", [1, 2, 200, 10_000])
def test_by_default_times_are_spread_up_to_the_horizon(horizon):
    times = simulate({"random": (Uniform(), FLAT)}, BANDIT, horizon, record="summary").data["time"].values
    assert times[0] == 1
    assert times[-1] == horizon
    assert (np.diff(times) > 0).all()
    assert times.size <= 201
    assert (times[1:] <= 1.5 * times[:-1] + 1).all()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"record": "some"}, ValueError, "record must be full or summary, got 'some'"),
        ({"record": None}, ValueError, "record must be full or summary"),
        ({"times": [1, 2]}, ValueError, "times go with record='summary'"),
        ({"record": "summary", "times": []}, ValueError, "whole numbers from 1 to 20"),
        ({"record": "summary", "times": [0, 5]}, ValueError, "whole numbers from 1 to 20, the horizon, got"),
        ({"record": "summary", "times": [5, 21]}, ValueError, "whole numbers from 1 to 20"),
        ({"record": "summary", "times": [1.5]}, ValueError, "whole numbers from 1 to 20"),
        ({"record": "summary", "times": [np.nan]}, ValueError, "times must be finite"),
        ({"record": "summary", "times": "all"}, TypeError, "times must be numbers"),
    ],
)
def test_bad_times_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        simulate({"random": (Uniform(), FLAT)}, BANDIT, 20, **options)


def test_times_may_come_in_any_order_and_twice():
    trace = simulate({"random": (Uniform(), FLAT)}, BANDIT, 20, record="summary", times=[20, 3, 3, 1])
    assert trace.data["time"].values.tolist() == [1, 3, 20]


def peak_of_a_summary(horizon):
    """Return the most memory that this process has taken, in MB, after a simulation."""
    players = {"flat": (UCL(a=1.2), Independent(noise_variance=1.0, arms=3))}
    simulate(players, GaussianBandit([0.0, 0.5, 1.0], 1.0), horizon, 2, record="summary", threads=2)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3  # kilobytes on Linux


def test_the_memory_of_a_summary_does_not_grow_with_the_horizon():
    # both beyond the times whose widths are remembered
    short, long = (alone(peak_of_a_summary, horizon) for horizon in (4_200_000, 8_400_000))
    assert long - short < 20  # a full record of the difference is 100 MB


def test_a_summary_beyond_memory_is_refused_with_its_size():
    with pytest.raises(MemoryError, match=r"80,\d+ GB to record.*Take fewer runs, or fewer times"):
        simulate({"a": (UCL(), FLAT)}, BANDIT, 10**9, 10**10, record="summary", times=np.arange(1, 1000))


def test_extremes_of_size():
    one = simulate({"one": (UCL(), Independent(noise_variance=1.0, arms=1))}, GaussianBandit([3.0], 1.0), 10)
    assert float(one.regret.max()) == 0
    many = GaussianBandit(np.linspace(0, 1, 10**6), 1.0)
    prior = Independent(mean=0.0, variance=1.0, noise_variance=1.0, arms=10**6)
    arms = np.unique(simulate({"many": (UCL(), prior)}, many, 20).arms)
    np.testing.assert_array_equal(arms, np.arange(arms.size))  # untried arms have equal limits: the lowest index first
    huge = GaussianBandit([1e300, -1e300], 1.0)
    trace = simulate({"huge": (UCL(), Independent(noise_variance=1.0, arms=2))}, huge, 20)
    assert trace.counts.values[0, 0].tolist() == [19, 1]
