"""Trials into a CSV file and rewards from one; an arm in place of a trial; the list of studies; copies; 0 and 1."""

import csv
import re
import sys

import numpy as np
import pytest

import corrbandits as cb
from tests.support.shell import CREATE, default_database


def rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def fill(path, rewards):
    """Write rewards into the last column, as one does in a spreadsheet."""
    header, *lines = path.read_text().splitlines()
    assert all(line.endswith(",") for line in lines)
    filled = [line + reward for line, reward in zip(lines, rewards, strict=True)]
    path.write_text("\n".join([header, *filled]) + "\n")


def test_trials_go_into_a_file_and_come_back_with_their_rewards(ok, answer, refused, tmp_path):
    ok(*CREATE)
    assert "corrbandits study tell meadow --from plan.csv" in ok("ask", "meadow", "-n", "4", "--csv", "plan.csv")
    plan = tmp_path / "plan.csv"
    assert [(row["trial"], row["reward"]) for row in rows(plan)] == [(str(k), "") for k in range(1, 5)]
    assert list(rows(plan)[0]) == ["trial", "name", "x", "y", "reward"]
    assert "stays as it is" in refused("ask", "meadow", "--csv", "plan.csv")
    assert len(answer("show", "meadow")["open"]) == 4  # nothing was asked for
    fill(plan, ["31", "-2.5", "", "1e1"])
    assert ok("tell", "meadow", "--from", "plan.csv") == (
        "plan.csv: told 3, there already 0, without a reward yet 1; 1 open\n"
    )
    again = answer("tell", "meadow", "--from", "plan.csv")
    assert (again["recorded"], again["already"], again["without_reward"], again["open"]) == (0, 3, 1, 1)
    told = {row["trial"]: row["reward"] for row in answer("history", "meadow")["trials"]}
    assert told == {1: 31.0, 2: -2.5, 3: None, 4: 10.0}


@pytest.mark.parametrize(
    ("line", "text", "said"),
    [
        (3, "2,p00,,x", "column 'reward' must hold finite numbers"),
        (3, "2,,,1_000", "column 'reward' must hold finite numbers"),
        (3, "two,,,3", "a trial must be a number that ask said"),
        (3, "9,,,3", "a trial must be one of the study's"),
        (3, "0,,,3", "a trial must be"),
        (3, "1,,,30", "each trial must be there once"),
        (3, "2,nowhere,,3", "but the row says 'nowhere'"),
    ],
)
def test_a_bad_row_is_named_by_its_line_and_nothing_is_told(ok, answer, refused, tmp_path, line, text, said):
    ok(*CREATE)
    names = [trial["name"] for trial in answer("ask", "meadow", "-n", "3")["trials"]]
    good = [f"1,{names[0]},,30", f"3,{names[2]},,31"]
    (tmp_path / "harvest.csv").write_text("\n".join(["trial,name,soil,reward", good[0], text, good[1]]) + "\n")
    message = refused("tell", "meadow", "--from", "harvest.csv")
    assert f"harvest.csv, line {line}: " in message
    assert said in message
    assert len(answer("show", "meadow")["open"]) == 3


def test_a_file_of_observations_counts_once(ok, answer, refused, tmp_path):
    ok(*CREATE)
    file = tmp_path / "week.csv"
    file.write_text("name,reward,key\np00,30,\np11,31,nb-7\np00,30,\n")
    first = answer("observe", "meadow", "--from", "week.csv")
    assert (first["recorded"], first["already"]) == (3, 0)
    assert answer("observe", "meadow", "--from", "week.csv")["recorded"] == 0
    assert answer("observe", "meadow", "p11", "31", "--key", "nb-7")["trial"] == 2
    file.write_text(file.read_text() + "p21,33,\n")
    assert answer("observe", "meadow", "--from", "week.csv")["recorded"] == 1
    file.write_text(file.read_text().replace("p00,30", "p00,29", 1))
    assert "week.csv, line 2: an observation with the key 'week.csv:2'" in refused(
        "observe", "meadow", "--from", "week.csv"
    )
    assert answer("show", "meadow")["trials"]["observed"] == 4
    file.write_text("name,reward\np00,30\n")
    assert answer("observe", "meadow", "--from", "week.csv", "--key", "next week")["recorded"] == 1
    file.write_text("name,reward\np00,30\nnowhere,3\n")
    assert "week.csv, line 3: an arm must be one of the study's 12" in refused(
        "observe", "meadow", "--from", "week.csv", "--key", "third"
    )
    assert answer("show", "meadow")["trials"]["observed"] == 5


