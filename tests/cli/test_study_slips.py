"""`corrbandits study` after a slip: nothing is done by half, and what is said leads on."""

import subprocess

import numpy as np
import pytest

import corrbandits as cb
from tests.support.shell import CREATE, PROGRAM, default_database, environment


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_asked(ok, answer, refused, tmp_path):
    ok(*CREATE)
    (tmp_path / "folder").mkdir()
    for command in (("ask", "meadow", "-n", "2", "--csv"), ("export", "meadow"), ("history", "meadow", "--csv")):
        said = refused(*command, "nowhere/file.csv")
        assert "there is, got nowhere. Make it, or name another." in said
        assert "Make room" not in said
        said = refused(*command, "folder")
        assert "it is a folder" in said
        assert "--replace" not in said
    assert answer("history", "meadow")["trials"] == []
    assert "it is a folder" in refused("export", "meadow", "folder", "--replace")


def test_no_folder_is_not_a_lack_of_room(tmp_path):
    lost = pytest.raises(OSError, match=r"No such file or directory\. Make the directory, or name another\.")
    with cb.Study.create(tmp_path / "s.db", "s", prior=cb.Beta(arms=2), policy=cb.Thompson()) as study, lost:
        study.to_csv(tmp_path / "nowhere" / "s.csv")


def test_an_arm_whose_name_is_a_number_is_not_taken_for_a_trial_without_a_word(ok, refused, tmp_path):
    (tmp_path / "numbers.csv").write_text("name,x,y\n100,0,0\n200,1,0\n")
    ok("create", "t", "--arms", "numbers.csv", "--noise-sd", "1")
    ok("ask", "t", "--allowed", "100")
    said = refused("tell", "t", "100", "31")
    assert "There is an arm '100': corrbandits study tell t --arm 100 31" in said
    ok("tell", "t", "--arm", "100", "31")
    assert "There is an arm" not in refused("tell", "t", "300", "31")


def test_a_late_reward_of_an_arm_that_was_asked_for_again_names_the_other_trial(ok, answer, tmp_path):
    (tmp_path / "two.csv").write_text("name,x\na,0\nb,1\n")
    ok("create", "t", "--arms", "two.csv", "--noise-sd", "1", "--once", "--timeout", "36h")
    with cb.Study.open(default_database(tmp_path), "t") as study:
        study.ask(allowed=["a"])
        study._replica.record(lambda _: [{"event": "expired", "trial": 1}])
        study.ask(allowed=["a"])
    out = " ".join(ok("tell", "t", "1", "3").split())
    assert "Trial 2 of the same arm is open, and no arm is to be tried twice." in out
    assert out.endswith("Cancel it: corrbandits study cancel t 2")
    ok("cancel", "t", "2")
    assert "same arm" not in ok("tell", "t", "1", "3")


def test_what_is_done_again_is_said_to_have_been_there(ok, answer):
    ok(*CREATE)
    ok("ask", "meadow")
    assert "told: 31" in ok("tell", "meadow", "1", "31")
    assert "was there already: 31" in ok("tell", "meadow", "1", "31")
    assert "observed: 5" in ok("observe", "meadow", "p11", "5", "--key", "k1")
    assert "was there already: 5" in ok("observe", "meadow", "p11", "5", "--key", "k1")
    again = answer("observe", "meadow", "p11", "5", "--key", "k1")
    assert (again["did"], again["already"], again["trial"]) == ("observed", True, 2)
    assert answer("observe", "meadow", "p11", "5")["already"] is False


def test_a_reward_that_is_missing_is_named(ok, refused):
    ok(*CREATE)
    ok("ask", "meadow")
    assert "the reward is missing" in refused("tell", "meadow", "--arm", "p00")
    assert "the reward is missing" in refused("tell", "meadow", "1")
    assert "missing" not in refused("tell", "meadow")


def test_a_file_with_a_line_too_many_was_not_cut(ok, refused, tmp_path):
    ok(*CREATE)
    ok("export", "meadow", "m.jsonl")
    lines = (tmp_path / "m.jsonl").read_text().splitlines()
    (tmp_path / "m.jsonl").write_text("\n".join([*lines, lines[-1]]))
    said = refused("import", "m.jsonl", "--name", "new")
    assert "more lines than it should" in said
    assert "cut" not in said
    (tmp_path / "m.jsonl").write_text(lines[0])
    assert "was cut" in refused("import", "m.jsonl", "--name", "new")


def test_a_copy_says_which_study_can_explain(ok, refused):
    ok(*CREATE)
    ok("ask", "meadow")
    ok("copy", "meadow", "other", "--noise-sd", "3")
    said = refused("explain", "other", "1")
    assert "trial 1 was chosen in 'meadow', the study that this one is a copy of: explain it there." in said
    ok("explain", "meadow", "1")


