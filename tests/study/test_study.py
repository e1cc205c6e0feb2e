"""Studies: what is asked, told, taken back and found, and that the events alone decide it."""

import itertools
import json
import math
import os
import select
import signal
import sys
import threading
import warnings
from collections import Counter

import numpy as np
import pytest
from scipy import stats

import corrbandits as cb
from corrbandits.kernels import WithDeviations
from corrbandits.policies import RULES
from corrbandits.study import Study, Trial
from corrbandits.study import replica as following
from corrbandits.study.journal import Journal, JournalError
from tests.support.contracts import FIVE, GAUSSIAN_PRIORS

LINE = np.arange(6.0)


def related(**changes):
    given = {"mean": 30.0, "kernel": 10 * cb.Exponential(2.0), "coordinates": LINE, "noise_variance": 4.0}
    return cb.Correlated(**(given | changes))


@pytest.fixture
def begin(tmp_path):
    """Create studies in a file of this test, and close them afterwards."""
    made = []

    def create(name="meadow", *, prior=None, policy=None, **settings):
        given = {"prior": prior or related(), "policy": policy or cb.CorrelatedUCL(a=2.0)} | settings
        study = Study.create(f"sqlite:///{tmp_path}/survey.db", name, **given)
        made.append(study)
        return study

    create.url = f"sqlite:///{tmp_path}/survey.db"
    create.also = lambda study: made.append(study) or study
    yield create
    for study in made:
        study.close()


def events(study):
    return [json.loads(body) for body in study._journal.read(study._follower.study, 0)]


def bits(belief):
    return belief.mean.tobytes() + belief.variance.tobytes() + getattr(belief, "covariance", np.zeros(0)).tobytes()


# --- ask, tell, and what the belief is ---------------------------------------------------------------------------


def test_the_belief_is_the_batch_formula_on_what_was_told(begin):
    study = begin(prior=related(noise_variance=[4.0, 1.0, 2.0, 4.0, 0.5, 3.0]))
    rng = np.random.default_rng(1)
    told = []
    for _ in range(30):
        trial = study.ask()
        told.append((trial.arm, rng.normal(30, 4)))
        study.tell(trial, told[-1][1])
    X = np.zeros((30, 6))  # one row per reward: the posterior of a linear Gaussian model, by inverses
    X[np.arange(30), [arm for arm, _ in told]] = 1
    weights = X.T / study.settings.prior.noise_variance[[arm for arm, _ in told]]
    precision = np.linalg.inv(study.settings.prior.covariance)
    covariance = np.linalg.inv(precision + weights @ X)
    mean = covariance @ (precision @ np.full(6, 30.0) + weights @ [reward for _, reward in told])
    np.testing.assert_allclose(study.belief.mean, mean, rtol=1e-9)
    np.testing.assert_allclose(study.belief.covariance, covariance, rtol=1e-7, atol=1e-9)


def test_a_trial_has_a_number_an_arm_and_a_name(begin):
    study = begin(arms=["a", "b", "c", "d", "e", "f"])
    first, second = study.ask(), study.ask()
    assert (first.number, second.number) == (1, 2)
    assert first == Trial(1, first.arm, "abcdef"[first.arm])
    assert study.open_trials == [first, second]


def test_rewards_in_any_order_give_the_same_bits(begin):
    rewards = {1: 0.1, 2: 1e16, 3: -1e16, 4: 0.3, 5: 7.7}
    seen = set()
    for k, order in enumerate(itertools.islice(itertools.permutations(rewards), 0, 120, 17)):
        study = begin(f"order {k}")
        study.ask(5)
        for trial in order:
            study.tell(trial, rewards[trial])
        seen.add(bits(study.belief))
    assert len(seen) == 1


def test_a_wrong_observation_amended_and_retracted_leaves_no_trace_in_the_belief(begin):
    wrong, right = begin("wrong"), begin("right")
    for study in (wrong, right):
        study.ask(3)
        study.tell(1, 31.0)
    wrong.tell(2, 3.3e15)
    wrong.amend(2, 33.3)
    right.tell(2, 33.3)
    wrong.tell(3, 0.1)
    wrong.retract(3)
    stray = wrong.observe(4, 1e17)
    wrong.retract(stray)
    assert bits(wrong.belief) == bits(right.belief)
    assert [event["event"] for event in events(wrong)][-6:] == [
        "told", "amended", "told", "retracted", "observed", "retracted",
    ]  # fmt: skip


def test_t_counts_what_was_told_what_is_open_and_what_was_observed(begin):
    study = begin()
    assert study.t == 1
    study.ask(3)
    assert study.t == 4
    study.tell(1, 30.0)
    study.observe(5, 31.0)
    assert study.t == 5
    study.cancel(2)
    study.retract(1)
    assert study.t == 3


def test_asking_for_eight_is_asking_eight_times_and_spreads_out(begin):
    prior = related(coordinates=np.arange(20.0))
    at_once, one_by_one = begin("at once", prior=prior), begin("one by one", prior=prior)
    batch = at_once.ask(8)
    assert batch == [one_by_one.ask() for _ in range(8)]
    assert len({trial.arm for trial in batch}) == 8
    assert begin("one", prior=prior).ask(1) == batch[:1]


def test_the_choice_is_the_policys_on_the_belief_with_open_trials_assumed(begin):
    study = begin(policy=cb.UCL(a=2.0))
    study.ask(2)
    study.tell(1, 35.0)
    first, second = (trial.arm for trial in (*study.open_trials, study.ask()))
    prior = related()
    belief = prior.observe(events(study)[1]["arm"], 35.0)  # one rank-one update instead of the batch formula
    deviation = np.sqrt(belief.assume([first]).variance)
    limits = belief.mean + deviation * stats.norm.isf(1 / (math.sqrt(2 * math.pi * math.e) * 3.0**2))
    assert second == limits.argmax()


@pytest.mark.parametrize("rule", RULES)
def test_replay_explains_every_choice_of_every_rule(begin, rule):
    needs = {"horizon": 50} if rule in ("BayesUCB", "KnowledgeGradient") else {}
    study = begin(policy=RULES[rule](**needs))
    rng = np.random.default_rng(3)
    for k in range(12):
        trials = study.ask(2) if k % 3 == 0 else [study.ask(allowed=[0, 2, 3, 5])]
        for trial in trials[: 1 if k % 4 == 0 else 2]:
            study.tell(trial, rng.normal(30 + trial.arm, 2))
    history = study.history()
    replayed = [study.explain(trial).replayed for trial in history["trial"]]
    assert replayed == history["arm"].tolist()


