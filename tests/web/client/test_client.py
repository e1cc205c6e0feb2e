"""A study on a server gives what the study itself gives; and its calls are counted once, whatever the line does."""

import http.client
import inspect
import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pandas as pd
import pytest

import corrbandits as cb
from corrbandits.web.transport import Transport, parted
from tests.support.serving import ARMS, served


@pytest.fixture
def line(tmp_path):
    with served(tmp_path / "studies.db") as found:
        yield found


@pytest.fixture
def client(line):
    with cb.Client.create(line.url, "north/east meadow", arms=ARMS, rounds=40, by="Anna") as found:
        yield found


@pytest.fixture
def study(client, tmp_path):
    with cb.Study.open(tmp_path / "studies.db", client.name) as found:
        yield found


def test_it_has_the_ask_and_tell_surface_of_a_study():
    verbs = (
        "ask tell observe tell_all observe_all cancel amend retract add_arms best explain history to_csv belief arms t"
    )
    for verb in f"{verbs} trials open_trials reward export close".split():
        assert hasattr(cb.Client, verb), verb
        if not callable(getattr(cb.Study, verb)):
            continue
        ours = inspect.signature(getattr(cb.Client, verb)).parameters
        theirs = inspect.signature(getattr(cb.Study, verb)).parameters
        assert list(ours) == [name for name in theirs if name != "advanced"], verb


def test_when_rewards_were_measured_goes_over_the_line(line, tmp_path):
    when = datetime(2026, 3, 14, 9, 30, tzinfo=UTC)
    with cb.Client.create(line.url, "moving", arms=ARMS, rounds=40, told={"drift": (10.0, 60.0)}) as client:
        first, second = client.ask(2)
        client.tell(first, 3.0, at=when)
        client.tell_all([(second, 4.0, "2026-04-01")])
        client.observe("A1", 5.0, at="2026-05-01T08:00Z")
        assert client.observe_all([("A2", 6.0, "k", when), ("A3", 7.0, "2026-03-14", None), ("A4", 8.0, when)]) == 3
        with pytest.raises(ValueError, match="must be a time such as"):
            client.tell(first, 3.0, at="soon")
        with pytest.raises(ValueError, match="in the future"):
            client.observe("A1", 5.0, at="2999-01-01")
        with cb.Study.open(tmp_path / "studies.db", "moving") as study:
            pd.testing.assert_frame_equal(client.history(), study.history())
            assert study.settings.prior.prior_arguments()["drift"] == (10.0, 60.0)
            assert study.history()["measured"].iloc[0].timestamp() == when.timestamp()
        assert client.explain(2).replayed == second.arm
        assert np.isfinite(client.belief.deviation).all()


@pytest.mark.parametrize("roads", [None, [(k, k + 1, 0.5 + k % 3) for k in range(23)]], ids=["places", "roads"])
def test_what_moves_cost_goes_over_the_line(line, tmp_path, roads):
    given = {"arms": ARMS, "rounds": 40, "seed": 3}
    dear = cb.Moves(per_move=1.0, per_distance=2.0, graph=roads)
    with cb.Client.create(line.url, "far", **given, moves=dear) as client:
        with cb.Study.create(tmp_path / "other.db", "far", **given, moves=dear) as study:
            for start in (None, "D5", 3, "A1", None, "D0"):
                trial = client.ask(start=start)
                assert trial == study.ask(start=start)
                for one in (client, study):
                    one.tell(trial, float(trial.arm % 5))
            with cb.Study.open(tmp_path / "studies.db", "far") as kept:
                assert kept.settings.policy == study.settings.policy
        for wrong, error in (
            (cb.Moves(per_distance=1.0, coordinates=range(24)), "between arms where their columns say"),
            (cb.Moves(per_move=1.0, distance="cityblock"), "Give per_move, per_distance and perhaps a graph"),
        ):
            with pytest.raises(ValueError, match=error):
                cb.Client.create(line.url, "other", **given, moves=wrong)
        with pytest.raises(TypeError, match="moves must say what they cost"):
            cb.Client.create(line.url, "other", **given, moves=3.0)
        assert cb.Client.list(line.url) == ("far",)


def test_why_an_arm_was_chosen_goes_over_the_line_whole(line, tmp_path):
    with cb.Client.create(line.url, "prices", arms={"name": ["low", "middle", "high"]}, rounds=40) as client:
        for reward in (3.0, 4.0, 5.5, 4.5, 3.5, None):
            trial = client.ask()
            with cb.Study.open(tmp_path / "studies.db", "prices") as study:
                assert client.explain(trial) == study.explain(trial)
            if reward is not None:
                client.tell(trial, reward)
        assert "the first of those tried least" in str(client.explain(1))


