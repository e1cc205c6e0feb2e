"""The kernels that play on a belief told nothing: on a device if there is one, else played by numba's simulator."""

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import simulate
from corrbandits.simulation.engines import ENGINES, Runs, engine_for
from corrbandits.simulation.engines.gpu import device, engine, game, mixed, mixed_state
from corrbandits.simulation.engines.gpu.state import ARM, LENGTH
from tests.support.devices import quick_switches  # noqa: F401  a fixture for every test here
from tests.support.engines import played

SIMULATED = device.simulated()
ARMS, PARTS, HORIZON = (5, 4, 22) if SIMULATED else (100, 48, 60)
WHERE = np.random.default_rng(4).uniform(0, 5, (ARMS, 2))
MEANS = np.random.default_rng(5).normal(0, 2, ARMS)
BANDIT = cb.GaussianBandit(MEANS, np.random.default_rng(6).uniform(0.5, 2.0, ARMS))
BINARY = cb.BernoulliBandit(np.random.default_rng(7).uniform(0.1, 0.9, ARMS))
CHANGING = cb.GPUCB(delta=1e-250)
"""Its limits are so wide that it takes no arm twice running."""


def untold(**told):
    return cb.Vague(coordinates=WHERE, parts=PARTS, **told)


def runs_of(policy, belief, first=0, last=1, times=None, bandit=BANDIT, horizon=HORIZON):
    return Runs(policy, belief, bandit, horizon, 7, first, last, times)


PLAYED = {
    "horizon, told nothing": (cb.HorizonUCL(HORIZON), {}, BANDIT),
    "horizon, rewards 0 and 1": (cb.HorizonUCL(HORIZON), {}, BINARY),
    "Gittins, told about the mean": (cb.Gittins(HORIZON), {"mean": (0.0, 2.0), "sd": 1.5}, BANDIT),
    "Gittins, told nothing": (cb.Gittins(HORIZON), {"relative_noise": np.linspace(0.5, 1.5, ARMS)}, BANDIT),
    "GP, told the mean": (cb.GPUCB(), {"mean": 1.0}, BANDIT),
    "greedy": (cb.Greedy(), {}, BANDIT),
    "no arm twice": (CHANGING, {"sd": 2.0}, BANDIT),
}


@pytest.mark.parametrize("name", PLAYED)
def test_decisions_are_those_of_the_reference_under_the_same_noise(name):
    policy, told, bandit = PLAYED[name]
    runs = runs_of(policy, untold(**told), bandit=bandit)
    (ours, _), (plain, _) = (played(ENGINES[one], runs) for one in ("gpu-same-noise", "reference"))
    np.testing.assert_array_equal(ours["arms"], plain["arms"])
    np.testing.assert_allclose(ours["rewards"], plain["rewards"], rtol=1e-14, atol=1e-14)
    np.testing.assert_array_equal(ours["initialisation"], plain["initialisation"])


def now(playing, part):
    """The numbers, u, w, the variances and the covariance of a part in the first run, as the kernel has left them."""
    kept = {name: device.fetched(array)[0] for name, array in playing._kept._asdict().items()}
    prior = device.fetched(playing._given[1].S)
    numbers = kept["of_part"].reshape(PARTS, -1)[part]
    u, w, d, h = kept["vectors"].reshape(4, PARTS, ARMS)[:, part]
    late, carried = int(kept["at"][mixed_state.LATE]), kept["at"][mixed_state.CARRIED]
    S = np.zeros((ARMS, ARMS))
    S[np.triu_indices(ARMS)] = (kept["S"] if carried else prior).reshape(PARTS, -1)[part]
    S += np.triu(S, 1).T
    rows = kept["rows"].reshape(PARTS, mixed_state.BLOCK, ARMS)[part, :late]
    scaled = kept["c"].reshape(PARTS, mixed_state.BLOCK)[part, :late, None] * rows
    lost = numbers[mixed_state.TO_D] * np.outer(h, h)  # of the streak
    u, w = (one + numbers[to] * h for one, to in ((u, mixed_state.TO_U), (w, mixed_state.TO_W)))
    return numbers, u, w, d - lost.diagonal(), S - scaled.T @ scaled - lost


