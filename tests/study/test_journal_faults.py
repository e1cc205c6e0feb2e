"""A full disk, a file made read-only, a locked database, a lost line: said in words, nothing half there, and mended.

Every scenario ends with the very call that failed, on the very same journal, once the fault is gone.
"""

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress

import psycopg
import pytest
import sqlalchemy as sa

from corrbandits.study.journal import Journal, JournalError, Taken
from tests.support import ROOT
from tests.support.databases import together
from tests.support.postgres import Proxy, Server, open_directory, unprivileged

LARGE = "x" * 200_000


def refused(words, call, *arguments):
    """See a call fail with these words, and return the error."""
    with pytest.raises(JournalError, match=words) as caught:
        call(*arguments)
    return caught.value


@pytest.fixture
def path(tmp_path):
    return tmp_path / "survey.db"


@pytest.fixture
def kept(request):
    """A journal with a study of one event, in the database whose fixture the test names."""
    url = request.getfixturevalue(request.param)
    journal = Journal(url, create=True)
    study = journal.enrol("meadow", ["created"])
    yield journal, study
    journal.close()


files = pytest.mark.parametrize("kept", ["path"], indirect=True)
servers = pytest.mark.parametrize("kept", ["postgres"], indirect=True)


# the disk is full


@files
def test_a_file_that_may_not_grow_takes_nothing_half(kept, path):
    journal, study = kept
    pages = [10]
    sa.event.listen(
        journal._database._engine,
        "connect",
        lambda connection, _: connection.execute(f"PRAGMA max_page_count = {pages[0]}"),
    )
    journal.close()
    error = refused("the disk is full. Make room, and do the same again", journal.append, study, 2, ["small", LARGE])
    assert not error.unsure
    refused("the disk is full", journal.enrol, "second", [LARGE])
    assert journal.read(study, 0) == ["created"]
    assert journal.studies() == {"meadow": study}
    pages[0] = 10_000  # and the connection that has read since still has the old limit
    journal.append(study, 2, ["small", LARGE])
    journal.enrol("second", [LARGE])
    assert Journal(path).read(study, 0) == ["created", "small", LARGE]


def outgrow(path):
    """Append under a limit on the size of files, which hits the log in the middle of a batch."""
    journal = Journal(path, create=True)
    study = journal.enrol("meadow", ["created"])
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, limit[1]))
    for _ in range(2):
        refused("the disk could not be read or written. Check it", journal.append, study, 2, [LARGE, LARGE])
        assert journal.read(study, 0) == ["created"]
    journal.append(study, 2, ["small"])
    refused("the disk could not be read or written", journal.append, study, 3, [LARGE, LARGE])
    resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    journal.append(study, 3, [LARGE, LARGE])
    journal.close()
    assert Journal(path).read(study, 0) == ["created", "small", LARGE, LARGE]


def test_a_log_cut_in_the_middle_of_a_batch_is_as_if_it_had_not_begun(path):
    together(outgrow, (path,))


def run_with_mounts_of_its_own(function, *arguments):
    """Call a function of this file where it may mount and nobody else sees it; all is gone when it ends."""
    command = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    directory = open_directory()
    try:
        if subprocess.run([*command, "mount", "-t", "tmpfs", "tmpfs", directory], capture_output=True).returncode:
            pytest.skip("no file system may be mounted here; a full one is imitated by the two tests above")
        call = f"here.{function.__name__}(pathlib.Path({str(directory)!r}))"
        code = f"import pathlib; from tests.study import test_journal_faults as here; {call}"
        ran = subprocess.run([*command, sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
    finally:
        directory.rmdir()


def mount(directory, size, *options):
    subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join([f"size={size}", *options]), "tmpfs", directory], check=True)


