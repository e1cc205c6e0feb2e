"""`corrbandits study` as a program: what it loads, exit codes, streams, databases that fail."""

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

import corrbandits as cb
from corrbandits.study.journal import Journal, JournalError
from tests.support.shell import CREATE, PROGRAM, SITES, default_database, forked, run_program


def test_the_lines_of_the_issue_as_they_stand(tmp_path):
    (tmp_path / "sites.csv").write_text(SITES)
    lines = (
        "corrbandits study create meadow --arms sites.csv --kernel exponential --length 300 --noise-sd 2",
        *["corrbandits study ask meadow"] * 17,
        "corrbandits study tell meadow 17 31.2",
    )
    for k, line in enumerate(lines):
        same = k > 1 and line == lines[k - 1]  # of the same lines, the first is a program of its own
        done = (forked if same else run_program)(*line.split()[1:], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
    with cb.Study.open(default_database(tmp_path), "meadow") as study:
        assert study.belief.sums.sum() == 31.2
        assert len(study.open_trials) == 16


@pytest.mark.parametrize("command", ["ask meadow", "tell meadow 1 3", "show meadow", "delete meadow"])
def test_closed_streams_are_no_error_of_ours(ok, tmp_path, command):
    ok(*CREATE)
    ok("ask", "meadow")
    program = f"'{sys.executable}' -m corrbandits.cli.entry study {command} >&- <&-"
    done = subprocess.run(["sh", "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert "Traceback" not in done.stderr
    assert done.returncode == (2 if "delete" in command else 0)


def test_a_study_is_kept_in_postgresql(ok, answer, postgres):
    assert answer(*CREATE, "--db", postgres)["database"].startswith("postgresql")
    assert answer("ask", "meadow", "--db", postgres)["trials"][0]["trial"] == 1
    assert "1 open" in ok("show", "meadow", "--db", postgres)


def test_a_database_that_cannot_be_written_is_exit_code_3(ok, refused, tmp_path):
    ok(*CREATE)
    database = default_database(tmp_path)
    with closing(sqlite3.connect(database, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        err = refused("observe", "meadow", "p00", "3", "--db", f"sqlite:///{database}?timeout=0.1", code=3)
        assert "locked" in err
        assert "Try again" in err
        holder.execute("ROLLBACK")
    ok("observe", "meadow", "p00", "3", "--db", f"sqlite:///{database}?timeout=0.1")
    assert "cannot be opened" in refused(*CREATE, "--db", "no/such/folder/x.db", code=3)
    unreachable = "postgresql://nobody:secret@127.0.0.1:1/x"
    err = refused("list", "--db", unreachable, code=3)
    assert "cannot be reached" in err
    assert "secret" not in err


def test_a_data_directory_that_cannot_be_made_is_exit_code_3(refused, tmp_path):
    (tmp_path / "data").write_text("a file where a directory should go")
    assert "Name a database by --db" in refused(*CREATE, code=3)


def test_when_nobody_knows_whether_it_was_saved_the_key_is_said(ok, refused, answer, monkeypatch):
    ok(*CREATE)
    whole = Journal.append

    def broken(journal, *arguments, **options):
        whole(journal, *arguments, **options)
        error = JournalError("the connection broke.")
        error.unsure = True
        raise error

    for trial, command in ((1, ("observe", "meadow", "p00", "3")), (2, ("ask", "meadow"))):
        with monkeypatch.context() as broke:
            broke.setattr(Journal, "append", broken)
            err = refused(*command, code=3)
        assert "It is not known whether it was saved" in err
        key = re.search(r"--key (\w+)", err)[1]
        again = answer(*command, "--key", key)
        assert (again["trials"][0]["trial"] if command[0] == "ask" else again["trial"]) == trial
        assert answer("show", "meadow")["t"] == trial + 1  # it had been saved, and is not counted twice
    assert answer("observe", "meadow", "p00", "3")["trial"] == 3, "without the key it is another measurement"


SAVING = """
import os
from corrbandits.cli.entry import main
from corrbandits.study.journal import Journal
append = Journal.append
def said_and_done(self, *events):
    os.write(1, b"saving")
    append(self, *events)
Journal.append = said_and_done
main()
"""


def test_ctrl_c_is_exit_code_130(tmp_path):
    (tmp_path / "sites.csv").write_text(SITES)
    assert run_program("study", *CREATE, cwd=tmp_path).returncode == 0
    database = default_database(tmp_path)
    with closing(sqlite3.connect(database, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")  # so that the program waits
        environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "data")}
        program = subprocess.Popen(
            [sys.executable, "-c", SAVING, "study", "observe", "meadow", "p00", "3", "--db", f"{database}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
        assert program.stdout.read(6) == b"saving"
        program.send_signal(signal.SIGINT)
        time.sleep(0.5)
        holder.execute("ROLLBACK")
        _, err = program.communicate(timeout=60)
    assert program.returncode == 130
    assert b"It is not known whether it was saved" in err
    assert b"Traceback" not in err


def test_ask_and_tell_load_neither_pandas_nor_matplotlib(tmp_path):
    (tmp_path / "sites.csv").write_text(SITES)
    heavy = "{'pandas', 'matplotlib', 'xarray', 'numba', 'scipy.stats', 'plotly'}"
    for command in (CREATE, ("ask", "meadow"), ("tell", "meadow", "1", "31.2"), ("show", "meadow"), ("best", "meadow")):
        code = (
            f"import sys; sys.argv = {['corrbandits', 'study', *command]!r}\n"
            "from corrbandits.cli import entry as cli\n"
            "try: cli.main()\n"
            f"finally: print(sorted({heavy} & set(sys.modules)), file=sys.stderr)"
        )
        environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "data")}
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr.strip() == "[]", command


def test_a_pipe_that_closes_early_makes_no_noise(tmp_path):
    (tmp_path / "sites.csv").write_text(SITES)
    assert run_program("study", *CREATE, cwd=tmp_path).returncode == 0
    line = f"{PROGRAM} study show meadow | {shutil.which('true')}"
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "data")}
    done = subprocess.run(["/bin/sh", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
