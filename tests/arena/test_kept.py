"""Work by several processes: what is made is kept, whoever is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from benchmarks import ablation, arena, kept

from corrbandits._shell.appended import append
from tests.support import ROOT
from tests.support.waiting import until


def made(number):
    """Return a row; for 3 the process that makes it is killed."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return [(number, number**2)]


def test_a_row_that_lacks_columns_is_named_by_its_line(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n3\n")
    with pytest.raises(ValueError, match=r"rows.csv, line 3 must have a, b, got '3'. Remove it."):
        kept.read(tmp_path / "rows.csv", ("a", "b"))


@pytest.mark.parametrize("module", [ablation, arena])
def test_a_folder_that_cannot_be_made_is_refused_in_words(module, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit):
        module.main(["--results", str(tmp_path / "file" / "games")])
    assert "error: " in capsys.readouterr().err


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


def test_processes_end_with_a_command_that_is_killed(tmp_path):
    words = "from pathlib import Path; from benchmarks import kept; from tests.arena.test_kept import waiting; "
    words += f"[*kept.results(waiting, [Path({str(tmp_path)!r})] * 2, 2)]"
    with subprocess.Popen([sys.executable, "-c", words], cwd=ROOT) as command:
        assert until(lambda: len([*tmp_path.iterdir()]) == 2)
        command.kill()
    assert until(lambda: not any(alive(int(one.name)) for one in tmp_path.iterdir()))


def waiting(place):
    """Say who waits, and wait for long."""
    (place / str(os.getpid())).touch()
    time.sleep(120)


def alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