def conditioned(belief, part, arms, rewards):
    """The same, computed anew by solving for all rewards at once."""
    every = np.arange(ARMS)
    R = belief.parts.correlation(part, every, every)
    noise = belief.parts.ratios[part] * belief.relative_variance[arms]
    K, z = R[np.ix_(arms, arms)] + np.diag(noise), rewards - rewards[0]
    ones, gain = np.ones(arms.size), np.linalg.solve(K, R[arms]).T
    products = [a @ np.linalg.solve(K, b) for a, b in ((ones, ones), (ones, z), (z, z))]
    determinant = np.linalg.slogdet(K)[1] - 2 * belief.parts.log_prior[part]
    return [*products, determinant], gain @ z, gain @ ones, R - gain @ R[arms]


@pytest.mark.parametrize("policy", [CHANGING, cb.HorizonUCL(HORIZON)])
def test_every_state_equals_what_solving_anew_gives(policy):
    belief = untold()
    runs = runs_of(policy, belief)
    playing, into = game.game_of(runs, same_noise=False), runs.room()
    for t in range(HORIZON):
        playing.advance(t, t + 1, into)
        arms, rewards = into["arms"][0, : t + 1].astype(int), into["rewards"][0, : t + 1]
        for part in range(0, PARTS, max(1, PARTS // 4)):
            numbers, u, w, d, S = now(playing, part)
            products, expected_u, expected_w, expected_S = conditioned(belief, part, arms, rewards)
            np.testing.assert_allclose(numbers[:4], products, rtol=1e-10, atol=1e-10)
            np.testing.assert_allclose(u, expected_u, rtol=1e-10, atol=1e-10)
            np.testing.assert_allclose(w, expected_w, rtol=1e-10, atol=1e-10)
            np.testing.assert_allclose(S, expected_S, rtol=0, atol=1e-10)
            np.testing.assert_allclose(d, expected_S.diagonal(), rtol=0, atol=1e-10)
    at = device.fetched(playing._kept.at)[0]
    assert at[ARM] == arms[-1]
    assert at[LENGTH] == np.argmin(np.append(arms[::-1] == arms[-1], False))
    assert at[mixed_state.CARRIED] == (np.count_nonzero(np.diff(arms)) >= mixed_state.BLOCK)


def test_weights_and_what_each_part_makes_of_mean_and_scale_give_the_moments_of_the_belief():
    belief, steps = untold(), 12
    runs = runs_of(cb.HorizonUCL(HORIZON), belief)
    playing, into = game.game_of(runs, same_noise=False), runs.room()
    playing.advance(0, steps, into)
    weighed = device.fetched(playing._kept.of_part)[0].reshape(PARTS, -1)[:, mixed_state.WEIGHT :]
    arms, rewards = into["arms"][0, : steps - 1].astype(int), into["rewards"][0, : steps - 1]
    mean = square = 0.0
    for part, (weight, beta, more, expected) in enumerate(weighed):
        _, u, w, S = conditioned(belief, part, arms, rewards)
        share = 1 - w
        mean += weight * (its_mean := rewards[0] + u + beta * share)
        square += weight * (expected * (S.diagonal() + more * share**2) + its_mean**2)
    expected_belief = belief.observe(arms, rewards)
    np.testing.assert_allclose(mean, expected_belief.mean, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(square - mean**2, expected_belief.variance, rtol=1e-9)


def test_where_a_run_is_cut_into_launches_changes_no_bit(monkeypatch):
    found = []
    for steps in (1, 3, 64):
        monkeypatch.setattr(engine, "FIRST_STEPS", steps)
        monkeypatch.setattr(engine, "LAUNCH", 0.0 if steps == 1 else 1e-9)
        found.append(played(ENGINES["gpu"], runs_of(cb.Gittins(9), untold(), last=2, horizon=9))[0])
    for other in found[1:]:
        for array, same in zip(found[0].values(), other.values(), strict=True):
            np.testing.assert_array_equal(array, same)


def test_runs_are_the_same_in_any_batch_and_summaries_agree_with_full_records():
    policy, belief, times = cb.HorizonUCL(9), untold(), np.array([1, 6, 9])
    full, steps = played(ENGINES["gpu"], runs_of(policy, belief, last=3, horizon=9))
    brief, _ = played(ENGINES["gpu"], runs_of(policy, belief, first=1, last=3, times=times, horizon=9))
    assert steps == 3 * 9
    regret = np.cumsum(BANDIT.gaps[full["arms"]], axis=1)
    np.testing.assert_array_equal(brief["regret"], regret[1:, times - 1])
    for name in ("counts", "initialisation"):
        np.testing.assert_array_equal(brief[name], full[name][1:])
    for row in range(3):
        np.testing.assert_array_equal(full["counts"][row], np.bincount(full["arms"][row], minlength=ARMS))


def test_a_checkpoint_has_what_was_played_and_a_callback_stops_it(tmp_path):
    players = {"untold": (cb.HorizonUCL(6), untold())}
    first, again = (simulate(players, BANDIT, 6, 2, engine="gpu", checkpoint=tmp_path) for _ in range(2))
    np.testing.assert_array_equal(first.arms, again.arms)
    assert '"engine of \'untold\'": "gpu"' in (tmp_path / "simulation.json").read_text()

    def stop(steps):
        raise InterruptedError

    runs = runs_of(*players["untold"], horizon=6)
    with pytest.raises(InterruptedError):
        ENGINES["gpu"].play(runs, runs.room(), stop)


def test_vectors_that_a_block_cannot_share_lie_in_the_memory_of_the_device(monkeypatch):
    runs = runs_of(cb.Gittins(12), untold(), horizon=12)
    shared, _ = played(ENGINES["gpu"], runs)
    monkeypatch.setattr(device, "shared_limit", lambda: 8 * mixed.shared_numbers(ARMS, PARTS, vectors=True) - 1)
    apart, _ = played(ENGINES["gpu"], runs)
    for name, array in shared.items():
        np.testing.assert_array_equal(apart[name], array)


REFUSED = {
    "the mean rewards of a Vague belief change with time": (cb.Gittins(9), untold(drift=50.0)),
    "UCL needs more of a Vague belief than means and variances": (cb.UCL(), untold()),
    "a Vague belief has no kernel for more than 1,024 arms": (cb.Gittins(9), cb.Vague(arms=1025, parts=2)),
    "the belief has seen or awaits rewards": (cb.Gittins(9), untold().observe(0, 1.0)),
    "the belief knows of earlier seasons": (cb.Gittins(9), untold(history=[([0, 1, 2], [1.0, 2.0, 1.5])])),
    "the scale must be integrated out numerically": (cb.Gittins(9), untold(mean=(0.0, 2.0))),
    "a Vague belief of 100 arms and 1,000 parts needs": (cb.Gittins(9), cb.Vague(arms=100, parts=1000)),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_it_cannot_play_it_refuses_in_words(reason):
    policy, belief = REFUSED[reason]
    bandit = cb.GaussianBandit(np.zeros(belief.arms), 1.0)
    with pytest.raises(ValueError, match=f"the gpu engine cannot play this because {reason}"):
        simulate({"a": (policy, belief)}, bandit, 20, engine="gpu")


def test_a_device_that_holds_no_run_is_an_error_that_says_what_would_fit(monkeypatch):
    monkeypatch.setattr(device, "free_memory", lambda: 10)
    with pytest.raises(MemoryError, match=rf"a run of {ARMS} arms and 9 decisions takes .*, but 0 GB are free"):
        played(ENGINES["gpu"], runs_of(cb.Gittins(9), untold(), horizon=9))


def test_auto_takes_the_device_where_there_is_one_and_the_work_is_large(monkeypatch):
    monkeypatch.setattr(device, "simulated", lambda: False)
    monkeypatch.setattr(device, "missing", lambda: "")
    monkeypatch.setattr(device, "shared_limit", lambda: 232_448)
    monkeypatch.setattr(device, "free_memory", lambda: 1 << 34)
    few, many = (runs_of(cb.Gittins(HORIZON), untold(), last=last) for last in (10, 10**9))
    assert (engine_for(few).name, engine_for(many).name) == ("compiled", "gpu")
