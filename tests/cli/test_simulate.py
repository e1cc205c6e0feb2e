"""`corrbandits simulate`: what it writes, prints and refuses."""

import io
import os
import pty
import select
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import xarray as xr

import corrbandits as cb
from tests.support.commands import PROGRAM, SMALL, corrbandits, here


def test_simulate_writes_what_the_library_gives(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    done = corrbandits("simulate", "small.toml", "--out", "deep/results", cwd=tmp_path)
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


def test_one_decision_and_one_run_are_not_several(tmp_path, monkeypatch, capsys):
    (tmp_path / "one.toml").write_text(SMALL.replace("horizon = 60", "horizon = 1").replace("runs = 7", "runs = 1"))
    monkeypatch.chdir(tmp_path)
    assert here(monkeypatch, "simulate", "one.toml") == 0
    assert "After 1 decision, 1 run" in capsys.readouterr().out


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
    done = corrbandits("simulate", "wrong.toml", cwd=tmp_path)
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
        ("bounds", "missing.toml"),
        ("bounds", "--trace", "missing.nc"),
        ("bounds", "--trace", "taken"),
        ("audit", "--runs", "1"),
        ("audit", "--out", "taken"),
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
    done = corrbandits(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "taken").read_text() == "a file where a directory should go"


def test_the_version_is_printed(tmp_path):
    done = subprocess.run([PROGRAM, "--version"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.strip() == cb.__version__


BERNOULLI = """\
[arms]
count = 3
[truth]
means = [0.0, 1.0, 1.0]
rewards = "bernoulli"
[priors.flat]
successes = 1.0
failures = 1.0
[policies.one]
rule = "Thompson"
prior = "flat"
[run]
horizon = 50
runs = 3
"""


def test_certain_rewards_and_ties_of_the_best_arm(tmp_path):
    (tmp_path / "coins.toml").write_text(BERNOULLI)
    done = corrbandits("simulate", "coins.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    counts = cb.Trace.load(tmp_path / "results" / "coins.nc").counts.values
    assert f"{counts[..., 1:].sum() / counts.sum():.1%}" in done.stdout
    assert counts[..., 1].any()
    assert counts[..., 2].any()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_name_the_terminal_cannot_show_is_no_failure(tmp_path, monkeypatch, capsys, encoding):
    (tmp_path / "names.toml").write_text(
        SMALL.replace("[policies.one]", '[policies."日本 $\\\\foo{$ _x"]'), encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    shown = io.TextIOWrapper(io.BytesIO(), encoding=encoding)  # as Python opens standard output with this encoding
    monkeypatch.setattr(sys, "stdout", shown)
    assert here(monkeypatch, "simulate", "names.toml") == 0
    assert capsys.readouterr().err == ""
    shown.flush()
    said = shown.buffer.getvalue().decode(encoding)
    assert "is in results/" in said
    assert ("日本" in said) == (encoding == "utf-8")


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


@pytest.mark.parametrize("before", [signal.SIG_DFL, signal.SIG_IGN])
def test_ctrl_c_while_libraries_load_is_one_line_even_if_the_shell_ignores_it(tmp_path, before):
    (tmp_path / "typer.py").write_text("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    shell = {"preexec_fn": lambda: signal.signal(signal.SIGINT, before)}
    done = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, env=environment, **shell)
    assert done.returncode == 130
    assert done.stderr == "corrbandits: stopped. Result files are all as they were, or all new.\n"


@pytest.mark.parametrize("library", ["numpy", "sqlalchemy"])
def test_ctrl_c_while_the_libraries_of_a_study_load_is_one_line(tmp_path, library):
    stop = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)\n"
    (tmp_path / f"{library}.py").write_text(stop)
    (tmp_path / "survey.db").touch()
    done = subprocess.run(
        [PROGRAM, "study", "list", "--db", tmp_path / "survey.db"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 130
    assert done.stderr == "corrbandits: stopped. Result files are all as they were, or all new.\n"


def test_what_does_not_fit_into_memory_is_one_message(tmp_path):
    (tmp_path / "huge.toml").write_text(SMALL.replace("horizon = 60", "horizon = 1000000000000"))
    done = corrbandits("simulate", "huge.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "GB" in done.stderr
    assert "shorter horizon" in done.stderr