def fill(journal, study):
    """Append until there is no room; return the batch that had none, where it goes, and what must be there."""
    end = 1
    while True:
        batch = [f"{end} {LARGE}", f"{end + 1} {LARGE}"]
        try:
            journal.append(study, end + 1, batch)
        except JournalError as error:
            assert "disk is full. Make room" in str(error), error  # noqa: PT017 - this is what ends the loop
            break
        end += 2
    return batch, end + 1, ["created", *(f"{k} {LARGE}" for k in range(1, end))]


def fill_a_file(directory):
    mount(directory, "2m")
    journal = Journal(directory / "survey.db", create=True)
    study = journal.enrol("meadow", ["created"])
    batch, place, there = fill(journal, study)
    refused("the disk is full", journal.append, study, place, batch)
    assert journal.read(study, 0) == there
    assert len(there) >= 5
    mount(directory, "20m", "remount")
    journal.append(study, place, batch)
    journal.close()
    assert Journal(directory / "survey.db").read(study, 0) == there + batch


def fill_a_server(directory):
    server = Server()
    try:
        user = unprivileged()
        mount(directory, "20m", f"uid={user['user']}", f"gid={user['group']}", "mode=700")
        server.execute(f"CREATE TABLESPACE small LOCATION '{directory}'")
        server.execute("CREATE DATABASE survey TABLESPACE small")
        journal = Journal(server.url("survey"), create=True)
        with journal._database._engine.begin() as connection:  # otherwise our x's would shrink to nothing
            connection.exec_driver_sql("ALTER TABLE corrbandits_events ALTER body SET STORAGE EXTERNAL")
        study = journal.enrol("meadow", ["created"])
        batch, place, there = fill(journal, study)
        refused("the server's disk is full", journal.append, study, place, batch)
        assert journal.read(study, 0) == there
        mount(directory, "40m", "remount")
        journal.append(study, place, batch)
        assert Journal(server.url("survey")).read(study, 0) == there + batch
        journal.close()
    finally:
        server.end()


def test_a_full_disk_takes_nothing_half():
    run_with_mounts_of_its_own(fill_a_file)


@pytest.mark.skipif(os.geteuid() != 0, reason="the server runs as another user than the one who mounts")
def test_a_servers_full_disk_takes_nothing_half():
    run_with_mounts_of_its_own(fill_a_server)


# read-only


def become_unprivileged():
    if user := unprivileged():
        os.setgroups([])
        os.setgid(user["group"])
        os.setuid(user["user"])


def make_read_only(directory):
    become_unprivileged()
    path = directory / "survey.db"
    journal = Journal(path, create=True)
    study = journal.enrol("meadow", ["created"])
    for file, folder, words in [
        (0o444, 0o700, "it is not writable. Make the file and its folder writable"),
        (0o444, 0o500, "it is not writable. Make the file and its folder writable"),
        (0o000, 0o700, "cannot be opened. Check that its folder exists and that you may write in it"),
    ]:
        end = len(journal.read(study, 0))
        path.chmod(file)
        directory.chmod(folder)
        if folder == 0o700:
            journal.append(study, end + 1, ["by the connection that was open"])  # its file is, too
            end += 1
        journal.close()
        for _ in range(2):
            error = refused(words, journal.append, study, end + 1, ["later", "on"])
            assert not error.unsure
        refused(words, lambda: Journal(path, create=True).enrol("second", ["created"]))
        if file:
            assert len(Journal(path).read(study, 0)) == end
        directory.chmod(0o700)
        assert [each.name for each in directory.iterdir()] == ["survey.db"]
        path.chmod(0o600)
        journal.append(study, end + 1, ["later", "on"])
        assert Journal(path).read(study, end) == ["later", "on"]


def test_a_file_made_read_only_is_named_and_works_when_writable_again():
    directory = open_directory()
    try:
        together(make_read_only, (directory,))
    finally:
        subprocess.run(["rm", "-rf", directory], check=True)


