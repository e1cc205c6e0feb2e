"""One contract for every journal, ours and others'; what is no journal is refused. Faults: test_journal_faults."""

import sqlite3
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import optuna
import pytest
import sqlalchemy as sa

from corrbandits.study.journal import DamagedError, Journal, JournalError, JournalProtocol
from corrbandits.study.journal.contract import JournalContract, QueueContract, check_pairs
from corrbandits.study.journal.tables import VERSION
from tests.support.databases import NEWLY, append_some, create_and_enrol, noted, together, use_after_fork
from tests.support.postgres import PASSWORD
from tests.support.skeletons import MemoryJournal


def ask(journal, statement):
    """Return one value through the journal's own connections."""
    with journal._database._engine.connect() as connection:
        return connection.exec_driver_sql(statement).scalar()


class SQLContract(JournalContract, QueueContract):
    """What a journal in a database does besides: `url` names an empty one, `enter` runs statements there."""

    @pytest.fixture
    def open_journal(self, url):
        return lambda: Journal(url, create=True)

    @pytest.fixture
    def journal(self, url):
        journal = Journal(url, create=True)
        yield journal
        journal.close()

    def test_a_batch_is_there_whole_or_not_at_all(self, journal):
        """Its last event cannot be stored: the first ones, more than go into one statement, must not be left behind."""
        study = journal.enrol("meadow", ["created"])
        with pytest.raises(ValueError, match="meanwhile"):
            journal.append(study, 2, [*["x"] * 1200, None])
        assert journal.read(study, 0) == ["created"]
        journal.append(study, 2, ["x"] * 1200)
        assert journal.read(study, 0) == ["created", *["x"] * 1200]

    def test_events_that_were_lost_leave_no_gap(self, journal, enter):
        study = journal.enrol("meadow", ["created", "asked", "told"])
        enter(f"DELETE FROM corrbandits_events WHERE study = {study} AND sequence > 1")
        for bodies in (["next"], ["next", "and next"]):
            with pytest.raises(DamagedError, match=r"of 3 events .* are whole. Nothing was saved"):
                journal.append(study, 4, bodies)
        with pytest.raises(DamagedError, match="of 3 events of the study the first 1 are whole") as caught:
            journal.read(study, 0)
        assert caught.value.sound == 1
        assert enter("SELECT sequence FROM corrbandits_events") == [(1,)]

    def test_a_deleted_study_leaves_no_rows(self, journal, enter):
        study, kept = journal.enrol("meadow", ["created"]), journal.enrol("kept", ["created"])
        journal.append(study, 2, ["lost"])
        journal.delete(study)
        assert enter("SELECT study, sequence FROM corrbandits_events") == [(kept, 1)]

    @pytest.mark.parametrize("name", ["nul\0", "half \ud800 a character", "\0"])
    def test_a_name_that_is_no_text_is_refused(self, journal, name):
        with pytest.raises(ValueError, match="a name must be text"):
            journal.enrol(name, ["created"])
        assert journal.studies() == {}

    def test_processes_append_side_by_side(self, journal, url, enter):
        study = journal.enrol("meadow", ["created"])
        together(append_some, *[(url, study, writer, 40) for writer in range(4)])
        check_pairs(journal, study, writers=4, count=40)
        found = enter("SELECT sequence FROM corrbandits_events ORDER BY sequence")
        assert found == [(sequence,) for sequence in range(1, 2 + 2 * 4 * 40)]

    def test_a_forked_process_and_its_parent_both_go_on(self, journal, url):
        study = journal.enrol("meadow", ["created"])
        together(use_after_fork, (url, study))
        assert journal.read(study, 0) == ["created", "parent", "child", "parent again"]

    @pytest.mark.parametrize("attempt", range(5))
    def test_processes_may_all_create_the_tables_at_once(self, url, attempt):
        gate = NEWLY.Barrier(6)
        together(create_and_enrol, *[(url, f"study {k}", gate) for k in range(6)])
        journal = Journal(url)
        assert list(journal.studies()) == [f"study {k}" for k in range(6)]
        assert ask(journal, "SELECT count(*) FROM corrbandits_journal") == 1
        journal.close()

    def test_a_newer_version_is_refused_and_named(self, journal, url, enter):
        enter(f"UPDATE corrbandits_journal SET version = {VERSION + 6}")
        for create in (False, True):
            with pytest.raises(
                ValueError, match=f"version {VERSION} at most, but it is of version {VERSION + 6}.*Upgrade"
            ):
                Journal(url, create=create)

    def test_another_programs_database_is_refused_and_left_alone(self, url, enter):
        enter("CREATE TABLE customers (id INTEGER)")
        for create in (False, True):
            with pytest.raises(ValueError, match=r"other tables \(customers\)\. Name another"):
                Journal(url, create=create)
        enter("DROP TABLE customers")
        for table in "abcd":
            enter(f"CREATE TABLE {table} (id INTEGER)")
        with pytest.raises(ValueError, match=r"other tables \(a, b, c, \.\.\.\)"):
            Journal(url, create=True)

    def test_optunas_database_is_refused_and_left_alone(self, url):
        theirs = url.replace("postgresql://", "postgresql+psycopg://")
        storage = optuna.storages.RDBStorage(theirs)
        optuna.create_study(storage=storage, study_name="theirs")
        with pytest.raises(ValueError, match=r"it holds other tables \(alembic_version, studies, "):
            Journal(url, create=True)
        assert [study.study_name for study in storage.get_all_studies()] == ["theirs"]
        storage.remove_session()
        storage.engine.dispose()

    def test_an_empty_database_is_not_made_a_journal_unasked(self, url, enter):
        enter("CREATE TABLE soon_gone (id INTEGER)")
        enter("DROP TABLE soon_gone")
        with pytest.raises(ValueError, match=r"it is empty. Create a study there"):
            Journal(url)
        Journal(url, create=True).close()
        Journal(url).close()