def test_randomised_rules_draw_from_a_stream_keyed_by_seed_and_trial(begin):
    prior = related(coordinates=np.arange(50.0))
    first = [trial.arm for trial in begin("a", prior=prior, policy=cb.Uniform(), seed=5).ask(20)]
    assert first == [trial.arm for trial in begin("b", prior=prior, policy=cb.Uniform(), seed=5).ask(20)]
    assert first != [trial.arm for trial in begin("c", prior=prior, policy=cb.Uniform(), seed=6).ask(20)]
    u = [np.random.default_rng(np.random.SeedSequence(5, spawn_key=(k,))).random() for k in range(1, 21)]
    assert first == [int(50 * x) for x in u]


def test_an_explanation_gives_mean_limit_rank_and_the_runner_up(begin):
    study = begin(policy=cb.UCL(a=2.0), arms=list("abcdef"))
    study.observe("c", 34.0)
    trial = study.ask()
    found = study.explain(trial)
    belief = related().observe(2, 34.0)
    limits = cb.UCL(a=2.0).index(belief, 2)
    order = np.argsort(-limits)
    assert (found.t, found.chosen.name, found.rank) == (2, "abcdef"[order[0]], 1)
    assert found.chosen.limit == pytest.approx(limits[order[0]], rel=1e-12)
    assert found.chosen.mean == pytest.approx(belief.mean[order[0]], rel=1e-12)
    assert found.runner_up.arm == order[1]
    assert found.mean_rank == 1 + (belief.mean > belief.mean[order[0]] + 1e-9).sum()
    assert "runner-up" in str(found)
    with pytest.raises(ValueError, match="observed, not asked"):
        study.explain(1)


def test_explanations_of_the_first_tries_say_that_variance_decided(begin):
    study = begin(prior=cb.Independent(variance=np.inf, noise_variance=1.0, arms=3), policy=cb.UCL())
    trial = study.ask(allowed=[1])
    found = study.explain(trial)
    assert found.initial
    assert found.runner_up is None
    assert found.replayed == 1


# --- the same twice, and what is refused -------------------------------------------------------------------------


def test_telling_the_same_again_is_answered_as_the_first_time(begin):
    study = begin()
    trial = study.ask()
    study.tell(trial, 31.5)
    before, number = bits(study.belief), len(events(study))
    study.tell(trial, 31.5)
    assert bits(study.belief) == before
    study.amend(trial, 32.5)
    study.tell(trial, 31.5)  # a worker's second try, after somebody amended what it told
    study.tell(trial, 32.5)
    assert len(events(study)) == number + 1


def test_another_value_is_refused_with_both(begin):
    study = begin()
    study.tell(study.ask(), 31.5)
    with pytest.raises(ValueError, match=r"31\.5.*30\.25.*amend"):
        study.tell(1, 30.25)
    assert study.history()["reward"].tolist() == [31.5]


@pytest.mark.parametrize("ended", ["cancel", "retract"])
def test_after_cancel_and_retract_a_reward_is_refused_and_observe_named(begin, ended):
    study = begin(arms=list("abcdef"))
    trial = study.ask()
    if ended == "retract":
        study.tell(trial, 30.0)
    getattr(study, ended)(trial)
    number = len(events(study))
    for again in (lambda: study.tell(trial, 30.0), lambda: study.amend(trial, 31.0)):
        with pytest.raises(ValueError, match=rf"observe\('{trial.name}', reward\)"):
            again()
    getattr(study, ended)(trial)  # twice is once
    assert len(events(study)) == number
    study.observe(trial.name, 30.0)
    assert study.belief.counts[trial.arm] == 1


def test_what_cannot_be_taken_back_says_what_can(begin):
    study = begin()
    first, second = study.ask(2)
    with pytest.raises(ValueError, match="tell its reward"):
        study.amend(first, 3.0)
    with pytest.raises(ValueError, match="cancel it"):
        study.retract(first)
    third = study.ask()
    study.cancel(third)
    with pytest.raises(ValueError, match="was cancelled and has none"):
        study.retract(third)
    study.tell(second, 3.0)
    with pytest.raises(ValueError, match=r"retract\(2\)"):
        study.cancel(second)
    with pytest.raises(ValueError, match=r"1 to 3.*got 4"):
        study.tell(4, 1.0)
    for trial in (0, 1.5, "1", True, None):
        with pytest.raises((ValueError, TypeError)):
            study.tell(trial, 1.0)
    with pytest.raises(ValueError, match="another study's"):
        study.tell(Trial(1, first.arm, "x"), 1.0)
    for reward in (math.nan, math.inf, "3", None, 1j, [1.0]):
        with pytest.raises((ValueError, TypeError)):
            study.tell(first, reward)
    assert len(events(study)) == 6


