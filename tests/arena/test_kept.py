"""Work by several processes: what is made is kept, whoever is killed."""

import os
import signal

import pytest
from benchmarks import kept

from corrbandits._shell.appended import append


def made(number):
    """Return a row; for 3 the process that makes it is killed."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return [(number, number**2)]


def test_work_of_several_processes_is_the_work_of_one(tmp_path):
    for jobs in (1, 2):
        kept.added(tmp_path / f"{jobs}.csv", ("number", "square"), [4, 5, 6], made, jobs)
    one, two = (sorted(kept.read(tmp_path / f"{jobs}.csv", ("number", "square"))) for jobs in (1, 2))
    assert one == two == [["4", "16"], ["5", "25"], ["6", "36"]]


def test_a_process_that_is_killed_ends_the_command_in_words_and_what_was_made_stays(tmp_path):
    kept.added(tmp_path / "rows.csv", ("number", "square"), [1, 2], made, 2)
    with pytest.raises(SystemExit, match="the same command goes on from there"):
        kept.added(tmp_path / "rows.csv", ("number", "square"), [3], made, 2)
    assert len(kept.read(tmp_path / "rows.csv", ("number", "square"))) == 2


def test_whoever_waits_no_more_ends_the_processes():
    found = kept.results(made, [4, 5, 6], 2)
    assert next(found)[0][0] in (4, 5, 6)
    found.close()


def test_lines_that_cannot_all_be_written_are_taken_back(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    append(path, "1,1\n", "number,square\n")

    def full(_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            append(path, "2,4\n3,9\n")
    append(path, "4,16\n")
    assert path.read_text() == "number,square\n1,1\n4,16\n"
