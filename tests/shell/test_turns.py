"""Processes that take turns."""

import os
import subprocess
import sys
import time

import pytest

from corrbandits._shell.turns import Turns, turns_in

HOLD = """
import sys, time
from pathlib import Path
from corrbandits._shell.turns import Turns

turns = Turns(Path(sys.argv[1]))
turns.take("one", longest=1.0)
print("mine", flush=True)
sys.stdin.readline()
turns.leave("one")
print("yours", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def other(tmp_path):
    """Another process that has the turn of "one" until it is told to leave it."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    started = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path / "turns.lock")], **pipes)
    assert started.stdout.readline() == "mine\n"
    yield started
    started.kill()
    started.communicate()


def test_a_turn_is_had_once_the_other_has_left_it(other, tmp_path):
    turns = Turns(tmp_path / "turns.lock")
    assert not turns._free("one")
    with turns.turn("another", longest=0.0):
        pass
    other.stdin.write("\n")
    other.stdin.flush()
    assert other.stdout.readline() == "yours\n"
    assert turns._free("one")


def test_the_turn_of_a_process_that_was_killed_is_free(other, tmp_path):
    other.kill()
    other.wait()
    assert Turns(tmp_path / "turns.lock")._free("one")


def test_nobody_waits_longer_than_was_said(other, tmp_path):
    begun = time.monotonic()
    Turns(tmp_path / "turns.lock").take("one", longest=0.1)
    assert time.monotonic() - begun >= 0.1


@pytest.mark.parametrize("place", ["file/turns.lock", "missing/turns.lock"])
def test_where_no_file_can_be_opened_nobody_waits(tmp_path, place):
    (tmp_path / "file").write_text("")
    for turns in (Turns(tmp_path / place), Turns(tmp_path / place)):
        with turns.turn("one", longest=60.0):
            pass


def test_the_turns_of_a_folder_are_the_same_ones(tmp_path):
    """To close a file of them would leave all turns at it, so that none may be opened twice."""
    assert turns_in(str(tmp_path)) is turns_in(os.fspath(tmp_path))