def test_a_trial_expires_when_the_next_ask_notices_and_its_late_reward_is_taken_once(begin, monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr(following, "now", lambda: clock[0])
    study = begin(timeout=60.0)
    late, second = study.ask(2)
    clock[0] += 59
    study.tell(second, 30.0)
    assert study.history()["status"].tolist() == ["open", "told"]
    clock[0] += 2
    assert study.history()["status"].tolist() == ["open", "told"]  # nobody has asked yet
    third = study.ask()
    assert study.history()["status"].tolist() == ["expired", "told", "open"]
    assert [event["event"] for event in events(study)][-2:] == ["expired", "asked"]
    assert study.explain(third).replayed == third.arm
    assert study.explain(third).open == ()
    assert study.explain(third).t == 2
    study.tell(late, 29.0)
    study.tell(late, 29.0)
    with pytest.raises(ValueError, match="29"):
        study.tell(late, 28.0)
    assert study.belief.counts.sum() == 2


def test_arms_that_cannot_be_tried_again_are_not(begin):
    study = begin(repeat=False)
    arms = [trial.arm for trial in study.ask(3)]
    study.observe(next(arm for arm in range(6) if arm not in arms), 30.0)
    study.cancel(1)  # it was not tried
    rest = [study.ask().arm for _ in range(3)]
    assert sorted([*arms[1:], *rest]) == sorted(set(range(6)) - {study.history()["arm"][3]})
    with pytest.raises(ValueError, match="0 are left, but 1 were asked for"):
        study.ask()
    few = begin("few", repeat=False)
    with pytest.raises(ValueError, match="6 are left, but 7 were asked for"):
        few.ask(7)
    assert few.open_trials == []
    assert begin("again").ask(7)[-1].number == 7


def test_only_what_is_within_reach_is_asked_for(begin):
    study = begin(arms=list("abcdef"))
    mask = np.array([False, False, True, False, False, True])
    for allowed in ([2, 5], ["c", "f"], mask, np.array([5, 2, 2])):
        assert {trial.arm for trial in study.ask(3, allowed=allowed)} <= {2, 5}
    for wrong in ([], ["g"], [6], "c", [-1], [1.5]):
        with pytest.raises((ValueError, TypeError)):
            study.ask(allowed=wrong)
    assert study.explain(4).replayed == study.history()["arm"][3]


@pytest.mark.parametrize("kind", ["gaussian", "beta"])
def test_who_minimises_asks_as_who_maximises_the_opposite(begin, kind):
    if kind == "beta":
        down, up = cb.Beta(successes=[1, 2, 3], failures=2.0), cb.Beta(successes=2.0, failures=[1, 2, 3])
        policy, turned = cb.BayesUCB(horizon=100), lambda reward: 1 - reward
    else:
        down, up = related(mean=[30.0, 20.0, 10.0, 0.0, 5.0, 7.0]), related(mean=[-30.0, -20.0, -10.0, 0.0, -5.0, -7.0])
        policy, turned = cb.CorrelatedUCL(a=2.0), lambda reward: -reward
    least, most = begin("least", prior=down, policy=policy, goal="min"), begin("most", prior=up, policy=policy)
    rng = np.random.default_rng(0)
    for _ in range(15):
        trial = least.ask()
        assert trial == most.ask()
        reward = float(rng.integers(2)) if kind == "beta" else rng.normal(10, 10)
        least.tell(trial, reward)
        most.tell(trial, turned(reward))
    np.testing.assert_allclose(least.belief.mean, [turned(m) for m in most.belief.mean], rtol=1e-12, atol=1e-12)
    low, high = least.best(), most.best()
    assert (low.arm, low.probability, low.expected_loss) == (high.arm, high.probability, high.expected_loss)
    assert low.mean == pytest.approx(turned(high.mean))
    assert least.belief.mean[low.arm] == pytest.approx(least.belief.mean.min())
    one, other = least.explain(12), most.explain(12)
    assert one.chosen.limit == pytest.approx(turned(other.chosen.limit))
    assert one.rank == other.rank


def test_a_key_makes_an_observation_safe_to_repeat(begin):
    study = begin()
    first = study.observe(2, 31.0, key="receipt 17")
    assert study.observe(2, 31.0, key="receipt 17") == first
    study.amend(first, 32.0)
    assert study.observe(2, 32.0, key="receipt 17") == first
    assert study.observe(2, 31.0) != first  # without one, it is another measurement
    for arm, reward in ((3, 31.0), (2, 30.0)):
        with pytest.raises(ValueError, match="receipt 17"):
            study.observe(arm, reward, key="receipt 17")
    study.retract(study.observe(3, 1.0, key="receipt 18"))
    with pytest.raises(ValueError, match="another key"):
        study.observe(3, 1.0, key="receipt 18")
    assert study.belief.counts.tolist() == [0, 0, 2, 0, 0, 0]
    for key in ("", "a\x00b", 3):
        with pytest.raises((ValueError, TypeError)):
            study.observe(2, 1.0, key=key)


# --- several at once, and faults ---------------------------------------------------------------------------------


def test_two_workers_who_see_the_same_events_choose_alike(begin):
    here = begin()
    there = begin.also(Study.open(begin.url, "meadow"))
    here.tell(here.ask(), 33.0)
    apart = begin.also(here.copy("apart"))
    assert there.ask() == apart.ask()
    assert here.ask().number == 3
    assert there.open_trials == here.open_trials


def test_threads_share_a_study_and_each_trial_is_one_threads(begin):
    study, mine = begin(), []

    def work():
        for _ in range(10):
            trial = study.ask()
            study.tell(trial, float(trial.number))
            mine.append(trial.number)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(mine) == list(range(1, 41))
    assert study.history()["reward"].tolist() == [float(k) for k in range(1, 41)]


class Meanwhile:
    """A journal before whose next append something else happens."""

    def __init__(self, journal, *happens):
        self._journal, self._happens = journal, list(happens)

    def __getattr__(self, name):
        return getattr(self._journal, name)

    def append(self, *arguments):
        if self._happens:
            self._happens.pop(0)()
        self._journal.append(*arguments)


def test_a_choice_stands_if_only_rewards_came_while_it_was_made(begin):
    study, other = begin(), begin.also(Study.open(begin.url, "meadow"))
    study.ask(3)
    study._follower.journal = Meanwhile(study._journal, lambda: other.tell(1, 99.0), lambda: other.tell(2, 98.0))
    trials = study.ask(2)
    asked = [event for event in events(study) if event["event"] == "asked"][3:]
    assert [event["seen"] for event in asked] == [4, 4]
    apart = begin("apart")
    apart.ask(3)
    assert trials == apart.ask(2)  # as if the rewards had come just afterwards
    assert [study.explain(trial).replayed for trial in trials] == [trial.arm for trial in trials]
    assert study.t == 6


@pytest.mark.parametrize("happens", ["ask", "observe", "retract"])
def test_a_choice_is_made_anew_if_more_than_rewards_came(begin, happens):
    study, other = begin(), begin.also(Study.open(begin.url, "meadow"))
    study.tell(study.ask(), 31.0)
    act = {
        "ask": other.ask,
        "observe": lambda: other.observe(4, 20.0),
        "retract": lambda: other.retract(1),
    }[happens]
    study._follower.journal = Meanwhile(study._journal, act)
    trial = study.ask()
    assert "seen" not in events(study)[-1]
    assert study.explain(trial).replayed == trial.arm
    assert events(study)[-1]["trial"] == trial.number


@pytest.mark.parametrize("saved", [True, False])
def test_a_call_of_which_nobody_knows_whether_it_was_saved_can_be_made_again(begin, saved):
    study = begin()
    study.ask(2)

    class Breaking(Meanwhile):
        def append(self, *arguments):
            if self._happens:
                self._happens.pop()
                if saved:
                    self._journal.append(*arguments)
                error = JournalError("the connection broke")
                error.unsure = True
                raise error
            self._journal.append(*arguments)

    calls = [
        lambda: study.ask(2, allowed=[1, 2, 3]),
        lambda: study.observe(3, 30.5),
        lambda: study.tell(1, 31.5),
        lambda: study.amend(1, 32.5),
        lambda: study.retract(1),
        lambda: study.cancel(2),
        lambda: study.add_arms({"x": [9.0]}),
    ]
    for call in calls:
        study._follower.journal = Breaking(study._journal, None)
        with pytest.raises(JournalError, match="broke"):
            call()
        call()
    assert Counter(event["event"] for event in events(study)) == {
        "created": 1, "asked": 4, "observed": 1, "told": 1, "amended": 1, "retracted": 1, "cancelled": 1, "extended": 1,
    }  # fmt: skip
    study.observe(3, 30.5)  # a new one, now that the first is settled
    assert study.belief.counts.tolist() == [0, 0, 0, 2, 0, 0, 0]


def test_an_unsure_ask_is_not_answered_with_a_trial_that_is_done(begin):
    study, other = begin(), begin.also(Study.open(begin.url, "meadow"))

    def broken(*arguments):
        Journal.append(study._journal, *arguments)
        error = JournalError("the connection broke")
        error.unsure = True
        raise error

    study._follower.journal = Meanwhile(study._journal)
    study._follower.journal.append = broken
    with pytest.raises(JournalError):
        study.ask()
    study._follower.journal = study._journal
    other.tell(1, 30.0)
    assert study.ask().number == 2


@pytest.mark.slow
@pytest.mark.parametrize("call", ["ask", "tell", "observe", "amend"])
def test_an_interrupt_at_any_line_leaves_a_study_that_goes_on(begin, call):
    """Ctrl-C, or a notebook's stop, wherever it comes: the same call again, and everything counts once."""
    files = ("study/replica.py", "study/ledger.py", "_core/tally.py", "study/study.py")
    acts = {
        "ask": lambda study: study.ask(2),
        "tell": lambda study: study.tell(2, 31.0),
        "observe": lambda study: study.observe(3, 32.0),
        "amend": lambda study: study.amend(1, 33.0),
    }

    def interrupted(study, line):
        """Do it, and raise at this line of ours; return whether it came so far."""
        left = [line]

        def trace(frame, event, _):
            if not frame.f_code.co_filename.endswith(files):
                return None
            if event == "line":
                left[0] -= 1
                if left[0] == 0:
                    raise KeyboardInterrupt
            return trace

        sys.settrace(trace)
        try:
            acts[call](study)
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(None)
        return False

    late = 0
    for line in itertools.count(1):
        study = begin(f"{call} {line}")
        study.ask(2)
        study.tell(1, 30.0)
        came = interrupted(study, line)
        if not came:
            break
        returning = came and not study._follower._unsettled and call in ("ask", "observe") and len(events(study)) > 4
        late += returning
        acts[call](study)
        fresh = begin.also(Study.open(begin.url, study.name))
        assert bits(fresh.belief) == bits(study.belief)
        kinds = Counter(event["event"] for event in events(fresh))
        if returning:  # it had been done, and was about to say so: then the second call is another
            assert kinds["asked" if call == "ask" else "observed"] == {"ask": 6, "observe": 2}[call]
            continue
        assert kinds == {"created": 1, "asked": 2, "told": 1} | {
            "ask": {"asked": 4}, "tell": {"told": 2}, "observe": {"observed": 1}, "amend": {"amended": 1},
        }[call], line  # fmt: skip
        study.ask()
    assert line > 60
    assert late <= 8


def test_an_event_that_cannot_be_read_is_said_at_every_call_and_nothing_is_written_after_it(begin):
    study = begin()
    study.ask()
    journal = Journal(begin.url)
    journal.append(study._follower.study, 3, ['{"event":"from the future","at":1.0}'])
    journal.close()
    for _ in range(2):
        with pytest.raises(ValueError, match="event 3 cannot be read"):
            study.ask()
        with pytest.raises(ValueError, match="event 3 cannot be read"):
            study.tell(1, 3.0)
    assert len(events(study)) == 3


def test_a_file_that_is_moved_away_takes_no_rewards_with_it(begin, tmp_path):
    study = begin()
    study.ask(2)
    study.tell(1, 30.0)
    (tmp_path / "away").mkdir()
    for file in tmp_path.glob("survey.db*"):
        file.rename(tmp_path / "away" / file.name)
    for _ in range(2):
        with pytest.raises(JournalError, match=r"the file is gone.*Nothing was saved"):
            study.tell(2, 31.0)
    assert not (tmp_path / "survey.db").exists()
    for file in (tmp_path / "away").iterdir():
        file.rename(tmp_path / file.name)
    study.tell(2, 31.0)
    assert begin.also(Study.open(begin.url, "meadow")).belief.counts.sum() == 2


def test_an_older_copy_put_back_is_noticed_and_stays_whole(begin, tmp_path):
    study = begin()
    study.ask(2)
    study.close()
    older = (tmp_path / "survey.db").read_bytes()
    study.tell(1, 30.0)
    study.close()
    (tmp_path / "survey.db").unlink()
    (tmp_path / "survey.db").write_bytes(older)
    for _ in range(2):
        with pytest.raises(JournalError, match=r"another file|some were lost"):
            study.tell(2, 31.0)
    again = begin.also(Study.open(begin.url, "meadow"))
    again.tell(1, 30.0)
    assert again.history()["status"].tolist() == ["told", "open"]


def test_a_forked_process_does_not_wait_for_a_thread_that_is_not_there(begin):
    study = begin()
    held, done = threading.Event(), threading.Event()

    def hold():
        with study._follower.lock:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking with threads is the point
        child = os.fork()
    if child == 0:
        os.write(writing, str(study.ask().number).encode())
        os._exit(0)
    os.close(writing)
    try:
        assert select.select([reading], [], [], 20)[0], "the child hangs"
        assert os.read(reading, 10) == b"1"
    finally:
        done.set()
        thread.join()
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)