def test_a_file_as_a_spreadsheet_with_decimal_commas_saves_it(ok, answer, tmp_path):
    ok(*CREATE)
    ok("ask", "meadow", "-n", "2")
    (tmp_path / "plan.csv").write_text("Trial;Reward\n1;31,5\n2;-2,25\n", encoding="utf-8")
    assert answer("tell", "meadow", "--from", "plan.csv")["recorded"] == 2
    assert [row["reward"] for row in answer("history", "meadow")["trials"]] == [31.5, -2.25]


def test_what_a_file_lacks_is_said(ok, refused, tmp_path):
    ok(*CREATE)
    (tmp_path / "bare.csv").write_text("name,reward\np00,3\n")
    assert "expected a column 'trial'" in refused("tell", "meadow", "--from", "bare.csv")
    (tmp_path / "none.csv").write_text("trial,name\n1,p00\n")
    assert "expected a column 'reward'" in refused("tell", "meadow", "--from", "none.csv")
    assert "expected a text file" in refused("observe", "meadow", "--from", "nowhere.csv")
    assert "got both: '1 3'" in refused("tell", "meadow", "1", "3", "--from", "bare.csv")
    assert "got both: 'p00'" in refused("observe", "meadow", "p00", "--from", "bare.csv")


def test_a_name_that_looks_like_a_formula_comes_back(ok, answer, tmp_path):
    (tmp_path / "odd.csv").write_text("name\n=1+1\nb\n")
    ok("create", "odd", "--arms", "odd.csv", "--noise-sd", "1")
    ok("ask", "odd", "-n", "2", "--csv", "plan.csv")
    fill(tmp_path / "plan.csv", ["3", "4"])
    assert rows(tmp_path / "plan.csv")[0]["name"] == "'=1+1"
    assert answer("tell", "odd", "--from", "plan.csv")["recorded"] == 2


def test_a_long_file_shows_how_far_it_is(ok, shell, tmp_path, monkeypatch):
    from corrbandits._shell import progress

    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(sys.stderr.__class__, "isatty", lambda _: True, raising=False)
    ok(*CREATE)
    (tmp_path / "long.csv").write_text("name,reward\n" + "p00,30\n" * 2_000)
    code, out, err = shell("observe", "meadow", "--from", "long.csv")
    assert code == 0
    assert "observed 2,000" in out
    assert "checking rewards" in err


def test_an_arm_stands_for_its_one_open_trial(ok, answer, refused):
    ok(*CREATE)
    first = answer("ask", "meadow")["trials"][0]["name"]
    told, again = answer("tell", "meadow", "--arm", first, "-3.5"), answer("tell", "meadow", "1", "-3.5")
    assert told | {"already": True} == again
    assert "has none (the last was trial 1, told)" in refused("tell", "meadow", "--arm", first, "-3.5")
    for _ in range(2):
        ok("ask", "meadow", "--allowed", "p11")
    assert "has several: 2, 3" in refused("tell", "meadow", "--arm", "p11", "1")
    assert "after the study must come --arm ARM REWARD" in refused("tell", "meadow", "--arm", "p11", "2", "1")
    assert "after the study must come TRIAL REWARD" in refused("tell", "meadow", "2")
    assert "after the study must come ARM REWARD" in refused("observe", "meadow", "p11")


def test_a_bare_number_is_a_trial_even_where_an_arm_is_called_so(ok, answer, tmp_path):
    (tmp_path / "numbers.csv").write_text("name,x\n1,8\n2,4\n3,0\n")  # the one in the middle comes first
    ok("create", "numbers", "--arms", "numbers.csv", "--noise-sd", "1")
    asked = {trial["trial"]: trial["name"] for trial in answer("ask", "numbers", "-n", "2")["trials"]}
    assert asked == {1: "2", 2: "3"}
    assert answer("tell", "numbers", "--arm", "2", "6")["trial"] == 1
    assert answer("tell", "numbers", "2", "5")["name"] == "3"


