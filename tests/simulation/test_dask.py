"""Past one process: pools, executors, and a real Dask cluster of two workers, of which one is killed."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from distributed import Client, KilledWorker

import corrbandits as cb
from corrbandits import simulate
from corrbandits.cli import entry as cli
from corrbandits.simulation import batches, checkpoint
from corrbandits.simulation import dask as cluster
from tests.support.commands import corrbandits
from tests.support.waiting import until

pytestmark = pytest.mark.slow
BIN = Path(sys.executable).parent
WHERE = cb.landscapes.grid(3, 3)
BANDIT = cb.landscapes.draw(4 * cb.Exponential(2.0), WHERE, noise_variance=1.0, seed=0, shape=(3, 3))
JOINT = cb.Correlated(mean=0.0, kernel=4 * cb.Exponential(2.0), coordinates=WHERE, noise_variance=1.0)
FLAT = cb.Independent(noise_variance=1.0, arms=9)
PLAYERS = {"limits": (cb.CorrelatedUCL(a=1.5), JOINT), "draws": (cb.Thompson(), JOINT), "any": (cb.Uniform(), FLAT)}
SMALL = {"policies": PLAYERS, "environment": BANDIT, "horizon": 40, "runs": 5, "seed": 3}
LONG = SMALL | {"horizon": 200, "runs": 30, "engine": "reference"}


def same(one, other):
    assert set(one.data.variables) == set(other.data.variables)
    for name in one.data.variables:
        np.testing.assert_array_equal(one.data[name], other.data[name])


# anything with map


def shuffled(function, items):
    return reversed([function(item) for item in items])


@pytest.mark.parametrize("record", ["full", "summary"])
@pytest.mark.parametrize("way", [map, shuffled, lambda f, work: [f(x) for x in work]], ids=["map", "shuffled", "list"])
def test_a_function_like_map_gives_the_same_bits(way, record):
    same(simulate(**SMALL, map=way, record=record), simulate(**SMALL, record=record))


def test_pools_and_executors_give_the_same_bits():
    here = simulate(**SMALL)
    with ThreadPoolExecutor(2) as threads:
        for way in (threads, threads.map):
            same(simulate(**SMALL, map=way), here)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for way in (pool, pool.map, pool.imap_unordered):
            same(simulate(**SMALL, map=way), here)


def changed(change):
    """Return a map whose results are not what the function returned."""
    return lambda f, work: [(batch, change(kept)) for batch, kept in map(f, work)]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"map": 3}, TypeError, "map must be a function like the built-in map, or have one .* got 3"),
        ({"map": "tcp://127.0.0.1:8786"}, TypeError, "map must be a function like"),
        ({"map": map, "threads": 2}, ValueError, "threads are of this machine"),
        ({"map": lambda f, work: []}, ValueError, "each of 15 items, but 15 are missing"),
        ({"map": lambda f, work: [f(x) for x in work[1:]]}, ValueError, "1 are missing"),
        ({"map": lambda f, work: [f(work[0])] * 2}, TypeError, "each result once"),
        ({"map": lambda f, work: [None for _ in work]}, TypeError, "what the function returned, .* got None"),
        ({"map": lambda f, work: None}, TypeError, "one after the other, got None. Pass a function that behaves"),
        ({"map": lambda f, work: Future()}, TypeError, "one after the other, got <Future .*. Pass a function"),
        ({"map": lambda f, work: [([1], 2)]}, TypeError, r"each result once, got \(\[1\], 2\)"),
        ({"map": lambda f, work: [(work[0], None)]}, TypeError, "holds arrays called arms, .* got None"),
        ({"map": changed(lambda kept: {})}, ValueError, r"arrays {'arms': .* got {}. Pass a function that"),
        ({"map": changed(lambda kept: kept | {"more": kept["arms"]})}, ValueError, "got .*'more': .*"),
        ({"map": changed(lambda kept: kept | {"arms": kept["arms"][:, :1]})}, ValueError, r"got .*\(1, 1\)"),
        ({"map": changed(lambda kept: kept | {"arms": kept["arms"] * 1.0})}, ValueError, r"got .*'arms': \('<f8'"),
        ({"map": changed(lambda kept: kept | {"arms": 0})}, TypeError, "holds arrays called arms, .*, got"),
        ({"map": changed(lambda kept: kept | {"arms": np.int32(0)})}, TypeError, "holds arrays called arms"),
    ],
)
def test_what_does_not_behave_like_map_is_refused(changes, error, message):
    with pytest.raises(error, match=message):
        simulate(**SMALL | changes)


def test_whoever_works_learns_that_nobody_waits_any_more(tmp_path, monkeypatch):
    ended = []

    def results(function, work):
        try:
            yield from map(function, work)
        finally:
            ended.append(True)

    def full(*_):
        raise OSError("no room")

    monkeypatch.setattr(checkpoint.Checkpoint, "save", full)
    with pytest.raises(OSError, match="no room"):
        simulate(**SMALL, map=results, checkpoint=tmp_path)
    assert ended == [True]


# a cluster


ONE = ("--nworkers", "1", "--nthreads", "1", "--no-nanny", "--local-directory", "workers", "--death-timeout", "30")


ALLOWED_DEATHS = 1
"""How many workers may die over a batch before Dask gives it up at the next."""


def dask(directory, kind, *arguments):
    """Start a Dask process that listens on this machine alone."""
    listen = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0")
    settings = os.environ | {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(ALLOWED_DEATHS)}
    command = [BIN / "dask", kind, *listen, *arguments]
    with (directory / f"{kind}.log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, cwd=directory, env=settings)


def saved_in(directory):
    return len(list(directory.glob("*.npz")))


@contextmanager
def meanwhile(condition, action):
    """Act once in the middle of what is done within, as soon as it has come so far."""
    over = threading.Event()

    def watch():
        while not condition():
            if over.wait(0.01):
                return
        action()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


@contextmanager
def running(directory, workers, options=ONE):
    """Yield the address of a cluster and its processes, the scheduler's first; end them by their ids."""
    about, processes = directory / "scheduler.json", []
    try:
        processes.append(dask(directory, "scheduler", "--port", "0", "--scheduler-file", about))
        assert until(about.exists)
        processes += [dask(directory, "worker", "--scheduler-file", about, *options) for _ in range(workers)]
        with Client(scheduler_file=str(about), set_as_default=False, timeout=30) as client:
            client.wait_for_workers(workers, timeout=60)
            address = client.scheduler.address
        yield address, processes
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory):
    with running(tmp_path_factory.mktemp("cluster"), workers=2) as started:
        yield started