def test_a_deleted_study_is_neither_exported_nor_copied(begin, tmp_path):
    study, other = begin(), begin.also(Study.open(begin.url, "meadow"))
    study.ask()
    other.delete()
    for call in (lambda: study.export(tmp_path / "gone.jsonl"), lambda: study.copy("b"), lambda: study.explain(1)):
        with pytest.raises(ValueError, match="deleted meanwhile"):
            call()
    assert not (tmp_path / "gone.jsonl").exists()
    assert Study.list(begin.url) == ()


# --- more arms, and what is found --------------------------------------------------------------------------------


def test_arms_added_later_are_as_if_they_had_been_there(begin):
    names, places = list("abcdef"), LINE
    whole = begin("whole", arms={"name": names, "x": places, "soil": ["loam"] * 6})
    grown = begin(
        "grown", prior=related(coordinates=places[:4]), arms={"name": names[:4], "x": places[:4], "soil": ["loam"] * 4}
    )
    for study in (whole, grown):
        study.observe("b", 34.0)
        study.observe("a", 28.0)
    more = {"name": ["e", "f"], "x": [4.0, 5.0], "soil": ["loam", "loam"]}
    grown.add_arms(more)
    with pytest.raises(ValueError, match="'e' already"):
        grown.add_arms(more)
    for study in (whole, grown):
        study.observe("f", 30.0)
    assert bits(grown.belief) == bits(whole.belief)
    assert grown.ask(4) == whole.ask(4)
    assert begin.also(Study.open(begin.url, "grown")).arms.names == tuple(names)
    assert [grown.explain(t).replayed for t in range(4, 8)] == [trial.arm for trial in grown.open_trials]
    with pytest.raises(ValueError, match="'f' already"):
        grown.add_arms({"name": ["f"], "x": [9.0], "soil": ["loam"]})
    with pytest.raises(ValueError, match="columns of the old"):
        grown.add_arms({"name": ["g"], "latitude": [9.0], "longitude": [1.0]}, coordinates=[9.0])
    grown.add_arms({"name": ["g"], "x": [9.0], "owner": ["Ann"]})
    assert grown.arms.attributes == {"soil": ("loam",) * 6 + (None,), "owner": (None,) * 6 + ("Ann",)}


