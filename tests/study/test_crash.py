"""Studies whose workers are killed at random moments, and whose database fails: nothing is lost, nothing counts twice.

A worker writes to a file of its own what it is about to do, does it, and writes that it was done. That line proves that
the call had returned. Where it is missing, the call may have had its effect or not, but no half of it.
"""

import json
import os
import random
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from contextlib import closing
from fractions import Fraction
from multiprocessing.connection import wait

import numpy as np
import psycopg
import pytest
import sqlalchemy as sa

import corrbandits as cb
from corrbandits import Study
from corrbandits.study.journal import JournalError
from tests.study.test_journal_faults import become_unprivileged
from tests.support.databases import NEWLY, together
from tests.support.postgres import Proxy, open_directory

WORKERS = 8
TRIALS = {"file": 600, "postgres": 400}
KILLS = 40  # then the workers may come to an end, however slow or fast the machine is
WHERE = np.array([[x, y] for x in range(5) for y in range(4)], dtype=float)
NOISE = 4.0
PRIOR = cb.Correlated(mean=30.0, kernel=10 * cb.Exponential(2.0), coordinates=WHERE, noise_variance=NOISE)
RULE = cb.CorrelatedUCL()
TRUTH = (30 + 3 * np.sin(WHERE[:, 0]) + np.cos(2 * WHERE[:, 1])).tolist()


@pytest.fixture
def file(tmp_path):
    return f"sqlite:///{tmp_path}/survey.db"


def create(url):
    return Study.create(url, "meadow", prior=PRIOR, policy=RULE)


# --- workers ---------------------------------------------------------------------------------------------------------


def lines(diary):
    """Return what a worker has written, whole lines only, as lists of words."""
    return [line.split() for line in diary.read_text().split("\n")[:-1]] if diary.exists() else []


def pending(diary):
    """Return what a worker was about to do when it was killed, if anything, in this life or in an earlier one."""
    *_, last = [["done"], *(line for line in lines(diary) if line != ["born"])]
    return last[1:] if last[0] == "about" else None


def do(study, what, subject, value=None, arm=None):
    """Make one call; all are such that they may be made again."""
    match what:
        case "tell":
            study.tell(int(subject), float(value))
        case "amend":
            study.amend(int(subject), float(value))
        case "cancel":
            study.cancel(int(subject))
        case "observe":
            return study.observe(int(arm), float(value), key=subject).number
    return int(subject)


