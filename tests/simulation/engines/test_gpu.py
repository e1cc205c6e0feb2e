"""The engine on a device against the reference: on a device if there is one, else played by numba's simulator."""

import sys
from dataclasses import replace

import numba_cuda
import numpy as np
import pytest
from numba.cuda.cudadrv.error import CudaSupportError
from scipy.special import ndtri

import corrbandits as cb
from corrbandits import simulate
from corrbandits.simulation.engines import ENGINES, Runs, engine_for
from corrbandits.simulation.engines.gpu import compiling, counted, device, engine, game, joint_choose, memory, state
from tests.support.devices import (
    POLICIES,
    SIMULATED,
    assert_is_belief,
    bandit_of,
    belief_of,
    joint_now,
    quick_switches,  # noqa: F401  a fixture for every test here
)
from tests.support.engines import BANDITS, BELIEFS, EngineContract, played, runs_of


class TestOnDevice(EngineContract):
    horizon = 14 if SIMULATED else 90
    policies = ("UCL", "Thompson")

    @pytest.fixture(params=["gpu", "gpu-same-noise"])
    def engine(self, request):
        return ENGINES[request.param]

    @property
    def bandits(self):
        return ("gaussian", "binary")


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("kind", ["flat", "half known", "joint"])
def test_decisions_are_those_of_the_reference_under_the_same_noise(name, kind):
    arms, horizon = (5, 30) if SIMULATED else (50, 400)
    for rewards in ("gaussian", "binary") if kind == "joint" else ("gaussian",):  # equal averages tie on flat priors
        runs = Runs(POLICIES[name], belief_of(kind, arms), bandit_of(rewards, arms), horizon, 7, 0, 1)
        (ours, _), (plain, _) = (played(ENGINES[one], runs) for one in ("gpu-same-noise", "reference"))
        np.testing.assert_array_equal(ours["arms"], plain["arms"])
        np.testing.assert_allclose(ours["rewards"], plain["rewards"], rtol=1e-14, atol=1e-14)
        np.testing.assert_array_equal(ours["initialisation"], plain["initialisation"])


@pytest.mark.parametrize("arms", [1, 2, 5, 6] if SIMULATED else [1, 2, 33, 100, 235])
@pytest.mark.parametrize("name", ["printed", "UCL"])
def test_every_state_equals_the_reference(name, arms):
    belief, horizon = belief_of("joint", arms), 24
    runs = Runs(POLICIES[name], belief, bandit_of("gaussian", arms), horizon, 1, 0, 1)
    playing, into = game.game_of(runs, same_noise=False), runs.room()
    for t in range(horizon):
        settled = belief
        playing.advance(t, t + 1, into)
        belief = belief.observe(int(into["arms"][0, t]), float(into["rewards"][0, t]))
        mean, covariance, w0 = joint_now(playing, arms)
        assert_is_belief(belief, mean, covariance)
        moved = t > 0 and into["arms"][0, t] != into["arms"][0, t - 1]
        if name == "printed" and moved and not POLICIES[name].pending(settled).any():
            np.testing.assert_allclose(w0, settled.deviation * settled.spread(), rtol=1e-10)


@pytest.mark.parametrize("kind", ["flat", "joint"])
@pytest.mark.parametrize("name", ["gpu", "gpu-same-noise"])
def test_where_a_run_is_cut_into_launches_changes_no_bit(monkeypatch, kind, name):
    found = []
    for steps in (1, 5, 64):
        monkeypatch.setattr(engine, "FIRST_STEPS", steps)
        monkeypatch.setattr(engine, "LAUNCH", 0.0 if steps == 1 else 1e-9)
        runs = Runs(cb.Thompson(), belief_of(kind, 4), bandit_of("gaussian", 4), 15, 2, 0, 2)
        found.append(played(ENGINES[name], runs)[0])
    for other in found[1:]:
        for array, same in zip(found[0].values(), other.values(), strict=True):
            np.testing.assert_array_equal(array, same)


@pytest.mark.parametrize(("kind", "bandit"), [("flat", "gaussian"), ("joint", "gaussian"), ("flat", "binary")])
def test_rewards_are_made_of_counted_noise_whatever_the_policy(kind, bandit):
    policies = ("UCL", "Thompson") if kind == "flat" else ("UCL",)
    key, law = counted.key_of(3), counted.uniforms if bandit == "binary" else counted.normals
    for policy in policies:
        full, _ = played(ENGINES["gpu"], runs_of(policy, kind, bandit, first=5, last=7, horizon=9))
        for row, run in enumerate((5, 6)):
            noise = np.ravel([law(*key, run, counted.NOISE, pair) for pair in range(5)])[:9]
            expected = [BANDITS[bandit].reward(int(arm), e) for arm, e in zip(full["arms"][row], noise, strict=True)]
            np.testing.assert_allclose(full["rewards"][row], expected, rtol=1e-13, atol=1e-13)


