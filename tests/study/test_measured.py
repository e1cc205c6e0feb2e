"""When rewards were measured: kept with them, read with suspicion, and what counts where mean rewards change."""

import math
import time
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import Gittins, Study, Vague
from corrbandits.belief import History
from corrbandits.study import replica
from corrbandits.study.batch import BadRowError
from corrbandits.study.journal.protocol import JournalError
from corrbandits.study.measured import AHEAD, measured_at
from corrbandits.study.report import warnings

PLACES = [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 1.0]]
BEGUN = datetime(2026, 6, 1, 12, tzinfo=UTC).timestamp()
DAY = timedelta(days=1).total_seconds()


class Clock:
    """What time it is for a study: as it is set."""

    def __init__(self, monkeypatch):
        self.now = BEGUN
        for module in (replica, cb.study.study):
            monkeypatch.setattr(module, "now", lambda: self.now)

    def in_days(self, days):
        self.now = BEGUN + days * DAY


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/studies.db"


def made(url, name="meadow", **said):
    prior = Vague(coordinates=PLACES, parts=8, **{"drift": 30.0} | said)
    return Study.create(url, name, prior=prior, policy=Gittins(40))


def same(one, other, tolerance=1e-12):
    np.testing.assert_allclose(one.mean, other.mean, rtol=tolerance)
    np.testing.assert_allclose(one.variance, other.variance, rtol=tolerance)


# what can be said


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("2026-03-14T09:30+01:00", datetime(2026, 3, 14, 8, 30, tzinfo=UTC)),
        ("2026-03-14T09:30Z", datetime(2026, 3, 14, 9, 30, tzinfo=UTC)),
        (" 2026-03-14 09:30:15.5 ", datetime(2026, 3, 14, 9, 30, 15, 500_000)),
        ("2026-03-14", datetime(2026, 3, 14)),
        (date(2026, 3, 14), datetime(2026, 3, 14)),
        (datetime(2026, 3, 14, 9, tzinfo=UTC), datetime(2026, 3, 14, 9, tzinfo=UTC)),
        (datetime(2026, 3, 14, 9), datetime(2026, 3, 14, 9)),
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
    ],
)
def test_times_are_local_unless_they_say_where(said, meant):
    assert measured_at(said, BEGUN) == meant.timestamp()


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("yesterday", "must be a time such as"),
        ("14.3.2026", "must be a time such as"),
        ("2026-13-01", "must be a time such as .*: month must be in 1..12"),
        ("2026-02-30", r"\(local time\) .*got '2026-02-30': day is out of range for month"),
        ("", "must be a time such as"),
        ("1969-12-31T00:00Z", "1970 or later"),
        (-1.0, "1970 or later"),
        ("2026-06-02T12:00Z", "in the future: it is 2026-06-01"),
        (math.inf, "must be a time such as"),
        ([2026], "must be a time such as"),
    ],
)
def test_what_is_no_time_of_a_measurement_is_refused(wrong, why):
    with pytest.raises((TypeError, ValueError), match=why):
        measured_at(wrong, BEGUN)