def create_where_one_may_not(directory):
    become_unprivileged()
    directory.chmod(0o500)
    refused("cannot be opened. Check that its folder", lambda: Journal(directory / "survey.db", create=True))
    refused("cannot be opened. Check that its folder", lambda: Journal(directory / "none" / "survey.db", create=True))
    directory.chmod(0o700)
    assert not list(directory.iterdir())
    Journal(directory / "survey.db", create=True).enrol("meadow", ["created"])


def test_a_folder_where_one_may_not_write_is_named():
    directory = open_directory()
    try:
        together(create_where_one_may_not, (directory,))
    finally:
        subprocess.run(["rm", "-rf", directory], check=True)


@servers
def test_a_server_that_takes_no_writing_is_named(kept, postgres, server):
    journal, study = kept
    name = sa.make_url(postgres).database
    server.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    journal.close()
    refused("the server accepts no writes now", journal.append, study, 2, ["more"])
    assert journal.read(study, 0) == ["created"]
    server.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
    journal.append(study, 2, ["more"])
    assert journal.read(study, 0) == ["created", "more"]


def test_one_who_may_not_use_the_database_is_told_so(postgres, server):
    Journal(postgres, create=True).enrol("meadow", ["created"])
    server.execute("CREATE ROLE guest LOGIN PASSWORD 'guest'")
    try:
        theirs = postgres.replace("keeper:hunter2", "guest:guest")
        refused("you are not allowed to read or write there. Ask who runs the database", Journal, theirs)
    finally:
        server.execute("DROP ROLE guest")


# locked


@files
@pytest.mark.parametrize("lock", ["IMMEDIATE", "EXCLUSIVE"])
def test_a_locked_file_is_waited_for_and_named(kept, path, lock):
    _, study = kept
    journal = Journal(f"sqlite:///{path}?timeout=0.2")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute(f"BEGIN {lock}")
        began = time.monotonic()
        for call in ((journal.append, study, 2, ["more", "more"]), (journal.enrol, "second", ["x"])):
            error = refused("another process has kept it locked for too long.* Try again when it is done", *call)
            assert not error.unsure
        assert time.monotonic() - began > 0.3, "it did not wait"
        refused("another process has kept it locked", journal.delete, study)
        if lock == "IMMEDIATE":
            assert journal.read(study, 0) == ["created"], "who reads waits only for the end of a commit"
        else:
            refused("another process has kept it locked", journal.read, study, 0)
        other.execute("COMMIT")
    journal.append(study, 2, ["more", "more"])
    assert journal.read(study, 0) == ["created", "more", "more"]
    journal.close()


def test_an_empty_file_that_is_locked_is_made_a_journal_later(path):
    url = f"sqlite:///{path}?timeout=0.1"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        refused("another process has kept it locked", lambda: Journal(url, create=True))
        other.execute("COMMIT")
    assert Journal(url, create=True).studies() == {}


@servers
def test_a_locked_table_is_waited_for_and_named(kept, postgres):
    _, study = kept
    journal = Journal(f"{postgres}?timeout=0.2")
    with psycopg.connect(postgres) as other:
        other.execute("LOCK TABLE corrbandits_events IN ACCESS EXCLUSIVE MODE")
        began = time.monotonic()
        refused("another session has kept it locked for too long", journal.append, study, 2, ["more", "more"])
        refused("another session has kept it locked for too long", journal.read, study, 0)
        assert time.monotonic() - began > 0.3, "it did not wait"
    journal.append(study, 2, ["more", "more"])
    assert journal.read(study, 0) == ["created", "more", "more"]
    journal.close()


def test_a_damaged_file_is_called_so(path):
    journal = Journal(path, create=True)
    study = journal.enrol("meadow", ["created"])
    journal.append(study, 2, [LARGE])
    journal.close()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 4096 * 10)
    refused("the database is damaged. Copy it away", lambda: Journal(path).studies())


# a lost line