def left_over(client):
    """Return how many tasks the scheduler still knows, once it has had time to forget."""

    def tasks(dask_scheduler):
        return len(dask_scheduler.tasks)

    until(lambda: client.run_on_scheduler(tasks) == 0, seconds=10)
    return client.run_on_scheduler(tasks)


def test_a_worker_killed_in_the_middle_changes_nothing(tmp_path, two_workers):
    address, (_, victim, _) = two_workers
    seen = []

    def kill():
        victim.kill()
        victim.wait()
        seen.append(saved_in(tmp_path))

    with Client(address, set_as_default=False) as client:
        assert len(client.nthreads()) == 2
        with meanwhile(lambda: saved_in(tmp_path) >= 10, kill):
            far = simulate(**LONG, map=client, checkpoint=tmp_path)
        assert 10 <= seen[0] < 80, "the worker must be killed in the middle"
        assert len(client.nthreads()) == 1
        assert saved_in(tmp_path) == 90
        same(far, simulate(**LONG))
        assert left_over(client) == 0


def test_clients_do_the_same_as_threads(two_workers):
    address, _ = two_workers
    with Client(address, set_as_default=False) as client:
        for way in (client, client.map):
            same(simulate(**SMALL, map=way, record="summary"), simulate(**SMALL, record="summary"))


def test_errors_on_a_worker_reach_the_caller_and_the_rest_is_cancelled(two_workers, monkeypatch):
    address, _ = two_workers
    late = {"late": (cb.KnowledgeGradient(horizon=5), JOINT)}
    with Client(address, set_as_default=False) as client:
        with pytest.raises(ValueError, match="t = 6 is past it"):
            simulate(**LONG | {"policies": late}, map=client)
        assert left_over(client) == 0
        monkeypatch.setattr(cluster, "version", lambda _: "9.9")
        with pytest.raises(
            ValueError, match=r"every worker must have corrbandits 9\.9, .* has [\d.]+\. Install the same"
        ):
            simulate(**SMALL, map=client)
        assert left_over(client) == 0


EXPERIMENT = """\
[arms]
grid = [3, 3]
[truth]
means = [0, 1, 2, 3, 4, 5, 4, 3, 2]
noise_variance = 1.0
[priors.smooth]
kernel = { name = "exponential", length = 4.0, variance = 10.0 }
[policies.limits]
rule = "UCL"
prior = "smooth"
[policies.draws]
rule = "Thompson"
prior = "smooth"
[run]
horizon = 100
runs = 75
"""


