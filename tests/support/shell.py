"""What the tests of `corrbandits study` share."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.commands import corrbandits

PROGRAM = Path(sys.executable).parent / "corrbandits"
SITES = "name,x,y\n" + "".join(f"p{x}{y},{100 * x},{100 * y}\n" for x in range(4) for y in range(3))
CREATE = (
    *("create", "meadow", "--arms", "sites.csv", "--kernel", "exponential", "--length", "300", "--noise-sd", "2"),
    *("--prior-mean", "0", "--prior-sd", "20", "--policy", "UCL"),
)
"""A study whose prior is told everything, and whose rule is named."""

TOLD_NOTHING = ("create", "meadow", "--arms", "sites.csv", "--rounds", "40")
"""A study that knows no more than where arms lie and how many rewards there will be."""


def default_database(tmp_path):
    return tmp_path / "data" / "corrbandits" / "studies.db"


def environment(cwd, **more):
    """Return the variables of a shell whose studies are in this directory."""
    given = {**os.environ, "XDG_DATA_HOME": str(cwd / "data"), **more}
    given.pop("CORRBANDITS_DB", None)
    return given


def run_program(*arguments, cwd, **more):
    """Run the program as a shell does."""
    command = [PROGRAM, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=environment(cwd, **more))


def forked(*arguments, cwd, **more):
    """Run the program in a process that has imported everything already."""
    return corrbandits(*arguments, cwd=cwd, env=environment(cwd, **more))
