"""What `corrbandits study` says: commands in place of calls, one style of numbers, and what may have been meant."""

import json
import re
import shlex
import subprocess

import pytest

from tests.support.shell import CREATE, PROGRAM, environment

REFUSED = [
    (("tell", "meadow", "1", "-31.25"), r"If the first is wrong: (corrbandits study amend .*)$"),
    (("cancel", "meadow", "1"), r"If its reward is wrong: (corrbandits study retract .*)$"),
    (("observe", "meadow", "p11", "4", "--key", "k"), r"If the first is wrong: (corrbandits study amend .*)$"),
    (("tell", "meadow", "2", "1"), r"If there is one: (corrbandits study observe .*)$"),
]


@pytest.fixture
def begun(ok):
    ok(*CREATE)
    ok("ask", "meadow", "-n", "2")
    ok("tell", "meadow", "1", "1000")
    ok("cancel", "meadow", "2")
    ok("observe", "meadow", "p11", "5", "--key", "k")


@pytest.mark.parametrize(("command", "remedy"), REFUSED, ids=lambda value: value[0] if type(value) is tuple else "")
def test_a_refusal_names_a_command_that_can_be_typed(begun, refused, tmp_path, command, remedy):
    said = refused(*command).strip()
    assert not re.search(r"\b(amend|retract|observe|tell)\(", said)
    typed = re.search(remedy, said)[1].replace("REWARD", "7")
    done = subprocess.run(
        [PROGRAM, *shlex.split(typed)[1:]], cwd=tmp_path, capture_output=True, text=True, env=environment(tmp_path)
    )
    assert (done.returncode, done.stderr) == (0, ""), typed


def test_from_python_a_refusal_names_the_call(begun, tmp_path):
    from corrbandits.study import Study
    from tests.support.shell import default_database

    with Study.open(default_database(tmp_path), "meadow") as study:
        with pytest.raises(ValueError, match=r"told the reward 1,000 already, got 31\.2 now.* amend\(1, 31\.2\)\.$"):
            study.tell(1, 31.2)
        with pytest.raises(ValueError, match=rf"observe\('{study.trial(2).name}', reward\)\.$"):
            study.tell(2, 31.2)


def test_a_reward_is_written_in_one_style(shell, ok, begun):
    _, out, _ = shell("amend", "meadow", "1", "1234567.25")
    assert "amended: 1,234,567.25; 0 open" in out
    assert "1,234,570 at p00 is" in out
    assert "1,234,567.25" in ok("history", "meadow")
    assert "1234567" not in out + ok("history", "meadow") + ok("show", "meadow")


def test_dates_have_their_century(ok, begun):
    assert re.search(r" 20\d\d-\d\d-\d\d \d\d:\d\d ", ok("history", "meadow"))


def test_arms_that_were_never_tried_are_counted(ok, begun, answer):
    ok("ask", "meadow")
    data = answer("show", "meadow")
    tried = {
        row["name"] for row in answer("history", "meadow")["trials"] if row["status"] in ("told", "observed", "open")
    }
    assert (data["arms"], data["untried"], data["pending"]) == (12, 12 - len(tried), 0)
    assert f"12, {12 - len(tried)} of them never tried" in ok("show", "meadow")


def test_the_arms_that_a_rule_tries_first_are_pending(ok, answer):
    ok(*CREATE, "--policy", "CorrelatedUCL")
    data = answer("show", "meadow")
    assert data["untried"] == data["pending"] == 12
    assert "it tries 12 arms more before it prefers good ones" in " ".join(ok("show", "meadow").split())


def test_the_mark_of_the_best_is_no_letter_and_its_arm_is_named(tmp_path, ok):
    (tmp_path / "letters.csv").write_text("name,x,y\nA,0,0\nB,1,0\nC,0,1\nD,1,1\n")
    known = ("--kernel", "exponential", "--length", "1", "--noise-sd", "1", "--prior-sd", "10", "--prior-mean", "0")
    ok("create", "m", "--arms", "letters.csv", *known)
    ok("observe", "m", "D", "9")
    drawn = ok("show", "m").partition("Mean reward\n")[2]
    rows = drawn.splitlines()[:2]
    assert [row.count("*") for row in rows] == [1, 0]  # D lies at the top
    assert "* the best so far (D)" in drawn
    assert "B" not in drawn


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("show", "Medow"), "Did you mean 'meadow'?"),
        (("observe", "meadow", "P11", "3"), "Did you mean 'p11'?"),
        ((*CREATE, "--policy", "ucb"), "Did you mean UCB1 ("),
    ],
)
def test_what_may_have_been_meant_is_said(ok, refused, command, said):
    ok(*CREATE)
    assert said in refused(*command)


