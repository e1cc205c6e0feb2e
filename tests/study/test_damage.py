"""A study that is not what was saved: put back, deleted, cut, with a bit flipped. It is said, and built on no more."""

import json
import random
import shutil
import sqlite3
import subprocess
from contextlib import closing

import psycopg
import pytest
import sqlalchemy as sa

import corrbandits as cb
from corrbandits import Study
from corrbandits.study.journal import DamagedError, JournalError, Taken, files
from corrbandits.study.journal.chain import digests
from tests.study.test_journal_faults import become_unprivileged
from tests.support import ROOT
from tests.support.databases import NEWLY, together
from tests.support.postgres import open_directory
from tests.support.shell import PROGRAM
from tests.support.skeletons import MemoryJournal
from tests.support.studies import related

# --- another history -------------------------------------------------------------------------------------------------


class File:
    """A study in a file, which can be kept and put back in place: the same name and the same inode."""

    def __init__(self, folder):
        self.url = folder / "survey.db"

    def keep(self, *studies):
        for study in studies:
            study.close()
        self._kept = self.url.read_bytes()

    def put_back(self, *studies):
        for study in studies:
            study.close()
        self.url.write_bytes(self._kept)


class Restored:
    """A study in PostgreSQL, whose database can be kept and restored under its name."""

    def __init__(self, server, url):
        self.url, self._server, self._name = url, server, sa.make_url(url).database

    def keep(self, *studies):
        for study in studies:
            study.close()
        self._server.execute(f"CREATE DATABASE {self._name}_kept TEMPLATE {self._name}")

    def put_back(self, *studies):
        for study in studies:
            study.close()
        self._server.execute(f"DROP DATABASE {self._name} WITH (FORCE)")
        self._server.execute(f"CREATE DATABASE {self._name} TEMPLATE {self._name}_kept")
        self._server.execute(f"DROP DATABASE {self._name}_kept")


@pytest.fixture(params=["file", "server"])
def place(request, tmp_path):
    if request.param == "file":
        return File(tmp_path)
    return Restored(request.getfixturevalue("server"), request.getfixturevalue("postgres"))


def create(url, name="meadow"):
    return Study.create(url, name, prior=related(), policy=cb.UCL())


def every_call(study):
    return [
        lambda: study.tell(1, 31.0),
        lambda: study.ask(),
        lambda: study.observe(2, 30.0),
        lambda: study.snapshot(),
        lambda: study.belief,
        lambda: study.explain(1),
        lambda: study.copy("copy"),
        lambda: study.delete(),
    ]


def test_an_older_copy_put_back_is_said_by_every_call(place, tmp_path):
    study = create(place.url)
    trial = study.ask()
    place.keep(study)
    study.tell(trial, 31.0)
    place.put_back(study)
    for call in [*every_call(study), lambda: study.export(tmp_path / "meadow.jsonl")]:
        with pytest.raises(JournalError, match=r"2 events of the study, but 3 have been read.*Open the study anew"):
            call()
    assert not (tmp_path / "meadow.jsonl").exists()
    again = Study.open(place.url, "meadow")
    again.tell(trial, 31.0)
    assert again.history()["status"].tolist() == ["told"]
    study.close()
    again.close()


@pytest.mark.parametrize("more", [0, 1, 5])
def test_a_history_that_others_wrote_in_place_of_ours_is_said_by_every_call(place, tmp_path, more):
    """As many events as we have read, or more, so that their number says nothing."""
    study = create(place.url)
    trial = study.ask()
    place.keep(study)
    study.tell(trial, 31.0)
    place.put_back(study)
    with Study.open(place.url, "meadow") as other:
        other.observe(4, 12.0)
        for _ in range(more):
            other.ask()
    for call in [*every_call(study), lambda: study.export(tmp_path / "meadow.jsonl")]:
        with pytest.raises(JournalError, match=r"event 3 of the study or one before it is not the one"):
            call()
    with Study.open(place.url, "meadow") as again:
        assert len(again.trials) == 2 + more
    study.close()


def observe_some(url, count):
    with Study.open(url, "meadow") as study:
        for k in range(count):
            study.observe(1, 90.0 + k)


