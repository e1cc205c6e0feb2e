import os
import pty
import select
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import corrbandits as cb
from corrbandits import plots
from corrbandits.cli import entry as cli
from corrbandits.paper import errata

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


def run(*arguments, cwd, **environment):
    return subprocess.run(
        [PROGRAM, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, env={**os.environ, **environment}
    )


def here(monkeypatch, *arguments):
    """Run the program in this process; return its exit code."""
    monkeypatch.setattr(sys, "argv", ["corrbandits", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    return stop.value.code


def contents(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


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


# long work: summaries, checkpoints


def test_a_summary_is_written_drawn_and_compared_with_the_bounds(tmp_path, monkeypatch, capsys):
    (tmp_path / "small.toml").write_text(SMALL)
    monkeypatch.chdir(tmp_path)
    said = []
    for out, options in (("full", ()), ("part", ("--record", "summary", "--threads", "1"))):
        assert here(monkeypatch, "simulate", "small.toml", "--out", out, *options) == 0
        assert set(contents(tmp_path / out)) == {"small.nc", "small.png", "small.pdf"}
        assert here(monkeypatch, "bounds", "small.toml", "--trace", f"{out}/small.nc", "--out", out) == 0
        said.append(capsys.readouterr().out.replace(f"{out}/", ""))
    assert said[0] == said[1]
    full, summary = (cb.Trace.load(tmp_path / out / "small.nc") for out in ("full", "part"))
    assert "arms" not in summary.data
    np.testing.assert_array_equal(summary.regret, full.regret.sel(time=summary.data["time"].values))


def test_a_summary_of_another_horizon_is_refused(tmp_path, monkeypatch, capsys):
    (tmp_path / "small.toml").write_text(SMALL)
    assert here(monkeypatch, "simulate", tmp_path / "small.toml", "--record", "summary", "--out", tmp_path) == 0
    (tmp_path / "other.toml").write_text(SMALL.replace("horizon = 60", "horizon = 61"))
    assert here(monkeypatch, "bounds", tmp_path / "other.toml", "--trace", tmp_path / "small.nc") == 2
    assert "must have 61 decisions, but it has 60" in capsys.readouterr().err


def test_ctrl_c_says_what_is_saved_and_the_same_command_goes_on(tmp_path, monkeypatch):
    (tmp_path / "long.toml").write_text(
        SMALL.replace("horizon = 60", "horizon = 9000").replace("runs = 7", "runs = 250")
    )
    arguments = ["simulate", "long.toml", "--checkpoint", "saved", "--record", "summary", "--threads", "1"]
    child = subprocess.Popen([PROGRAM, *arguments], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("saved/*.npz")) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(child.pid, signal.SIGINT)
    _, said = child.communicate(timeout=30)
    assert child.returncode == 130
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("saved/*.npz")}
    assert 0 < len(kept) < 500
    assert said.splitlines() == [
        f"corrbandits: {len(kept)} of 500 runs (250 of each of 2 policies) are saved in saved. Run the same again, "
        "and it goes on from there.",
        "corrbandits: stopped. Result files are all as they were, or all new.",
    ]
    monkeypatch.chdir(tmp_path)
    assert here(monkeypatch, *arguments) == 0
    assert kept == {path: path.stat().st_mtime_ns for path in kept}
    assert here(monkeypatch, *arguments[:2], "--record", "summary", "--out", "plain") == 0
    for name in ("long.nc", "long.png"):
        assert (tmp_path / "plain" / name).read_bytes() == (tmp_path / "results" / name).read_bytes()


def test_ctrl_c_while_figures_are_drawn_says_that_the_runs_are_saved(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(SMALL)
    monkeypatch.setattr(plots, "drawn", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    assert here(monkeypatch, "simulate", "small.toml", "--checkpoint", "saved") == 130
    assert "what was done is saved in saved. Run the same again" in capsys.readouterr().err


def test_a_checkpoint_of_something_else_is_one_message(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(SMALL)
    assert here(monkeypatch, "simulate", "small.toml", "--checkpoint", "saved") == 0
    (tmp_path / "saved" / "0-0-1.npz").write_bytes(b"damaged")
    done = run("simulate", "small.toml", "--checkpoint", "saved", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "corrbandits: saved/0-0-1.npz cannot be used: it is damaged, or was not written by corrbandits. Its runs are "
        "played again.",
        "corrbandits: 13 of 14 runs (7 of each of 2 policies) were there already, in saved.",
    ]
    (tmp_path / "small.toml").write_text(SMALL.replace("seed = 3", "seed = 4"))
    for arguments, message in (
        (("--checkpoint", "saved"), "saved is the checkpoint of another simulation: seed 3 there, 4 here"),
        (("--checkpoint", "."), "must be empty, new, or the checkpoint of this simulation, but it holds"),
        (("--checkpoint", "small.toml"), "'small.toml' is a file"),
        (("--record", "some"), "'some' is not one of 'full', 'summary'"),
        (("--threads", "0"), "'--threads'"),
    ):
        capsys.readouterr()
        assert here(monkeypatch, "simulate", "small.toml", *arguments) == 2
        assert message in " ".join(capsys.readouterr().err.split())


def test_it_is_said_how_many_runs_were_there_already(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    one = SMALL.replace('[policies.one]\nrule = "UCL"\nprior = "flat"\na = 1.5\n', "")
    (tmp_path / "small.toml").write_text(one)
    command = "simulate", "small.toml", "--checkpoint", "saved"
    said = []
    for _ in range(2):
        assert here(monkeypatch, *command) == 0
        said.append(capsys.readouterr().err)
    assert said == ["", "corrbandits: 7 of 7 runs were there already, in saved.\n"]
    assert here(monkeypatch, "simulate", "small.toml") == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("arguments", [("--checkpoint", ""), ("--checkpoint=",)])
def test_an_empty_name_of_a_checkpoint_is_refused(tmp_path, monkeypatch, capsys, arguments):
    (tmp_path / "new").mkdir()
    (tmp_path / "small.toml").write_text(SMALL)
    monkeypatch.chdir(tmp_path / "new")
    assert here(monkeypatch, "simulate", "../small.toml", *arguments) == 2
    assert "--checkpoint must be the name of a directory, got an empty one" in capsys.readouterr().err
    assert not list((tmp_path / "new").iterdir())


def test_a_checkpoint_that_is_a_lost_link_is_one_message(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "saved").symlink_to("away")
    assert here(monkeypatch, "simulate", "small.toml", "--checkpoint", "saved") == 2
    assert "saved is a link to away, which is not there. Name another." in capsys.readouterr().err


# results: all of them or none, and nothing else is touched


def test_an_error_between_two_files_leaves_the_old_results(tmp_path, monkeypatch, capsys):
    (tmp_path / "small.toml").write_text(SMALL)
    out = tmp_path / "out"
    assert here(monkeypatch, "simulate", tmp_path / "small.toml", "--out", out) == 0
    before = contents(out)
    (tmp_path / "small.toml").write_text(SMALL.replace("seed = 3", "seed = 4"))
    drawn = plots.drawn

    def failing(error):
        return lambda figure, ending: drawn(figure, ending) if ending == ".png" else (_ for _ in ()).throw(error)

    for error, code in ((KeyboardInterrupt(), 130), (OSError("no"), 2), (MemoryError(), 2), (OverflowError("x"), 2)):
        monkeypatch.setattr(plots, "drawn", failing(error))
        capsys.readouterr()
        assert here(monkeypatch, "simulate", tmp_path / "small.toml", "--out", out) == code
        assert contents(out) == before
        said = capsys.readouterr().err.strip()
        assert said.startswith("corrbandits: ")
        assert "\n" not in said


def test_a_full_disk_is_one_message_and_leaves_the_old_results(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    assert run("simulate", "small.toml", cwd=tmp_path).returncode == 0
    before = contents(tmp_path / "results")
    (tmp_path / "small.toml").write_text(SMALL.replace("runs = 7", "runs = 70"))
    limited = (  # files may not grow beyond 20 kB: what a full disk does, without one
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)); "
        "import sys; sys.argv = ['corrbandits', 'simulate', 'small.toml']; "
        "from corrbandits.cli.entry import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", limited], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "cannot be written" in done.stderr
    assert "Make room" in done.stderr
    assert contents(tmp_path / "results") == before


def test_dots_in_a_name_are_part_of_it(tmp_path, monkeypatch):
    for name in ("my.v1.toml", "my.v2.toml", "my.nc"):
        (tmp_path / name).write_text(SMALL)
        assert here(monkeypatch, "simulate", tmp_path / name, "--out", tmp_path) == 0
    made = {f"{stem}.{ending}" for stem in ("my.v1", "my.v2", "my.nc") for ending in ("png", "pdf", "nc")}
    assert set(contents(tmp_path)) == made | {"my.v1.toml", "my.v2.toml", "my.nc"}
    assert (tmp_path / "my.nc").read_text() == SMALL


def test_the_experiment_itself_is_never_replaced(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "small.png").symlink_to("small.toml")
    done = run("simulate", "small.toml", "--out", ".", cwd=tmp_path)
    assert done.returncode == 2
    assert "must stay" in done.stderr
    assert (tmp_path / "small.toml").read_text() == SMALL
    assert set(contents(tmp_path)) == {"small.toml", "small.png"}


def test_a_users_own_file_in_the_directory_stays(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / ".writable").write_text("mine")
    assert run("simulate", "small.toml", "--out", ".", cwd=tmp_path).returncode == 0
    assert (tmp_path / ".writable").read_text() == "mine"


def test_ctrl_c_while_libraries_load_is_one_line(tmp_path):
    (tmp_path / "typer.py").write_text("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)\n")
    done = run("--version", cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert done.returncode == 130
    assert done.stderr == "corrbandits: stopped. Result files are all as they were, or all new.\n"


def test_what_does_not_fit_into_memory_is_one_message(tmp_path):
    (tmp_path / "huge.toml").write_text(SMALL.replace("horizon = 60", "horizon = 1000000000000"))
    done = run("simulate", "huge.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "GB" in done.stderr
    assert "shorter horizon" in done.stderr


# what is printed


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
    done = run("simulate", "coins.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    counts = cb.Trace.load(tmp_path / "results" / "coins.nc").counts.values
    assert f"{counts[..., 1:].sum() / counts.sum():.1%}" in done.stdout
    assert counts[..., 1].any()
    assert counts[..., 2].any()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_name_the_terminal_cannot_show_is_no_failure(tmp_path, encoding):
    (tmp_path / "names.toml").write_text(
        SMALL.replace("[policies.one]", '[policies."日本 $\\\\foo{$ _x"]'), encoding="utf-8"
    )
    done = subprocess.run(
        [PROGRAM, "simulate", "names.toml"],
        cwd=tmp_path,
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    assert b"is in results/" in done.stdout


# what the theorems promise


def test_bounds_of_the_papers_experiment(tmp_path):
    done = run("bounds", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert set(contents(tmp_path / "results")) == {"paper-bounds.png", "paper-bounds.pdf"}
    for policy in ("uninformative, Theorem 1: informative", "ill-informed correlated, Theorem 2, summed: vacuous"):
        assert policy in done.stdout
    assert "simulated" not in done.stdout


def test_bounds_of_an_experiment_beside_its_trace(tmp_path):
    more = SMALL.replace("[run]", '[policies.three]\nrule = "Greedy"\nprior = "smooth"\n[run]')
    (tmp_path / "small.toml").write_text(more)
    assert run("simulate", "small.toml", cwd=tmp_path).returncode == 0
    done = run("bounds", "small.toml", "--trace", "results/small.nc", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {"small-bounds.png", "small-bounds.pdf"} < set(contents(tmp_path / "results"))
    assert "three: no theorem speaks of this policy" in done.stdout
    assert "one, Theorem 1" in done.stdout
    assert "simulated" in done.stdout
    trace = cb.Trace.load(tmp_path / "results" / "small.nc")
    counts = trace.counts.mean("run").values
    first_row = next(line for line in done.stdout.splitlines() if line.split()[:2] == ["2", "1"])
    near = np.flatnonzero(np.isin(trace.data["means"], [4, 3]))  # the two groups of smallest gap are split by count
    assert any(f"{counts[0, arm]:,.1f}" in first_row for arm in near)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("policies.two", "policies.other"), "it lacks other"),
        (("means = [0,", "means = [1,"), "have other mean rewards"),
        (("horizon = 60", "horizon = 61"), "must have 61 decisions, but it has 60"),
    ],
)
def test_a_trace_of_another_experiment_is_refused(tmp_path, monkeypatch, capsys, change, message):
    (tmp_path / "small.toml").write_text(SMALL)
    assert here(monkeypatch, "simulate", tmp_path / "small.toml", "--out", tmp_path) == 0
    (tmp_path / "other.toml").write_text(SMALL.replace(*change))
    arguments = ("--trace", tmp_path / "small.nc", "--out", tmp_path / "new")
    assert here(monkeypatch, "bounds", tmp_path / "other.toml", *arguments) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_counts_are_compared_after_initialisation():
    from corrbandits.experiment.results import counts_after_initialisation

    bandit = cb.GaussianBandit([0.0, 1.0, 2.0], 1.0)
    prior = cb.Correlated(covariance=9 * np.eye(3), noise_variance=1.0)  # every arm must be taken once first
    policy = cb.CorrelatedUCL(a=1.5)
    trace = cb.simulate({"x": (policy, prior)}, bandit, 50, 4)
    without = counts_after_initialisation(trace, "x", policy, prior)
    np.testing.assert_allclose(without, trace.counts.sel(policy="x").mean("run") - 1)


# the mistakes in the print, and the audit


def test_errata_are_listed(tmp_path):
    done = run("errata", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for erratum in errata.ERRATA:
        assert f"\n{erratum.number} " in done.stdout
        assert erratum.where.split()[0] in done.stdout
    assert "held" not in done.stdout


def test_errata_are_checked(monkeypatch, capsys):
    monkeypatch.setattr(errata, "ERRATA", errata.ERRATA[:5])  # all of them are checked in test_errata.py
    assert here(monkeypatch, "errata", "--check") == 0
    said = capsys.readouterr().out
    assert "5 of 5 findings held." in said
    assert said.count(" held\n") == 5


def test_a_finding_that_fails_is_said_and_is_exit_code_1(monkeypatch, capsys):
    def fail():
        raise errata.ErratumError("the finding does not hold: 1 is not 2")

    first, second, *_ = errata.ERRATA
    monkeypatch.setattr(errata, "ERRATA", (replace(first, check=fail), replace(second, check=lambda: None)))
    assert here(monkeypatch, "errata", "--check") == 1
    said = capsys.readouterr().out
    assert " failed\n" in said
    assert " held\n" in said
    assert "1: the finding does not hold: 1 is not 2" in said
    assert "1 of 2 findings held." in said


def test_an_audit_is_printed_and_written(tmp_path):
    done = run("audit", "--problems", "1", "--runs", "2", "--seed", "7", "--out", "new", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 random problems with 2 runs" in done.stdout
    assert "seed 7" in done.stdout
    assert list(contents(tmp_path / "new")) == ["audit.csv"]
    rows = (tmp_path / "new" / "audit.csv").read_text().splitlines()
    assert rows[0].startswith("problems,bound,pairs,violations")
    assert any(row.startswith("random,Theorem 1,") for row in rows)


BOUNDS = """\
[arms]
count = 2
[truth]
means = {means}
noise_variance = 1.0
[priors.p]
variance = {variance}
[policies.one]
rule = "{rule}"
prior = "p"
a = {a}
[run]
horizon = {horizon}
runs = 3
"""


def bounds_file(path, means="[1.0, 0.0]", variance=1.0, rule="UCL", a=3.0, horizon=200):
    path.write_text(BOUNDS.format(means=means, variance=variance, rule=rule, a=a, horizon=horizon))


def test_bounds_of_arms_that_are_all_optimal_or_of_one_decision(tmp_path):
    for changes in ({"means": "[1.0, 1.0]"}, {"horizon": 1}):
        bounds_file(tmp_path / "few.toml", **changes)
        done = run("bounds", "few.toml", cwd=tmp_path)
        assert done.returncode == 0, done.stderr


def test_a_trace_of_other_parameters_is_refused(tmp_path):
    bounds_file(tmp_path / "my.toml")
    assert run("simulate", "my.toml", cwd=tmp_path).returncode == 0
    assert run("bounds", "my.toml", "--trace", "results/my.nc", cwd=tmp_path).returncode == 0
    bounds_file(tmp_path / "my.toml", a=5.0)
    done = run("bounds", "my.toml", "--trace", "results/my.nc", cwd=tmp_path)
    assert done.returncode == 2
    assert "these parameters of the policies" in done.stderr


def test_counts_after_an_initialisation_that_did_not_end_are_not_negative(tmp_path):
    bounds_file(tmp_path / "my.toml", variance=10.0, rule="CorrelatedUCL", horizon=1)
    assert run("simulate", "my.toml", cwd=tmp_path).returncode == 0
    done = run("bounds", "my.toml", "--trace", "results/my.nc", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "-1.0" not in done.stdout


def test_bounds_beside_a_figure_of_the_paper(tmp_path):
    from corrbandits.paper import reproduction as paper

    surface = cb.landscapes.two_peaks()
    trace = cb.simulate(paper.well_informed(surface), surface, paper.HORIZON, 2)
    trace.save(tmp_path / "figure1.nc")
    done = run("bounds", "--figure", "1", "--trace", "figure1.nc", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "simulated" in done.stdout