@servers
def test_a_server_that_is_down_is_named_and_works_when_it_is_up_again(kept, postgres, server):
    journal, study = kept
    server.stop()
    for _ in range(2):
        error = refused("cannot be reached. Check that it runs", journal.append, study, 2, ["more", "more"])
        assert not error.unsure
    refused("cannot be reached. Check that it runs", journal.read, study, 0)
    refused("cannot be reached. Check that it runs", Journal, postgres)
    server.start()
    assert journal.read(study, 0) == ["created"]
    journal.append(study, 2, ["more", "more"])
    assert journal.read(study, 0) == ["created", "more", "more"]


@servers
@pytest.mark.parametrize("how", ["restarted", "session ended"])
def test_a_line_lost_between_two_calls_is_not_noticed(kept, postgres, server, how):
    journal, study = kept
    if how == "restarted":
        server.stop("fast")
        server.start()
    else:
        name = sa.make_url(postgres).database
        ended = server.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
        assert ended == [(True,)]
    journal.append(study, 2, ["more"])
    assert journal.read(study, 0) == ["created", "more"]


@pytest.fixture
def proxy(server):
    proxy = Proxy(server.port)
    yield proxy
    proxy.close()


@servers
@pytest.mark.parametrize(
    ("word", "acted_on", "unsure", "there"),
    [
        (b"INSERT INTO corrbandits_events", False, False, False),
        (b"COMMIT", False, True, False),
        (b"COMMIT", True, True, True),
    ],
    ids=["before it is sent", "before the commit is sent", "before the commit is answered"],
)
def test_a_line_lost_in_a_call_leaves_all_or_nothing(kept, postgres, server, proxy, word, acted_on, unsure, there):
    """Whether a commit took place that was not answered, nobody here can know, and the error says so."""
    watching, study = kept
    journal = Journal(server.url(sa.make_url(postgres).database, port=proxy.port))
    journal.close()  # what fails on a connection that was there is tried again on a new one, and that only
    proxy.cut_at(word, acted_on=acted_on)
    error = refused("cannot be reached. Check that it runs", journal.append, study, 2, ["more", "most"])
    assert error.unsure is unsure
    assert watching.read(study, 0) == ["created", *(["more", "most"] if there else [])]
    proxy.cut_at(None)
    if there:
        with pytest.raises(Taken):
            journal.append(study, 2, ["more", "most"])
    else:
        journal.append(study, 2, ["more", "most"])
    assert journal.read(study, 0) == ["created", "more", "most"]
    journal.close()


@servers
def test_a_line_lost_in_reading_says_so(kept, postgres, server, proxy):
    _, study = kept
    journal = Journal(server.url(sa.make_url(postgres).database, port=proxy.port))
    proxy.cut_at(b"SELECT corrbandits_events")
    assert not refused("cannot be reached. Check that it runs", journal.read, study, 0).unsure
    proxy.cut_at(None)
    assert journal.read(study, 0) == ["created"]
    journal.close()


@servers
@pytest.mark.parametrize("how", ["immediate stop", "first process killed"])
def test_what_was_acknowledged_outlives_the_server(kept, server, how):
    journal, study = kept
    acknowledged = ["created"]
    for k in range(2, 52):
        journal.append(study, k, [str(k)])
        acknowledged.append(str(k))
    if how == "immediate stop":
        server.stop("immediate")
        refused("cannot be reached", journal.append, study, 52, ["52"])
    else:
        os.kill(server.process, signal.SIGKILL)
        with suppress(JournalError):  # our session's own process may serve us for a moment longer
            for k in range(52, 10_000):
                journal.append(study, k, [str(k)])
                acknowledged.append(str(k))
    start_when_the_rest_is_gone(server)
    found = journal.read(study, 0)
    assert found[: len(acknowledged)] == acknowledged
    assert len(found) <= len(acknowledged) + 1  # the last may have been saved without a word
    journal.append(study, len(found) + 1, ["on it goes"])


def start_when_the_rest_is_gone(server):
    """Start; the processes that a killed one leaves behind end by themselves, but not at once."""
    deadline = time.monotonic() + 30
    while True:
        try:
            return server.start()
        except RuntimeError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