@pytest.mark.parametrize("others", [0, 3, 4, 60])
@pytest.mark.parametrize("call", range(8))
def test_an_older_copy_written_over_a_file_that_is_open_is_said_and_stays(tmp_path, others, call):
    """By `cp`, as people do it; after three events of another process the file has as many changes as it had for us."""
    path = tmp_path / "survey.db"
    create(path).close()
    shutil.copy(path, tmp_path / "older")
    study = create_open(path)
    subprocess.run(["cp", tmp_path / "older", path], check=True)
    for beside in tmp_path.glob("survey.db-*"):
        beside.unlink()
    if others:
        together(observe_some, (path, others))
    words = "is not the one that has been read" if others >= 3 else "have been read: some were lost"
    for _ in range(2):
        with pytest.raises(JournalError, match=words):
            every_call(study)[call]()
    study.close()
    with Study.open(path, "meadow") as again:
        assert again.history()["reward"].tolist() == [90.0 + k for k in range(others)]
    assert [finding.whole for finding in Study.check(path)] == [True]


def create_open(path):
    """Return a study that has written three events by the connection that it goes on with."""
    study = Study.open(path, "meadow")
    study.ask()
    study.observe(3, 40.0)
    study.observe(3, 41.0)
    return study


def test_a_file_of_an_earlier_version_becomes_one_file_before_it_is_used(tmp_path):
    """What is in its log is kept; while a program of that version has it open, one is told so."""
    path = tmp_path / "survey.db"
    create(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as earlier:
        assert earlier.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
        earlier.execute("UPDATE corrbandits_studies SET queue = '[]'")
        assert (tmp_path / "survey.db-wal").stat().st_size
        with pytest.raises(JournalError, match=r"locked for too long, or an earlier corrbandits has it open"):
            Study.open(f"sqlite:///{path}?timeout=0.1", "meadow")
    with closing(sqlite3.connect(path, isolation_level=None)) as killed:
        killed.execute("UPDATE corrbandits_studies SET queue = '[1]'")
        for name in ("survey.db", "survey.db-wal"):
            shutil.copy(tmp_path / name, tmp_path / name.replace("survey", "left"))
    with Study.open(tmp_path / "left.db", "meadow") as study:
        study.observe(1, 30.0)
        assert not list(tmp_path.glob("left.db-*"))
    with closing(sqlite3.connect(tmp_path / "left.db")) as left:
        assert left.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert left.execute("SELECT queue FROM corrbandits_studies").fetchone() == ("[1]",)


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    """A file whose newest three changes are in its log alone, beside remains of an older and longer log."""
    folder = tmp_path_factory.mktemp("logged")
    create(folder / "survey.db").close()
    with closing(sqlite3.connect(folder / "survey.db", isolation_level=None)) as earlier:
        earlier.execute("PRAGMA journal_mode = WAL")
        earlier.execute("CREATE TABLE remains (text)")
        earlier.execute("INSERT INTO remains VALUES (zeroblob(60000))")
        earlier.execute("PRAGMA wal_checkpoint(RESTART)")
        for k in range(3):
            earlier.execute(f"UPDATE corrbandits_studies SET queue = '[{k}]'")
        return {name: (folder / name).read_bytes() for name in ("survey.db", "survey.db-wal")}


def put(files_there, folder, at=None, length=None):
    """Write a file and its log, with a bit flipped or cut; return what is read from it by SQLite alone."""
    log = bytearray(files_there["survey.db-wal"][:length])
    if at is not None:
        log[at] ^= 4
    (folder / "alone").mkdir()
    for place in (folder, folder / "alone"):
        (place / "survey.db").write_bytes(files_there["survey.db"])
        (place / "survey.db-wal").write_bytes(log)
    with closing(sqlite3.connect(folder / "alone" / "survey.db")) as alone:
        return alone.execute("SELECT queue FROM corrbandits_studies").fetchone()[0]


FRAME = 24 + 4096


@pytest.mark.parametrize(
    "at", [0, 9, 13, 18, 25, 32 + 2, 32 + 9, 32 + 17, 32 + 24 + 9, 32 + FRAME + 5, 32 + FRAME + 999]
)
def test_a_damaged_log_of_an_earlier_version_is_named_and_left_as_it_is(logged, tmp_path, at):
    assert put(logged, tmp_path, at) != "[2]", "SQLite says nothing of it"
    before = (tmp_path / "survey.db-wal").read_bytes()
    for _ in range(2):
        with pytest.raises(DamagedError, match=r"survey.db-wal holds the newest events .* damaged (in frame|at its)"):
            Study.open(tmp_path / "survey.db", "meadow")
    assert (tmp_path / "survey.db-wal").read_bytes() == before


def test_a_check_from_the_shell_names_a_damaged_log(logged, tmp_path):
    put(logged, tmp_path, at=40)
    command = [PROGRAM, "study", "check", "--db", tmp_path / "survey.db"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (3, "")
    assert "survey.db-wal holds the newest events" in done.stderr


@pytest.mark.parametrize("length", [None, 0, 20, 32, 32 + 2 * FRAME, 32 + 2 * FRAME + 100])
def test_a_log_that_ends_where_a_process_was_killed_is_not_damaged(logged, tmp_path, length):
    expected = put(logged, tmp_path, length=length)
    with Study.open(tmp_path / "survey.db", "meadow") as study:
        study.ask()
    with closing(sqlite3.connect(tmp_path / "survey.db")) as connection:
        assert connection.execute("SELECT queue FROM corrbandits_studies").fetchone() == (expected,)
    assert length is not None or expected == "[2]"


def test_a_file_swapped_between_reading_and_writing_takes_nothing(place):
    study = create(place.url)
    study.ask()
    place.keep(study)
    study.ask()

    class Swapped:
        def __getattr__(self, name):
            return getattr(study._journal, name)

        def append(self, *arguments):
            place.put_back(study)
            with Study.open(place.url, "meadow") as other:
                other.observe(4, 12.0)
            study._journal.append(*arguments)

    study._replica.journal = Swapped()
    with pytest.raises(JournalError, match="event 3 of the study or one before it"):
        study.observe(1, 30.0)
    study.close()


def test_a_study_deleted_by_others_acknowledges_nothing(place):
    study = create(place.url)
    trial = study.ask()
    study.tell(trial, 31.0)
    with Study.open(place.url, "meadow") as other:
        other.delete()
        create(place.url).close()  # another of the same name
    for call in every_call(study):
        with pytest.raises(ValueError, match="deleted meanwhile"):
            call()
    study.close()


# --- damage ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def used(tmp_path):
    """A file with a study of some events, closed, and what is known of it."""
    path = tmp_path / "survey.db"
    with create(path) as study, create(path, "wood") as other:
        for k in range(20):
            study.tell(study.ask(), 30.0 + k)
        other.ask(3)
        study.export(tmp_path / "good.jsonl")
    return path


def enter(path, *statements):
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


HURT = {
    "an event is gone": "DELETE FROM corrbandits_events WHERE study = 1 AND sequence = 17",
    "the last events are gone": "DELETE FROM corrbandits_events WHERE study = 1 AND sequence > 30",
    "all but one are gone": "DELETE FROM corrbandits_events WHERE study = 1 AND sequence > 1",
    "a reward is another": "UPDATE corrbandits_events SET body = replace(body, '35.0', '95.0') WHERE study = 1",
    "a digest is another": "UPDATE corrbandits_events SET digest = 'x' WHERE study = 1 AND sequence = 17",
    "a body is no text": "UPDATE corrbandits_events SET body = x'ff00' WHERE study = 1 AND sequence = 17",
    "two are exchanged": "UPDATE corrbandits_events SET sequence = CASE sequence WHEN 16 THEN -17 ELSE -16 END "
    "WHERE study = 1 AND sequence IN (16, 17)",
    "the seal is another": "UPDATE corrbandits_studies SET seal = 'x' WHERE id = 1",
    "the name is another": "UPDATE corrbandits_studies SET name = 'meadov' WHERE id = 1",
    "the number of events is another": "UPDATE corrbandits_studies SET events = 12 WHERE id = 1",
    "the study is gone": "DELETE FROM corrbandits_studies WHERE id = 1",
}


@pytest.mark.parametrize("hurt", HURT)
def test_damage_is_said_and_nothing_is_built_on_it(used, tmp_path, hurt):
    running = Study.open(used, "wood")
    enter(used, "PRAGMA foreign_keys = OFF", HURT[hurt])
    before = used.read_bytes()
    with pytest.raises((DamagedError, ValueError)) as caught:
        Study.open(used, "meadow").export(tmp_path / "good.jsonl")
    assert isinstance(caught.value, DamagedError)
    assert "damaged" in str(caught.value)
    assert "cannot be reached" not in str(caught.value)
    found = {finding.study: finding.whole for finding in Study.check(used)}
    assert False in found.values()
    assert found["wood"], "another study is whole, and says so"
    with Study.open(used, "wood") as other:
        other.export(tmp_path / "wood.jsonl")
    assert used.read_bytes() == before
    running.ask()
    running.close()
    with Study.import_(tmp_path / "new.db", tmp_path / "good.jsonl") as again:
        assert len(again.trials) == 20


def test_a_place_that_is_taken_by_nothing_ends_the_call():
    class Full(MemoryJournal):
        def append(self, *arguments):
            raise Taken(arguments[1])

    study = create(Full())
    for call in (study.ask, lambda: study.observe(1, 2.0)):
        with pytest.raises(DamagedError, match="damaged"):
            call()


def attack(path, folder, seeds, report):
    """Flip one bit of a copy for each seed, use it in every way, and report what was wrong without a word."""
    whole, truth = path.read_bytes(), facts(path)
    wrong = []
    for seed in seeds:
        chance = random.Random(seed)
        place = chance.randrange(len(whole) * 8)
        copy = folder / f"flipped {seed}.db"
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        copy.write_bytes(flipped)
        (folder / "backup.jsonl").write_text("a good one")
        try:
            if facts(copy) != truth:
                wrong.append([seed, place, "says what is not so"])
            with Study.open(copy, "meadow") as study:
                study.export(folder / "backup.jsonl")
                trial = study.ask()
                study.tell(trial, 31.0)
                study.observe(2, 30.0)
            with Study.open(copy, "meadow") as study:
                if study.reward(trial) != 31.0 or len(study.trials) != len(truth["meadow"]) + 2:
                    wrong.append([seed, place, "lost what it took"])
        except (ValueError, JournalError):
            pass
        except BaseException as error:
            wrong.append([seed, place, repr(error)])
        written = (folder / "backup.jsonl").read_text()
        if written != "a good one" and written.splitlines()[1:] != (folder / "good.jsonl").read_text().splitlines()[1:]:
            wrong.append([seed, place, "exported what is not so"])
        for file in folder.glob(f"flipped {seed}.db*"):
            file.unlink()
    report.write_text(json.dumps(wrong))


def facts(path):
    """Return what a database says: its studies, and the trials of each with their rewards."""
    found = {}
    for name in Study.list(path):
        with Study.open(path, name) as study:
            ledger = study.snapshot().ledger
            found[name] = [(entry.arm, entry.kind, str(entry.reward)) for entry in ledger.trials]
    return found


def test_no_flipped_bit_is_silently_wrong(used, tmp_path):
    """Of a file with two studies; in a process of its own, which must come to an end."""
    process = NEWLY.Process(target=attack, args=(used, tmp_path, range(60), tmp_path / "report"))
    process.start()
    process.join(240)
    ended = not process.is_alive()
    process.kill()
    process.join()
    assert ended, "a call does not return"
    assert json.loads((tmp_path / "report").read_text()) == []


def test_an_export_with_a_flipped_bit_is_refused(used, tmp_path):
    whole = (tmp_path / "good.jsonl").read_bytes()
    chance = random.Random(0)
    for _ in range(60):
        flipped = bytearray(whole)
        place = chance.randrange(whole.index(b"\n") * 8, len(whole) * 8)
        flipped[place // 8] ^= 1 << place % 8
        (tmp_path / "flipped.jsonl").write_bytes(flipped)
        if (tmp_path / "flipped.jsonl").read_bytes().splitlines() == whole.splitlines():
            continue  # the last end of a line became another
        with pytest.raises((ValueError, OSError)):
            Study.import_(tmp_path / "other.db", tmp_path / "flipped.jsonl")


# --- the command -----------------------------------------------------------------------------------------------------


def run(*arguments):
    return subprocess.run([PROGRAM, "study", *map(str, arguments)], capture_output=True, text=True, timeout=120)


def test_the_command_says_what_is_whole_and_how_to_go_on(used, tmp_path):
    ran = run("check", "--db", used)
    assert (ran.returncode, ran.stdout) == (0, "meadow: whole, 41 events, 20 trials\nwood: whole, 4 events, 3 trials\n")
    enter(used, HURT["an event is gone"])
    ran = run("check", "--db", used)
    assert ran.returncode == 3
    assert "meadow: damaged, only its first 16 events\nwood: whole, 4 events, 3 trials\n" in ran.stdout
    assert "corrbandits study import FILE --db URL" in " ".join(ran.stdout.split())
    document = json.loads(run("check", "--json", "--db", used).stdout)
    assert not document["whole"]
    assert {"study": "wood", "whole": True, "events": 4, "says": "4 events, 3 trials"} in document["findings"]
    for command in ("show", "ask", "history"):
        ran = run(command, "meadow", "--db", used)
        assert (ran.returncode, ran.stdout) == (3, "")
        assert "is damaged: of 41 events of the study the first 16 are whole" in ran.stderr
    good = (tmp_path / "good.jsonl").read_bytes()
    assert run("export", "meadow", tmp_path / "good.jsonl", "--replace", "--db", used).returncode == 3
    assert (tmp_path / "good.jsonl").read_bytes() == good
    assert run("export", "wood", tmp_path / "wood.jsonl", "--db", used).returncode == 0
    assert run("import", tmp_path / "good.jsonl", "--db", tmp_path / "new.db").returncode == 0


# --- version 1 -------------------------------------------------------------------------------------------------------

OLD = ROOT / "tests" / "data" / "0.2.0" / "studies.db"


def version(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT version FROM corrbandits_journal").fetchone()[0]


def test_a_database_of_version_1_is_renewed_by_the_first_thing_that_is_saved(tmp_path):
    path = shutil.copy(OLD, tmp_path)
    reading, study = Study.open(path, "beta"), Study.open(path, "correlated")
    before = reading.history()
    assert all(finding.whole for finding in Study.check(path))
    assert version(path) == 1, "reading changes nothing"
    study.ask()
    assert version(path) == 2
    assert reading.history().equals(before)
    reading.observe(1, 1.0)
    assert all(finding.whole for finding in Study.check(path))
    with closing(sqlite3.connect(path)) as connection:
        bodies = [body for (body,) in connection.execute("SELECT body FROM corrbandits_events WHERE study = 1")]
        said = [body for (body,) in connection.execute("SELECT digest FROM corrbandits_events WHERE study = 1")]
        assert said == digests("", bodies)
        with pytest.raises(sqlite3.IntegrityError, match="NOT NULL"):  # as a program of version 1 would
            connection.execute("INSERT INTO corrbandits_events (study, sequence, body) VALUES (1, 99, 'x')")
    for each in (reading, study):
        each.close()


def test_a_damaged_database_of_version_1_is_not_renewed(tmp_path):
    path = shutil.copy(OLD, tmp_path)
    enter(path, "DELETE FROM corrbandits_events WHERE study = 1 AND sequence = 3")
    with pytest.raises(DamagedError, match="events of a study are missing"):
        Study.open(path, "correlated")
    with Study.open(path, "beta") as other, pytest.raises(DamagedError, match="events of a study are missing"):
        other.ask()
    assert version(path) == 1


def read_only(directory, folder):
    become_unprivileged()
    directory.chmod(folder)
    path = directory / "studies.db"
    with Study.open(path, "correlated") as study:
        assert len(study.trials) == 7
        with pytest.raises(JournalError, match=r"it is not writable. Make the file and its folder writable"):
            study.ask()
        assert len(study.trials) == 7
    assert len(Study.list(path)) == 4
    assert all(finding.whole for finding in Study.check(path))
    directory.chmod(0o700)


@pytest.mark.parametrize("log", [True, False])
@pytest.mark.parametrize("folder", [0o700, 0o500])
def test_a_database_is_read_by_who_may_only_read(folder, log):
    """Also one of version 1, which is in log mode, although nobody can bring it out of it."""
    directory = open_directory()
    path = directory / "studies.db"
    try:
        shutil.copy(OLD, path)
        if not log:
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("PRAGMA journal_mode = DELETE")
        path.chmod(0o444)
        before = path.read_bytes()
        together(read_only, (directory, folder))
        assert path.read_bytes() == before
    finally:
        shutil.rmtree(directory)


def read_what_is_half_there(directory):
    become_unprivileged()
    for name in ("studies.db-wal", "studies.db-journal"):
        beside = directory / name
        beside.write_bytes(b"what a killed process leaves")
        directory.chmod(0o500)
        if name.endswith("wal"):
            with pytest.raises(JournalError, match=r"not writable|cannot be opened"):
                Study.list(directory / "studies.db")
        else:
            assert not files._read_only(str(directory / "studies.db"))
        directory.chmod(0o700)
        beside.unlink()
    assert files._read_only(str(directory / "studies.db"))


def test_what_may_only_be_read_and_is_half_there_is_not_read_as_if_it_were_whole():
    directory = open_directory()
    try:
        shutil.copy(OLD, directory)
        (directory / "studies.db").chmod(0o444)
        together(read_what_is_half_there, (directory,))
    finally:
        shutil.rmtree(directory)


def test_a_server_of_version_1_is_read_by_a_guest_and_renewed_by_its_owner(postgres, server):
    with psycopg.connect(postgres) as there, closing(sqlite3.connect(OLD)) as old:
        there.execute("CREATE TABLE corrbandits_journal (version INTEGER PRIMARY KEY)")
        there.execute("CREATE TABLE corrbandits_studies (id SERIAL PRIMARY KEY, name TEXT NOT NULL UNIQUE)")
        there.execute(
            "CREATE TABLE corrbandits_events (study INTEGER REFERENCES corrbandits_studies ON DELETE CASCADE, "
            "sequence INTEGER, body TEXT NOT NULL, PRIMARY KEY (study, sequence))"
        )
        for table, marks in (("journal", "%s"), ("studies", "%s, %s"), ("events", "%s, %s, %s")):
            for row in old.execute(f"SELECT * FROM corrbandits_{table}"):
                there.execute(f"INSERT INTO corrbandits_{table} VALUES ({marks})", row)
        there.execute("SELECT setval('corrbandits_studies_id_seq', 100)")
    server.execute("CREATE ROLE reader LOGIN PASSWORD 'reader'")
    try:
        name = sa.make_url(postgres).database
        server.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader", name)
        theirs = postgres.replace("keeper:hunter2", "reader:reader")
        guest = Study.open(theirs, "correlated")
        before = guest.history()
        with pytest.raises(JournalError, match=r"not allowed to read or write there\..*their owner to save"):
            guest.ask()
        with Study.open(postgres, "correlated") as study:
            study.ask()
        assert server.execute("SELECT version FROM corrbandits_journal", name) == [(2,)]
        assert guest.history()[:-1].equals(before)
        with Study.open(theirs, "correlated") as again:
            assert len(again.trials) == len(before) + 1
        assert all(finding.whole for finding in Study.check(theirs))
        guest.close()
    finally:
        server.execute("REVOKE SELECT ON ALL TABLES IN SCHEMA public FROM reader", name)
        server.execute("DROP ROLE reader")


# --- encodings -------------------------------------------------------------------------------------------------------


@pytest.fixture
def encoded(server):
    made = []

    def create(encoding):
        made.append(f"encoded_{encoding.lower()}")
        server.execute(f"CREATE DATABASE {made[-1]} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
        return server.url(made[-1])

    yield create
    for name in made:
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_a_server_in_sql_ascii_keeps_studies_as_any_other(encoded):
    url = encoded("SQL_ASCII")
    with Study.create(url, "草地 Süd", prior=related(), policy=cb.UCL(), arms=[*"abcde", "ü"]) as study:
        study.tell(study.ask(), 30.0)
        study.observe("ü", 31.0)
    assert Study.list(url) == ("草地 Süd",)
    with Study.open(url, "草地 Süd") as again:
        assert again.history()["name"].tolist()[1] == "ü"
    assert all(finding.whole for finding in Study.check(url))


def test_an_encoding_that_cannot_hold_a_name_is_named_with_a_remedy(encoded):
    url = encoded("LATIN1")
    with pytest.raises(ValueError, match=r"encoding of the database cannot hold this text.*createdb --encoding=UTF8"):
        create(url, "草地")
    with create(url, "Süd") as study:
        study.ask()
    assert Study.list(url) == ("Süd",)