def test_a_policy_that_may_be_meant_is_described_and_not_the_only_one(refused):
    said = refused(*CREATE, "--policy", "ucb").partition("Did you mean")[2]
    assert all(f"{name} (" in said for name in ("UCB1", "GPUCB", "UCL"))


SHEETS = {
    "semicolons": "Plot;Row;Col;Soil\n1;1;1;3,5\n2;1;2;4,25\n3;2;1;\n",
    "tabs": "\ufeffPLOT\tROW\tCOL\tSoil\n1\t1\t1\t3.5\n2\t1\t2\t4.25\n3\t2\t1\t\n",
}


@pytest.mark.parametrize("kind", SHEETS)
def test_a_study_begins_with_a_file_as_people_have_it(tmp_path, ok, kind):
    (tmp_path / "field.csv").write_text(SHEETS[kind])
    made = json.loads(
        ok(
            "create",
            "f",
            "--arms",
            "field.csv",
            "--kernel",
            "exponential",
            "--length",
            "1",
            "--noise-sd",
            "1",
            "--json",
        )
    )
    assert made["arms"] == 3
    assert made["remarks"][0] == (
        f"Read from the file: separated by {kind}; {'Plot' if kind != 'tabs' else 'PLOT'} as name; "
        f"{'Col' if kind != 'tabs' else 'COL'} as x; {'Row' if kind != 'tabs' else 'ROW'} as y."
    )
    assert re.search(r"^1 +1 +1 +1$", ok("ask", "f"), re.MULTILINE)


def test_a_spreadsheet_is_called_one(tmp_path, refused):
    (tmp_path / "field.xlsx").write_bytes(b"PK\x03\x04\x14\x00\x06\x00")
    said = refused("create", "f", "--arms", "field.xlsx", "--noise-sd", "1")
    assert "field.xlsx: expected a text file, got a spreadsheet (.xlsx or .ods)" in said
    assert "save the sheet as CSV" in said


def test_rewards_come_from_a_file_as_people_have_it(tmp_path, ok, answer):
    ok(*CREATE)
    (tmp_path / "harvest.csv").write_text("PLOT;Reward\np11;31,25\np21;29\n")
    ok("observe", "meadow", "--from", "harvest.csv")
    found = {row["name"]: row["reward"] for row in answer("history", "meadow")["trials"]}
    assert found == {"p11": 31.25, "p21": 29.0}


NOUNS = "arms|trials|rewards|rounds|decisions|events|studies|seasons|degrees"
SEVERAL = re.compile(rf"(?<![\d.,])1 (?:more |other |earlier )?(?:{NOUNS})\b")


def test_one_of_a_thing_is_not_said_to_be_several(ok, tmp_path):
    """A study of one arm and one round, one that lacks a single arm, one with a history of one reward."""
    for name, rows in (("one", "a,1,2"), ("two", "a,1,2\nb,9,9"), ("more", "c,5,5")):
        (tmp_path / f"{name}.csv").write_text(f"name,x,y\n{rows}\n")
    (tmp_path / "past.csv").write_text("name,reward\na,3\n")
    known = ("--kernel", "exponential", "--length", "1", "--noise-sd", "2", "--prior-mean", "0", "--prior-sd", "9")
    commands = [
        ("create", "one", "--arms", "one.csv", *known, "--rounds", "1"),
        ("create", "two", "--arms", "two.csv", *known, "--policy", "CorrelatedUCL"),
        ("create", "past", "--arms", "two.csv", "--history", "past.csv", "--rounds", "1"),
    ]
    for name in ("one", "two", "past"):
        commands += [("ask", name), ("tell", name, "1", "4"), ("show", name), ("history", name), ("explain", name, "1")]
    commands += [("observe", "one", "a", "5"), ("show", "one"), ("best", "one"), ("list",), ("check",)]
    commands += [("export", "one"), ("add-arms", "two", "--arms", "more.csv"), ("delete", "one", "--yes")]
    text = " ".join(" ".join(ok(*command) for command in commands).split())
    for words in (
        "in the 1 decision there will be in all",
        "told 1 reward of 1 earlier season",
        "it tries 1 arm more before",
        "past the 1 round:",
        "1 arm added",
    ):
        assert words in text, text
    assert not SEVERAL.findall(text)
