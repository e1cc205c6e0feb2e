"""What these tests ask of the machine and the shell they are started from."""

import importlib
import signal
import subprocess
import sys

from tests.support import ROOT
from tests.support.databases import IMPORTED


def test_a_suite_started_with_interrupts_ignored_can_interrupt():
    """As `nohup make test &` starts it: what ignores an interrupt passes that on to its children."""
    test = "tests/simulation/test_trace.py::test_ctrl_c_while_files_are_put_in_place_waits_for_the_last"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", test],
        cwd=ROOT,
        capture_output=True,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert done.returncode == 0, done.stdout


def test_a_server_is_started_from_the_environment_alone(server):
    """No PostgreSQL of the system's is needed, and none is taken."""
    assert server.programs.is_relative_to(server.directory)
    assert server.execute("SHOW data_directory") == [(str(server.data),)]


def test_one_version_of_a_library_serves_every_python():
    """So that no figure and no sentence of the documents depends on the Python that they are made with."""
    lines = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if "==" in line[:80]]
    names = [line.split("==")[0] for line in lines if line[0].isalpha()]
    assert len(names) == len(set(names)) > 50


def test_what_processes_are_to_have_imported_can_be_imported():
    """A name that is not there any more would be passed over in silence, and every process would import for itself."""
    for name in IMPORTED:
        importlib.import_module(name)