def test_the_command_line_on_a_cluster_stopped_and_resumed(tmp_path, two_workers):
    """Ctrl-C in the middle of work on the cluster; the same command goes on from there; local gives the same bits."""
    address, _ = two_workers
    (tmp_path / "my.toml").write_text(EXPERIMENT)
    command = [BIN / "corrbandits", "simulate", "my.toml", "--checkpoint", "saved"]
    child = subprocess.Popen([*command, "--dask", address], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert until(lambda: saved_in(tmp_path / "saved") >= 5)
    os.kill(child.pid, signal.SIGINT)
    _, said = child.communicate(timeout=30)
    assert child.returncode == 130, said
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("saved/*.npz")}
    assert len(kept) < 150
    assert f" {len(kept)} of 150 runs (75 of each of 2 policies) are saved in saved. Run the same" in said
    assert "stopped" in said
    assert "Traceback" not in said
    done = corrbandits(*command[1:], "--dask", address, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    there = f"corrbandits: {len(kept)} of 150 runs (75 of each of 2 policies) were there already, in saved."
    assert done.stderr.splitlines() == [there]
    assert "my (.png, .pdf, .nc) is in results/" in done.stdout
    assert kept == {path: path.stat().st_mtime_ns for path in kept}
    assert corrbandits("simulate", "my.toml", "--out", "local", cwd=tmp_path).returncode == 0
    same(cb.Trace.load(tmp_path / "results" / "my.nc"), cb.Trace.load(tmp_path / "local" / "my.nc"))


def test_an_error_on_the_clients_event_loop_is_not_shown(two_workers, caplog):
    """A heartbeat that finds its connection closed, for example, which the loop would report with a traceback."""
    address, _ = two_workers
    raised = threading.Event()

    def fail():
        raised.set()
        raise OSError("the connection is closed")

    with cluster.connected(address) as client:
        client.loop.add_callback(fail)
        assert raised.wait(10)
        client.nthreads()  # an answer from the loop: the callback has ended
    assert caplog.records == []


def test_every_worker_may_be_replaced_but_not_the_scheduler(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    with running(tmp_path, workers=1) as (address, processes), Client(address, set_as_default=False) as client:
        scheduler, first = processes

        def replace():  # the problem was on that worker alone: it must be made again
            first.kill()
            processes.append(dask(tmp_path, "worker", address, *ONE))

        with meanwhile(lambda: saved_in(one) >= 3, replace):
            same(simulate(**LONG, map=client, checkpoint=one), simulate(**LONG))
        assert len(processes) == 3
        with (
            meanwhile(lambda: saved_in(two) >= 3, scheduler.kill),
            pytest.raises(ConnectionError, match=r"scheduler must stay .* Start it again") as stop,
        ):
            simulate(**LONG, map=client, checkpoint=two)
        assert f"{saved_in(two)} of 90 runs (30 of each of 3 policies) are saved" in stop.value.__notes__[0]


def test_workers_that_die_again_and_again_change_nothing(tmp_path):
    """One worker, killed again and again and each time replaced: at first before any batch is done.

    Dask gives the first batches up, and once more a worker dies over one that is then played alone.
    """
    kills = ALLOWED_DEATHS + 3
    saved, seen, over = tmp_path / "saved", [], threading.Event()
    with running(tmp_path, workers=1) as (address, processes), Client(address, set_as_default=False) as client:

        def kill_again_and_again():
            for turn in range(kills):
                so_far = saved_in(saved) if saved.exists() else 0
                until(lambda: over.is_set() or has_work(client))
                if turn == kills - 1:
                    until(lambda so_far=so_far: over.is_set() or saved_in(saved) > so_far)
                processes[-1].kill()
                processes[-1].wait()
                seen.append(saved_in(saved))
                processes.append(dask(tmp_path, "worker", address, *ONE))

        killer = threading.Thread(target=kill_again_and_again)
        killer.start()
        try:
            far = simulate(**SLOW, map=client, checkpoint=saved)
        finally:
            over.set()
            killer.join()
        assert len(seen) == kills
        assert seen[-1] < 12, "the workers must be killed in the middle"
        same(far, simulate(**SLOW))
        assert left_over(client) == 0


SLOW = LONG | {"horizon": 4000, "runs": 4}


def has_work(client):
    """Return whether a worker has batches to play."""

    def playing(dask_scheduler):
        return sum(len(worker.processing) for worker in dask_scheduler.workers.values())

    return client.run_on_scheduler(playing) > 1


def test_runs_that_kill_every_worker_are_given_up_in_words(tmp_path):
    class Deadly(cb.Policy):  # not known on a worker by name
        def _choose(self, belief, t, rng, arms):
            os._exit(1)

    players = {"any": PLAYERS["any"], "deadly": (Deadly(), JOINT)}
    replaced = [word for word in ONE if word != "--no-nanny"]  # a nanny starts another worker when one dies
    with running(tmp_path, 1, replaced) as (address, _), Client(address, set_as_default=False) as client:
        with pytest.raises(
            OSError, match=r"several workers died over the same runs, which they played alone .* record="
        ):
            simulate(players, BANDIT, 20, 2, map=client)
        assert left_over(client) == 0


def test_the_advice_to_keep_less_is_for_those_who_can():
    error = KilledWorker("task", SimpleNamespace(address="tcp://127.0.0.1:9"), 3)
    for times, can in ((None, True), (np.array([1, 20]), False)):
        simulation = batches.Simulation((batches.Player(*PLAYERS["any"], "compiled"),), BANDIT, 20, 0, times)
        assert ("record='summary'" in str(cluster._blamed(simulation, error))) == can


def test_a_scheduler_that_dies_is_one_message(tmp_path):
    (tmp_path / "my.toml").write_text(EXPERIMENT)
    with running(tmp_path, workers=1) as (address, (scheduler, _)):
        command = [BIN / "corrbandits", "simulate", "my.toml", "--checkpoint", "saved", "--dask", address]
        child = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        assert until(lambda: saved_in(tmp_path / "saved") >= 3)
        scheduler.kill()
        _, said = child.communicate(timeout=60)
    assert child.returncode == 2
    assert said.startswith("corrbandits: the Dask scheduler must stay until all runs are played")
    assert len(said.splitlines()) == 1, said


def test_a_scheduler_that_is_frozen_is_noticed_and_can_be_left(tmp_path):
    (tmp_path / "my.toml").write_text(EXPERIMENT)
    impatient = (
        "import sys; from corrbandits.simulation import dask; dask.PATIENCE_SECONDS = 2; "
        "from corrbandits.cli.entry import main; main()"
    )
    with running(tmp_path, workers=1) as (address, (scheduler, _)), (tmp_path / "said").open("w") as said:
        command = [sys.executable, "-c", impatient, "simulate", "my.toml", "--checkpoint", "saved", "--dask", address]
        child = subprocess.Popen(command, cwd=tmp_path, stdout=said, stderr=said)
        assert until(lambda: saved_in(tmp_path / "saved") >= 3)
        scheduler.send_signal(signal.SIGSTOP)
        try:
            assert until(lambda: "has not for 2 s: it is frozen" in (tmp_path / "said").read_text(), seconds=30)
            child.send_signal(signal.SIGINT)
            assert child.wait(timeout=30) == 130
        finally:
            scheduler.send_signal(signal.SIGCONT)
            child.kill()
            child.wait()
    lines = (tmp_path / "said").read_text().splitlines()
    assert lines[0].startswith(f"corrbandits: the Dask scheduler must answer, but {address} has not")
    assert len(lines) == 2, lines  # and what is saved


def refused(monkeypatch, capsys, directory, *arguments):
    (directory / "my.toml").write_text(EXPERIMENT)
    monkeypatch.chdir(directory)
    monkeypatch.setattr(sys, "argv", ["corrbandits", "simulate", "my.toml", *arguments])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "127.0.0.1:9", "nonsense", "tcp://", "ftp://127.0.0.1:9", ""])