def test_words_are_those_that_the_authors_of_philox_publish():
    """Known answers of Random123 (kat_vectors, philox4x32 with 10 rounds): counters and keys of 0, of 1 bits, of pi."""
    pi = 0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0
    assert counted.philox(*[0] * 6) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
    assert counted.philox(*[0xFFFFFFFF] * 6) == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)
    assert counted.philox(*pi) == (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)


def test_quantiles_are_those_of_the_normal_law():
    u = np.concatenate(
        [np.geomspace(2.0**-53, 0.1, 300), np.linspace(0.01, 0.99, 400), 1 - np.geomspace(2.0**-52, 0.1)]
    )
    found = np.array([counted.quantile(one) for one in u.tolist()])
    np.testing.assert_allclose(found, ndtri(u), rtol=4e-15, atol=1e-15)


def test_no_two_numbers_of_runs_and_streams_are_the_same():
    words = {
        counted.words(1, 2, run, stream, pair)
        for run in (0, 1, 2**32, 2**40)
        for stream in (counted.NOISE, counted.CHOICES)
        for pair in (0, 1, 2**32 - 1, 2**32, 2**61)
    }
    assert len(words) == 4 * 2 * 5


def test_the_largest_and_least_noise_is_finite():
    last = (counted.WORD << 20) | (counted.WORD >> 12)
    for u in ((0 + 0.5) * 2.0**-52, (last + 0.5) * 2.0**-52):
        assert 0 < u < 1
        assert 8 < abs(counted.quantile(u)) < 8.3


@pytest.mark.parametrize("size", [1, 2, 3, 6, 7])
def test_half_a_covariance_holds_every_pair_once(size):
    root = np.random.default_rng(0).normal(size=(size, size))
    covariance = root @ root.T
    half = state.halved(covariance)
    assert half.size == size * (size - 1) // 2
    for i in range(size):
        for j in range(size):
            assert i == j or half[state.place(i, j, size)] == covariance[i, j]


