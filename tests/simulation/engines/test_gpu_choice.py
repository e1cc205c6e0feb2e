"""Who takes a device where there is one: `engine="auto"`, and with it the arena, the stress test and the audit.

The device here only notes who asked it, and lets the cores play.
"""

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.arena import calibration, playing
from corrbandits.arena.problems import problem
from corrbandits.paper import audit
from corrbandits.simulation.engines import ENGINES, Runs, engine_for, engines_for, on_device
from corrbandits.simulation.engines.gpu import device, engine, memory, mixed, paying, shapes
from corrbandits.stress import playing as stress_play
from tests.support.devices import bandit_of, belief_of, make_all_work_large, on_grid
from tests.support.stress_cases import stressed


@pytest.fixture
def asked(monkeypatch):
    """What a device was asked to play: by which engine, and on which belief."""
    noted = []

    def play(self, runs, into, advanced):
        noted.append((self.name, type(runs.belief).__name__))
        ENGINES["compiled"].play(runs, into, advanced)

    def play_each(self, games, into, advanced):
        noted.append((f"{len(games)} at once", {type(runs.belief).__name__ for runs in games}))
        ENGINES["compiled"].play_each(games, into, advanced)

    monkeypatch.setattr(device, "simulated", lambda: False)
    monkeypatch.setattr(device, "missing", lambda: "")
    monkeypatch.setattr(device, "shared_limit", lambda: 232_448)
    monkeypatch.setattr(device, "free_memory", lambda: 1 << 36)
    monkeypatch.setattr(device, "processors", lambda: 6)
    monkeypatch.setattr(engine.OnDevice, "play", play)
    monkeypatch.setattr(engine.GpuSameNoise, "play_each", play_each)
    make_all_work_large(monkeypatch)
    return noted


def test_games_of_the_arena_are_played_on_the_device_under_the_noise_that_all_meet(asked):
    given, policy = problem("chain", seed=7, number=0), cb.HorizonUCL(12)
    for belief in (given.told_nothing(), given.told_everything()):
        played = playing.play(given, policy, belief, 12)
        here = Runs(policy, belief, given.environment(), 12, given.stream, 0, 1)
        into = here.room()
        ENGINES["compiled"].play(here, into, lambda _: None)
        assert played.regret == pytest.approx(here.environment.gaps[into["arms"][0]].sum() / given.scale)
    assert asked == [("gpu-same-noise", "Vague")]  # 75 correlated arms are a single block's


def test_what_beliefs_say_of_problems_is_asked_after_games_on_the_device(asked):
    assert [*calibration.statements(problem("chain", seed=7, number=0), 0, cb.HorizonUCL(9), times=(9,), looks=(9,))]
    assert asked == [("gpu-same-noise", "Vague")]


def test_a_stress_test_has_the_games_of_many_runs_played_at_once(asked):
    options = {"confidence": [1.0], "length": [1.0], "runs": 3, "survivors": True, "horizon": 5}
    there = stressed(**options)
    (at_once,) = asked  # independent arms, and what has no kernel, stay on the cores
    assert at_once == (f"{3 * (1 + 2 * there.data.sizes['setting'])} at once", {"Correlated", "Vague"})
    with pytest.MonkeyPatch.context() as without:
        without.setattr(device, "missing", lambda: "there is no NVIDIA device here")
        assert stressed(**options).data.identical(there.data)


def test_a_stress_test_holds_no_more_games_than_have_room(asked, monkeypatch):
    options = {"confidence": [1.0], "length": [1.0], "runs": 3, "survivors": False, "horizon": 5}
    whole = stressed(**options)
    asked.clear()
    monkeypatch.setattr(stress_play, "PART_ENTRIES", 1)
    assert stressed(**options).data.identical(whole.data)
    assert len(asked) == 3