def test_the_list_has_counts_and_dates(ok, answer, tmp_path):
    assert ok("list") == "no studies yet: corrbandits study create\n"
    assert answer("list") == {"studies": [], "details": []}
    ok(*CREATE)
    ok("ask", "meadow", "-n", "3")
    ok("tell", "meadow", "2", "30")
    ok("create", "acre", "--arms", "sites.csv", "--noise-sd", "1")
    heading, _, acre, meadow = ok("list").splitlines()
    assert heading.split() == ["study", "arms", "trials", "rewards", "open", "created", "(UTC)", "changed", "(UTC)"]
    assert acre.split()[:5] == ["acre", "12", "0", "0", "0"]
    assert meadow.split()[:5] == ["meadow", "12", "3", "1", "2"]
    assert len(re.findall(r"\d{4}-\d\d-\d\d \d\d:\d\d", meadow)) == 2
    document = answer("list")
    assert document["studies"] == ["acre", "meadow"]
    told = answer("history", "meadow")["trials"][1]["told"]
    assert document["details"][1]["changed"] == told
    assert document["details"][1]["created"] < told


def test_a_study_that_cannot_be_read_does_not_hide_the_others(ok, answer, tmp_path):
    import sqlite3

    ok(*CREATE)
    ok("copy", "meadow", "broken")
    with sqlite3.connect(default_database(tmp_path)) as database:
        database.execute("update corrbandits_events set body = 'x' where study = 2")
    database.close()
    broken, meadow = answer("list")["details"]
    assert "is damaged" in broken["error"]
    assert (meadow["arms"], meadow["error"]) == (12, None)
    assert "cannot be read" in ok("list")


@pytest.mark.parametrize(
    ("options", "prior"),
    [
        (("--length", "150"), (400 * cb.Exponential(150.0), 0.0, 4.0)),
        (("--prior-sd", "5", "--prior-mean", "30"), (25 * cb.Exponential(300.0), 30.0, 4.0)),
        (("--length", "150", "--length", "50", "--noise-sd", "3"), (400 * cb.Exponential((150.0, 50.0)), 0.0, 9.0)),
    ],
)
def test_a_copy_with_another_prior_is_a_study_that_had_it_from_the_beginning(ok, tmp_path, options, prior):
    ok(*CREATE)
    ok("observe", "meadow", "p11", "31")
    ok("observe", "meadow", "p32", "28")
    ok("copy", "meadow", "other", *options)
    places = [[100.0 * x, 100.0 * y] for x in range(4) for y in range(3)]
    kernel, mean, noise = prior
    stated = cb.Correlated(mean=mean, kernel=kernel, coordinates=places, noise_variance=noise)
    expected = stated.observe([4, 11], [31.0, 28.0])
    with cb.Study.open(default_database(tmp_path), "other") as study:
        np.testing.assert_allclose(study.belief.mean, expected.mean, rtol=1e-12)
        np.testing.assert_allclose(study.belief.variance, expected.variance, rtol=1e-9)


def test_copies_of_other_priors(ok, answer, refused, tmp_path):
    (tmp_path / "own.csv").write_text("name,x,y,prior_mean,prior_sd\na,0,0,5,1\nb,1,0,6,2\n")
    ok("create", "own", "--arms", "own.csv", "--noise-sd", "1", "--kernel", "exponential", "--length", "2")
    ok("copy", "own", "longer", "--length", "4", "--prior-sd", "3")
    with cb.Study.open(default_database(tmp_path), "longer") as study:
        found = study.snapshot().prior
        np.testing.assert_allclose(found.covariance, 9 * np.exp(-np.array([[0, 1], [1, 0]]) / 4), rtol=1e-12)
    ok("create", "apart", "--arms", "own.csv", "--noise-sd", "1", "--kernel", "none")
    ok("copy", "apart", "wider", "--prior-sd", "7", "--prior-mean", "2")
    assert "mean 2 ± 7" in answer("copy", "wider", "again")["prior"]
    assert "--length is for a prior that knows where arms lie" in refused("copy", "apart", "x", "--length", "3")
    assert "--length must be a finite number" in refused("copy", "own", "x", "--length", "far")
    assert "--set is for a rule, got none" in refused("copy", "own", "x", "--set", "a=3")
    assert answer("copy", "own", "drawn", "--policy", "Thompson")["policy"] == {"rule": "Thompson"}
    two = cb.Correlated(
        mean=0.0, kernel=cb.Exponential(1.0) + cb.Exponential(2.0), coordinates=[0.0, 1.0], noise_variance=1.0
    )
    cb.Study.create(default_database(tmp_path), "sum", prior=two, policy=cb.UCL()).close()
    assert "a kernel with one length and one variance" in refused("copy", "sum", "x", "--length", "3")


