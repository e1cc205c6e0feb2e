import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.cli import entry as cli
from corrbandits.study.journal import JournalError

PROGRAM = Path(sys.executable).parent / "corrbandits"
SITES = "name,x,y\n" + "".join(f"p{x}{y},{100 * x},{100 * y}\n" for x in range(4) for y in range(3))
CREATE = ("create", "meadow", "--arms", "sites.csv", "--kernel", "exponential", "--length", "300", "--noise-sd", "2")


@pytest.fixture
def shell(tmp_path, monkeypatch, capsys):
    """Run `corrbandits study ...` in this process; return the exit code, what it printed and what it complained of."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("CORRBANDITS_DB", raising=False)
    (tmp_path / "sites.csv").write_text(SITES)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["corrbandits", "study", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        return stop.value.code or 0, printed.out, printed.err

    return run


@pytest.fixture
def ok(shell):
    """Run a command that must succeed; return what it printed."""

    def run(*arguments):
        code, out, err = shell(*arguments)
        assert (code, err) == (0, ""), err
        return out

    return run


@pytest.fixture
def answer(shell):
    """Run a command with --json; return its document."""

    def run(*arguments, code=0):
        command, *rest = arguments
        came, out, err = shell(command, "--json", *rest)
        assert came == code, err
        assert out.count("\n") == 1
        return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))

    return run


@pytest.fixture
def refused(shell):
    """Run a command that must be refused; return what it complained of."""

    def run(*arguments, code=2):
        came, out, err = shell(*arguments)
        assert came == code, (out, err)
        assert out == ""
        return err

    return run


def default_database(tmp_path):
    return tmp_path / "data" / "corrbandits" / "studies.db"


def run_program(*arguments, cwd, **environment):
    given = {**os.environ, "XDG_DATA_HOME": str(cwd / "data"), **environment}
    given.pop("CORRBANDITS_DB", None)
    return subprocess.run([PROGRAM, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, env=given)


def test_the_lines_of_the_issue_as_they_stand(tmp_path):
    (tmp_path / "sites.csv").write_text(SITES)
    lines = (
        "corrbandits study create meadow --arms sites.csv --kernel exponential --length 300 --noise-sd 2",
        *["corrbandits study ask meadow"] * 17,
        "corrbandits study tell meadow 17 31.2",
    )
    for line in lines:
        done = run_program(*line.split()[1:], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
    with cb.Study.open(default_database(tmp_path), "meadow") as study:
        assert study.belief.sums.sum() == 31.2
        assert len(study.open_trials) == 16


def test_create_says_where_it_is_and_what_it_chose(ok, tmp_path):
    out = ok(*CREATE)
    assert f"meadow: 12 arms, 0 trials, in sqlite:///{default_database(tmp_path)}" in out
    assert "exponential kernel of length 300, mean 0 ± 20; noise ± 2" in out
    assert "No prior sd was given: 20 stands for it, 10 times the noise" in out
    assert "No prior mean was given: 0" in out
    assert "UCL(" in out
    assert "Correlated" not in out
    printed = ok("create", "printed", *CREATE[2:], "--policy", "CorrelatedUCL")
    assert "now 12 of 12, before it prefers good ones. To begin sooner: --policy UCL" in printed
    assert "it tries 12 arms more before it prefers good ones" in " ".join(ok("show", "printed").split())
    assert "corrbandits study ask meadow" in out


def test_what_is_known_beforehand_goes_into_the_prior(ok, tmp_path):
    rows = ["brook,0,0,30,1,loam,7,01", "hill,3,4,32,2.5,sand,,02"]
    (tmp_path / "known.csv").write_text("\n".join(["name,x,y,prior_mean,prior_sd,soil,depth,code", *rows]))
    out = ok("create", "a", "--arms", "known.csv", "--kernel", "matern32", "--length", "5", "--noise-sd", "2")
    assert "was given" not in out
    with cb.Study.open(default_database(tmp_path), "a") as study:
        prior = study.settings.prior
        np.testing.assert_allclose(prior.mean, [30.0, 32.0])
        np.testing.assert_allclose(np.sqrt(prior.variance), [1.0, 2.5])
        correlation = prior.covariance[0, 1] / 2.5
        assert correlation == pytest.approx(cb.Matern32(5.0)([[0, 0]], [[3, 4]])[0, 0])
        np.testing.assert_allclose(prior.noise_variance, 4.0)
        attributes = study.arms.attributes
        assert attributes == {"soil": ("loam", "sand"), "depth": (7.0, None), "code": ("01", "02")}
        assert study.arms.coordinates.tolist() == [[0.0, 0.0], [3.0, 4.0]]
        assert study.settings.policy == cb.UCL()


def test_without_a_kernel_arms_say_nothing_of_each_other(answer, ok, tmp_path):
    assert answer("create", "a", "--arms", "sites.csv", "--noise-sd", "2")["policy"]["rule"] == "UCL"
    ok("create", "b", "--arms", "sites.csv", "--noise-sd", "2", "--prior-mean", "-3", "--prior-sd", "1.5")
    with cb.Study.open(default_database(tmp_path), "a") as study:
        assert np.isinf(study.belief.variance).all()
    with cb.Study.open(default_database(tmp_path), "b") as study:
        assert isinstance(study.settings.prior, cb.Independent)
        np.testing.assert_allclose(study.belief.variance, 2.25)
        np.testing.assert_allclose(study.belief.mean, -3.0)


def test_every_option_of_create_is_taken(ok, tmp_path):
    options = ("--kernel", "rational_quadratic", "--length", "100", "--length", "300", "--alpha", "2")
    rest = ("--policy", "CorrelatedUCL", "--set", "a=3.3", "--set", "factor=false", "--goal", "min", "--seed", "7")
    more = ("--once", "--timeout", "36h", "--prior-sd", "4", "--prior-mean", "30")
    ok("create", "a", "--arms", "sites.csv", "--noise-sd", "2", *options, *rest, *more)
    ok("create", "b", "--arms", "sites.csv", "--noise-sd", "2", "--policy", "KnowledgeGradient", "--set", "horizon=50")
    with cb.Study.open(default_database(tmp_path), "a") as study:
        settings = study.settings
        assert settings.policy == cb.CorrelatedUCL(a=3.3, factor=False)
        assert (settings.goal, settings.seed, settings.repeat, settings.timeout) == ("min", 7, False, 36 * 3600.0)
        kernel = settings.prior.prior_arguments()["kernel"]
        assert kernel == 16 * cb.RationalQuadratic((100.0, 300.0), alpha=2.0)
    with cb.Study.open(default_database(tmp_path), "b") as study:
        assert study.settings.policy == cb.KnowledgeGradient(horizon=50)


def test_on_the_globe_distances_are_kilometres(answer, tmp_path):
    (tmp_path / "globe.csv").write_text("name,latitude,longitude\na,52,13\nb,53,14\n")
    common = ("--arms", "globe.csv", "--noise-sd", "1", "--length", "50", "--kernel")
    assert "50 km (great circle distance)" in answer("create", "a", *common, "exponential")["prior"]
    assert "50 km (chordal distance)" in answer("create", "b", *common, "matern52")["prior"]


def test_many_arms_form_no_matrix(ok, tmp_path):
    rows = "".join(f"p{x}_{y},{x},{y}\n" for x in range(101) for y in range(100))
    (tmp_path / "many.csv").write_text("name,x,y\n" + rows)
    ok("create", "many", "--arms", "many.csv", "--noise-sd", "2", "--kernel", "exponential", "--length", "20")
    with cb.Study.open(default_database(tmp_path), "many") as study:
        assert isinstance(study.settings.prior, cb.Implicit)
        assert study.settings.policy == cb.UCL()
    out = ok("show", "many")
    assert "each sign is the average of" in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_study_from_the_first_question_to_the_last(ok, answer, shell, tmp_path):
    ok(*CREATE)
    assert ok("list") == "meadow\n"
    trials = answer("ask", "meadow", "-n", "3")["trials"]
    assert [trial["trial"] for trial in trials] == [1, 2, 3]
    assert len({trial["name"] for trial in trials}) == 3
    assert set(trials[0]["coordinates"]) == {"x", "y"}
    assert f"trial 1 ({trials[0]['name']}) told: 31.2; 2 open" in ok("tell", "meadow", "1", "31.2")
    assert "31.2" in ok("tell", "meadow", "1", "31.2")  # again
    assert "told: -1.5" in ok("tell", "meadow", "2", "-1.5")
    told = answer("tell", "meadow", "3", "-2.5e-1")
    assert told == {"study": "meadow", "did": "told", **trials[2], "reward": -0.25, "open": 0, "surprise": None}
    observed = answer("observe", "meadow", "p11", "-3", "--key", "receipt 7")
    assert (observed["did"], observed["trial"], observed["name"]) == ("observed", 4, "p11")
    assert answer("observe", "meadow", "p11", "-3", "--key", "receipt 7")["trial"] == 4
    assert "amended: 12" in ok("amend", "meadow", "2", "12")
    assert "retracted" in ok("retract", "meadow", "4")
    asked = answer("ask", "meadow", "--allowed", "p00", "--allowed", "p10")["trials"][0]
    assert asked["name"] in ("p00", "p10")
    assert "cancelled; 0 open" in ok("cancel", "meadow", "5")
    (tmp_path / "today.csv").write_text("name,why\np21,dry\n")
    assert answer("ask", "meadow", "--allowed", "@today.csv")["trials"][0]["name"] == "p21"
    shown = answer("show", "meadow", "--top", "4")
    assert shown["trials"] == {"told": 3, "observed": 0, "open": 1, "expired": 0, "cancelled": 1, "retracted": 1}
    assert (shown["t"], len(shown["top"]), shown["open"][0]["trial"]) == (5, 4, 6)
    assert shown["policy"]["rule"] == "UCL"
    found = answer("best", "meadow")
    assert found["best"] == shown["best"]
    assert found["enough"] is None
    assert found["best"]["name"] in ok("best", "meadow")
    assert answer("explain", "meadow", "1")["chosen"]["name"] == trials[0]["name"]
    assert ok("explain", "meadow", "1").startswith("trial 1 (t = 1): ")
    rows = answer("history", "meadow")["trials"]
    assert [row["status"] for row in rows] == ["told", "told", "told", "retracted", "cancelled", "open"]
    assert (rows[1]["reward"], rows[1]["first_reward"], rows[5]["reward"]) == (12.0, -1.5, None)
    assert rows[0]["told"].endswith("+00:00")
    out = ok("history", "meadow", "--last", "2")
    assert "cancelled" in out
    assert "retracted" not in out
    assert "the last 2 of 6 trials" in out


def test_a_mistyped_reward_is_noticed_at_once_and_in_show(ok, answer):
    ok(*CREATE, "--prior-mean", "30", "--prior-sd", "5")
    ok("ask", "meadow")
    out = ok("tell", "meadow", "1", "304")
    assert "WARNING: the rewards of p" in out
    assert "from what all else says (30 ± 5.4)" in out
    assert "corrbandits study amend meadow 1 REWARD" in out
    assert len(answer("show", "meadow")["warnings"]) == 1
    assert "mistyped" in ok("show", "meadow")
    assert "WARNING" not in ok("amend", "meadow", "1", "30.4")
    assert answer("show", "meadow")["warnings"] == []


def test_what_is_said_of_a_repeated_observation_is_what_counts(ok):
    ok(*CREATE)
    ok("observe", "meadow", "p11", "34.8", "--key", "nb-1")
    ok("amend", "meadow", "1", "35")
    assert "observed: 35;" in ok("observe", "meadow", "p11", "34.8", "--key", "nb-1")


def test_an_empty_key_is_refused(ok, refused):
    ok(*CREATE)
    assert "a key must be" in refused("observe", "meadow", "p11", "34.8", "--key", "")


@pytest.mark.parametrize("command", ["ask meadow", "tell meadow 1 3", "show meadow", "delete meadow"])
def test_closed_streams_are_no_error_of_ours(ok, tmp_path, command):
    ok(*CREATE)
    ok("ask", "meadow")
    program = f"'{sys.executable}' -m corrbandits.cli.entry study {command} >&- <&-"
    done = subprocess.run(["sh", "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert "Traceback" not in done.stderr
    assert done.returncode == (2 if "delete" in command else 0)


def test_arms_out_of_reach_are_excepted(answer, ok, refused, tmp_path):
    ok(*CREATE, "--once")
    every = {f"p{x}{y}" for x in range(4) for y in range(3)}
    (tmp_path / "flooded.csv").write_text("name\np00\np01\n")
    asked = answer("ask", "meadow", "-n", "9", "--except", "@flooded.csv", "--except", "p32")["trials"]
    assert {trial["name"] for trial in asked} == every - {"p00", "p01", "p32"}
    assert "no arm is left" in refused("ask", "meadow", "--allowed", "p00", "--except", "p00")
    assert "3 are left, but 5 were asked for" in refused("ask", "meadow", "-n", "5")


@pytest.mark.parametrize(("columns", "times"), [("60", False), ("80", True)])
def test_history_fits_a_terminal(ok, monkeypatch, columns, times):
    from corrbandits._shell import terminal

    ok(*CREATE)
    for k in range(12):
        ok("observe", "meadow", "p11", str(30 + k))
    narrow = terminal.console
    monkeypatch.setattr(terminal, "console", lambda *a, **k: narrow(*a, **{**k, "width": int(columns)}))
    out = ok("history", "meadow")
    lines = out.splitlines()
    assert max(map(len, lines)) <= int(columns)
    assert lines[0].split()[:4] == ["trial", "arm", "status", "reward"]
    assert lines[-1].split()[:4] == ["12", "p11", "observed", "41"]
    assert ("(UTC)" in out) is times
    assert "first told" not in out
    ok("amend", "meadow", "12", "40")
    assert "first told" in ok("history", "meadow")


def test_the_rule_of_the_shell_costs_less_than_one_that_tries_every_arm_first():
    """Why `create` takes UCL: where the prior sd is above the noise's, CorrelatedUCL begins with nearly every arm."""
    places = np.array([[x, y] for x in range(8) for y in range(8)], dtype=float)
    kernel, regret = 25 * cb.Exponential(3.0), {"UCL": 0.0, "CorrelatedUCL": 0.0}
    prior = cb.Correlated(mean=30.0, kernel=kernel, coordinates=places, noise_variance=4.0)
    for seed in range(10):
        surface = cb.landscapes.draw(kernel, places, noise_variance=4.0, seed=seed, mean=30.0)
        players = {"UCL": (cb.UCL(), prior), "CorrelatedUCL": (cb.CorrelatedUCL(), prior)}
        trace = cb.simulate(players, surface, horizon=60, runs=4, seed=seed)
        for name in regret:
            regret[name] += float(trace.regret.mean("run").sel(policy=name, time=60))
    assert regret["UCL"] < 0.6 * regret["CorrelatedUCL"]