def test_more_arms_need_a_kernel_and_their_own_means_where_the_old_differ(begin):
    with pytest.raises(ValueError, match="need a kernel"):
        begin("flat", prior=cb.Independent(noise_variance=1.0, arms=2), policy=cb.UCL()).add_arms(["c"])
    study = begin("uneven", prior=related(mean=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), arms=list("abcdef"))
    with pytest.raises(ValueError, match="give mean="):
        study.add_arms(["g"], coordinates=[7.0])
    with pytest.raises(ValueError, match="rows of 1 coordinates"):
        study.add_arms(["g"], coordinates=[[7.0, 8.0]], mean=0.0)
    study.add_arms(["g"], coordinates=[7.0], mean=9.0)
    assert study.belief.mean[6] == 9.0
    assert study.arms.coordinates[6].tolist() == [7.0]


def test_the_best_of_two_arms_by_the_normal_distribution(begin):
    prior = cb.Correlated(mean=[1.0, 0.4], covariance=[[1.0, 0.3], [0.3, 2.0]], noise_variance=1.0)
    found = begin(prior=prior, policy=cb.UCL(a=1.0)).best()
    deviation = math.sqrt(1.0 + 2.0 - 0.6)
    z = 0.6 / deviation
    loss = deviation * (stats.norm.pdf(z) - z * stats.norm.sf(z))
    assert found.arm == 0
    assert abs(found.probability - stats.norm.cdf(z)) < 4 * found.probability_error
    assert abs(found.expected_loss - loss) < 4 * found.expected_loss_error
    assert 0.005 < found.probability_error < 0.01
    assert found.draws == 4096
    assert found == begin("again", prior=prior, policy=cb.UCL(a=1.0)).best()
    assert found != begin("other", prior=prior, policy=cb.UCL(a=1.0), seed=1).best()
    assert found.enough(loss=1.2 * loss)
    assert not found.enough(loss=loss - found.expected_loss_error)
    with pytest.raises(ValueError, match="loss"):
        found.enough(-1.0)


@pytest.mark.parametrize("kind", ["Independent", "Correlated", "Implicit", "Refitting", "Elimination"])
def test_the_best_of_many_agrees_with_plain_draws_from_the_belief(begin, kind):
    given = {"mean": 0.0, "kernel": 4 * cb.Exponential(3.0), "coordinates": np.arange(40.0), "noise_variance": 1.0}
    prior = {
        "Independent": lambda: cb.Independent(variance=4.0, noise_variance=1.0, arms=40),
        "Elimination": lambda: cb.Elimination([cb.Correlated(**given), cb.Correlated(**given | {"mean": 1.0})]),
    }.get(kind, lambda: getattr(cb, kind)(**given))()
    study = begin(prior=prior, policy=cb.UCL())
    for arm, reward in ((3, 4.0), (4, 3.0), (20, 3.5), (30, -3.0), (31, -2.0)):
        study.observe(arm, reward)
    found, belief, rng = study.best(), study.belief, np.random.default_rng(99)
    draws = np.array([belief.sample(rng) for _ in range(4096)])
    leader = int(belief.mean.argmax())
    assert found.arm == leader
    wins, loss = (draws.argmax(axis=1) == leader).mean(), draws.max(axis=1) - draws[:, leader]
    assert abs(found.probability - wins) < 4 * math.sqrt(2) * math.sqrt(wins * (1 - wins) / 4096)
    assert abs(found.expected_loss - loss.mean()) < 4 * math.sqrt(2) * loss.std() / 64


@pytest.mark.parametrize(("places", "names"), [(1, 40), (2, 10)])
def test_arms_that_are_one_and_the_same_are_no_rivals(begin, places, names):
    prior = related(mean=0.0, coordinates=np.repeat(np.arange(places) * 5.0, names))
    study = begin(prior=prior, policy=cb.UCL())
    study.observe(0, 1.0)
    alone = begin("alone", prior=related(mean=0.0, coordinates=np.arange(places) * 5.0), policy=cb.UCL())
    alone.observe(0, 1.0)
    assert study.best().probability == pytest.approx(alone.best().probability, abs=0.04)
    assert study.best().expected_loss == pytest.approx(alone.best().expected_loss, abs=0.1)


def test_a_rare_large_loss_is_not_taken_for_none(begin):
    prior = cb.Independent(mean=[0.0, -3900.0], variance=[1e-6, 1e6], noise_variance=1.0)
    found = begin(prior=prior, policy=cb.UCL()).best()
    z = 3900.0 / math.sqrt(1e6 + 1e-6)
    loss = math.sqrt(1e6 + 1e-6) * (stats.norm.pdf(z) - z * stats.norm.sf(z))  # which 4,096 draws hardly ever see
    assert found.expected_loss == pytest.approx(loss, rel=1e-6)
    assert found.probability <= stats.norm.cdf(z) * (1 + 1e-12)
    assert not found.enough(0.001)
    assert found.enough(0.02)