def test_arms_are_added_once(client, study):
    more = {"name": ["E0", "E1"], "x": [0.0, 1.0], "y": [4.0, 4.0]}
    assert client.arms.count == 24
    for _ in range(2):
        client.add_arms(more, key="fifth row")
    assert client.arms.count == study.arms.count == 26
    assert client.ask(allowed=["E1"]).arm == 25
    with pytest.raises(ValueError, match="need names of their own, but there is a 'E0' already"):
        client.add_arms(more)
    with pytest.raises(ValueError, match="must have the columns of the old ones"):
        client.add_arms({"x": [9.0], "y": [9.0]})


def test_arms_that_are_added_say_what_the_prior_needs(line, tmp_path):
    prior = cb.Correlated(mean=[1.0, 2.0], kernel=cb.Exponential(2.0), coordinates=[0.0, 1.0], noise_variance=1.0)
    with cb.Study.create(tmp_path / "studies.db", "unnamed", prior=prior, policy=cb.UCL()) as study:
        client = cb.Client(line.url, study="unnamed")
        with pytest.raises(ValueError, match="the old arms differ in mean"):
            client.add_arms({"x": [5.0]})
        client.add_arms({"x": [5.0, 6.0]}, mean=[7.0, 8.0], noise_variance=2.0)
        assert study.belief.mean.tolist() == client.belief.mean.tolist() == [1.0, 2.0, 7.0, 8.0]
        assert study.belief.noise_variance.tolist() == [1.0, 1.0, 2.0, 2.0]


def test_a_script_changes_one_line(client, study):
    def script(study):
        for _ in range(6):
            trial = study.ask()
            study.tell(trial, 20.0 + trial.arm)
        seen = study.observe("C2", 33.0, key="receipt")
        study.amend(seen, 34.0)
        first, second, third = study.ask(3, allowed=["A1", "B2", "C3", "D4"])
        study.cancel(first)
        study.tell_all({second.number: 1.0, third.number: 2.0})
        study.retract(second)
        return [trial.name for trial in study.trials]

    assert script(client) == [study.trial(n).name for n in range(1, 11)]
    pd.testing.assert_frame_equal(client.history(), study.history())
    assert client.to_csv() == study.to_csv()
    assert client.best() == study.best()
    assert str(client.explain(3)) == str(study.explain(3))
    assert client.explain(3) == study.explain(3)
    assert (client.t, client.open_trials, client.reward(1)) == (study.t, study.open_trials, study.reward(1))
    np.testing.assert_array_equal(client.belief.mean, study.belief.mean)
    np.testing.assert_array_equal(client.belief.counts, study.belief.counts)
    np.testing.assert_allclose(client.belief.variance, study.belief.variance, rtol=1e-12)
    assert client.arms.names == study.arms.names
    np.testing.assert_array_equal(client.arms.coordinates, study.arms.coordinates)


def test_a_study_told_a_prior_and_a_goal_is_the_same_too(line, tmp_path):
    prior = cb.Correlated(mean=30.0, kernel=9 * cb.Exponential(2.0), coordinates=range(5), noise_variance=1.0)
    with cb.Study.create(tmp_path / "studies.db", "least", prior=prior, policy=cb.UCL(), goal="min") as study:
        client = cb.Client(f"{line.url}/s/least/")
        for reward in (31.0, 29.0, 28.5):
            client.tell(client.ask(), reward)
        np.testing.assert_allclose(client.belief.mean, study.belief.mean, rtol=1e-12)
        assert client.best() == study.best()
        assert client.explain(2) == study.explain(2)


def test_before_anything_is_known(client):
    assert np.isnan(client.belief.mean).all()
    assert np.isinf(client.belief.deviation).all()
    assert client.history().empty
    with pytest.raises(ValueError, match="nothing is known"):
        client.best()


def test_what_a_study_refuses_is_refused_in_the_same_words(client, study):
    client.tell(client.ask(), 1.0)
    for call in (lambda s: s.tell(1, 2.0), lambda s: s.observe("nowhere", 1.0), lambda s: s.cancel(1)):
        words = []
        for one in (client, study):
            with pytest.raises(ValueError) as error:
                call(one)
            words.append(str(error.value))
        assert words[0] == words[1]
    for reward in (float("nan"), "x", None):
        with pytest.raises((ValueError, TypeError)):
            client.tell(1, reward)