REFUSED = {
    "KnowledgeGradient has no kernel": (cb.KnowledgeGradient(90), BELIEFS["flat"], BANDITS["gaussian"]),
    "the belief is a Drifting": (cb.UCL(), cb.Drifting(prior=BELIEFS["joint"], scale=9.0), BANDITS["gaussian"]),
    "the belief awaits rewards": (cb.UCL(), belief_of("joint", 6).assume([1]), BANDITS["gaussian"]),
    "engine='gpu-same-noise' takes what the other": (cb.UCL(), BELIEFS["flat"], BANDITS["heavy tails"]),
    "the rewards are those of a ChangingBandit": (
        cb.UCL(), BELIEFS["flat"], cb.ChangingBandit(np.zeros((90, 6)), noise_variance=1.0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("reason", REFUSED)
def test_what_it_cannot_play_it_refuses_in_words(reason):
    policy, belief, bandit = REFUSED[reason]
    with pytest.raises(ValueError, match=f"the gpu engine cannot play this because .*{reason}"):
        simulate({"a": (policy, belief)}, bandit, 20, engine="gpu")


def test_noise_that_is_not_drawn_on_the_device_may_be_given():
    runs = runs_of("UCL", "flat", "heavy tails", horizon=12)
    (ours, _), (plain, _) = (played(ENGINES[one], runs) for one in ("gpu-same-noise", "reference"))
    np.testing.assert_array_equal(ours["arms"], plain["arms"])


def test_moves_are_counted_in_full_records():
    players, costs = {"a": (cb.UCL(), BELIEFS["flat"])}, cb.Moves(per_move=2.0)
    ours, plain = (
        simulate(players, BANDITS["gaussian"], 12, 2, engine=one, moves=costs)
        for one in ("gpu-same-noise", "reference")
    )
    for name in ("moves", "move_cost"):
        np.testing.assert_array_equal(ours.data[name], plain.data[name])
    with pytest.raises(ValueError, match="moves are counted from full records alone"):
        simulate(players, BANDITS["gaussian"], 12, engine="gpu", moves=costs, record="summary")


def test_a_device_that_holds_no_run_is_an_error_that_says_what_would_fit(monkeypatch):
    monkeypatch.setattr(device, "free_memory", lambda: 10)
    with pytest.raises(MemoryError, match=r"a run of 6 arms and 90 decisions takes .*, but 0 GB are free"):
        played(ENGINES["gpu"], runs_of())


def test_runs_that_do_not_fit_at_once_are_played_one_after_the_other(monkeypatch):
    whole, _ = played(ENGINES["gpu"], runs_of(horizon=6))
    monkeypatch.setattr(memory, "most_at_once", lambda *_, **__: 3)
    some, steps = played(ENGINES["gpu"], runs_of(horizon=6))
    assert steps == 4 * 6
    for name, array in whole.items():
        np.testing.assert_array_equal(some[name], array)


@pytest.mark.filterwarnings("ignore:.*overflow encountered")  # the simulator plays in Python
def test_rewards_beyond_doubles_are_refused():
    huge = cb.GaussianBandit([1.7e308, 1.7e308], 1.0)
    prior = cb.Independent(mean=[0.0, 0.0], variance=1.0, noise_variance=1.0)
    with pytest.raises(OverflowError, match="exceed what a double can hold"):
        simulate({"a": (cb.UCL(), prior)}, huge, 8, engine="gpu")


def test_what_is_missing_is_said_in_words(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba_cuda", None)
    device.missing.cache_clear()
    try:
        with pytest.raises(ValueError, match=r"numba-cuda is not installed.*pip install '.\[gpu\]'"):
            simulate({"a": (cb.UCL(), BELIEFS["flat"])}, BANDITS["gaussian"], 5, engine="gpu")
    finally:
        device.missing.cache_clear()


class _Cuda:
    """What numba-cuda says where there is no device, or one that it cannot use."""

    def __init__(self, devices, error=None):
        self.gpus, self._error = devices, error

    def current_context(self):
        if self._error is not None:
            raise self._error


@pytest.mark.parametrize(
    ("there", "reason"),
    [
        (_Cuda([]), "there is no NVIDIA device here"),
        (_Cuda([0]), ""),
        (
            _Cuda([0], CudaSupportError("At init:\n\nno library.\n:")),
            "driver is not there or does not match: At init: no library",
        ),
        (_Cuda([0], RuntimeError("CUDA_ERROR_NO_BINARY")), "cannot be used: RuntimeError: CUDA_ERROR_NO_BINARY"),
    ],
)
def test_a_device_that_is_not_there_or_not_usable_is_said_in_words(there, reason):
    found = device._without_device(there)
    assert reason in found
    assert bool(found) == bool(reason)


def test_auto_takes_the_device_where_there_is_one_and_the_work_is_large(monkeypatch):
    small = Runs(cb.UCL(), BELIEFS["flat"], BANDITS["gaussian"], 90, 0, 0, 10)
    large = Runs(cb.UCL(), BELIEFS["flat"], BANDITS["gaussian"], 10**6, 0, 0, 10**4)
    if SIMULATED:
        assert engine_for(large).name == "compiled"  # the simulator is never worth it
    monkeypatch.setattr(device, "simulated", lambda: False)
    monkeypatch.setattr(device, "missing", lambda: "")
    monkeypatch.setattr(device, "shared_limit", lambda: 232_448)
    monkeypatch.setattr(device, "free_memory", lambda: 1 << 34)
    assert (engine_for(small).name, engine_for(large).name) == ("compiled", "gpu")
    joint = Runs(cb.UCL(), BELIEFS["joint"], BANDITS["gaussian"], 10**6, 0, 0, 10**4)
    assert engine_for(joint).name == "gpu"
    assert engine_for(replace(joint, last=10**3)).name == "compiled"
    monkeypatch.setattr(device, "missing", lambda: "there is no NVIDIA device here")
    assert engine_for(large).name == "compiled"


@pytest.mark.skipif(not SIMULATED, reason="what a warp finds is made up")
@pytest.mark.parametrize("name", ["UCL", "horizon", "Gittins"])
def test_an_arm_is_taken_even_if_no_index_is_a_number(monkeypatch, name):
    """Then, on a device, a thread without an arm has the largest: the arm after the last, in the first of the warps."""
    monkeypatch.setattr(joint_choose, "first_largest_of", lambda value, warps, *_: (np.nan, warps))
    runs = Runs(POLICIES[name], belief_of("joint", 5), bandit_of("gaussian", 5), 3, 1, 0, 1)
    assert not played(ENGINES["gpu"], runs)[0]["arms"].any()


def test_kernels_on_disk_are_those_of_the_same_sources_and_compiler(monkeypatch):
    found = {compiling.made_of()}
    with monkeypatch.context() as changed:
        changed.setattr(numba_cuda, "__version__", "0.0.0")
        found.add(compiling.made_of())
    with monkeypatch.context() as changed:
        changed.setattr(compiling.cache, "stamp", str)
        found.add(compiling.made_of())
    assert len(found) == 3


if not SIMULATED:

    @pytest.mark.parametrize("name", POLICIES)
    @pytest.mark.parametrize("kind", ["flat", "joint"])
    def test_regret_has_the_law_of_the_other_engines(name, kind):
        runs = Runs(POLICIES[name], belief_of(kind, 12), bandit_of("gaussian", 12), 200, 0, 0, 4000, np.array([200]))
        ours, theirs = (played(ENGINES[one], runs)[0]["regret"][:, 0] for one in ("gpu", "compiled"))
        assert abs(ours.mean() - theirs.mean()) < 5 * np.sqrt((ours.var() + theirs.var()) / 4000)