def work(url, trials, over, diary, worker, life):
    """Ask and tell until there are enough trials and `over` is there; what a life was killed over may be done again."""
    chance = random.Random(f"{worker} {life}")
    unfinished = pending(diary)
    page = os.open(diary, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def note(*words):
        os.write(page, (" ".join(map(str, words)) + "\n").encode())

    def call(*what):
        note("about", *what)
        note("done", *what, "is", do(study, *what))

    study = Study.open(url, "meadow")
    note("born")
    if unfinished and unfinished != ["ask"] and chance.random() < 0.7:
        call(*unfinished)
    k = 0
    while True:
        note("about", "ask")
        trial = study.ask()
        note("asked", trial.number, trial.arm)
        if trial.number >= trials and over.exists():
            break
        reward = repr(chance.gauss(TRUTH[trial.arm], 2.0))
        match chance.choices(["tell", "amend", "observe", "cancel", "leave"], [80, 6, 6, 4, 4])[0]:
            case "tell":
                call("tell", trial.number, reward)
            case "amend":
                call("tell", trial.number, repr(float(reward) + 1000.0))
                call("amend", trial.number, reward)
            case "observe":
                k += 1
                arm = chance.randrange(PRIOR.arms)
                call("observe", f"{worker}-{life}-{k}", repr(chance.gauss(TRUTH[arm], 2.0)), arm)
                call("tell", trial.number, reward)
            case "cancel":
                call("cancel", trial.number)
    study.close()


def work_and_be_killed(url, trials, directory, seed):
    """Keep the workers at work, each killed now and then and started again; count kills, and those in a call."""
    chance = random.Random(seed)
    diaries = [directory / f"diary {worker}" for worker in range(WORKERS)]
    lives, inside, kills, deadline = [0] * WORKERS, 0, 0, time.monotonic() + 600
    over = directory / "over"

    def born(worker):
        lives[worker] += 1
        process = NEWLY.Process(target=work, args=(url, trials, over, diaries[worker], worker, lives[worker]))
        process.start()
        return process

    alive = {worker: born(worker) for worker in range(WORKERS)}
    try:
        while alive:
            assert time.monotonic() < deadline, "the workers do not come to an end"
            wait([process.sentinel for process in alive.values()], timeout=chance.uniform(0.02, 0.25))
            for worker in [worker for worker, process in alive.items() if process.exitcode is not None]:
                assert alive.pop(worker).exitcode == 0, "a worker failed by itself"
            if kills == KILLS:
                over.touch()
            else:
                victim = chance.choice(sorted(alive))
                os.kill(alive[victim].pid, signal.SIGKILL)
                alive[victim].join()
                if alive[victim].exitcode == -signal.SIGKILL:
                    kills += 1
                    inside += lines(diaries[victim])[-1:] != [["born"]] and pending(diaries[victim]) is not None
                    alive[victim] = born(victim)
    finally:
        for process in alive.values():
            process.kill()
            process.join()
    return diaries, kills, inside


# --- what must be there, from the rows themselves --------------------------------------------------------------------


def rows(url):
    """Return (sequence, event) of all rows, without our code."""
    parsed = sa.make_url(url)
    sqlite = parsed.get_backend_name() == "sqlite"
    with closing(sqlite3.connect(parsed.database) if sqlite else psycopg.connect(url)) as connection:
        found = connection.execute("SELECT sequence, body FROM corrbandits_events ORDER BY sequence").fetchall()
    return [(sequence, json.loads(body)) for sequence, body in found]


def check_diaries(events, diaries):
    """Every call that returned is there exactly once; every event there was once intended, with just this value."""
    told = Counter((event["trial"], event["reward"]) for event in events if event["event"] == "told")
    amended = Counter((event["trial"], event["reward"]) for event in events if event["event"] == "amended")
    cancelled = Counter(event["trial"] for event in events if event["event"] == "cancelled")
    observed = {event["key"]: event for event in events if event["event"] == "observed"}
    asked = {event["trial"]: event["arm"] for event in events if event["event"] == "asked"}
    assert len(observed) == sum(event["event"] == "observed" for event in events)
    for counted in (told, Counter(trial for trial, _ in told.elements()), amended, cancelled):
        assert set(counted.values()) == {1}, "one was counted twice"
    intended, done, handed_out = set(), Counter(), Counter()
    for first, *words in (line for diary in diaries for line in lines(diary)):
        if first == "asked":
            handed_out[int(words[0])] += 1
            assert asked[int(words[0])] == int(words[1])
            continue
        if first == "born" or words == ["ask"]:
            continue
        what, subject, *rest = words
        value = float(rest[0]) if what != "cancel" else None
        number = int(subject) if what != "observe" else subject
        if first == "about":
            intended.add((what, number, value))
            continue
        done[what] += 1
        match what:
            case "tell":
                assert told[number, value] == 1
            case "amend":
                assert amended[number, value] == 1
            case "cancel":
                assert cancelled[number] == 1
            case "observe":
                assert (observed[subject]["reward"], observed[subject]["arm"]) == (value, int(rest[1]))
                assert observed[subject]["trial"] == int(rest[-1])
    assert max(handed_out.values()) == 1, "two were given the same trial"
    assert {("tell", *one) for one in told} <= intended
    assert {("amend", *one) for one in amended} <= intended
    assert {("cancel", trial, None) for trial in cancelled} <= intended
    assert {("observe", key, event["reward"]) for key, event in observed.items()} <= intended
    return done


def batch_formula(events):
    """Return rewards, counts, and the textbook posterior of exact sums: S = (K⁻¹ + N/σ²)⁻¹, m = S (K⁻¹μ + s/σ²)."""
    arms = {event["trial"]: event["arm"] for event in events if event["event"] in ("asked", "observed")}
    rewards = {event["trial"]: event["reward"] for event in events if "reward" in event}  # the last one counts
    counts, sums = np.zeros(PRIOR.arms), [Fraction(0)] * PRIOR.arms
    for trial, reward in rewards.items():
        counts[arms[trial]] += 1
        sums[arms[trial]] += Fraction(reward)
    apart = np.linalg.norm(WHERE[:, None] - WHERE[None], axis=2)
    precision = np.linalg.inv(10 * np.exp(-apart / 2.0))
    covariance = np.linalg.inv(precision + np.diag(counts / NOISE))
    mean = covariance @ (precision @ np.full(PRIOR.arms, 30.0) + np.array([float(s) for s in sums]) / NOISE)
    return rewards, counts, mean, np.diag(covariance)


@pytest.mark.slow
@pytest.mark.parametrize("database", ["file", "postgres"])
def test_workers_killed_at_random_moments_lose_nothing_and_count_nothing_twice(request, tmp_path, database):
    url = request.getfixturevalue(database)
    watching = create(url)
    diaries, kills, inside = work_and_be_killed(url, TRIALS[database], tmp_path, seed=database)
    found = rows(url)
    events = [event for _, event in found]
    assert [sequence for sequence, _ in found] == list(range(1, len(found) + 1))
    numbers = [event["trial"] for event in events if event["event"] in ("asked", "observed")]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= TRIALS[database]
    done = check_diaries(events, diaries)
    assert set(done) == {"tell", "amend", "observe", "cancel"}
    assert kills == KILLS
    assert inside >= 10, "hardly any was killed in a call"

    rewards, counts, mean, variance = batch_formula(events)
    replayed = Study.open(url, "meadow")
    for study in (replayed, watching):  # one reads all at once; the other has seen nothing since the beginning
        assert study.belief.counts.tolist() == counts.tolist()
        np.testing.assert_allclose(study.belief.mean, mean, rtol=1e-10)
        np.testing.assert_allclose(study.belief.variance, variance, rtol=1e-9)
    table = replayed.history().dropna(subset="reward")
    assert dict(zip(table["trial"], table["reward"], strict=True)) == rewards
    asked = [(event["trial"], event["arm"]) for event in events if event["event"] == "asked"]
    for trial, arm in random.Random(0).sample(asked, 60):
        explained = replayed.explain(trial)
        assert explained.replayed == explained.chosen.arm == arm
    replayed.close()
    watching.close()


# --- the database fails ----------------------------------------------------------------------------------------------


def check_calls_fail_and_then_work(study, fail, mend):
    """Let every call fail, mend it, and make the same calls: each counts once."""
    first, second = study.ask(2)
    study.tell(first, 30.0)
    calls = [
        lambda: study.tell(second, 31.0),
        lambda: study.amend(first, 30.5),
        lambda: study.observe(3, 32.0),
        lambda: study.observe(4, 33.0, key="receipt 12"),
        lambda: study.cancel(third),
        lambda: study.ask(),
    ]
    third = study.ask()
    before = study.history()
    fail()
    for _ in range(2):
        for call in calls:
            with pytest.raises(JournalError) as caught:
                call()
            assert not caught.value.unsure
    mend()
    assert study.history().equals(before)
    for call in calls:
        call()
    after = study.history()
    assert after["reward"].tolist()[:5] == [30.5, 31.0, pytest.approx(np.nan, nan_ok=True), 32.0, 33.0]
    assert after["status"].tolist() == ["told", "told", "cancelled", "observed", "observed", "open"]
    assert study.belief.counts.sum() == 4


@pytest.mark.parametrize("lock", ["IMMEDIATE", "EXCLUSIVE"])
def test_a_locked_file_fails_every_call_and_harms_none(file, lock):
    create(file).close()
    with (
        Study.open(f"{file}?timeout=0.05", "meadow") as study,
        closing(sqlite3.connect(sa.make_url(file).database, isolation_level=None)) as other,
    ):
        check_calls_fail_and_then_work(study, lambda: other.execute(f"BEGIN {lock}"), lambda: other.execute("COMMIT"))


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_server_that_is_down_fails_every_call_and_harms_none(postgres, server, mode):
    with create(postgres) as study:
        check_calls_fail_and_then_work(study, lambda: server.stop(mode), server.start)


def make_read_only(directory):
    become_unprivileged()
    path = directory / "survey.db"

    def fail():
        study.close()  # a connection that is open could go on
        path.chmod(0o444)

    def mend():
        for each in directory.iterdir():
            each.chmod(0o600)

    with create(path) as study:
        check_calls_fail_and_then_work(study, fail, mend)


def test_a_file_made_read_only_fails_every_call_and_harms_none():
    directory = open_directory()
    try:
        together(make_read_only, (directory,))
    finally:
        subprocess.run(["rm", "-rf", directory], check=True)


@pytest.mark.parametrize("saved", [False, True], ids=["lost", "saved"])
def test_a_call_of_which_nobody_knows_whether_it_was_saved_may_be_made_again(postgres, server, saved):
    """The line is cut when the commit is on its way, or when its answer is."""
    create(postgres).close()
    proxy = Proxy(server.port)
    study = Study.open(server.url(sa.make_url(postgres).database, port=proxy.port), "meadow")

    def twice(call):
        proxy.cut_at(b"COMMIT", acted_on=saved)
        with pytest.raises(JournalError) as caught:
            call()
        assert caught.value.unsure
        there = len(rows(postgres))
        proxy.cut_at(None)
        result = call(**({"key": caught.value.key} if caught.value.key else {}))
        assert len(rows(postgres)) == there + (not saved)
        return result

    first = twice(study.ask)
    assert first.number == 1
    twice(lambda: study.tell(first, 30.0))
    twice(lambda: study.amend(first, 31.0))
    assert twice(lambda **key: study.observe(3, 32.0, **key)).number == 2
    assert study.observe(3, 32.0).number == 3, "the next one is another"
    assert twice(lambda key="receipt 12": study.observe(4, 33.0, key=key)).number == 4
    second = twice(study.ask)
    twice(lambda: study.cancel(second))
    twice(lambda: study.retract(4))
    assert study.history()["status"].tolist() == ["told", "observed", "observed", "retracted", "cancelled"]
    assert study.belief.counts.sum() == 3
    study.close()
    proxy.close()