def test_show_draws_a_map_of_a_grid(ok):
    ok(*CREATE)
    ok("observe", "meadow", "p32", "40")
    out = ok("show", "meadow")
    assert max(map(len, out.splitlines())) <= 80
    top = next(line for line in out.splitlines() if line.startswith("200  "))
    assert top.endswith("B█")
    assert "\x1b" not in out
    assert "WARNING" not in out


def test_show_of_scattered_arms_names_plot(ok, tmp_path):
    (tmp_path / "few.csv").write_text("name,x,y\na,0,0\nb,1,7\nc,2.2,3\n")
    ok("create", "few", "--arms", "few.csv", "--noise-sd", "1")
    assert "corrbandits study plot few" in ok("show", "few")


def test_a_noise_that_is_contradicted_is_said_and_mended_by_a_copy(ok, answer):
    ok(*CREATE)
    for k in range(12):
        ok("observe", "meadow", "p00", 30 + 20 * (-1) ** k)
    assert "WARNING: rewards of the same arm vary by" in ok("show", "meadow")
    assert answer("show", "meadow")["noise"]["p"] < 1e-3
    copied = answer("copy", "meadow", "mended", "--noise-sd", "20")
    assert (copied["study"], copied["trials"]) == ("mended", 12)
    assert "noise ± 20" in copied["prior"]
    assert answer("show", "mended")["warnings"] == []


