"""When rewards were measured, and studies whose rewards change with time, from the shell."""

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

import corrbandits as cb
from corrbandits._shell import terminal
from tests.support.shell import CREATE, TOLD_NOTHING, default_database


def days_ago(days):
    return (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")


def ages(tmp_path, name="meadow"):
    """How many days ago each reward was measured, as the study has it."""
    with cb.Study.open(default_database(tmp_path), name) as study:
        now = study.snapshot()
        return [round((now.at - entry.when) / 86_400, 2) for entry in now.ledger.trials if entry.when is not None]


def test_when_a_reward_was_measured_is_told_with_it(ok, answer, tmp_path):
    ok(*TOLD_NOTHING, "--drift", "30d")
    ok("ask", "meadow", "-n", "2")
    ok("tell", "meadow", "1", "31", "--at", days_ago(3))
    ok("tell", "meadow", "2", "28")
    ok("observe", "meadow", "p00", "25", "--at", days_ago(80))
    ok("amend", "meadow", "1", "32")
    assert ages(tmp_path) == [3.0, 0.0, 80.0]
    rows = answer("history", "meadow")["trials"]
    measured = [datetime.fromisoformat(row["measured"]) for row in rows]
    assert [round((datetime.now(UTC) - when) / timedelta(days=1)) for when in measured] == [3, 0, 80]


def test_files_have_a_column_for_it(ok, refused, tmp_path):
    ok(*CREATE)
    file = tmp_path / "rewards.csv"
    file.write_text(f"name,reward,at\np00,31,{days_ago(4)}\np01,29,\n")
    ok("observe", "meadow", "--from", "rewards.csv", "--at", days_ago(1))
    ok("observe", "meadow", "--from", "rewards.csv")  # they are there
    assert ages(tmp_path) == [4.0, 1.0]
    ok("ask", "meadow", "-n", "2")
    for wrong, why in (("soon", "must be a time such as"), ("2999-01-01", "in the future"), ("1950-01-01", "1970")):
        file.write_text(f"trial,reward,at\n3,1,{days_ago(2)}\n4,2,{wrong}\n")
        said = refused("tell", "meadow", "--from", "rewards.csv")
        assert "rewards.csv, line 3: " in said
        assert why in said
        assert "Nothing was recorded" in said
        assert why in refused("tell", "meadow", "3", "1", "--at", wrong)
    assert ages(tmp_path) == [4.0, 1.0]
    file.write_text(f"trial,reward,at\n3,1,{days_ago(2)}\n4,2,{days_ago(9)}\n")
    ok("tell", "meadow", "--from", "rewards.csv")
    assert ages(tmp_path) == [4.0, 1.0, 2.0, 9.0]


@pytest.mark.parametrize(
    ("said", "drift"), [("30d", 30.0), ("12h..6w", (0.5, 42.0)), ("unknown", True), ("90min", 0.0625)]
)
def test_what_is_said_of_the_change_is_told_the_prior_in_days(ok, tmp_path, said, drift):
    assert "for as long as what was learnt lasts" in " ".join(ok(*TOLD_NOTHING, "--drift", said).split())
    with cb.Study.open(default_database(tmp_path), "meadow") as study:
        assert study.settings.prior.prior_arguments()["drift"] == drift


@pytest.mark.parametrize("wrong", ["30", "d", "60d..10d", "10d-60d", "0d", "soon", "-3d", "5d..", "..5d"])
def test_what_is_no_time_is_refused(refused, wrong):
    said = refused(*TOLD_NOTHING, f"--drift={wrong}")
    assert "--drift" in said
    assert f"got '{wrong}'" in said


def test_the_time_of_change_has_a_unit(ok, answer):
    words = "told that rewards change within 1.5 days; the rest is learnt"
    assert words in " ".join(ok(*TOLD_NOTHING, "--drift", "36h").split())
    assert words in " ".join(ok("copy", "meadow", "b").split())
    assert words in " ".join(ok("show", "meadow").split())
    assert answer("copy", "meadow", "c")["prior"] == words


@pytest.mark.parametrize(
    ("said", "meant"), [("30", "30d"), ("10..60d", "10d..60d"), ("2..8", "2d..8d"), ("3h..9", "3h..9h")]
)
def test_a_time_without_a_unit_is_refused_with_what_to_write(refused, said, meant):
    assert f"got '{said}'. Write {meant}." in refused(*TOLD_NOTHING, "--drift", said)


def test_a_copy_of_a_study_may_stop_to_change(ok, tmp_path):
    ok(*TOLD_NOTHING, "--drift", "10d")
    ok("observe", "meadow", "p00", "31", "--at", days_ago(40))
    ok("copy", "meadow", "still", "--drift", "none")
    ok("create", "never", *TOLD_NOTHING[2:], "--drift", "none")
    for name in ("still", "never"):
        with cb.Study.open(default_database(tmp_path), name) as study:
            assert study.settings.prior.prior_arguments().get("drift") is None
            assert not study.settings.recipe.changes


def test_rewards_0_and_1_do_not_change(refused):
    said = refused("create", "meadow", "--arms", "sites.csv", "--rewards", "bernoulli", "--drift", "30d")
    assert "--drift must go with rewards with Gaussian noise" in said


def test_show_says_what_was_learnt_of_it(ok):
    ok(*TOLD_NOTHING, "--drift", "unknown")
    for k, day in enumerate((90, 80, 70, 50, 40, 30, 20, 10, 1)):
        ok("observe", "meadow", f"p{k % 4}{k % 3}", str(20 + k % 5), "--at", days_ago(day))
    said = " ".join(ok("show", "meadow").split())
    assert "told that rewards may change" in said
    assert "days; the rest" not in said  # no time is said
    assert "rewards change within about" in said or "no change seen yet" in said


def test_a_copy_of_a_study_may_change(ok, tmp_path):
    ok(*CREATE)
    ok("observe", "meadow", "p00", "31", "--at", days_ago(40))
    ok("copy", "meadow", "moving", "--drift", "10d")
    assert ages(tmp_path, "moving") == [40.0]
    with cb.Study.open(default_database(tmp_path), "moving") as study:
        told = study.settings.prior.prior_arguments()
        assert (told["drift"], told["length"], told["mean"], told["sd"]) == (10.0, 300.0, 0.0, 20.0)
        still = cb.Study.open(default_database(tmp_path), "meadow").belief
        assert 0 < study.belief.mean[0] < 0.03 * still.mean[0]  # exp(-4) of it is left


def test_a_history_is_observed_at_the_times_it_has(ok, answer, tmp_path):
    ok(*TOLD_NOTHING, "--drift", "30d")
    for arm, age in (("p00", 80), ("p01", 40), ("p02", 3)):
        ok("observe", "meadow", arm, "25", "--at", days_ago(age))
    ok("history", "meadow", "--csv", "history.csv")
    ok("create", "again", *TOLD_NOTHING[2:], "--drift", "30d")
    said = ok("observe", "again", "--from", "history.csv")
    assert ages(tmp_path, "again") == ages(tmp_path) == [80.0, 40.0, 3.0]
    first, last = (datetime.fromisoformat(days_ago(age)).astimezone().isoformat(" ", "minutes") for age in (80, 3))
    assert f"Measured from {first} to {last}." in " ".join(said.split())
    assert [text[:13] for text in answer("observe", "again", "--from", "history.csv")["measured"]] == [
        days_ago(age)[:13] for age in (80, 3)
    ]


@pytest.mark.parametrize(("heading", "entry"), [("date", "1.10.2026"), ("Sampled", "2026-10-01"), ("When", "noon")])
def test_times_that_are_not_read_are_refused_where_they_count(ok, refused, tmp_path, heading, entry):
    ok(*TOLD_NOTHING, "--drift", "30d")
    ok("ask", "meadow")
    ok("create", "still", *TOLD_NOTHING[2:])
    for needs, arm, command in (("name", "p00", "observe"), ("trial", "1", "tell")):
        (tmp_path / "rewards.csv").write_text(f"{needs},reward,{heading}\n{arm},31,{entry}\n")
        said = refused(command, "meadow", "--from", "rewards.csv")
        assert f"must be in a column `at` or `measured`, got '{heading}'" in said
        assert "Nothing was recorded" in said
    assert ages(tmp_path) == []
    ok("tell", "meadow", "--from", "rewards.csv", "--at", days_ago(2))
    (tmp_path / "rewards.csv").write_text(f"name,reward,{heading}\np00,31,{entry}\n")
    ok("observe", "still", "--from", "rewards.csv")
    assert ages(tmp_path) == [2.0]


def test_what_is_recorded_says_when_it_was_measured(ok, answer, tmp_path):
    ok(*TOLD_NOTHING, "--drift", "30d")
    ok("create", "still", *TOLD_NOTHING[2:])
    then = days_ago(9)
    local = datetime.fromisoformat(then).astimezone().isoformat(" ", "minutes")
    assert f"observed: 31, measured {local};" in " ".join(ok("observe", "meadow", "p00", "31", "--at", then).split())
    assert "observed: 31, measured now;" in ok("observe", "meadow", "p00", "31")
    assert f"measured {local};" in " ".join(ok("observe", "still", "p00", "31", "--at", then).split())
    assert "measured" not in ok("observe", "still", "p00", "31")  # where time does not count, nothing is said of it
    assert answer("observe", "still", "p00", "31", "--at", then)["measured"] == then
    (tmp_path / "rewards.csv").write_text("name,reward\np00,31\np01,32\n")
    assert "Measured now." in ok("observe", "meadow", "--from", "rewards.csv")


def test_history_shows_when_rewards_were_measured_where_it_counts_or_differs(ok, monkeypatch):
    ok(*TOLD_NOTHING, "--drift", "30d")
    ok("create", "still", *TOLD_NOTHING[2:])
    then = days_ago(9)
    for study in ("meadow", "still"):
        ok("observe", study, "p00", "31")
    assert "measured (UTC)" in ok("history", "meadow")
    assert "measured (UTC)" not in ok("history", "still")
    ok("observe", "still", "p01", "30", "--at", then)
    for columns, heads in ((120, "asked told measured"), (80, "asked measured"), (60, "measured")):
        console = partial(terminal.console, width=columns)
        with monkeypatch.context() as patched:
            patched.setattr(terminal, "console", console)
            said = ok("history", "still")
        assert then[:16].replace("T", " ") in said
        assert [word for word in said.splitlines()[0].split() if word in ("asked", "told", "measured")] == heads.split()
