"""The commands of `corrbandits study`, from the first question to the last."""

import sys
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import corrbandits as cb
from tests.support.shell import CREATE, default_database


def test_a_study_from_the_first_question_to_the_last(ok, answer, shell, tmp_path):
    ok(*CREATE)
    assert answer("list")["studies"] == ["meadow"]
    trials = answer("ask", "meadow", "-n", "3")["trials"]
    assert [trial["trial"] for trial in trials] == [1, 2, 3]
    assert len({trial["name"] for trial in trials}) == 3
    assert set(trials[0]["coordinates"]) == {"x", "y"}
    assert f"trial 1 ({trials[0]['name']}) told: 31.2; 2 open" in ok("tell", "meadow", "1", "31.2")
    assert "31.2" in ok("tell", "meadow", "1", "31.2")  # again
    assert "told: -1.5" in ok("tell", "meadow", "2", "-1.5")
    told = answer("tell", "meadow", "3", "-2.5e-1")
    rest = {"reward": -0.25, "open": 0, "surprise": None, "already": False}
    measured = datetime.fromisoformat(told.pop("measured"))
    assert abs(datetime.now(UTC) - measured) < timedelta(minutes=1)
    assert told == {"study": "meadow", "did": "told", **trials[2], **rest}
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
    assert "WARNING: 304 at p" in out
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
    assert "was there already: 35;" in ok("observe", "meadow", "p11", "34.8", "--key", "nb-1")


def test_arms_out_of_reach_are_excepted(answer, ok, refused, tmp_path):
    ok(*CREATE, "--once")
    every = {f"p{x}{y}" for x in range(4) for y in range(3)}
    (tmp_path / "flooded.csv").write_text("name\np00\np01\n")
    asked = answer("ask", "meadow", "-n", "9", "--except", "@flooded.csv", "--except", "p32")["trials"]
    assert {trial["name"] for trial in asked} == every - {"p00", "p01", "p32"}
    assert "no arm is left" in refused("ask", "meadow", "--allowed", "p00", "--except", "p00")
    assert "asked for 5, left of those allowed 3" in refused("ask", "meadow", "-n", "5")


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


def test_show_draws_a_map_of_a_grid(ok):
    ok(*CREATE)
    ok("observe", "meadow", "p32", "40")
    out = ok("show", "meadow")
    assert max(map(len, out.splitlines())) <= 80
    top = next(line for line in out.splitlines() if line.startswith("200  "))
    assert top.endswith("*█")
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


KNOWN = ("--kernel", "none", "--noise-sd", "0.5", "--prior-sd", "1", "--prior-mean", "0")


def test_nothing_is_enough_while_rewards_contradict_what_was_stated(ok, shell, answer, tmp_path):
    """Twelve rewards about 30 where 0 +- 1 was stated: said by show and best, with a command that mends it."""
    ok("create", "meadow", "--arms", "sites.csv", *KNOWN)
    rows = "".join(f"p{k // 3}{k % 3},{30 + 0.4 * k}\n" for k in range(12))
    (tmp_path / "harvest.csv").write_text(f"name,reward\n{rows}")
    ok("observe", "meadow", "--from", "harvest.csv")
    code, out, _ = shell("best", "meadow", "--stop-loss", "5")
    assert code == 1
    for words in (
        "not yet enough",
        "contradict the stated mean, 0: ",
        "over a million times as likely",
        "most near 32",
    ):
        assert words in out, out
    assert out.startswith("WARNING: the rewards contradict"), "before the numbers that rest on it"
    assert "corrbandits study copy --learn mean meadow NEW" in out
    assert "contradict the stated mean" in " ".join(ok("show", "meadow").split())
    found = answer("best", "meadow", "--stop-loss", "5", code=1)
    assert (found["enough"], len(found["warnings"])) == (False, 1)
    assert answer("best", "meadow")["enough"] is None
    told = ok("copy", "--learn", "mean", "meadow", "mended")
    assert "told deviation 1, noise 0.5; the rest is learnt" in told
    mended = answer("best", "mended", "--stop-loss", "5")
    assert (mended["enough"], mended["warnings"]) == (True, [])
    told = ok("copy", "--prior-mean", "20..45", "meadow", "wide")
    assert "told mean 20 to 45, deviation 1, noise 0.5; the rest is learnt" in told
    assert "told mean 20 to 45, deviation 1, noise 2; the rest is learnt" in ok(
        "copy", "--noise-sd", "2", "wide", "loud"
    )


def test_what_cannot_be_learnt_is_refused(ok, refused):
    ok("create", "meadow", "--arms", "sites.csv", *KNOWN)
    message = refused("copy", "--learn", "colour", "meadow", "other")
    assert "--learn must be one of mean, sd, length, noise, got 'colour'" in message
    message = refused("copy", "--learn", "noise", "--noise-sd", "4", "meadow", "other")
    assert "--learn must be of what is not said besides, got noise" in message
    ok("create", "ones", "--arms", "sites.csv", "--rewards", "bernoulli")
    assert "must be of a prior of one mean" in refused("copy", "--learn", "mean", "ones", "other")


def test_best_is_a_stopping_rule(ok, shell, answer):
    ok("create", "a", "--arms", "sites.csv")
    code, out, _ = shell("best", "a", "--stop-loss", "0.5")
    assert code == 1
    assert "nothing is known of any arm yet" in out
    assert answer("best", "a", "--stop-loss", "0.5", code=1)["enough"] is False
    ok("observe", "a", "p00", "30")
    assert answer("best", "a", "--stop-loss", "0.5", code=1)["enough"] is False
    known = ("--kernel", "none", "--noise-sd", "0.01", "--prior-sd", "1", "--prior-mean", "0")
    ok("create", "b", "--arms", "sites.csv", *known)
    ok("observe", "b", "p21", "3.2")
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
    assert ok("add-arms", "meadow", "--arms", "more.csv") == "1 arm added; meadow has 13 now.\n"
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