@pytest.fixture
def berlin(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("berlin")
def test_a_time_that_clocks_jumped_over_is_refused():
    with pytest.raises(ValueError, match=r"there was no 2026-03-29 02:30 here: clocks went forward.*T02:30\+0"):
        measured_at("2026-03-29T02:30", BEGUN)
    for said in ("2026-03-29T01:30", "2026-03-29T03:30", "2026-03-29T02:30+01:00", "2025-10-26T02:30"):
        assert measured_at(said, BEGUN) == datetime.fromisoformat(said).timestamp()


def test_clocks_may_differ_a_little():
    assert measured_at(BEGUN + AHEAD, BEGUN) == BEGUN + AHEAD


# what is kept


def test_when_it_was_measured_is_kept_and_not_when_it_was_told(url, clock):
    with made(url) as study:
        clock.in_days(5)
        trial = study.ask()
        study.tell(trial, 3.0, at=clock.now - 2 * DAY)
        study.observe("1", 4.0, at=datetime.fromtimestamp(BEGUN - 10 * DAY))
        study.observe(2, 5.0)
        study.amend(trial, 3.5)
        table = study.history()
    days = (table["measured"].astype("int64") / 1000 - BEGUN) / DAY
    assert days.tolist() == [3.0, -10.0, 5.0]
    assert ((table["told"].astype("int64") / 1000 - BEGUN) / DAY).tolist() == [5.0, 5.0, 5.0]
    assert table["reward"].tolist() == [3.5, 4.0, 5.0]


def test_many_rewards_each_at_its_time(url, clock, tmp_path):
    clock.in_days(40)
    with made(url) as study:
        first, second = study.ask(2)
        assert study.tell_all([(first, 1.0, "2026-06-20T08:00Z"), (second.number, 2.0)]) == 2
        rows = [(0, 3.0, "a", "2026-05-01"), (1, 4.0, "b"), ("3", 5.0, "c", None)]
        assert study.observe_all(rows) == 3
        assert study.observe_all(rows) == 0  # they are there, at the same times
        for wrong, why in (("soon", "must be a time such as"), ("2031-01-01", "in the future")):
            with pytest.raises(BadRowError, match=why) as caught:
                study.observe_all([(0, 1.0, "d"), (0, 1.0, "e", wrong)])
            assert caught.value.row == 1
        with pytest.raises(BadRowError, match=r"row 1: the reward of trial 3 was measured at .* retract it"):
            study.observe_all([(0, 3.0, "a", "2026-05-02")])
        with pytest.raises(ValueError, match=r"the reward of trial 1 was measured at"):
            study.tell(first, 1.0, at="2026-06-21")
        study.tell(first, 1.0)  # the same again, and nothing is said of when
        assert len(study.trials) == 5
        before = study.belief
        study.export(tmp_path / "meadow.jsonl")
    with Study.import_(url, tmp_path / "meadow.jsonl", "again") as other:
        same(other.belief, before)
        copied = other.copy("third", policy=cb.Greedy())
        same(copied.belief, before, 1e-9)
        assert copied.history()["measured"].tolist() == other.history()["measured"].tolist()


def test_old_events_say_nothing_of_it(url, clock):
    with made(url) as study:
        study.observe(0, 3.0)
        assert "measured" not in study._replica.events()[-1]
        assert study.snapshot().ledger.entry(1).when == BEGUN
    for wrong in ("-1", '"noon"', "1e300"):
        body = f'{{"event":"observed","trial":2,"arm":0,"reward":1.0,"key":"k","at":{BEGUN},"measured":{wrong}}}'
        with Study.open(url, "meadow") as study, pytest.raises((ValueError, JournalError), match="measured"):
            study._replica.ledger.draft([body])


# what it does


def test_a_study_replays_exactly_in_days(url, clock):
    """Rewards of March say less in June: as the belief says that is told of each at its time, in whatever order."""
    with made(url) as study:
        clock.in_days(20)
        for arm, reward, day in ((0, 3.0, 12.0), (1, 4.0, -80.0), (2, 5.5, 12.0), (0, 2.0, 19.5), (3, 1.0, -80.0)):
            study.observe(arm, reward, at=BEGUN + day * DAY)
        steps = [(-80.0, 1, 4.0), (-80.0, 3, 1.0), (12.0, 0, 3.0), (12.0, 2, 5.5), (19.5, 0, 2.0)]
        prior = study.settings.prior
        same(study.belief, prior.replay(History.of(steps, 4)).after(20.0))
        again = prior
        for time, arm, reward in steps:
            again = again.after(time).observe(arm, reward)
        same(study.belief, again.after(20.0), 1e-9)
        now = study.belief
        clock.in_days(110)
        later = study.belief
        same(later, prior.replay(History.of(steps, 4)).after(110.0))
        assert (later.variance > now.variance).all()
        assert study.best().deviation > 0
        assert "rewards change within 30 days (stated)" in study.show()


def test_what_does_not_change_does_not_notice(url, clock):
    rewards = [(0, 3.0, "a"), (1, 4.0, "b"), (2, 5.5, "c"), (0, 2.0, "d"), (3, 1.0, "e")]
    with made(url, "one", drift=None) as one, made(url, "other", drift=None) as other:
        one.observe_all([(*row, BEGUN - k * DAY) for k, row in enumerate(rewards)])
        clock.in_days(300)
        other.observe_all(rewards)
        np.testing.assert_array_equal(one.belief.mean, other.belief.mean)
        np.testing.assert_array_equal(one.belief.variance, other.belief.variance)


@pytest.mark.parametrize("goal", ["max", "min"])
def test_choices_are_explained_as_of_when_they_were_made(url, clock, goal):
    prior = Vague(coordinates=PLACES, parts=8, drift=(5.0, 50.0))
    with Study.create(url, "meadow", prior=prior, policy=Gittins(40), goal=goal) as study:
        rng, asked = np.random.default_rng(4), []
        for day in np.cumsum(rng.exponential(6.0, 12)).tolist():
            clock.in_days(day)
            asked += study.ask(2)
            clock.in_days(day + 1)
            study.tell(asked[-2], float(rng.normal()), at=clock.now - 0.3 * DAY)
            study.tell(asked[-1], float(rng.normal()))
        clock.in_days(400)
        for trial in asked:
            assert study.explain(trial).replayed == trial.arm
        deviation = study.explain(asked[-1]).chosen.deviation
        clock.in_days(800)
        assert study.explain(asked[-1]).chosen.deviation == deviation


def test_a_clock_that_is_slow_does_not_turn_time_back(url, clock):
    with made(url) as study:
        for arm in range(4):
            study.observe(arm, float(arm), at=clock.now + 30.0)  # of a machine whose clock is fast
        assert np.isfinite(study.belief.variance).all()
        study.tell(study.ask(), 2.0)
        assert study.explain(5).replayed == study.trial(5).arm


def test_a_reward_of_the_future_is_named_and_what_to_do(url, clock, monkeypatch):
    """A clock that was a hundred years fast for one reward: beside it all others are forgotten."""
    monkeypatch.setattr(warnings, "now", lambda: clock.now)
    with made(url) as study:
        for arm in range(4):
            study.observe(arm, 10.0 + arm)
        before = study.belief.deviation
        assert not warnings.of_the_future(study.snapshot().ledger, "moor")
        clock.in_days(36_500)
        study.observe(0, 10.0)
        clock.in_days(1)
        (said,) = warnings.of_the_future(study.snapshot().ledger, "moor")
        assert said.startswith("Trial 5 is said to be measured on 2126-05-")
        assert said in warnings.warnings(study.snapshot().ledger, "moor")
        assert (study.belief.deviation[1:] > before[1:]).all()
        study.retract(5)
        assert not warnings.of_the_future(study.snapshot().ledger, "moor")
        np.testing.assert_allclose(study.belief.deviation, before, rtol=0.1)


def test_a_mistyped_reward_surprises_those_measured_before_it(url, clock):
    rng = np.random.default_rng(5)
    with made(url) as study:
        for day in range(40):
            clock.in_days(day)
            trial = study.observe(day % 4, 20 + 3 * (day % 4) + float(rng.normal()))
        assert not study.surprises()
        clock.in_days(40)
        wrong = study.observe(1, 231.0)
        (found,) = study.surprises()
        assert (found.trial, found.reward, found.name) == (wrong.number, 231.0, "1")
        assert study.snapshot().surprise(wrong.number) == found
        assert study.snapshot().surprise(trial.number) is None
        assert "Perhaps it was mistyped in trial 41" in " ".join(study.show().split())
        before = [(1.0 + (k - 1), (k - 1) % 4, study.reward(k)) for k in range(1, 41)]
        belief = study.settings.prior.replay(History.of(before, 4)).after(41.0)
        assert found.expected == pytest.approx(belief.mean[1])  # what all else says of that arm on that day
        assert found.deviation == pytest.approx(math.sqrt(belief.variance[1] + belief.noise_variance[1]))
        study.amend(wrong, 23.1)
        assert not study.surprises()


def test_a_prior_that_is_told_all_drifts_with_real_time_too(url, clock):
    law = cb.Correlated(mean=3.0, kernel=4 * cb.Exponential(2.0), coordinates=PLACES, noise_variance=1.0)
    prior = cb.Drifting(prior=law, scale=30.0)
    with Study.create(url, "meadow", prior=prior, policy=Gittins(40)) as study:
        clock.in_days(20)
        study.observe_all([(0, 3.0, "a", BEGUN + 12 * DAY), (1, 4.0, "b", BEGUN - 80 * DAY), (0, 2.0, "c")])
        belief = prior.after(1).observe(1, 4.0).after(93).observe(0, 3.0).after(101).observe(0, 2.0)
        same(study.belief, belief)
        trial = study.ask()
        clock.in_days(110)
        same(study.belief, belief.after(191))
        assert study.explain(trial).replayed == trial.arm


def test_a_copy_may_change_where_the_study_did_not(url, clock):
    with made(url, drift=None) as study:
        study.observe_all([(k, float(k), str(k), BEGUN - 50 * k * DAY) for k in range(4)])
        steps = [(-50.0 * k, k, float(k)) for k in (3, 2, 1, 0)]
        moving = Vague(coordinates=PLACES, parts=8, drift=10.0)
        with study.copy("moving", prior=moving) as copied:
            same(copied.belief, moving.replay(History.of(steps, 4)).after(0.0), 1e-9)


def test_a_row_says_its_time_with_a_key_or_without(url, clock):
    october = datetime(2026, 3, 1, 9)
    clock.in_days(1)
    with made(url) as study:
        rows = [(0, 1.0), (1, 2.0, None), (2, 3.0, october), (3, 4.0, october.date()), (0, 5.0, None, "2026-03-02")]
        rows += [(1, 6.0, "2026-03-03", None), (2, 7.0, "receipt"), (3, 8.0, "other", october)]
        assert study.observe_all(rows) == 8
        times = [entry.when for entry in study.snapshot().ledger.trials]
        at = {2: october, 3: datetime(2026, 3, 1), 4: datetime(2026, 3, 2), 7: october}
        assert times == [at[k].timestamp() if k in at else clock.now for k in range(8)]
        assert study.observe_all(rows) == 5  # those without a key are other ones each time
        assert {"2026-03-03", "receipt", "other"} <= study.snapshot().ledger.keys.keys()


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ((0, 1.0, "2026-03-02"), r"'2026-03-02' reads as a time. .*write \(0, 1.0, None, '2026-03-02'\)"),
        ((0, 1.0, "2026-03-02T09:30+01:00"), "reads as a time"),
        ((0,), "a row must be an arm, a reward"),
        ((0, 1.0, "a", None, 3), "a row must be an arm, a reward"),
        ((0, 1.0, 5.0), "a key must be text"),
    ],
)
def test_a_time_in_the_place_of_a_key_is_refused(url, clock, row, why):
    with made(url) as study, pytest.raises(BadRowError, match=why) as caught:
        study.observe_all([(0, 1.0, "fine"), row])
    assert caught.value.row == 1
    with Study.open(url, "meadow") as study:
        assert study.trials == []
