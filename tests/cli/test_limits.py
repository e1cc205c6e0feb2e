"""What comes from outside, however large, damaged or hostile: one message, little memory, and nothing lost."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from corrbandits._shell import outputs
from corrbandits.simulation.trace import Trace
from corrbandits.study import Study
from corrbandits.study.journal import Journal
from tests.support.commands import SMALL, corrbandits
from tests.support.shell import CREATE, PROGRAM, default_database, environment, run_program

UNSAID = 4


def to_a_full_disk(*arguments, cwd):
    """Run the program with a standard output on which nothing can be written."""
    with Path("/dev/full").open("w") as full:
        return subprocess.run(
            [PROGRAM, *arguments], cwd=cwd, stdout=full, stderr=subprocess.PIPE, text=True, env=environment(cwd)
        )


def test_what_was_saved_is_said_even_if_standard_output_is_full(tmp_path, ok):
    ok(*CREATE)
    said = {}
    for command in (("ask", "meadow"), ("tell", "meadow", "1", "31.5"), ("observe", "meadow", "p11", "30")):
        done = to_a_full_disk("study", *command, cwd=tmp_path)
        assert done.returncode == UNSAID
        assert "Errno" not in done.stderr
        assert "Traceback" not in done.stderr
        said[command[0]] = done.stderr
        assert "What was done is done and saved. It was to say:" in done.stderr
    with Study.open(default_database(tmp_path), "meadow") as study:
        first, second = study.trials
        assert f"{first.number}       {first.name}" in said["ask"]
        assert study.reward(first) == 31.5
        assert f"trial 1 ({first.name}) told: 31.5" in said["tell"]
        assert f"trial {second.number} (p11) observed: 30" in said["observe"]


@pytest.mark.parametrize("where", ["2>/dev/full", "2>&-"])
def test_what_was_saved_is_known_by_the_code_if_nothing_can_be_said(tmp_path, ok, where):
    ok(*CREATE)
    command = f"'{PROGRAM}' study observe meadow p11 30 >/dev/full {where}"
    done = subprocess.run(command, shell=True, cwd=tmp_path, env=environment(tmp_path))
    assert done.returncode == UNSAID
    with Study.open(default_database(tmp_path), "meadow") as study:
        assert len(study.trials) == 1


def test_results_are_whole_though_nobody_is_told(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    done = to_a_full_disk("simulate", "small.toml", cwd=tmp_path)
    assert done.returncode == UNSAID
    assert "small (.png, .pdf, .nc) is in results/" in done.stderr
    assert Trace.load(tmp_path / "results" / "small.nc").horizon == 60


def test_a_pipe_that_nobody_reads_is_no_error_of_ours(tmp_path, ok):
    ok(*CREATE)
    for command in ("ask meadow", "show meadow", "tell meadow 1 3"):
        shell = f"{PROGRAM} study {command} | true; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(
            ["bash", "-c", shell], cwd=tmp_path, capture_output=True, text=True, env=environment(tmp_path)
        )
        assert done.stdout.strip() in ("0", "1"), command
        assert done.stderr == ""


def test_a_name_that_no_file_can_hold_is_refused_with_its_line(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL.replace("[policies.one]", '[policies."o\\u0000e"]'))
    done = corrbandits("simulate", "small.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "small.toml, line 11: in [policies], a name must be 1 to 200 printable characters" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_damaged_traces_are_one_message_wherever_the_damage_is(tmp_path, monkeypatch):
    (tmp_path / "small.toml").write_text(SMALL)
    assert corrbandits("simulate", "small.toml", cwd=tmp_path).returncode == 0
    whole = (tmp_path / "results" / "small.nc").read_bytes()
    ignored, refused, damaged = [], [], tmp_path / "damaged.nc"
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    for place in range(0, len(whole), len(whole) // 60):
        damaged.write_bytes(whole[:place] + b"\xff" * 200 + whole[place + 200 :])
        try:
            Trace.load(damaged)
        except ValueError as error:
            refused.append(str(error))
    assert len(refused) > 5
    assert "\n" not in "".join(refused)
    assert not ignored  # what Python prints as "Exception ignored in"


def largest(command, cwd):
    """Return how a command ends, and the most memory that it took, in bytes."""
    code = (
        "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], capture_output=True, text=True); "
        "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); print(done.stderr)"
    )
    limits = (8 << 30, resource.RLIM_INFINITY)
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, command)],
        cwd=cwd,
        capture_output=True,
        text=True,
        env=environment(cwd),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limits),
    )
    numbers, _, said = done.stdout.partition("\n")
    returned, kilobytes = map(int, numbers.split())
    return returned, 1024 * kilobytes, said


PRIORS = {
    "many": {"belief": "Independent", "noise_variance": 1.0, "arms": 10**8},
    "beyond all numbers": {"belief": "Independent", "noise_variance": 1.0, "arms": int("9" * 4000)},
    "nested": {
        "belief": "Elimination",
        "beliefs": [{"belief": "Independent", "noise_variance": 1, "arms": 10**6}] * 99,
    },
    "dense": {
        "belief": "Correlated",
        "kernel": {"kernel": "Exponential", "length": 1.0},
        "coordinates": [[k] for k in range(20_000)],
        "noise_variance": 1.0,
    },
}


@pytest.mark.parametrize(
    ("prior", "arms"), [("many", 10**8), ("beyond all numbers", 10**6), ("nested", 10**6), ("dense", 20_000)]
)
def test_a_small_file_cannot_claim_a_large_study(tmp_path, prior, arms):
    rule = {"rule": "UCL", "K": 4.13, "a": 1.0}
    event = {"event": "created", "format": 1, "prior": PRIORS[prior], "policy": rule, "arms": {"count": arms}, "at": 1}
    head = {"corrbandits": "study", "format": 1, "name": "trap", "events": 1}
    (tmp_path / "trap.jsonl").write_text(f"{json.dumps(head)}\n{json.dumps(event)}\n")
    code, memory, said = largest([PROGRAM, "study", "import", "trap.jsonl"], tmp_path)
    assert code == 2
    assert "a prior must take at most 4 GB of memory, but this one would take" in said
    assert memory < 500e6


def test_a_study_has_a_million_arms_at_most():
    from corrbandits.study.arms import Arms

    with pytest.raises(ValueError, match="the number of arms must be at most 1,000,000, got 1000001"):
        Arms.from_data({"count": 1_000_001})
    assert Arms.from_data({"count": 1_000_000}).count == 1_000_000


def test_a_small_trace_cannot_claim_many_numbers(tmp_path):
    import h5py

    (tmp_path / "small.toml").write_text(SMALL)
    with h5py.File(tmp_path / "trap.nc", "w") as file:
        file.create_dataset("regret", (10**9,), dtype="f8", chunks=(10**6,), compression="gzip")
    assert (tmp_path / "trap.nc").stat().st_size < 10_000
    code, memory, said = largest([PROGRAM, "bounds", "small.toml", "--trace", "trap.nc"], tmp_path)
    assert code == 2
    assert "/regret must hold what was written, 0 bytes, but it claims 8 GB" in said
    assert memory < 500e6


def test_a_name_too_long_for_a_file_is_refused_before_the_work_and_one_just_short_enough_is_not(tmp_path):
    assert os.pathconf(tmp_path, "PC_NAME_MAX") == 255
    for letters, code in ((244, 0), (245, 2)):  # NAME-bounds.png has 11 more
        (tmp_path / f"{'n' * letters}.toml").write_text(SMALL)
        done = corrbandits("bounds", f"{'n' * letters}.toml", cwd=tmp_path)
        assert done.returncode == code, done.stderr
    name = "n" * 250
    (tmp_path / f"{name}.toml").write_text(SMALL.replace("runs = 7", "runs = 1000000000"))  # would never end
    done = corrbandits("stress", f"{name}.toml", "--policy", "two", cwd=tmp_path)
    assert done.returncode == 2
    assert "must have at most 255 bytes, got 268" in done.stderr


LEAVES = """
import sys, time
from pathlib import Path
from corrbandits._shell import outputs
with outputs.results(sys.argv[1]) as files:
    files.write("result.txt", b"whole")
    print("written", flush=True)
    time.sleep(600)