def test_best_is_a_stopping_rule(ok, shell, answer):
    ok("create", "a", "--arms", "sites.csv", "--noise-sd", "2")
    code, out, _ = shell("best", "a", "--stop-loss", "0.5")
    assert code == 1
    assert "nothing is known of any arm yet" in out
    assert answer("best", "a", "--stop-loss", "0.5", code=1)["enough"] is False
    ok("observe", "a", "p00", "30")
    document = answer("best", "a", "--stop-loss", "0.5", code=1)
    assert document["best"]["expected_loss"] is None  # infinite
    ok("create", "b", "--arms", "sites.csv", "--noise-sd", "0.01", "--prior-sd", "1", "--prior-mean", "0")
    ok("observe", "b", "p21", "50")
    code, out, _ = shell("best", "b", "--stop-loss", "0.5")
    assert code == 0
    assert "That is enough." in out
    assert answer("best", "b", "--stop-loss", "0.5")["enough"] is True


def test_best_without_a_rule_says_why_there_is_none(ok, refused):
    ok("create", "a", "--arms", "sites.csv", "--noise-sd", "2")
    assert "nothing is known of any arm yet" in refused("best", "a")


def test_export_and_import_take_a_study_elsewhere(ok, answer, refused, tmp_path):
    ok(*CREATE)
    ok("observe", "meadow", "p00", "30")
    assert "meadow.jsonl" in ok("export", "meadow")
    assert "stays as it is" in refused("export", "meadow")
    ok("export", "meadow", "--replace")
    assert answer("export", "meadow", "other.jsonl")["file"] == "other.jsonl"
    imported = answer("import", "meadow.jsonl", "--db", "second.db")
    assert (imported["study"], imported["trials"]) == ("meadow", 1)
    assert imported["database"] == "sqlite:///second.db"
    ok("import", "meadow.jsonl", "--db", "second.db", "--name", "again")
    assert answer("list", "--db", "sqlite:///second.db")["studies"] == ["again", "meadow"]
    assert "needs a name of its own" in refused("import", "meadow.jsonl", "--db", "second.db")
    assert "study that export wrote" in refused("import", "sites.csv")