def test_the_best_while_nothing_is_known_of_some_arm(begin):
    study = begin(prior=cb.Independent(variance=np.inf, noise_variance=1.0, arms=3), policy=cb.UCL())
    with pytest.raises(ValueError, match="nothing is known"):
        study.best()
    study.observe(1, 5.0)
    found = study.best()
    assert (found.arm, found.expected_loss) == (1, math.inf)
    assert math.isnan(found.probability)
    assert not found.enough(1e300)


def test_a_single_arm_is_the_best(begin):
    study = begin(prior=cb.Correlated(covariance=[[2.0]], noise_variance=1.0), policy=cb.UCL())
    assert study.ask().arm == 0
    assert study.explain(1).runner_up is None
    found = study.best()
    assert (found.probability, found.expected_loss) == (1.0, 0.0)
    assert found.enough(0.0)


def test_noise_that_is_not_as_stated_is_noticed_both_ways(begin):
    rng = np.random.default_rng(0)
    for name, factor, suspicious in (("as stated", 1.0, False), ("larger", 2.0, True), ("smaller", 0.4, True)):
        study = begin(name)
        groups = []
        for arm in range(6):
            groups.append(rng.normal(20 + arm, 2.0 * factor, size=10))
            for reward in groups[-1]:
                study.observe(arm, reward)
        found = study.noise()
        squares = sum(((group - group.mean()) ** 2).sum() for group in groups) / 4.0
        assert found.chi_square == pytest.approx(squares)
        assert found.degrees == 54
        p = 2 * min(stats.chi2.cdf(squares, 54), stats.chi2.sf(squares, 54))
        assert found.p == pytest.approx(p)
        assert found.suspicious is suspicious
    study.retract(1)
    assert study.noise().degrees == 53


def test_noise_cannot_be_judged_without_a_repeated_arm_or_of_rewards_0_and_1(begin):
    study = begin()
    study.observe(0, 1.0)
    study.observe(1, 99.0)
    assert study.noise() is None
    ones = begin("ones", prior=cb.Beta(arms=2), policy=cb.BayesUCB(horizon=9))
    for _ in range(5):
        ones.observe(0, 1)
    assert ones.noise() is None
    with pytest.raises(ValueError, match="0 or 1"):
        ones.observe(0, 0.5)


# --- what is stored ----------------------------------------------------------------------------------------------

CHORDAL = cb.Matern52(700.0, distance="chordal")
PRIORS = GAUSSIAN_PRIORS | {
    "globe": cb.Correlated(kernel=2.5 * CHORDAL, coordinates=[[51.5, -0.1], [48.9, 2.4]], noise_variance=0.1),
    "sums and products": cb.Implicit(
        mean=[0.1, 0.2, 0.3, 0.4, 1 / 3],
        kernel=3 * cb.Matern32((2.0, 1.0))
        + 0.5 * cb.Exponential(4.0, distance="cityblock") * cb.RationalQuadratic(1.0),
        coordinates=FIVE,
        noise_variance=[0.5, 1.0, 2.0, 4.0, 0.1],
    ),
    "a kernel of one's own": related(kernel=lambda x, y: np.minimum(x, y.T)),
    "deviations": related(kernel=WithDeviations(cb.Exponential(2.0)), coordinates=np.stack([LINE, 1 + LINE], axis=1)),
    "beta": cb.Beta(successes=[1.0, 2.5], failures=0.3),
    "elimination": cb.Elimination([related(), related(mean=0.0)], delta=0.1),
    "refitting": cb.Refitting(mean=3.0, kernel=2 * cb.Exponential(1.5), coordinates=LINE, noise_variance=0.2),
}


@pytest.mark.parametrize("name", PRIORS)
def test_a_prior_comes_back_to_the_last_bit(begin, name):
    prior = PRIORS[name]
    policy = cb.BayesUCB(horizon=50) if name == "beta" else cb.UCL()
    study = begin(prior=prior, policy=policy)
    again = begin.also(Study.open(begin.url, "meadow"))
    assert type(again.settings.prior) is type(prior)
    assert again.settings.policy == policy
    for k, reward in ((0, 1.0), (prior.arms - 1, 0.0), (0, 1.0)):
        study.observe(k, reward)
        prior = prior.observe_all(np.eye(prior.arms, dtype=int)[k], reward * np.eye(prior.arms)[k])
    assert bits(again.belief) == bits(prior)
    copied = begin.also(again.copy("copy"))
    assert study.ask() == copied.ask()


def test_everything_in_the_database_is_plain_json(begin):
    def refuse(constant):
        raise AssertionError(constant)

    study = begin(prior=cb.Independent(variance=[np.inf, 2.0], noise_variance=1.0), policy=cb.UCL())
    study.tell(study.ask(), 0.1 + 0.2)
    bodies = study._journal.read(study._follower.study, 0)
    read = [json.loads(body, parse_constant=refuse) for body in bodies]
    assert read[0]["prior"]["variance"] == ["inf", 2.0]
    assert read[2]["reward"] == 0.1 + 0.2
    assert all(body.isascii() and "\n" not in body for body in bodies)


def test_what_cannot_be_written_down_is_refused_before_anything_is_made(begin, tmp_path):
    class Own(type(cb.Greedy()).__mro__[1]):
        def width(self, t, arms):
            return 0.0

    own = cb.Implicit(kernel=lambda x, y: np.exp(-abs(x - y.T)), coordinates=LINE, noise_variance=1.0)
    refused = [
        ({"policy": Own()}, "one of UCL"),
        ({"prior": own}, "writes its kernel down"),
        ({"prior": related().observe(0, 1.0)}, "has seen nothing"),
        ({"prior": related().assume([0])}, "has seen nothing"),
        ({"prior": "flat"}, "is a belief"),
        ({"prior": cb.Correlated(covariance=np.eye(2001), noise_variance=1.0)}, "kernel="),
        ({"prior": cb.Beta(arms=3)}, "Gaussian belief"),
        ({"goal": "more"}, '"max" or "min"'),
        ({"repeat": 1}, "True or False"),
        ({"timeout": 0.0}, "timeout"),
        ({"seed": -1}, "seed"),
        ({"arms": ["a"]}, "6 names"),
        ({"arms": list("abcdee")}, "different names"),
        ({"arms": {"name": list("abcdef"), "x": [1.0]}}, "6 entries"),
        ({"arms": {"name": list("abcdef"), "note": [object()] * 6}}, "attribute"),
        ({"arms": {"name": [*"abcde", "\x1b[31m"]}}, "printable"),
        ({"arms": "abcdef"}, "must be names"),
    ]
    for settings, message in refused:
        with pytest.raises((ValueError, TypeError), match=message):
            begin(**settings)
    assert not (tmp_path / "survey.db").exists()