"""


def test_what_a_killed_run_left_is_removed_by_the_next_and_what_a_living_one_writes_is_not(tmp_path):
    killed, living = (
        subprocess.Popen([sys.executable, "-c", LEAVES, tmp_path], stdout=subprocess.PIPE, text=True) for _ in range(2)
    )
    try:
        for child in (killed, living):
            assert child.stdout.readline() == "written\n"
        assert len(list(tmp_path.glob(".*.partial"))) == 2
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        stranger = tmp_path / ".somebody.partial"
        for path in (stranger, tmp_path / "mine.partial"):
            path.write_text("not ours")
        for path in tmp_path.iterdir():
            os.utime(path, (time.time() - 2 * outputs.GRACE_SECONDS,) * 2)
        outputs.make_directory(tmp_path)
        assert stranger.exists()
        assert (tmp_path / "mine.partial").exists()
        assert len([path for path in tmp_path.glob(".*.partial") if path != stranger]) == 1
    finally:
        for child in (killed, living):
            child.kill()
            child.communicate()


def test_a_hostile_name_in_a_shared_database_does_nothing_to_a_terminal(tmp_path, shell, ok):
    ok(*CREATE)
    ok("export", "meadow", "meadow.jsonl")
    hostile, events = "\x1b]0;owned\x07\x1b[2Jhill\u202e", (tmp_path / "meadow.jsonl").read_text().splitlines()[1:]
    journal = Journal(default_database(tmp_path))
    journal.enrol(hostile, events)  # as somebody would whose program does not look at names
    journal.close()
    for command in (("list",), ("show", "nothing"), ("ask", "nothing"), ("show", hostile), ("check",)):
        _, out, err = shell(*command)
        assert not {"\x1b", "\x07", "\u202e"} & set(out + err), command
        assert r"\x1b]0;owned\x07" in out + err, command


PASSWORDS = ["p@ss/word", "p@ss", "p@ss:word", "s3cret@a@b", "p@s?s"]


@pytest.mark.parametrize("password", PASSWORDS)
def test_no_part_of_a_password_is_shown_and_what_to_write_for_an_at_sign_is(tmp_path, password):
    done = run_program("study", "list", "--db", f"postgresql://survey:{password}@127.0.0.1:1/db", cwd=tmp_path)
    assert done.returncode == 2
    assert "write @ as %40" in done.stderr
    for part in password.replace("/", "@").replace(":", "@").replace("?", "@").split("@"):
        assert len(part) < 2 or part not in done.stderr.replace("password", "")


def test_users_and_options_with_an_at_sign_are_as_before():
    from corrbandits.study.journal.connections import Database

    assert Database("postgresql://me@server:secret@host/db").place == "postgresql://me%40server:***@host/db"
    assert Database("postgresql://me:s%40cret%2F@host/db?options=-ca=b@c").url.password == "s@cret/"
    assert Database("sqlite:///a:b@c@d.db").url.database == "a:b@c@d.db"


def test_an_error_among_its_own_causes_is_said_once():
    from corrbandits.cli.entry import _with_notes

    first, second = ValueError("first"), ValueError("second")
    first.add_note("Noted.")
    first.__cause__, second.__cause__ = second, first
    assert _with_notes("It failed.", first) == "It failed. Noted."


@pytest.mark.parametrize("module", ["logging", "corrbandits._shell.standard"])
def test_an_interrupt_while_the_entrance_loads_is_one_line(module):
    code = (
        "import sys\n"
        "class Stop:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}: raise KeyboardInterrupt\n"
        f"sys.modules.pop({module!r}, None); sys.meta_path.insert(0, Stop())\n"
        "from corrbandits.cli.entry import main"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 130
    assert done.stderr == "corrbandits: stopped. Result files are all as they were, or all new.\n"