def test_history_goes_into_a_spreadsheet_without_formulas(ok, answer, refused, tmp_path):
    (tmp_path / "odd.csv").write_text('name\n=1+1\n"@SUM(A1)"\n')
    ok("create", "odd", "--arms", "odd.csv", "--noise-sd", "1")
    ok("observe", "odd", "=1+1", "3")
    ok("history", "odd", "--csv", "history.csv")
    assert "'=1+1" in (tmp_path / "history.csv").read_text()
    assert "stays as it is" in refused("history", "odd", "--csv", "odd.csv")
    assert "stays as it is" in refused("history", "odd", "--csv", "history.csv")
    assert answer("history", "odd", "--csv", "history.csv", "--replace")["csv"] == "history.csv"


def test_plot_writes_pictures(ok, answer, tmp_path):
    ok(*CREATE)
    ok("observe", "meadow", "p00", "30")
    assert "meadow-map (.png, .pdf) is in results/" in ok("plot", "meadow")
    assert (tmp_path / "results" / "meadow-map.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "results" / "meadow-map.pdf").read_bytes().startswith(b"%PDF")
    assert answer("plot", "meadow", "--out", "deep/er")["files"] == ["deep/er/meadow-map.png", "deep/er/meadow-map.pdf"]


def test_arms_are_added(ok, answer, refused, tmp_path):
    ok(*CREATE)
    (tmp_path / "more.csv").write_text("name,x,y\nnew,50,50\n")
    assert ok("add-arms", "meadow", "--arms", "more.csv") == "meadow has 13 arms now: 1 were added.\n"
    assert "there is a 'new' already" in refused("add-arms", "meadow", "--arms", "more.csv")
    (tmp_path / "next.csv").write_text("name,x,y,soil\nnext,60,60,loam\n")
    assert answer("add-arms", "meadow", "--arms", "next.csv") == {"study": "meadow", "arms": 14, "added": 1}
    (tmp_path / "wide.csv").write_text("name,x,y,prior_sd\nother,50,70,3\n")
    assert "Leave prior_sd out" in refused("add-arms", "meadow", "--arms", "wide.csv")
    (tmp_path / "own.csv").write_text("name,x,y,prior_mean,prior_sd\na,0,0,5,1\nb,1,0,6,2\n")
    ok("create", "own", "--arms", "own.csv", "--noise-sd", "1", "--kernel", "exponential", "--length", "2")
    (tmp_path / "third.csv").write_text("name,x,y,prior_mean,prior_sd\nc,2,0,7,3\n")
    ok("add-arms", "own", "--arms", "third.csv")
    with cb.Study.open(default_database(tmp_path), "own") as study:
        np.testing.assert_allclose(np.sqrt(study.belief.variance), [1.0, 2.0, 3.0])
        np.testing.assert_allclose(study.belief.mean, [5.0, 6.0, 7.0])
    (tmp_path / "bare.csv").write_text("name,x,y\nd,3,0\n")
    assert "add prior_sd" in refused("add-arms", "own", "--arms", "bare.csv")


def test_copies_go_separate_ways(ok, answer):
    ok(*CREATE)
    ok("copy", "meadow", "twin")
    ok("observe", "twin", "p00", "3")
    assert answer("show", "meadow")["t"] == 1
    assert answer("copy", "twin", "third", "--to", "other.db")["database"] == "sqlite:///other.db"


def test_delete_asks_first(ok, refused, shell, monkeypatch):
    ok(*CREATE)
    assert "say --yes" in refused("delete", "meadow")
    assert "say --yes" in refused("delete", "meadow", "--json")
    for said, code in (("no\n", 2), ("", 2), ("y\n", 0)):
        answers = type("Answers", (), {"isatty": lambda _: True, "readline": lambda _, said=said: said})()
        monkeypatch.setattr(sys, "stdin", answers)
        came, _, err = shell("delete", "meadow")
        assert came == code
        assert "Delete meadow with 0 trials from sqlite:///" in err
    assert "no study 'meadow'" in refused("show", "meadow")
    ok(*CREATE)
    assert ok("delete", "meadow", "--yes") == "meadow is deleted.\n"


def test_the_database_is_named_by_an_option_or_a_variable(ok, answer, monkeypatch, tmp_path):
    monkeypatch.setenv("CORRBANDITS_DB", "sqlite:///variable.db")
    assert answer(*CREATE)["database"] == "sqlite:///variable.db"
    assert answer(*CREATE, "--db", "option.db")["database"] == "sqlite:///option.db"
    assert not (tmp_path / "data").exists()
    assert answer("list")["studies"] == ["meadow"]


def test_only_create_and_import_make_a_database(ok, refused, tmp_path):
    assert "no studies yet" in ok("list")
    for command in (("show", "a"), ("ask", "a"), ("tell", "a", "1", "2"), ("list", "--db", "missing.db")):
        assert "no such file" in refused(*command)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sites.csv"]


def test_a_study_is_kept_in_postgresql(ok, answer, postgres):
    assert answer(*CREATE, "--db", postgres)["database"].startswith("postgresql")
    assert answer("ask", "meadow", "--db", postgres)["trials"][0]["trial"] == 1
    assert "1 open" in ok("show", "meadow", "--db", postgres)


BAD = [
    (("create", "a", "--arms", "missing.csv", "--noise-sd", "2"), "cannot be read"),
    (("create", "a", "--arms", "sites.csv", "--noise-sd", "2,5"), "take a point"),
    (("create", "a", "--arms", "sites.csv", "--noise-sd", "0"), "above 0"),
    (("create", "a", "--arms", "sites.csv", "--noise-sd", "inf"), "finite number"),
    (("create", "a", "--arms", "sites.csv"), "noise-sd"),
    (("create", "a", "--arms", "sites.csv", "--noise-sd", "2", "--kernel", "expo", "--length", "1"), "exponential"),
    (("create", "a", "--arms", "sites.csv", "--noise-sd", "2", "--kernel", "exponential"), "needs --length"),
    (("create", "a", "--arms", "sites.csv", "--noise-sd", "2", "--length", "3"), "Add --kernel"),
    ((*CREATE, "--alpha", "2"), "rational_quadratic alone"),
    ((*CREATE, "--distance", "chordal"), "latitude and longitude"),
    ((*CREATE, "--distance", "far"), "one of euclidean"),
    ((*CREATE, "--length", "3", "--length", "4"), "entries"),
    ((*CREATE, "--prior-sd", "-1"), "above 0"),
    ((*CREATE, "--policy", "thomson"), "Did you mean Thompson?"),
    ((*CREATE, "--policy", "BayesUCB"), "--set horizon=..."),
    ((*CREATE, "--set", "b=3"), "(K, a)"),
    ((*CREATE, "--set", "a"), "name=value"),
    ((*CREATE, "--set", "a=1", "--set", "a=2"), "each name once"),
    ((*CREATE, "--policy", "CorrelatedUCL", "--set", "factor=maybe"), "true or false"),
    ((*CREATE, "--policy", "CorrelatedUCL", "--set", "nu=7"), "at most 1"),
    ((*CREATE, "--timeout", "36"), "such as 36h"),
    ((*CREATE, "--timeout", "1.2.3h"), "such as 36h"),
    ((*CREATE, "--goal", "best"), "goal"),
    ((*CREATE, "--db", "mysql://host/x"), "SQLite or PostgreSQL"),
    ((*CREATE, "--db", "sites.csv"), "no SQLite database"),
    (("create", "a", "--arms", "sites.csv", "--noise-sd", "2", "--prior-mean", "3"), "Give --prior-sd"),
    (("create", "a\x1b[31m", "--arms", "sites.csv", "--noise-sd", "2"), "printable"),
    (("create", " a", "--arms", "sites.csv", "--noise-sd", "2"), "blank at either end"),
    (("create", "x" * 201, "--arms", "sites.csv", "--noise-sd", "2"), "1 to 200"),
    (("nonsense",), "nonsense"),
]


@pytest.mark.parametrize(("arguments", "said"), BAD, ids=lambda value: " ".join(value) if type(value) is tuple else "")
def test_bad_input_is_refused_before_anything_is_made(refused, arguments, said, tmp_path):
    assert said in refused(*arguments)
    assert not default_database(tmp_path).exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x,y\n1,2\n", "line 1: expected a column 'name'"),
        ("name,x,y\na,1,2\nb,1;2,3\n", "line 3: column 'x'"),
        ("name,x,y\na,1,2\na,2,3\n", "line 3: arms must have different names, but 'a' is on line 2"),
        ("name,x,y\na,1,2\n\x07b,2,3\n", "line 3: a name must be 1 to 200 printable signs"),
        ("name,x,y,prior_sd\na,1,2,-1\n", "line 2: column 'prior_sd' must be at least 0"),
        ("name,y\na,1\n", "'x'"),
        ("name,longitude\na,1\n", "'latitude'"),
        ("name;x;y\na;1;2\n", "commas"),
        ("", "the file is empty"),
        ("name,x,y\n", "expected rows"),
    ],
)
def test_a_bad_sheet_is_refused_with_its_line(refused, tmp_path, text, said):
    (tmp_path / "bad.csv").write_text(text)
    assert said in refused("create", "a", "--arms", "bad.csv", "--noise-sd", "2")