def test_what_a_file_is_refused_for_is_a_command_too(ok, refused, tmp_path):
    ok(*CREATE)
    ok("observe", "meadow", "p11", "5", "--key", "k1")
    (tmp_path / "r.csv").write_text("name,reward,key\np11,6,k1\n")
    said = " ".join(refused("observe", "meadow", "--from", "r.csv").split())
    assert "r.csv, line 2: an observation with the key 'k1' is there" in said
    assert said.endswith("Nothing was recorded. If the first is wrong: corrbandits study amend meadow 1 REWARD")
    assert "amend(" not in said


def test_more_than_there_are_names_a_command_that_works(ok, refused, tmp_path):
    ok(*CREATE)
    said = refused("ask", "meadow", "-n", "13").strip()
    assert "asked for 13, there are 12" in said
    command = said.partition("If repeats are welcome: ")[2]
    assert command == "corrbandits study ask -n 13 --repeats meadow"
    done = subprocess.run([PROGRAM, *command.split()[1:]], cwd=tmp_path, capture_output=True, env=environment(tmp_path))
    assert (done.returncode, done.stderr) == (0, b"")
    called = pytest.raises(ValueError, match=r"If repeats are welcome, ask\(n=13, repeats=True\)\.$")
    with cb.Study.open(default_database(tmp_path), "meadow") as study, called:
        study.ask(13)


def test_the_plot_is_compared_in_rows_without_a_reward_too(ok, answer, refused, tmp_path):
    ok(*CREATE)
    names = [trial["name"] for trial in answer("ask", "meadow", "-n", "2")["trials"]]
    (tmp_path / "plan.csv").write_text(f"trial,name,reward\n1,{names[0]},30\n2,{names[0]},\n")
    said = refused("tell", "meadow", "--from", "plan.csv")
    assert f"line 3: trial 2 is of {names[1]!r}, but the row says {names[0]!r}" in " ".join(said.split())
    assert len(answer("show", "meadow")["open"]) == 2


def test_a_study_of_zeros_and_ones_speaks_of_rewards_and_says_what_it_assumes(ok, refused):
    made = ok("create", "b", "--arms", "sites.csv", "--rewards", "bernoulli", "--successes", "2", "--failures", "3.5")
    assert "assumed of each: successes 2, failures 3.5" in made
    ok("ask", "b")
    said = refused("tell", "b", "1", "0.5")
    assert "a reward must be 0 or 1, got 0.5" in said
    assert "belief" not in said


def test_sites_and_eastings_are_taken_and_what_is_taken_is_said(ok, answer, refused, tmp_path):
    (tmp_path / "field.csv").write_text("Site;Easting;Northing\nford;10;20\nridge;30;40\n")
    made = answer("create", "f", "--arms", "field.csv", "--noise-sd", "1")
    read = "Read from the file: separated by semicolons; Site as name; Easting as x; Northing as y."
    assert made["remarks"][0] == read
    assert answer("ask", "f")["trials"][0]["coordinates"] == {"x": 10.0, "y": 20.0}
    (tmp_path / "field.csv").write_text("Site,East,North\nford,10,20\nridge,30,40\n")
    assert "East as x; North as y" in answer("create", "e", "--arms", "field.csv")["remarks"][0]
    (tmp_path / "field.csv").write_text("id,far,wide\nford,10,20\n")
    said = " ".join(refused("create", "g", "--arms", "field.csv", "--noise-sd", "1").split())
    assert "the columns are id, far, wide" in said
    for word in ("plot", "site", "col and row", "easting and northing", "lat and lon"):
        assert word in said


def test_a_mistyped_reward_in_a_file_is_named_with_its_line_and_others_are_not(ok, answer, tmp_path):
    ok("create", "m", *CREATE[2:], "--prior-mean", "40", "--prior-sd", "2")
    noise = np.random.default_rng(1).normal(0, 2, (4, 3))  # as was stated
    rows = [f"p{k}{j},{40 + k + noise[k, j]:.2f}" for k in range(4) for j in range(3)]
    rows[4] = rows[4].split(",")[0] + ",400"
    (tmp_path / "week.csv").write_text("\n".join(["name,reward", *rows]))
    said = " ".join(ok("observe", "m", "--from", "week.csv").split())
    assert said.count("WARNING") == 1
    assert (
        "Perhaps it was mistyped in trial 5 (line 6 of week.csv). If it is wrong: corrbandits study amend m 5" in said
    )
    assert len(answer("show", "m")["warnings"]) == 1
    ok("amend", "m", "5", "41")
    assert answer("show", "m")["warnings"] == []


