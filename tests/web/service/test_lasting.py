"""What was acknowledged stays, whatever happens to servers; several of them agree."""

import threading
import time

import pytest

import corrbandits as cb
from tests.support.serving import ARMS, Process, served

pytestmark = pytest.mark.slow


class Workers:
    """Clients that ask and tell without a pause; each keeps what was acknowledged."""

    def __init__(self, urls, count, patience=60.0):
        self.told, self.errors = {}, []
        self._ending = threading.Event()
        self._threads = [
            threading.Thread(target=self._work, args=(urls[k % len(urls)], k, patience)) for k in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def _work(self, url, k, patience):
        client, number = cb.Client(f"{url}/s/meadow", by=f"worker {k}", patience=patience), 0
        try:
            while not self._ending.is_set():
                trial, number = client.ask(), number + 1
                reward = round(1000 * k + number + trial.arm / 100, 2)
                client.tell(trial, reward)
                self.told[trial.number] = reward
        except Exception as error:
            self.errors.append(error)

    def tell(self, number):
        """Wait until so many more rewards were acknowledged."""
        enough, end = len(self.told) + number, time.monotonic() + 90
        while len(self.told) < enough:
            assert time.monotonic() < end, self.errors
            time.sleep(0.02)

    def end(self):
        self._ending.set()
        for thread in self._threads:
            thread.join(90)
        assert not self.errors, self.errors
        return self.told


def rewards_of(database):
    with cb.Study.open(database, "meadow") as study:
        rows = study.history()
        assert len(rows) == len(study.trials)
        assert all(one.whole for one in cb.Study.check(database))
        told = rows[rows["status"] == "told"]
        return dict(zip(told["trial"].tolist(), told["reward"].tolist(), strict=True))


def test_a_server_that_is_killed_under_load_loses_nothing(tmp_path):
    database = tmp_path / "studies.db"
    with Process(database) as server:
        cb.Client.create(server.line.url, "meadow", arms=ARMS, rounds=10_000)
        workers = Workers([server.line.url], 6)
        for _ in range(3):
            workers.tell(15)
            server.kill()
            server.start()
        workers.tell(15)
        told = workers.end()
    found = rewards_of(database)
    assert {trial: found.get(trial) for trial in told} == told
    assert len(found) - len(told) <= 6  # told when it was killed, and told again: never twice


def test_it_ends_by_itself_when_it_is_told_to(tmp_path):
    with Process(tmp_path / "studies.db") as server:
        cb.Client.create(server.line.url, "meadow", arms=ARMS, rounds=10_000)
        workers = Workers([server.line.url], 4, patience=0.0)
        time.sleep(1.5)
        began = time.monotonic()
        code, (_, said) = server.terminate()
        assert time.monotonic() - began < 15
        for thread in workers._threads:
            thread.join(60)
    assert code == 0
    assert b"Traceback" not in said
    assert all(isinstance(error, cb.JournalError) for error in workers.errors)
    found = rewards_of(tmp_path / "studies.db")
    assert {trial: found.get(trial) for trial in workers.told} == workers.told


def test_what_is_in_flight_is_finished_before_the_end(tmp_path):
    big = {"name": [f"s{k}" for k in range(3_000)], "x": [float(k % 60) for k in range(3_000)]}
    big["y"] = [float(k // 60) for k in range(3_000)]
    with Process(tmp_path / "studies.db") as server:
        client = cb.Client.create(server.line.url, "meadow", arms=big, rounds=50)
        for k in range(6):
            client.observe(400 * k, 20.0 + k % 4)
        found = []
        asking = threading.Thread(target=lambda: found.append(cb.Client(f"{server.line.url}/s/meadow").ask(20)))
        asking.start()
        time.sleep(0.3)
        code, _ = server.terminate()
        asking.join(60)
    assert code == 0
    assert len(found[0]) == 20


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_two_servers_of_one_database_agree(backend, tmp_path, request):
    database = tmp_path / "studies.db" if backend == "sqlite" else request.getfixturevalue("postgres")
    with served(database) as one, served(database) as two:
        cb.Client.create(one.url, "meadow", arms=ARMS, rounds=10_000)
        workers = Workers([one.url, two.url], 4)
        workers.tell(60)
        told = workers.end()
        study = "/api/v1/studies/meadow"
        first, second = (line.get(f"{study}/belief").data for line in (one, two))
        assert first == second
        assert one.get(f"{study}/events").data == two.get(f"{study}/events").data
        keyed = [line.post(f"{study}/ask", {"n": 2}, {"Idempotency-Key": "both"}).data for line in (one, two)]
        assert keyed[0]["trials"] == keyed[1]["trials"]
    assert rewards_of(database) == told