def test_a_prior_is_said_once(refused, tmp_path):
    (tmp_path / "known.csv").write_text("name,x,y,prior_mean,prior_sd\na,1,2,3,4\n")
    common = ("create", "a", "--arms", "known.csv", "--noise-sd", "2")
    assert "both a column prior_sd and --prior-sd" in refused(*common, "--prior-sd", "1")
    assert "both a column prior_mean and --prior-mean" in refused(*common, "--prior-mean", "1")


def test_wrong_words_to_a_study_are_refused(ok, refused):
    ok(*CREATE)
    ok("ask", "meadow")
    for command, said in (
        (("tell", "meadow", "1", "31,2"), "Decimals take a point"),
        (("tell", "meadow", "1", "nan"), "finite number"),
        (("tell", "meadow", "1", "1e999"), "finite number"),
        (("tell", "meadow", "1", "1_000"), "finite number"),
        (("tell", "meadow", "p00", "2"), "observe takes the name of an arm"),
        (("tell", "meadow", "9", "2"), "1 to 1"),
        (("tell", "meadow", "0", "2"), "at least 1"),
        (("tell", "meadow", "1"), "REWARD"),
        (("tell", "meadow", "1", "2", "--jsn"), "--jsn"),
        (("tell", "field", "1", "2"), "no study 'field'"),
        (("amend", "meadow", "1", "2"), "tell its reward"),
        (("retract", "meadow", "1"), "cancel it"),
        (("observe", "meadow", "p99", "2"), "an arm must be one of the study's 12"),
        (("ask", "meadow", "-n", "0"), "greater than or equal to 1"),
        (("ask", "meadow", "--allowed", "p99"), "an arm must be one of the study's 12"),
        (("ask", "meadow", "--allowed", "@missing.csv"), "cannot be read"),
        (("best", "meadow", "--stop-loss", "-1"), "at least 0"),
        (("best", "meadow", "--stop-loss", "x"), "finite number"),
        (("explain", "meadow", "7"), "1 to 1"),
        (("create", "meadow", "--arms", "sites.csv", "--noise-sd", "2"), "needs a name of its own"),
        (("copy", "meadow", "meadow"), "needs a name of its own"),
        (("copy", "meadow", "x", "--noise-sd", "0"), "above 0"),
    ):
        assert said in refused(*command), command
    ok("tell", "meadow", "1", "2")
    assert "amend(1, 3.0)" in refused("tell", "meadow", "1", "3")