def test_rewards_of_0_and_1_from_the_shell(ok, answer, refused, tmp_path):
    from scipy.stats import beta

    ok("create", "clicks", "--arms", "sites.csv", "--rewards", "bernoulli", "--successes", "2", "--failures", "3")
    assert "a reward must be 0 or 1, got 0.5" in refused("observe", "clicks", "p00", "0.5")
    for k in range(5):
        ok("observe", "clicks", "p00", str(int(k != 2)))
    top = answer("show", "clicks", "--top", "1")["top"][0]
    assert (top["name"], top["rewards"]) == ("p00", 5)
    assert top["mean"] == pytest.approx(beta(2 + 4, 3 + 1).mean())
    assert top["deviation"] == pytest.approx(beta(2 + 4, 3 + 1).std())
    (tmp_path / "known.csv").write_text("name,prior_successes,prior_failures\na,1,3\nb,4,2\n")
    ok("create", "known", "--arms", "known.csv", "--rewards", "bernoulli", "--goal", "min")
    assert [one["mean"] for one in answer("show", "known")["top"]] == pytest.approx([1 / 4, 4 / 6])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--rewards", "bernoulli", "--noise-sd", "2"), "--noise-sd must go with rewards with Gaussian noise"),
        (("--rewards", "bernoulli", "--kernel", "exponential", "--length", "3"), "--kernel must go with rewards with"),
        (("--rewards", "bernoulli", "--length", "5..9"), "--length must go with rewards with Gaussian noise"),
        (("--rewards", "bernoulli", "--per-axis"), "--per-axis must go with rewards with Gaussian noise"),
        (("--rewards", "bernoulli", "--successes", "0"), "--successes must be above 0, got 0"),
        (("--noise-sd", "1", "--failures", "2"), "--failures must go with rewards 0 and 1"),
    ],
)
def test_a_prior_of_the_other_kind_is_refused(refused, options, said):
    assert said in refused("create", "x", "--arms", "sites.csv", *options)


def test_columns_of_the_other_kind_are_refused(refused, tmp_path):
    (tmp_path / "own.csv").write_text("name,prior_mean,prior_sd\na,5,1\nb,6,2\n")
    assert "prior_successes" in refused("create", "x", "--arms", "own.csv", "--rewards", "bernoulli")


def test_different_arms_at_once_unless_repeats_are_asked_for(ok, answer, refused, tmp_path):
    (tmp_path / "two.csv").write_text("name,prior_mean,prior_sd\ngood,90,1\nbad,3,1\n")
    ok("create", "two", "--arms", "two.csv", "--noise-sd", "1")
    named = [trial["name"] for trial in answer("ask", "two", "-n", "2", "--repeats")["trials"]]
    assert named == ["good", "good"]
    assert {trial["name"] for trial in answer("ask", "two", "-n", "2")["trials"]} == {"good", "bad"}
    assert "asked for 3, there are 2" in refused("ask", "two", "-n", "3")


def test_an_explanation_names_ties(ok):
    ok("create", "flat", "--arms", "sites.csv", "--noise-sd", "1", "--prior-sd", "2", "--prior-mean", "3")
    ok("ask", "flat")
    assert "; tied with 11 other arms: any of them would have done as well" in ok("explain", "flat", "1")


def test_every_kernel_is_named_in_the_help(shell):
    _, out, _ = shell("create", "--help")
    assert all(name in re.sub(r"\s+", " ", out) for name in cb.kernels.KERNELS)