def test_a_scheduler_that_is_not_there_is_one_message(monkeypatch, capsys, tmp_path, address):
    monkeypatch.setattr(cluster, "PATIENCE_SECONDS", 1)
    said = refused(monkeypatch, capsys, tmp_path, "--dask", address)
    assert "a Dask scheduler" in said
    assert "tcp://127.0.0.1:8786" in said
    assert "dask scheduler" in said
    assert len(said.strip().splitlines()) == 1


def test_threads_do_not_go_with_a_cluster(monkeypatch, capsys, tmp_path):
    said = refused(monkeypatch, capsys, tmp_path, "--dask", "tcp://127.0.0.1:9", "--threads", "2")
    assert "Leave one of them out" in said


def test_without_dask_it_is_said_what_to_install(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "distributed", None)
    said = refused(monkeypatch, capsys, tmp_path, "--dask", "tcp://127.0.0.1:9")
    assert "pip install '.[distributed]'" in said


@pytest.mark.parametrize("address", ["nonsense", "tcp://127.0.0.1", "tcp://:8786", "127.0.0.1:port", ""])
def test_what_is_no_address_is_refused_at_once(address):
    begun = time.monotonic()
    with pytest.raises(ValueError, match=r"address must be like tcp://127\.0\.0\.1:8786"), cluster.connected(address):
        pass
    assert time.monotonic() - begun < 5