def test_a_study_goes_to_a_file_and_into_another_database(begin, tmp_path):
    study = begin(arms={"name": list("abcdef"), "y": LINE, "x": LINE, "soil": ["loam", None, 3, True, 2.5, "=x"]})
    study.ask(3)
    study.tell(2, 1 / 3)
    study.amend(2, 0.1)
    study.export(tmp_path / "meadow.jsonl")
    other = begin.also(Study.import_(f"sqlite:///{tmp_path}/other.db", tmp_path / "meadow.jsonl"))
    assert (other.name, other.arms.attributes) == ("meadow", study.arms.attributes)
    assert bits(other.belief) == bits(study.belief)
    assert other.history().equals(study.history())
    assert other.ask(2) == study.ask(2)
    renamed = begin.also(Study.import_(begin.url, tmp_path / "meadow.jsonl", name="meadow 2"))
    assert Study.list(begin.url) == ("meadow", "meadow 2")
    renamed.delete()
    assert Study.list(begin.url) == ("meadow",)
    with pytest.raises(ValueError, match="deleted"):
        renamed.ask()
    with pytest.raises(ValueError, match="name of its own"):
        Study.import_(begin.url, tmp_path / "meadow.jsonl")


def test_a_copy_with_another_prior_has_all_trials_as_they_stand(begin, monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr(following, "now", lambda: clock[0])
    study = begin(arms=list("abcdef"), timeout=60.0)
    late, *_ = study.ask(5)
    clock[0] += 61
    study.ask()
    study.tell(3, 31.0)
    study.tell(1, 29.0)
    study.amend(1, 29.5)
    study.cancel(2)
    study.observe("e", 40.0, key="notebook 7")
    study.retract(study.observe("e", 400.0))
    prior = related(noise_variance=9.0)
    other = begin.also(study.copy("noisier", prior=prior, policy=cb.UCL(a=3.0)))
    arms = study.history()["arm"].tolist()
    expected = prior.observe([arms[0], arms[2], 4], [29.5, 31.0, 40.0])
    assert bits(other.belief) == bits(expected)
    assert other.settings.policy == cb.UCL(a=3.0)
    same = ["trial", "arm", "status", "first_reward", "asked"]
    assert other.history()[same].equals(study.history()[same])
    assert sorted(set(other.history()["status"])) == [
        "cancelled", "expired", "observed", "open", "retracted", "told",
    ]  # fmt: skip
    assert other.open_trials == study.open_trials
    assert other.observe("e", 40.0, key="notebook 7").number == 7  # it is known there too
    with pytest.raises(ValueError, match="a copy of"):
        other.explain(late)
    trial = other.ask()
    assert trial.number == 9
    assert other.explain(trial).replayed == trial.arm
    with pytest.raises(ValueError, match="as many as the prior's 2"):
        study.copy("fewer", prior=cb.Independent(noise_variance=1.0, arms=2))
    with pytest.raises(ValueError, match="0 or 1"):
        study.copy("unfit", prior=cb.Beta(arms=6))


def test_a_mistyped_reward_is_a_surprise_by_what_is_expected_without_it(begin):
    study = begin(arms=list("abcdef"))
    rewards = {"a": 28.0, "b": 31.0, "c": 304.0, "d": 30.0}
    for name, reward in rewards.items():
        study.observe(name, reward)
    study.observe("d", 33.0)
    (found,) = [one for one in study.surprises() if one.name == "c"]
    without = related().observe([0, 1, 3, 3], [28.0, 31.0, 30.0, 33.0])  # what all else says, computed without it
    deviation = math.sqrt(without.variance[2] + 4.0)
    assert found.expected == pytest.approx(without.mean[2])
    assert found.deviation == pytest.approx(deviation)
    assert found.z == pytest.approx((304.0 - without.mean[2]) / deviation)
    assert study.surprises()[0] == found  # the worst comes first
    study.amend(3, 30.4)
    assert study.surprises() == []
    flat = begin("flat", prior=cb.Independent(noise_variance=1.0, arms=2), policy=cb.UCL())
    flat.observe(0, 1e9)
    assert flat.surprises() == []  # nothing else speaks of it


def test_a_file_that_is_cut_changed_or_no_study_is_refused_and_nothing_is_made(begin, tmp_path):
    study = begin()
    study.tell(study.ask(), 31.0)
    path = tmp_path / "meadow.jsonl"
    study.export(path)
    head, created, *rest = path.read_text().splitlines()
    told = json.loads(rest[1])
    changed = {
        "cut": [head, created, rest[0]],
        "no study": ['{"a": 1}', created],
        "empty": [],
        "text": ["name,x,y", "a,1,2"],
        "newer": [head.replace('"format":1', '"format":2'), created, *rest],
        "an event of another kind": [head, created, rest[0], json.dumps(told | {"event": "__init__"})],
        "told twice": [head.replace('"events":3', '"events":4'), created, *rest, rest[1]],
        "told before it was asked": [head, created, rest[1], rest[0]],
        "no number": [head, created, rest[0], json.dumps(told | {"reward": "31"})],
        "not finite": [head, created, rest[0], rest[1].replace("31.0", "NaN")],
        "a list": [head, created, rest[0], "[1]"],
        "deep": [head, created, rest[0], "[" * 100_000],
        "another class": [head, created.replace('"Correlated"', '"Popen"'), *rest],
        "another rule": [head, created.replace('"CorrelatedUCL"', '"eval"'), *rest],
        "an argument too many": [head, created.replace('"a":2.0', '"a":2.0,"b":1'), *rest],
        "an arm too far": [head, created, rest[0].replace('"arm":0', '"arm":6'), rest[1]],
        "no seed": [head, created.replace('"seed":0', '"seed":"x"'), *rest],
        "no time": [head, created, rest[0].replace('"at":', '"at":1e300,"was":'), rest[1]],
        "allowed is text": [head, created, rest[0].replace('"arm":0', '"arm":0,"allowed":"abc"'), rest[1]],
        "allowed is too far": [head, created, rest[0].replace('"arm":0', '"arm":0,"allowed":[0,99]'), rest[1]],
        "the future was seen": [head, created, rest[0].replace('"arm":0', '"arm":0,"seen":7'), rest[1]],
        "axes that are none": [head, created.replace('"axes":["x"]', '"axes":["\\u001b]0;x"]'), *rest],
        "a kernel in a kernel": [
            head,
            created.replace('"of":{', '"of":{"kernel":"Scaled","variance":1,"of":' * 480),
            *rest,
        ],
        "no prior": [head, created.replace('"prior":{', '"prior":[],"was":{'), *rest],
        "a name that is no name": [head.replace('"meadow"', '"\\u001b[2J"'), created, *rest],
    }
    for name, lines in changed.items():
        path.write_text("\n".join(lines) + "\n")
        with pytest.raises((ValueError, TypeError)) as raised:
            Study.import_(f"sqlite:///{tmp_path}/other.db", path)
        assert len(str(raised.value)) > 20, name
    with pytest.raises(OSError, match="cannot be read"):
        Study.import_(begin.url, tmp_path / "nowhere.jsonl")
    assert not (tmp_path / "other.db").exists() or Study.list(f"sqlite:///{tmp_path}/other.db") == ()
    assert Study.list(begin.url) == ("meadow",)


def test_names_and_values_from_outside_are_data(begin, tmp_path):
    nasty = [
        "'; DROP TABLE corrbandits_events; --",
        "=cmd|' /C calc'!A0",
        "../../etc/passwd",
        "%s {0} \\x00",
        "+1",
        "é☃",
    ]
    for name in nasty:
        study = begin(name, arms=nasty)
        study.tell(study.ask(allowed=[name]), 1.0)
        assert begin.also(Study.open(begin.url, name)).history()["name"].tolist() == [name]
    assert Study.list(begin.url) == tuple(sorted(nasty))
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith("survey.db")] == []
    text = study.to_csv(tmp_path / "history.csv")
    assert (tmp_path / "history.csv").read_text() == text
    study.observe("=cmd|' /C calc'!A0", -3.5)
    last = study.to_csv().splitlines()[-1]
    assert ",'=cmd|' /C calc'!A0,observed,-3.5," in last
    assert begin("نامه\u200cها").name == "نامه\u200cها"  # a sign that joins letters is for reading
    for name in ("", " a", "a\n", "a\x07", "a\u2028b", "x" * 201, "\ud800", 7):
        with pytest.raises((ValueError, TypeError), match="name"):
            begin(name)