def test_an_audit_plays_all_runs_of_a_problem_on_the_device(asked, monkeypatch):
    def note(self, runs, into, advanced):  # the cores would take a quarter of a minute
        asked.append((self.name, len(runs)))
        into["counts"][:, 0] = runs.horizon

    monkeypatch.setattr(engine.OnDevice, "play", note)
    assert audit.run(problems=1, counterexamples=0, drawn=0, runs=3, seed=0).pairs
    assert asked
    assert set(asked) == {("gpu", 3)}


def single(policy, belief, seed=0, horizon=20):
    return Runs(policy, belief, bandit_of("gaussian", belief.arms), horizon, seed, 0, 1)


@pytest.mark.usefixtures("asked")
def test_games_are_played_at_once_where_a_device_has_a_kernel_that_no_other_waits_for():
    games = {
        single(cb.Greedy(), belief_of("joint", 3)): True,
        single(cb.UCL(), belief_of("joint", 4)): True,  # by the same kernel
        single(cb.CorrelatedUCL(), belief_of("joint", 4)): False,  # alone, which 16 cores play as soon
        single(cb.Gittins(20), cb.Vague(arms=3, parts=2)): True,
        single(cb.Gittins(20), cb.Vague(arms=4, parts=2)): True,
        single(cb.Thompson(), belief_of("joint", 3)): False,
        single(cb.Thompson(), belief_of("joint", 4)): False,
        single(cb.UCL(), belief_of("flat", 3)): False,
        single(cb.UCL(), belief_of("flat", 4)): False,
        single(cb.UCL(), on_grid((3, 2))): False,  # has the device alone
        single(cb.KnowledgeGradient(20), belief_of("joint", 3)): False,
        played_by(cb.Greedy(), belief_of("joint", 3)): False,  # several runs of one problem
    }
    once, twice = ([many] * len(games) for many in (1, 2))
    assert on_device([*games], once, once) == [*games.values()]
    assert on_device([*games], twice, twice)[2]


def test_games_pay_together_over_all_that_will_be_played(asked, monkeypatch):
    games = [single(cb.Greedy(), belief_of("joint", 3), seed) for seed in range(4)]
    monkeypatch.setattr(paying, "ENOUGH_JOINTLY", 4.0 * 20 * 3**2)
    once = [1.0] * 4
    assert on_device(games, once, once) == [True] * 4
    assert on_device(games[:3], once[:3], once[:3]) == [False] * 3
    assert on_device(games[:3], once[:3], [1.0, 1.0, 2.0]) == [True] * 3
    assert on_device(games[:1], [1.0], [4.0]) == [False]  # never as many at once as a third of the multiprocessors
    assert on_device(games[:1], [2.0], [4.0]) == [True]
    monkeypatch.setattr(paying, "LEAST_JOINTLY", 20 * 3**2 + 1)  # each is sooner played than the device is told of it
    assert on_device(games, once, once) == [False] * 4
    monkeypatch.setattr(paying, "LEAST_JOINTLY", 20 * 3**2)
    monkeypatch.setattr(device, "free_memory", lambda: 4 * memory.MOST_RECORDED)
    assert on_device(games, once, once) == [False] * 4
    monkeypatch.setattr(device, "free_memory", lambda: 1 << 36)
    monkeypatch.setattr(device, "missing", lambda: "there is no NVIDIA device here")
    assert on_device(games, once, once) == [False] * 4


def test_where_the_work_is_small_nobody_asks_for_a_device(monkeypatch):
    monkeypatch.setattr(device, "missing", lambda: pytest.fail("which takes a second"))
    monkeypatch.setattr(device, "simulated", lambda: False)
    assert on_device([single(cb.Greedy(), belief_of("joint", 3))], [4], [4]) == [False]


def played_by(policy, belief, runs=4, horizon=20):
    return Runs(policy, belief, bandit_of("gaussian", belief.arms), horizon, 0, 0, runs)