def test_a_wrong_token_is_refused_at_once(tmp_path):
    from corrbandits.web.service.tokens import new_token

    secret = new_token(tmp_path / "tokens", "Anna", "manage")
    with served(tmp_path / "studies.db", tokens=tmp_path / "tokens") as line:
        client = cb.Client.create(line.url, "meadow", arms=ARMS, token=secret)
        client.ask()
        assert cb.Client.list(line.url, secret) == ("meadow",)
        with pytest.raises(PermissionError, match="token"):
            cb.Client(f"{line.url}/s/meadow", "wrong").ask()


def test_a_token_does_not_travel_in_clear_text(monkeypatch):
    with pytest.raises(ValueError, match="clear text"):
        cb.Client("http://field.example.org/s/meadow", "secret")
    monkeypatch.setenv("CORRBANDITS_TOKEN", "secret")
    with pytest.raises(ValueError, match="clear text"):
        cb.Client("http://field.example.org/s/meadow")
    assert "secret" not in repr(cb.Client("https://field.example.org/s/meadow", "secret"))


@pytest.mark.parametrize(
    "url", ["field.example.org", "ftp://a/s/b", "https://user:pw@a.example/s/b", "https://a.example"]
)
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(ValueError) as error:
        cb.Client(url)
    assert "pw" not in str(error.value)


def test_an_address_is_what_the_browser_shows():
    assert parted("http://h:1/p/s/a%2Fb/history?x=1#y") == ("http://h:1/p", "a/b")
    assert parted("http://h:1/p") == ("http://h:1/p", None)


@contextmanager
def breaking(monkeypatch, *, after):
    """Break the line at every second request: before it is made, or after it was and before it is answered."""
    made, count = Transport._once, iter(range(10**6))

    def once(self, *arguments):
        broken = next(count) % 2 == 0
        if broken and not after:
            raise ConnectionResetError("cut")
        answer = made(self, *arguments)
        if broken:
            raise http.client.RemoteDisconnected("cut")
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(Transport, "_once", once)
        yield


@pytest.mark.parametrize("after", [False, True])
def test_a_call_that_is_made_again_is_counted_once(client, study, monkeypatch, after):
    with breaking(monkeypatch, after=after):
        trials = [client.ask(), *client.ask(2)]
        client.tell(trials[0], 5.0)
        client.observe("A1", 7.0)
        client.observe("A1", 7.0)
        client.amend(trials[0], 6.0)
        client.cancel(trials[1])
        client.retract(trials[0])
        client.tell_all({trials[2].number: 1.0})
    kinds = [entry.kind for entry in study.snapshot().ledger.trials]
    assert kinds == ["retracted", "cancelled", "told", "observed", "observed"]


def test_a_server_that_stays_away_is_an_error_of_the_journal(line):
    client = cb.Client(f"{line.url}/s/meadow", patience=0.3)
    gone = cb.Client("http://127.0.0.1:9/s/meadow", patience=0.3)
    with pytest.raises(cb.JournalError, match="cannot be reached") as error:
        gone.ask()
    assert error.value.unsure
    assert error.value.key
    assert error.value.key in error.value.__notes__[0]
    with pytest.raises(ValueError, match="no study 'meadow'"):
        client.ask()


def test_who_comes_too_often_waits(tmp_path):
    with served(tmp_path / "studies.db", rate=20.0, burst=3) as line:
        client = cb.Client.create(line.url, "meadow", arms=ARMS)
        assert [client.t for _ in range(10)] == [1] * 10


def test_threads_share_a_client(client, study):
    threads = [threading.Thread(target=lambda k=k: client.observe("A1", float(k))) for k in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(study.history()["reward"]) == list(range(12))


def test_it_loads_neither_the_server_nor_tables():
    import subprocess
    import sys

    code = (
        "import sys, corrbandits as cb; cb.Client; print({'fastapi', 'uvicorn', 'pandas', 'jinja2'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"


def test_an_export_goes_into_any_database(client, tmp_path):
    client.tell(client.ask(), 3.0)
    client.export(tmp_path / "study.jsonl")
    with cb.Study.import_(tmp_path / "other.db", tmp_path / "study.jsonl") as copy:
        assert copy.name == client.name
        assert copy.snapshot().ledger.entry(1).told_by == "Anna"


def test_an_answer_that_breaks_off_is_asked_for_again():
    """A server that is killed after it has said how long its answer is has sent less than that."""
    asked = []

    class Breaking(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            body = b'{"whole": true}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(b"" if len(asked) == 1 else body[:4] if len(asked) == 2 else body)
            self.close_connection = True

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Breaking) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            line = Transport(f"http://127.0.0.1:{server.server_port}", None, by=None, patience=20.0, timeout=10.0)
            assert line.get("/x") == {"whole": True}
            line.close()
        finally:
            server.shutdown()
            thread.join()
    assert len(asked) == 3
