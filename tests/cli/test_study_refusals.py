"""`corrbandits study`: what is refused, and names that are only data."""

import pytest

from tests.support.shell import CREATE, default_database


def test_an_empty_key_is_refused(ok, refused):
    ok(*CREATE)
    assert "a key must be" in refused("observe", "meadow", "p11", "34.8", "--key", "")


def test_only_create_and_import_make_a_database(ok, refused, tmp_path):
    assert "no studies yet" in ok("list")
    for command in (("show", "a"), ("ask", "a"), ("tell", "a", "1", "2"), ("list", "--db", "missing.db")):
        assert "no such file" in refused(*command)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sites.csv"]


BAD = [
    (("create", "a", "--arms", "missing.csv", "--noise-sd", "2"), "cannot be read"),
    (("create", "a", "--arms", "sites.csv", "--noise-sd", "2,5"), "take a point"),
    (("create", "a", "--arms", "sites.csv", "--noise-sd", "0"), "above 0"),
    (("create", "a", "--arms", "sites.csv", "--noise-sd", "inf"), "finite number"),
    (("create", "a", "--arms", "sites.csv", "--noise-sd", "2", "--kernel", "expo", "--length", "1"), "exponential"),
    (("create", "a", "--arms", "sites.csv", "--kernel", "none", "--length", "3"), "Leave them out"),
    (("create", "a", "--arms", "sites.csv", "--set", "a=3"), "Name it by --policy"),
    (("create", "a", "--arms", "sites.csv", "--rounds", "0"), "rounds"),
    ((*CREATE, "--alpha", "2"), "rational_quadratic only"),
    ((*CREATE, "--distance", "chordal"), "latitude and longitude"),
    ((*CREATE, "--distance", "far"), "one of euclidean"),
    ((*CREATE, "--length", "3", "--length", "4"), "entries"),
    (
        (*CREATE, "--length", "100,300"),
        "a number or a range such as 100..400, got '100,300'. For a range write 100..300;",
    ),
    ((*CREATE, "--prior-mean", "-3 to -1.5"), "got '-3 to -1.5'. For a range write -3..-1.5."),
    ((*CREATE, "--prior-sd", "1-2"), "For a range write 1..2."),
    ((*CREATE, "--prior-sd", "-1"), "above 0"),
    ((*CREATE, "--policy", "thomson"), "Did you mean Thompson ("),
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
    ((*CREATE, "--db", "sites.csv"), "not a SQLite database"),
    (("create", "a", "--arms", "sites.csv", "--policy", "CorrelatedUCL"), "Gaussian"),
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
        ("name,x,y\na,1,2\n\x07b,2,3\n", "line 3: a name must be 1 to 200 printable characters"),
        ("name,x,y,prior_sd\na,1,2,-1\n", "line 2: column 'prior_sd' must be at least 0"),
        ("name,y\na,1\n", "'x'"),
        ("name,longitude\na,1\n", "'latitude'"),
        ("name;x;y\na;1;2;3\n", "semicolons"),
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
        (("tell", "meadow", "p00", "2"), "`observe STUDY ARM REWARD` is for a reward"),
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
    assert "corrbandits study amend meadow 1 3" in refused("tell", "meadow", "1", "3")


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
    assert name in ok("list").replace("\n", "") or len(name) > 60
    assert answer("list")["studies"] == [name]
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
