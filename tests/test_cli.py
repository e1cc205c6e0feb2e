import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import corrbandits as cb

PROGRAM = Path(sys.executable).parent / "corrbandits"
SMALL = """\
[arms]
grid = [3, 3]
[truth]
means = [0, 1, 2, 3, 4, 5, 4, 3, 2]
noise_variance = 1.0
[priors.flat]
variance = inf
[priors.smooth]
mean = 2.0
kernel = { name = "exponential", length = 2.0, variance = 4.0 }
[policies.one]
rule = "UCL"
prior = "flat"
a = 1.5
[policies.two]
rule = "CorrelatedUCL"
prior = "smooth"
a = 1.5
[run]
horizon = 60
runs = 7
seed = 3
"""


def run(*arguments, cwd):
    return subprocess.run([PROGRAM, *map(str, arguments)], cwd=cwd, capture_output=True, text=True)


def test_simulate_writes_what_the_library_gives(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    done = run("simulate", "small.toml", "--out", "deep/results", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    out = tmp_path / "deep" / "results"
    assert {p.name for p in out.iterdir()} == {"small.nc", "small.png", "small.pdf"}
    bandit = cb.GaussianBandit([0, 1, 2, 3, 4, 5, 4, 3, 2], 1.0)
    smooth = cb.Correlated(
        mean=2.0, kernel=4 * cb.Exponential(2.0), coordinates=cb.landscapes.grid(3, 3), noise_variance=1.0
    )
    players = {
        "one": (cb.UCL(a=1.5), cb.Independent(noise_variance=1.0, arms=9)),
        "two": (cb.CorrelatedUCL(a=1.5), smooth),
    }
    trace = cb.simulate(players, bandit, 60, 7, seed=3)
    data = xr.load_dataset(out / "small.nc", engine="h5netcdf")
    np.testing.assert_array_equal(data["arms"], trace.arms)
    np.testing.assert_array_equal(data["regret"], trace.regret)
    for policy in ("one", "two"):
        assert f"{float(trace.regret.sel(policy=policy, time=60).mean()):,.1f}" in done.stdout
    np.testing.assert_array_equal(cb.Trace.load(out / "small.nc").regret, trace.regret)


@pytest.mark.parametrize(
    ("text", "line", "remedy"),
    [
        (SMALL.replace("horizon = 60", "horizont = 60"), 20, "horizon"),
        (SMALL.replace('prior = "smooth"', 'prior = "smoth"'), 17, "smooth"),
        (SMALL.replace("noise_variance = 1.0", "noise_variance = -1.0"), 5, "above 0"),
        (SMALL.replace("[run]", "[run"), 19, ""),
    ],
)
def test_a_wrong_experiment_is_refused_with_its_line(tmp_path, text, line, remedy):
    (tmp_path / "wrong.toml").write_text(text)
    done = run("simulate", "wrong.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert f"line {line}" in done.stderr
    assert remedy in done.stderr
    assert "Traceback" not in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["wrong.toml"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("simulate", "missing.toml"),
        ("simulate", "."),
        ("simulate",),
        ("reproduce", "--runs", "0"),
        ("reproduce", "--horizon", "many"),
        ("reproduce", "--seed", "-1"),
        ("reproduce", "--out", "taken"),
        ("reproduce", "--out", "taken/below"),
        ("nonsense",),
        ("--nonsense",),
    ],
)
def test_bad_arguments_exit_with_2_and_one_message(tmp_path, arguments):
    (tmp_path / "taken").write_text("a file where a directory should go")
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "taken").read_text() == "a file where a directory should go"


def test_a_claim_that_is_not_met_is_exit_code_1(tmp_path):
    # 20 steps of an ensemble of 2 cannot keep the order from t = 150 on, nor tell; 160 steps of 2 runs can be checked
    done = run("reproduce", "--runs", "2", "--horizon", "160", "--seed", "5", cwd=tmp_path)
    record = (tmp_path / "reproduction" / "claims.json").read_text()
    assert done.returncode == (1 if '"met": false' in record else 0)
    assert "needs a horizon of" in done.stdout


def test_the_version_is_printed(tmp_path):
    assert run("--version", cwd=tmp_path).stdout.strip() == cb.__version__


def in_a_terminal(arguments, cwd, until=b"", stop_with=None):
    """Run the program in a pseudo-terminal, as a person sees it; return its exit code and all it drew."""
    child, master = pty.fork()
    if child == 0:
        os.chdir(cwd)
        os.execv(PROGRAM, [str(PROGRAM), *arguments])
    seen, deadline = b"", time.monotonic() + 60
    while time.monotonic() < deadline:
        ready, _, _ = select.select([master], [], [], 0.5)
        if ready:
            try:
                chunk = os.read(master, 65536)
            except OSError:
                break
            if not chunk:
                break
            seen += chunk
        if stop_with and until in seen:
            os.kill(child, stop_with)
            stop_with = None
    _, status = os.waitpid(child, 0)
    os.close(master)
    return os.waitstatus_to_exitcode(status), seen.decode()


LONG = SMALL.replace("grid = [3, 3]", "grid = [30, 30]").replace(
    "means = [0, 1, 2, 3, 4, 5, 4, 3, 2]", 'draw = { kernel = "exponential", length = 3.0, variance = 9.0, seed = 0 }'
)


def test_a_person_sees_progress_and_ctrl_c_ends_cleanly(tmp_path):
    (tmp_path / "long.toml").write_text(LONG.replace("horizon = 60", "horizon = 100000"))
    code, seen = in_a_terminal(["simulate", "long.toml"], tmp_path, until=b"simulating", stop_with=signal.SIGINT)
    assert code == 130
    assert "simulating" in seen
    assert "%" in seen
    assert "stopped" in seen
    assert "Traceback" not in seen
    assert not list((tmp_path / "results").iterdir())


def test_short_work_shows_no_bar(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    code, seen = in_a_terminal(["simulate", "small.toml"], tmp_path)
    assert code == 0
    assert "simulating" not in seen