NAMES = [
    "../../x",
    "a'; DROP TABLE corrbandits_events; --",
    "[red]x[/red]",
    ":smile:",
    "$x_1^2$",
    "=1+1",
    "CON",
    "%s%n{0}",
    "-1.5",
    "名前",
    "long " * 30 + "end",
]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_data(ok, answer, tmp_path, name):
    (tmp_path / "odd.csv").write_text(f'name,x\n"{name}",0\nplain,1\n', encoding="utf-8")
    ok("create", "--arms", "odd.csv", "--noise-sd", "1", "--prior-sd", "2", "--prior-mean", "0", "--", name)
    ok("observe", "--", name, name, "-3")
    ok("observe", "--", name, "plain", "4")
    assert answer("ask", "--allowed", name, "--", name)["trials"][0]["name"] == name
    shown = ok("show", "--", name)
    assert name in shown.replace("\n", "") or len(name) > 60
    assert name in ok("history", "--", name).replace("\n", "") or len(name) > 60
    assert ok("list") == f"{name}\n"
    ok("plot", "--", name)
    ok("export", "--", name)
    ok("import", "--name", "copy", next(path for path in tmp_path.iterdir() if path.suffix == ".jsonl").name)
    written = {path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*") if path.is_file()}
    assert len(written - {"data", "results", "odd.csv", "sites.csv"}) == 1
    assert len(list((tmp_path / "results").iterdir())) == 2
    assert not (tmp_path.parent / "x.jsonl").exists()
    assert answer("history", "--", name)["trials"][0]["reward"] == -3.0


def test_a_name_that_begins_like_an_option_needs_no_dashes_in_observe(ok, tmp_path):
    (tmp_path / "odd.csv").write_text("name\n-north\nsouth\n")
    ok("create", "odd", "--arms", "odd.csv", "--noise-sd", "1")
    assert "(-north) observed: -1.5" in ok("observe", "odd", "-north", "-1.5")


def test_a_database_that_cannot_be_written_is_exit_code_3(ok, refused, tmp_path):
    ok(*CREATE)
    database = default_database(tmp_path)
    with sqlite3.connect(database, isolation_level=None) as holder:
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
    whole = cb.Study.observe

    def broken(study, *arguments, **options):
        whole(study, *arguments, **options)
        error = JournalError("the connection broke.")
        error.unsure = True
        raise error

    with monkeypatch.context() as broke:
        broke.setattr(cb.Study, "observe", broken)
        err = refused("observe", "meadow", "p00", "3", code=3)
    assert "Nobody knows whether it was saved" in err
    key = err.rsplit("--key ", 1)[1].strip().rstrip(".")
    assert answer("observe", "meadow", "p00", "3", "--key", key)["trial"] == 1
    assert answer("show", "meadow")["t"] == 2  # it had been saved, and is not counted twice


def test_ctrl_c_is_exit_code_130(tmp_path):
    (tmp_path / "sites.csv").write_text(SITES)
    assert run_program("study", *CREATE, cwd=tmp_path).returncode == 0
    database = default_database(tmp_path)
    with sqlite3.connect(database, isolation_level=None) as holder:
        holder.execute("BEGIN IMMEDIATE")  # so that the program waits
        environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "data")}
        program = subprocess.Popen(
            [PROGRAM, "study", "observe", "meadow", "p00", "3", "--db", f"{database}"],
            stderr=subprocess.PIPE,
            env=environment,
        )
        time.sleep(3)
        program.send_signal(signal.SIGINT)
        time.sleep(0.5)
        holder.execute("ROLLBACK")
        _, err = program.communicate(timeout=60)
    assert program.returncode == 130
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