def test_what_the_database_refuses_is_said_in_words(tmp_path):
    with closing(Journal(tmp_path / "survey.db", create=True)) as journal:
        study = journal.enrol("meadow", ["created"])
        with pytest.raises(ValueError, match="name of its own, but there is a 'meadow'"):
            journal.enrol("meadow", ["created"])
        with pytest.raises(JournalError, match=r"it has 1 event of the study, but 3 have been read.*Nothing was saved"):
            journal.append(study, 4, ["asked"])
        journal.delete(study)
        for call in (lambda: journal.append(study, 2, ["asked"]), lambda: journal.read(study, 1)):
            with pytest.raises(ValueError, match="it was deleted"):
                call()


class TestMemory(JournalContract):
    """A journal that is not ours, and no database either."""

    @pytest.fixture
    def open_journal(self):
        journal = MemoryJournal()
        return lambda: journal

    def test_it_has_what_a_study_asks_for(self):
        assert isinstance(MemoryJournal(), JournalProtocol)
        assert not isinstance(object(), JournalProtocol)


class TestSQLite(SQLContract):
    @pytest.fixture
    def url(self, tmp_path):
        return f"sqlite:///{tmp_path}/survey.db"

    @pytest.fixture
    def enter(self, tmp_path):
        def enter(statement):
            connection = sqlite3.connect(tmp_path / "survey.db")
            with connection:
                found = connection.execute(statement).fetchall()
            connection.close()
            return found

        return enter

    def test_every_commit_is_synced(self, journal, url):
        """Synchronous EXTRA (3): the end of a commit is synced too, when its journal is deleted."""
        for reopened in (journal, Journal(url)):
            for _ in range(2):
                assert ask(reopened, "PRAGMA journal_mode") == "delete"
                assert ask(reopened, "PRAGMA synchronous") == 3
                assert ask(reopened, "PRAGMA foreign_keys") == 1
                reopened.close()

    def test_a_connection_in_use_while_others_are_closed_is_closed_too(self, url, monkeypatch):
        connections, begun, go_on = noted(monkeypatch), threading.Event(), threading.Event()
        journal = Journal(url, create=True)

        def work(connection):
            begun.set()
            assert go_on.wait(60)
            return connection.exec_driver_sql("SELECT 7").scalar()

        with ThreadPoolExecutor(1) as other:
            found = other.submit(journal._database.reading, work)
            assert begun.wait(60)
            journal.close()
            go_on.set()
            assert found.result(60) == 7, "who reads is not disturbed"
        assert len(connections.made) == len(connections.closed) == 1
        assert journal.studies() == {}
        journal.close()
        assert len(connections.made) == len(connections.closed) == 2

    def test_all_that_is_saved_is_in_one_file(self, journal, tmp_path):
        study = journal.enrol("meadow", ["created"])
        for place in range(2, 20):
            journal.append(study, place, [str(place)])
            assert [path.name for path in tmp_path.iterdir()] == ["survey.db"]

    def test_opening_makes_no_file(self, tmp_path):
        for place in (tmp_path / "none.db", f"sqlite:///{tmp_path}/none.db", tmp_path / "no folder" / "none.db"):
            with pytest.raises(ValueError, match=r"there is no such file. Create one"):
                Journal(place)
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("content", [b"name,x,y\n" * 100, b"x\n", b"SQLite format 3\0" + b"\xff" * 4096])
    def test_a_file_that_is_no_database_is_refused_and_left_alone(self, tmp_path, content):
        (tmp_path / "sites.csv").write_bytes(content)
        for create in (False, True):
            with pytest.raises(ValueError, match=r"sites.csv: this file is not a SQLite database. Name another"):
                Journal(tmp_path / "sites.csv", create=create)
        assert (tmp_path / "sites.csv").read_bytes() == content
        assert [path.name for path in tmp_path.iterdir()] == ["sites.csv"]

    def test_a_path_will_do(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        for k, place in enumerate(["plain.db", Path("path.db"), "wie? 100% #1 ü.db", str(tmp_path / "absolute.db")]):
            journal = Journal(place, create=True)
            study = journal.enrol("meadow", [str(k)])
            journal.close()
            assert Path(place).stat().st_size > 0
            assert Journal(place).read(study, 0) == [str(k)]


class TestPostgreSQL(SQLContract):
    @pytest.fixture
    def url(self, postgres):
        return postgres

    @pytest.fixture
    def enter(self, postgres, server):
        return lambda statement: server.execute(statement, sa.make_url(postgres).database)

    def test_every_commit_is_synced_whatever_the_servers_custom_is(self, journal, url, enter):
        enter(f"ALTER DATABASE {sa.make_url(url).database} SET synchronous_commit = off")
        enter("ALTER ROLE keeper SET synchronous_commit = off")
        try:
            assert enter("SHOW synchronous_commit") == [("off",)]
            journal.close()
            for theirs in (journal, Journal(url), Journal(f"{url}?options=-c%20work_mem%3D5MB")):
                assert ask(theirs, "SHOW synchronous_commit") == "on"
                theirs.close()
            assert ask(theirs, "SHOW work_mem") == "5MB", "an option of the user's own is kept"
            theirs.close()
        finally:
            enter("ALTER ROLE keeper RESET synchronous_commit")

    def test_any_name_of_the_driver_will_do(self, journal, url):
        for scheme in ("postgres", "postgresql+psycopg", "postgresql+psycopg2", "postgresql+asyncpg"):
            Journal(url.replace("postgresql", scheme, 1)).close()

    def test_without_psycopg_the_extra_is_named(self, url, monkeypatch):
        monkeypatch.setitem(sys.modules, "psycopg", None)
        with pytest.raises(ModuleNotFoundError, match=r"pip install '\.\[postgres\]'"):
            Journal(url)

    def test_a_missing_database_is_named(self, server):
        with pytest.raises(ValueError, match=r"refuses the connection.*does not exist"):
            Journal(server.url("nowhere"), create=True)

    def test_a_wrong_password_is_said_and_not_shown(self, server):
        with pytest.raises(ValueError, match=r"refuses the connection.*password authentication failed") as caught:
            Journal(server.url("postgres", password="swordfish"))
        assert "swordfish" not in everything_said(caught.value)


def everything_said(error):
    """Return all messages of an error and of those it came from."""
    said = []
    while error is not None:
        said += [str(error), repr(error)]
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\n".join(said)


SECRET = [
    f"postgresql://keeper:{PASSWORD}@127.0.0.1:1/survey",
    f"postgresql://keeper@127.0.0.1:1/survey?password={PASSWORD}",
    f"postgresql://keeper:{PASSWORD}@127.0.0.1:port/survey",
    f"postgresql://keeper:{PASSWORD}@127.0.0.1:1/survey?no_such_option=1",
    f"postgresql://keeper:{PASSWORD}@127.0.0.1:1/survey?timeout=soon",
    f"mysql://keeper:{PASSWORD}@localhost/survey",
    f"mysql+{PASSWORD}://keeper:{PASSWORD}@localhost/survey",
    f"sqlite://keeper:{PASSWORD}@localhost/survey.db",
    f"sqlite:///survey.db?password={PASSWORD}",
    f"://keeper:{PASSWORD}@localhost/survey",
    f"postgres:keeper:{PASSWORD}@localhost",
    f"PostgreSQL+psycopg:/keeper:{PASSWORD}@localhost/survey",
    f"mysql:keeper:{PASSWORD}@localhost",
]


@pytest.mark.parametrize("url", SECRET)
def test_passwords_are_never_shown(url):
    with pytest.raises((ValueError, OSError)) as caught:
        Journal(url, create=True)
    assert PASSWORD not in everything_said(caught.value)


BAD = [
    "",
    ":memory:",
    "sqlite://",
    "sqlite:///",
    "sqlite:///:memory:",
    "sqlite:///survey.db?mode=memory&uri=true",
    "sqlite:///survey.db?cache=shared",
    "sqlite:///survey.db?timeout=soon",
    "sqlite:///survey.db?timeout=-1",
    "sqlite:///survey.db?timeout=nan",
    "sqlite:///survey.db?timeout=inf",
    "sqlite:///survey.db?timeout=1&timeout=2",
    "sqlite://host/survey.db",
    "mysql://localhost/survey",
    "https://example.org/survey.db",
    "nonsense://",
    "://",
    "file://survey.db",
    "sqlite:survey.db",
    "sqlite:/survey.db",
    "postgresql:survey",
    "nul\0.db",
]


@pytest.mark.parametrize("url", BAD)
def test_what_names_no_database_is_refused_in_words(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        ValueError,
        match=r"(a study is kept|a study's timeout|a database must be given).* (but|got) .*Name one such as sqlite",
    ):
        Journal(url, create=True)
    assert not list(tmp_path.iterdir())