def test_what_is_not_there_is_said(begin, tmp_path):
    with pytest.raises(ValueError, match="no such file"):
        Study.open(f"sqlite:///{tmp_path}/none.db", "meadow")
    assert not (tmp_path / "none.db").exists()
    begin("meadow")
    with pytest.raises(ValueError, match=r"no study 'wood'.*meadow"):
        Study.open(begin.url, "wood")
    with pytest.raises(ValueError, match="name of its own"):
        begin("meadow")


def test_a_study_of_a_newer_format_is_refused_in_words(begin):
    study = begin()
    body = json.dumps(events(study)[0] | {"format": 2})
    journal = Journal(begin.url)
    journal.enrol("newer", [body])
    journal.close()
    with pytest.raises(ValueError, match="newer corrbandits"):
        Study.open(begin.url, "newer")


def test_the_history_is_a_labelled_table(begin):
    study = begin(arms=list("abcdef"))
    empty = study.history()
    assert list(empty.columns) == ["trial", "arm", "name", "status", "reward", "first_reward", "asked", "told"]
    first, second, third = study.ask(3)
    study.tell(first, 31.0)
    study.amend(first, 32.0)
    study.cancel(second)
    study.observe("f", 12.5)
    table = study.history().set_index("trial")
    assert table["status"].tolist() == ["told", "cancelled", "open", "observed"]
    assert table.loc[1, ["reward", "first_reward"]].tolist() == [32.0, 31.0]
    assert table["reward"].isna().tolist() == [False, True, True, False]
    assert table.loc[4, "name"] == "f"
    assert table["asked"].isna().tolist() == [False, False, False, True]
    assert (table.loc[1, "told"] - table.loc[1, "asked"]).total_seconds() >= 0
    assert table.dtypes.astype(str).tolist()[-2:] == ["datetime64[ms, UTC]"] * 2
    assert third.number == 3


# --- extremes ----------------------------------------------------------------------------------------------------


def test_rewards_of_any_size_are_taken_as_long_as_a_belief_can_be_computed(begin):
    study = begin()
    study.observe(0, 1e300)
    study.observe(0, -1e300)
    study.observe(1, 5e-324)
    assert study.belief.sums[:2].tolist() == [0.0, 5e-324]
    study.observe(2, 1.7e308)
    number = len(events(study))
    with pytest.raises(OverflowError):
        study.observe(2, 1.7e308)
    trial = study.ask()
    with pytest.raises(OverflowError):
        study.tell(trial, -1.7e308) if trial.arm != 2 else study.tell(trial, 1.7e308)
    assert len(events(study)) == number + 1
    study.retract(4)
    study.tell(trial, 30.0)
    assert np.isfinite(study.belief.mean).all()
    other = begin("retracting")
    for reward in (1.7e308, -1.7e308, 1.7e308):
        other.observe(0, reward)
    with pytest.raises(OverflowError):
        other.retract(2)  # without it the other two could not be added
    assert other.ask().number == 4


def test_known_arms_and_unknown_ones(begin):
    prior = cb.Independent(mean=[5.0, 0.0, 1.0], variance=[0.0, np.inf, 1.0], noise_variance=1.0)
    study = begin(prior=prior, policy=cb.UCL())
    assert study.ask(2)[0].arm == 1
    study.tell(1, 3.0)
    study.observe(0, 100.0)
    assert study.belief.mean[0] == 5.0
    assert study.best().arm == 0


def test_a_covariance_that_is_singular_to_rounding(begin):
    prior = related(kernel=4 * cb.SquaredExponential(500.0))
    study = begin(prior=prior, policy=cb.CorrelatedUCL())
    for trial in study.ask(20):
        study.tell(trial, 31.0)
    assert study.belief.mean == pytest.approx(np.full(6, 31.0), abs=0.1)
    assert 0 < study.best().probability <= 1


def test_100_000_arms(begin):
    places = np.stack(np.divmod(np.arange(100_000), 400), axis=1).astype(float)
    prior = cb.Implicit(mean=30.0, kernel=10 * cb.Exponential(5.0), coordinates=places, noise_variance=10.0)
    study = begin(prior=prior, policy=cb.UCL())
    first = study.ask(2)
    assert first[0].arm != first[1].arm
    study.tell(first[0], 40.0)
    again = begin.also(Study.open(begin.url, "meadow"))
    assert bits(again.belief) == bits(study.belief)
    with pytest.raises(ValueError, match="arms may be the best"):
        again.best()