def test_best_says_that_there_is_no_reward_yet(ok):
    ok(*CREATE, "--prior-mean", "30", "--prior-sd", "5")
    ok("ask", "meadow")
    assert ok("best", "meadow") == "no reward yet.\n"
    assert "the best so far" not in ok("show", "meadow")


def test_a_check_may_be_of_one_study(ok, answer, refused, tmp_path):
    ok(*CREATE)
    ok("copy", "meadow", "other")
    ok("ask", "meadow")
    assert ok("check", "meadow").splitlines() == ["meadow: whole, 2 events, 1 trial"]
    assert [finding["study"] for finding in answer("check", "other")["findings"]] == ["other"]
    assert len(ok("check").splitlines()) == 2
    assert "Did you mean 'meadow'?" in refused("check", "medow")


def test_arms_at_one_place_are_remarked_upon(ok, tmp_path):
    (tmp_path / "twice.csv").write_text("name,x,y\nA,0,0\nB,1,0\nC,0,0\nD,1,0\nE,1,1\n")
    said = ok("create", "twice", "--arms", "twice.csv")
    assert "A and C lie at one place, and so do arms of 1 other place: one tells nearly all of the other." in said
    (tmp_path / "apart.csv").write_text("name,x,y\nA,0,0\nB,1,0\n")
    assert "one place" not in ok("create", "apart", "--arms", "apart.csv")
    (tmp_path / "nowhere.csv").write_text("name\nA\nB\n")
    assert "one place" not in ok("create", "nowhere", "--arms", "nowhere.csv", "--noise-sd", "1")


def test_a_plan_has_numbers_as_the_arms_file_had_them(ok, tmp_path):
    (tmp_path / "whole.csv").write_text("name,x,y\nA,0,0.5\nB,100,1\n")
    ok("create", "whole", "--arms", "whole.csv")
    ok("ask", "whole", "-n", "2", "--csv", "plan.csv")
    assert sorted((tmp_path / "plan.csv").read_text().splitlines()) == [
        "1,A,0,0.5,",
        "2,B,100,1.0,",
        "trial,name,x,y,reward",
    ]


def test_columns_that_might_say_where_arms_lie_are_not_dropped_without_a_word(ok, answer, tmp_path):
    (tmp_path / "field.csv").write_text("name,soil,eastward,northward\nford,clay,10,20\nridge,sand,30,\n")
    remarks = answer("create", "t", "--arms", "field.csv", "--rounds", "9")["remarks"]
    assert remarks[0].startswith("No column says where arms lie, so none tells of another: eastward, northward are")
    assert "The first trials are of arms not tried yet, in their order" in remarks[-1]
    ok("ask", "t")
    assert "in the opening: the first of those tried least" in ok("explain", "t", "1")
    (tmp_path / "names.csv").write_text("name,soil\nford,clay\nridge,sand\n")
    assert "No column says" not in " ".join(answer("create", "u", "--arms", "names.csv")["remarks"])


def test_who_names_an_arm_in_place_of_its_trial_learns_how_to_tell_it(ok, refused):
    ok(*CREATE)
    said = " ".join(refused("tell", "meadow", "brook", "31").split())
    assert "The open trial of an arm is told by `tell STUDY --arm ARM REWARD`" in said


def test_a_wrong_prior_mean_is_named_and_not_the_largest_of_rewards_that_agree(ok, tmp_path):
    (tmp_path / "line.csv").write_text("name,x\n" + "".join(f"p{k},{k}\n" for k in range(8)))
    ok(
        "create",
        "t",
        "--arms",
        "line.csv",
        "--rounds",
        "40",
        "--prior-mean",
        "20",
        "--prior-sd",
        "4",
        "--noise-sd",
        "2",
    )
    said = [" ".join(ok("observe", "t", "p0", str(reward)).split()) for reward in (46, 47, 45, 46, 47)]
    assert "the rewards of p0 average 46.5" in said[1]
    assert "If they are all right, see whether what was stated still stands: corrbandits study show t" in said[1]
    assert "WARNING: the rewards contradict the stated mean, 20" in said[-1]
    assert "mistyped in trial" not in said[-1]
    assert "mistyped in trial" not in ok("show", "t")
    (tmp_path / "more.csv").write_text("arm,reward\np0,46\n")
    assert "contradict the stated mean" in " ".join(ok("observe", "t", "--from", "more.csv").split())


def test_rounds_that_cannot_be_had_without_repeats_are_pointed_out(answer, tmp_path):
    (tmp_path / "two.csv").write_text("name,x\na,0\nb,1\n")
    options = ("--arms", "two.csv", "--once", "--rounds")
    assert "no arm is left to try after 2 rewards" in " ".join(answer("create", "t", *options, "3")["remarks"])
    assert "no arm is left" not in " ".join(answer("create", "u", *options, "2")["remarks"])