def test_policies_meet_the_same_noise_if_not_all_are_played_on_the_device(asked):
    belief, bandit = belief_of("joint", 3), bandit_of("gaussian", 3)
    players = {"on the device": (cb.Greedy(), belief), "not": (cb.UCB1(), belief)}
    both = cb.simulate(players, bandit, 20, 4)
    assert asked == [("gpu-same-noise", "Correlated")]
    alone = cb.simulate({"not": players["not"]}, bandit, 20, 4, engine="reference")
    np.testing.assert_array_equal(both.arms[1], alone.arms[0])
    assert engine_for(played_by(*players["on the device"])).name == "gpu"


@pytest.mark.parametrize(
    ("policy", "belief", "alone", "beside"),
    [
        (cb.Greedy(), belief_of("joint", 3), "gpu", "gpu-same-noise"),
        (cb.Greedy(), cb.Vague(arms=3, parts=2), "gpu", "gpu-same-noise"),
        (cb.Greedy(), on_grid((3, 2)), "gpu", "gpu-same-noise"),
        (cb.Greedy(), belief_of("flat", 3), "gpu", "compiled"),
        (cb.Thompson(), belief_of("joint", 3), "gpu", "compiled"),
        (cb.UCB1(), belief_of("flat", 3), "compiled", "compiled"),
    ],
)
@pytest.mark.usefixtures("asked")
def test_beside_the_cores_the_device_plays_what_is_not_held_up_by_their_noise(policy, belief, alone, beside):
    runs, on_cores = played_by(policy, belief), played_by(cb.UCB1(), belief_of("flat", belief.arms))
    assert [engine.name for engine in engines_for([runs])] == [alone]
    assert [engine.name for engine in engines_for([runs, on_cores])] == [beside, "compiled"]


@pytest.mark.parametrize(
    ("policy", "belief", "taken"),
    [
        (cb.UCL(), belief_of("joint", 200), "compiled"),
        (cb.UCL(), belief_of("joint", 300), "gpu-same-noise"),
        (cb.Thompson(), belief_of("joint", 300), "compiled"),
        (cb.UCL(), on_grid((3, 2)), "gpu-same-noise"),
        (cb.UCL(), belief_of("flat", 300), "compiled"),
    ],
)
@pytest.mark.usefixtures("asked")
def test_a_single_run_is_played_on_the_device_where_more_than_a_block_plays_it(policy, belief, taken):
    assert engine_for(played_by(policy, belief, runs=1)).name == taken


@pytest.mark.parametrize(
    ("belief", "instead"),
    [
        (belief_of("joint", 30), "compiled"),
        (belief_of("flat", 30), "compiled"),
        (cb.Vague(arms=5, parts=4), "compiled"),
        (on_grid((5, 6)), "reference"),
    ],
)
def test_what_the_device_does_not_hold_is_played_on_the_cores(asked, monkeypatch, belief, instead):
    runs = played_by(cb.Greedy(), belief)
    assert engine_for(runs).name == "gpu"
    monkeypatch.setattr(device, "free_memory", lambda: 4 * memory.MOST_RECORDED)
    assert engine_for(runs).name == instead
    with pytest.raises(MemoryError, match=f"Close what else uses it, or take engine='{instead}'"):
        memory.most_at_once(shapes.shape_of(runs), 4, 0, same_noise=False)


def test_a_mixture_that_a_block_cannot_share_is_refused_in_words_and_played_on_the_cores(asked, monkeypatch):
    belief = cb.Vague(arms=5, parts=4)
    needed = 8 * mixed.shared_numbers(5, 4, vectors=False, differ=True)
    runs = played_by(cb.Greedy(), belief)
    for limit, taken in ((needed, "gpu"), (needed - 1, "compiled")):
        monkeypatch.setattr(device, "shared_limit", lambda limit=limit: limit)
        assert engine_for(runs).name == taken
    words = f"5 arms and 4 parts needs {needed:,} bytes that a block shares, but the device has {needed - 1:,}"
    with pytest.raises(ValueError, match=words):
        engine_for(runs, "gpu")
