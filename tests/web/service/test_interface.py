"""What the interface gives: each route once, and what it says of bad input."""

import json
from urllib.parse import quote

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import Study
from corrbandits.study import arms
from corrbandits.web.service.making import previewed
from tests.support.serving import ARMS, served


def played(line, study, rounds=8):
    for k in range(rounds):
        trial = line.post(f"{study}/ask").data["trials"][0]
        line.post(f"{study}/trials/{trial['trial']}/tell", {"reward": 20.0 + trial["arm"] + 0.1 * k})


def test_a_study_is_made_asked_and_told(line, tmp_path):
    study = line.create(unit="kg")
    asked = line.post(f"{study}/ask", {"n": 2, "why": True}, {"Corrbandits-By": "%C3%84nne"})
    assert asked.status == 200
    first, second = asked.data["trials"]
    assert {first["trial"], second["trial"]} == {1, 2}
    assert first["coordinates"].keys() == {"x", "y"}
    assert first["why"]
    told = line.post(f"{study}/trials/1/tell", {"reward": 31.5}, {"Corrbandits-By": "Ben"}).data
    assert (told["did"], told["reward"], told["open"]) == ("told", 31.5, 1)
    now = line.get(study).data
    assert (now["told"], now["unit"], now["rounds"], now["sequence"]) == (1, "kg", 40, 4)
    assert now["open"][0]["by"] == "Änne"
    assert now["last"][0]["by"] == "Ben"
    with Study.open(tmp_path / "studies.db", "meadow") as same:
        assert same.snapshot().ledger.entry(1).told_by == "Ben"
    assert line.get("/api/v1/studies").data["studies"][0]["name"] == "meadow"


def test_rewards_say_when_they_were_measured(line):
    study = line.create(told={"drift": True})
    line.post(f"{study}/ask", {"n": 2})
    assert line.post(f"{study}/trials/1/tell", {"reward": 1, "at": "2026-03-14T09:30Z"}).status == 200
    assert line.post(f"{study}/observe", {"arm": 3, "reward": 2, "at": 1_700_000_000}).status == 200
    many = {"tell": [[2, 4.0, "2026-03-15T00:00Z"]], "observe": [[1, 5.0, "k"], [2, 6.0, "l", 1_700_000_000]]}
    assert line.post(f"{study}/rewards", many).status == 200
    rows = line.get(f"{study}/history").data["trials"]
    assert [row["measured"] for row in rows[:3]] == [1_773_480_600.0, 1_773_532_800.0, 1_700_000_000.0]
    assert rows[3]["measured"] == rows[3]["told"]
    assert "2026-03-14T09:30:00.000+00:00" in line.get(f"{study}/history?format=csv").body.decode()
    for wrong, why in (("soon", "must be a time such as"), ("2999-01-01", "future"), (-5, "1970"), (True, "a time")):
        said = line.post(f"{study}/observe", {"arm": 0, "reward": 1, "at": wrong})
        assert said.status in (400, 422)
        assert why in said.data["detail"]
    assert line.post(f"{study}/trials/1/amend", {"reward": 2, "at": "2026-03-14"}).status == 422  # the time stays
    assert line.get(f"{study}/learnt").data["learnt"]["drift"]["low"] > 0
    belief = line.get(f"{study}/belief?at=7").data
    assert line.get(f"{study}/belief?at=7").data == belief


def test_what_was_told_wrong_is_put_right(line):
    study = line.create()
    line.post(f"{study}/ask", {"n": 3})
    line.post(f"{study}/trials/1/tell", {"reward": 1})
    assert line.post(f"{study}/trials/1/tell", {"reward": 1}).status == 200
    again = line.post(f"{study}/trials/1/tell", {"reward": 2})
    assert again.status == 409
    assert "amend(1, 2.0)" in again.data["detail"]
    assert line.post(f"{study}/trials/1/amend", {"reward": 2}).data["reward"] == 2
    assert line.post(f"{study}/trials/1/retract").data["reward"] is None
    assert line.post(f"{study}/trials/2/cancel").status == 200
    assert line.post(f"{study}/trials/2/tell", {"reward": 1}).status == 409
    assert line.post(f"{study}/trials/9/tell", {"reward": 1}).status == 404
    kinds = [event["what"] for event in line.get(f"{study}/events").data["events"]]
    assert kinds == ["created", "asked", "asked", "asked", "told", "amended", "retracted", "cancelled"]
    some = line.get(f"{study}/events?what=told,amended").data
    assert [event["what"] for event in some["events"]] == ["told", "amended"]


def test_a_key_makes_a_call_once(line):
    study = line.create()
    first = line.post(f"{study}/ask", {"n": 2}, {"Idempotency-Key": "monday"}).data
    again = line.post(f"{study}/ask", {"n": 2}, {"Idempotency-Key": "monday"}).data
    assert first == again
    assert first["key"] == "monday"
    assert line.post(f"{study}/ask", {"n": 3}, {"Idempotency-Key": "monday"}).status == 422
    for _ in range(2):
        seen = line.post(f"{study}/observe", {"arm": "C2", "reward": 3}, {"Idempotency-Key": "receipt 7"}).data
        assert seen["trial"] == 3
    assert line.post(f"{study}/observe", {"arm": "C2", "reward": 4}, {"Idempotency-Key": "receipt 7"}).status == 422
    assert line.get(study).data["told"] == 1


def test_the_belief_is_that_of_the_study(line, tmp_path):
    study = line.create()
    played(line, study)
    found = line.get(f"{study}/belief").data
    with Study.open(tmp_path / "studies.db", "meadow") as same:
        assert found["mean"] == same.belief.mean.tolist()
        assert found["counts"] == same.belief.counts.tolist()
        best, asked = same.best(), same.ask()
    assert found["next"] == asked.arm
    assert sum(found["chance"]) == pytest.approx(1)
    assert found["leader"] == best.arm
    assert line.get(f"{study}/best").data["best"]["name"] == best.name
    page = line.get(f"{study}/belief?offset=5&limit=3&digits=3&at={found['sequence']}").data
    assert page["mean"] == [float(f"{x:.3g}") for x in found["mean"][5:8]]


def test_the_past_is_as_it_was(line):
    study = line.create()
    played(line, study)
    then = line.get(f"{study}/belief").data
    played(line, study, 2)
    past = line.get(f"{study}/belief?at={then['sequence']}").data
    assert past == then
    assert line.get(f"{study}/belief").data != then
    assert line.get(f"{study}/belief?at=99999").status == 404


def test_where_they_are_decides_where_to_go(line):
    study = line.create(moves={"per_move": 0.5, "per_distance": 100.0}, told={"mean": 0.0, "sd": 1.0, "noise_sd": 1.0})
    now = line.get(study).data
    assert now["moves"] == {"per_move": 0.5, "per_distance": 100.0, "distance": "euclidean", "own_places": False}
    assert not now["drifts"]
    for arm in ("A0", "D5", "B2"):
        line.post(f"{study}/observe", {"arm": arm, "reward": 0.0})
        k = ARMS["name"].index(arm)
        assert line.get(f"{study}/belief?from={k}").data["next"] == k
        assert line.post(f"{study}/ask", {"n": 1, "from": arm}).data["trials"][0]["arm"] == k
    assert line.get(f"{study}/belief?from=24").status == 404
    assert "start is not known here" in line.post(f"{study}/ask", {"start": "A0"}).data["detail"]
    roads = [{"per_distance": 1.0, "graph": road} for road in ([], [[0, 1]], [[0, 1, 0]], [[0, "A1", 1.0]], "ring")]
    for wrong in ({"per_move": -1}, {"per_move": "3"}, {"per_mile": 3}, 5, *roads):
        assert line.post("/api/v1/studies", {"name": "x", "arms": ARMS, "moves": wrong}).status == 422
    nowhere = {"name": "x", "arms": {"name": ["a", "b"]}, "moves": {"per_distance": 1.0}}
    assert "arms that lie nowhere" in line.post("/api/v1/studies", nowhere).data["detail"]


@pytest.mark.parametrize("name", ["meadow", "a/b", "Süd 50 %", "evil.example"])
def test_who_leaves_out_the_slash_is_led_to_the_page_of_the_study(line, name):
    answer = line.get(f"/s/{quote(name, safe='')}")
    assert (answer.status, answer.headers["Location"]) == (308, f"/s/{quote(name, safe='')}/")


def test_on_roads_the_way_along_them_is_weighed(line):
    ring = [[k, (k + 1) % 24, 1.0] for k in range(24)]
    given = {"moves": {"per_distance": 100.0, "graph": ring}, "told": {"mean": 0.0, "sd": 1.0, "noise_sd": 1.0}}
    study = line.create(**given)
    assert line.get(study).data["moves"]["own_places"]
    ways = line.get(f"{study}/arms").data["ways"]
    assert [ways[0][k] for k in (1, 12, 23)] == [1.0, 12.0, 1.0]
    trials = line.post(f"{study}/ask", {"n": 24, "from": 0}).data["trials"]
    steps = np.abs(np.diff([0, *(trial["arm"] for trial in trials)]))
    assert (np.minimum(steps, 24 - steps) <= 1).sum() > 12
    cut = given | {"moves": {"per_distance": 1.0, "graph": ring[:3] + ring[5:9]}}
    answer = line.post("/api/v1/studies", {"name": "cut", "arms": ARMS, **cut})
    assert answer.status == 400
    assert "must lead from every arm to every other, but not from arm 0 to arm 4" in answer.data["detail"]


def test_a_new_study_says_that_the_way_is_weighed(line):
    given = {"name": "far", "arms": ARMS, "rounds": 40, "moves": {"per_move": 3.0}}
    made = line.post("/api/v1/studies", given)
    assert made.data["remarks"][-1].endswith("is weighed against what it may bring: 3 for each move.")
    assert made.data["rounds"] == 40
    assert line.post("/api/v1/studies", given).status == 200  # the same again
    assert line.post("/api/v1/studies", given | {"moves": {"per_move": 4.0}}).status == 409


def test_events_say_when_rewards_were_measured(line):
    study = line.create()
    line.post(f"{study}/observe", {"arm": 0, "reward": 1.0, "at": 1_700_000_000})
    line.post(f"{study}/observe", {"arm": 0, "reward": 1.0})
    assert [one["measured"] for one in line.get(f"{study}/events").data["events"]] == [None, 1_700_000_000, None]
    assert [one["measured"] == one["at"] for one in line.get(study).data["last"]] == [True, False]
    assert "2023-11-14T22:13:20.000+00:00" in line.get(f"{study}/events?format=csv").body.decode()


@pytest.mark.parametrize(("old", "new"), [("pr\u00e9", "pre\u0301"), ("pre\u0301", "pr\u00e9")])
def test_a_name_is_the_same_in_every_normal_form(line, tmp_path, old, new):
    line.create(old)
    for name in (old, new):
        study = f"/api/v1/studies/{quote(name, safe='')}"
        assert line.post(f"{study}/ask").status == 200
    assert line.post("/api/v1/studies", {"name": new, "arms": ARMS, "rounds": 40}).status == 200  # the same again
    assert line.post("/api/v1/studies", {"name": new, "arms": ARMS, "rounds": 41}).status == 409
    assert [one["name"] for one in line.get("/api/v1/studies").data["studies"]] == ["pr\u00e9"]
    assert line.get(study).data["t"] == 3


def test_what_a_reader_has_is_not_sent_again(line):
    study = line.create()
    for path in ("", "/belief", "/history", "/events", "/arms", "/standing", "/progress"):
        first = line.get(study + path)
        tag = first.headers["ETag"]
        assert line.get(study + path, {"If-None-Match": tag}).status == 304
        line.post(f"{study}/observe", {"arm": 0, "reward": 1.0})
        assert line.get(study + path, {"If-None-Match": tag}).status == 200


def test_progress_and_one_arm(line):
    study = line.create()
    played(line, study)
    progress = line.get(f"{study}/progress").data
    assert [one["trial"] for one in progress["rewards"]] == list(range(1, 9))
    last = progress["moments"][-1]
    assert last["told"] == 8
    assert 0 < last["chance"] <= 1
    assert last["loss"] >= 0
    assert progress["worth"] > 0
    arm = progress["rewards"][-1]["arm"]
    found = line.get(f"{study}/arm/{arm}").data
    assert found["trials"][-1]["predicted"]["deviation"] > 0
    assert 0 < found["neighbours"][0]["correlation"] <= 1
    assert line.get(f"{study}/arm/24").status == 404
    assert line.get(f"{study}/learnt").data["learnt"]["noise_sd"]["median"] > 0
    assert line.get(f"{study}/explain/8").data["sentence"]
    line.post(f"{study}/observe", {"arm": 0, "reward": 1.0})
    assert line.get(f"{study}/explain/9").status == 409


def test_tables_are_harmless_in_a_spreadsheet(line):
    study = line.create(arms={"name": ["=1+1", "hill"]})
    line.post(f"{study}/observe", {"arm": "=1+1", "reward": -3.5}, {"Corrbandits-By": "@SUM(A1)"})
    for path, cell in (("events", ",'@SUM(A1),"), ("history", ",'=1+1,")):
        found = line.get(f"{study}/{path}?format=csv")
        assert found.headers["Content-Type"].startswith("text/csv")
        assert cell in found.body.decode()
        assert ",-3.5" in found.body.decode()


@pytest.mark.parametrize("name", ["north/east", "a/best", "ä%2F?#&", "..x", "a\\b", "%", "[plot] +1", "a b", "{{7*7}}"])
def test_a_name_may_have_any_character(line, name):
    study = line.create(name)
    assert line.get(study).data["study"] == name
    assert line.post(f"{study}/ask").data["study"] == name


def test_an_export_is_taken_in_again(line, tmp_path):
    study = line.create()
    line.post(f"{study}/ask", None, {"Corrbandits-By": "Ben"})
    body = line.get(f"{study}/export").body
    sent = {"Content-Type": "application/x-ndjson"}
    made = line.request("POST", "/api/v1/import?name=copy", headers=sent, body=body)
    assert made.status == 201
    assert line.get("/api/v1/studies/copy").data["open"][0]["by"] == "Ben"
    assert line.request("POST", "/api/v1/import", headers=sent, body=body).status == 409
    broken = line.request("POST", "/api/v1/import?name=other", headers=sent, body=body[:-20])
    assert broken.status == 400
    assert "the file" in broken.data["detail"]
    assert str(tmp_path) not in broken.data["detail"]


def test_the_same_study_made_again_is_the_same(line):
    data = {"name": "meadow", "arms": ARMS, "rounds": 40, "told": {"mean": 30, "noise_sd": [1, 3]}}
    assert [line.post("/api/v1/studies", data).status for _ in range(2)] == [201, 200]
    other = line.post("/api/v1/studies", data | {"rounds": 41})
    assert other.status == 409
    assert "/" not in other.data["detail"]
    assert line.get("/api/v1/studies/meadow").data["prior"].startswith("told mean 30")


@pytest.mark.parametrize(
    ("path", "data", "status", "word"),
    [
        ("/ask", {"n": 0}, 422, "n"),
        ("/ask", {"n": 25}, 409, "different arms"),
        ("/ask", {"many": 2}, 422, "many"),
        ("/ask", {"allowed": ["nowhere"]}, 400, "nowhere"),
        ("/ask", {"near": {"z": 1}}, 400, "near"),
        ("/observe", {"arm": "A0", "reward": "31,2"}, 422, "reward"),
        ("/observe", {"arm": 99, "reward": 1}, 400, "99"),
        ("/observe", {"arm": "A0", "reward": True}, 422, "reward"),
    ],
)
def test_bad_input_is_refused_with_what_to_do(line, path, data, status, word):
    study = line.create()
    found = line.post(study + path, data)
    assert found.status == status
    assert found.headers["Content-Type"] == "application/problem+json"
    assert word in found.data["detail"]
    assert found.data["status"] == status
    assert line.get(study).data["sequence"] == 1


@pytest.mark.parametrize(
    ("path", "data", "said"),
    [
        ("/observe", {"arm": -1, "reward": 3}, "arm must be an index from 0 or a name, got -1."),
        ("/observe", {"arm": True, "reward": 3}, "arm must be an index from 0 or a name, got true."),
        ("/observe", {"arm": 1, "reward": "x"}, 'reward must be a number, got "x".'),
        ("/observe", {}, "reward is missing; arm is missing."),
        ("/ask", {"n": 0}, "n must be at least 1, got 0."),
        ("/ask", {"n": 1001}, "n must be at most 1,000, got 1001."),
        ("/ask", {"n": "3"}, 'n must be a whole number, got "3".'),
        ("/ask", {"allowed": ["A0", -1]}, "allowed[1] must be an index from 0 or a name, got -1."),
        ("/ask", {"near": {"x": "a"}, "why": 1}, 'near.x must be a number, got "a"; why must be true or false, got 1.'),
        ("/ask", [], "the document must be an object, got []."),
        ("", {"rounds": 10**7}, "rounds must be at most 1,000,000, got 10000000."),
        ("", {"goal": "most"}, "goal must be 'max' or 'min', got \"most\"."),
        ("", {"timeout": 0}, "timeout must be above 0, got 0."),
        ("", {"told": {"mean": [1]}}, "told.mean must be a number or a list of two, got [1]."),
        ("", {"arms": {}}, "arms must be at least 1 long, got {}."),
    ],
)
def test_what_is_not_as_the_interface_says_is_told_in_plain_words(line, path, data, said):
    study = line.create()
    found = line.post(study + path, data) if path else line.post("/api/v1/studies", {"name": "n", "arms": ARMS} | data)
    assert (found.status, found.data["detail"]) == (422, said)
    assert line.get(f"{study}/events?offset=x").data["detail"] == 'offset must be a whole number, got "x".'
    with pytest.raises(ValueError, match=r"^n must be at least 1, got 0\.$"):
        cb.Client(line.url, study="meadow").ask(0)


def test_events_of_a_kind_that_there_is_not_are_refused_with_those_there_are(line):
    study = line.create()
    found = line.get(f"{study}/events?what=told,foo")
    assert found.status == 400
    assert found.data["detail"].startswith("what must be some of created, asked, told, observed, amended,")
    assert found.data["detail"].endswith("got 'foo'.")
    assert line.get(f"{study}/events?what=created,%20told").data["count"] == 1


@pytest.mark.parametrize("body", [b"", b" \n\n", b"\xef\xbb\xbf"])
def test_an_empty_table_is_said_to_be_empty(line, body):
    found = line.request("POST", "/api/v1/arms/preview", headers={"Content-Type": "text/csv"}, body=body)
    said = found.data["detail"] if found.status == 400 else found.data["problems"][0]["what"]
    assert "the file is empty" in said


def test_what_is_not_there(line):
    for path in ("/api/v1/studies/nowhere", "/api/v1/studies/nowhere/ask", "/api/v1/nothing", "/nothing"):
        found = line.get(path)
        assert found.status in (404, 405)
        assert found.headers["Content-Type"] == "application/problem+json"
    bad = line.request("POST", line.create() + "/ask", headers={"Content-Type": "application/json"}, body=b"{")
    assert bad.status == 400


def test_a_table_is_looked_at_before_anything_is_made(line):
    def preview(body):
        return line.request("POST", "/api/v1/arms/preview", headers={"Content-Type": "text/csv"}, body=body).data

    right = preview("\ufeffPlot;Row;Col;soil\nA;1;1,5;loam\nB;2;2,5;sand\n".encode())
    assert (right["axes"], right["names"], right["problems"]) == (["x", "y"], ["A", "B"], [])
    assert right["columns"]["x"] == [1.5, 2.5]
    wrong = preview(b"name,x,y\nA,1,2\nA,one,2\nC,3,\n")
    assert [(one["row"], one["column"]) for one in wrong["problems"]] == [(3, "name"), (3, "x"), (4, "y")]
    assert preview("Name;x\nBäche;1\n".encode("cp1252"))["names"] == ["Bäche"]
    assert preview("Name\tx\nBäche\t1\n".encode("utf-16"))["names"] == ["Bäche"]
    assert preview(b"x,y\n1,2\n")["problems"][0]["row"] == 1
    beyond = preview(b"Plot;Lat;Lon\nA;60,5;9\nC;95,0;9,2\nD;-91;9,3\n")["problems"]
    assert [(one["row"], one["column"]) for one in beyond] == [(3, "Lat"), (4, "Lat")]
    assert "from -90 to 90 degrees, got 95." in beyond[0]["what"]
    left = preview(b"Plot no.;x [m];y (m);prior_mean\nA;1;2;3\nB;2;2;4\n")
    assert list(left["columns"]) == ["name", "x", "y"]
    assert "Left out: prior_mean." in left["remarks"][-1]
    assert line.get("/api/v1/studies").data["studies"] == []
    zipped = line.request(
        "POST", "/api/v1/arms/preview", headers={"Content-Type": "text/csv"}, body=b"PK\x03\x04\xff\x00"
    )
    assert zipped.status == 400


def test_more_arms_than_a_study_takes_are_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr(arms, "MOST_ARMS", 3)
    assert previewed(b"name\nA\nB\nC\n")["arms"] == 3
    assert "at most 3" in previewed(b"name\nA\nB\nC\nD\n")["problems"][0]["what"]


def test_many_rewards_at_once_all_or_none(line):
    study = line.create()
    line.post(f"{study}/ask", {"n": 2})
    many = {"tell": [[1, 3.0], [2, 4.0]], "observe": [["C2", 1.0, "k1"]]}
    assert line.post(f"{study}/rewards", many).data | {"sequence": 0} == {
        "study": "meadow", "told": 2, "observed": 1, "sequence": 0,
    }  # fmt: skip
    assert line.post(f"{study}/rewards", many).data["told"] == 0
    refused = line.post(f"{study}/rewards", {"tell": [[1, 3.0], [2, 5.0]]})
    assert (refused.status, refused.data["row"]) == (409, 1)


def test_a_walk_begins_where_one_stands(line):
    study = line.create()
    trials = line.post(f"{study}/ask", {"n": 8, "near": {"x": 5.0, "y": 3.0}}).data["trials"]
    places = np.array([[5.0, 3.0], *([one["coordinates"]["x"], one["coordinates"]["y"]] for one in trials)])
    walked = np.hypot(*np.diff(places, axis=0).T).sum()
    shuffled = [np.hypot(*np.diff(np.random.default_rng(k).permutation(places), axis=0).T).sum() for k in range(50)]
    assert walked < min(shuffled)


def test_the_demonstration_hides_its_truth_and_reveals_it(tmp_path):
    from tests.support.serving import served

    with served(tmp_path / "studies.db", demo=True) as line:
        assert line.get("/api/v1/me").data["demo"] == "demo field"
        study = "/api/v1/studies/demo%20field"
        trial = line.post(f"{study}/ask").data["trials"][0]
        measured = [line.post("/api/v1/demo/measure", {"study": "demo field", "trial": 1}).data for _ in range(2)]
        assert measured[0] == measured[1]
        truth = line.get("/api/v1/demo/truth").data
        assert abs(measured[0]["reward"] - truth["mean"][trial["arm"]]) < 4 * truth["noise_sd"]
        assert str(round(truth["mean"][0], 3)) not in json.dumps(line.get(study).data)
    with served(tmp_path / "studies.db") as line:
        assert line.get("/api/v1/demo/truth").status == 404


def test_health_version_and_metrics(line):
    study = line.create()
    line.post(f"{study}/ask")
    for prefix in ("", "/api/v1"):
        assert line.get(f"{prefix}/health").data == {"status": "ok"}
        assert "corrbandits" in line.get(f"{prefix}/version").data
    text = line.get("/metrics").body.decode()
    assert 'corrbandits_writes_total{did="asked"} 1' in text
    assert 'route="/studies/{study}/ask",status="200"' in text


def test_what_is_long_is_packed(line):
    study = line.create(arms={"name": [f"site {k}" for k in range(500)]})
    packed = line.get(f"{study}/arms", {"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert len(packed.body) < len(line.get(f"{study}/arms").body) / 3


def test_a_study_that_was_deleted_and_made_anew_is_the_new_one(line, tmp_path):
    study = line.create()
    line.post(f"{study}/ask")
    with Study.open(tmp_path / "studies.db", "meadow") as same:
        same.delete()
    assert line.get(study).status == 404
    line.create(rounds=7)
    assert line.get(study).data["rounds"] == 7
    assert line.post(f"{study}/ask").data["trials"][0]["trial"] == 1


def test_a_reward_that_another_has_changed_meanwhile_is_not_overwritten(line):
    study = line.create()
    line.post(f"{study}/ask")
    trial = f"{study}/trials/1"
    line.post(f"{trial}/tell", {"reward": 20.0})
    seen = {"reward": 25.0, "was": 20.0}
    assert line.post(f"{trial}/amend", seen).status == 200
    assert line.post(f"{trial}/amend", seen).status == 200, "the same again, whose answer was lost"
    line.post(f"{trial}/amend", {"reward": 200.0})
    refused = line.post(f"{trial}/amend", seen)
    assert (refused.status, "200 by now" in refused.data["detail"]) == (409, True)
    assert line.post(f"{trial}/retract", {"was": 25.0}).status == 409
    assert line.get(study).data["told"] == 1
    assert line.post(f"{trial}/retract", {"was": 200.0}).status == 200
    assert line.post(f"{trial}/retract", {"was": 200.0}).status == 200
    events = line.get(f"{study}/events").data["events"]
    assert [one.get("reward") for one in events if one["what"] in ("told", "amended")] == [20.0, 25.0, 200.0]


def test_a_document_says_everything_once(line):
    study = line.create()
    body, kind = b'{"arm": 0, "arm": 1, "reward": 1.0}', {"Content-Type": "application/json"}
    refused = line.request("POST", f"{study}/observe", body=body, headers=kind)
    assert (refused.status, "'arm' twice" in refused.data["detail"]) == (400, True)


def test_a_study_whose_name_has_no_address_is_not_imported(line):
    study = line.create()
    file = line.get(f"{study}/export").body.replace(b'"meadow"', b'".."', 1)
    kind = {"Content-Type": "application/x-ndjson"}
    assert "cannot be called" in line.request("POST", "/api/v1/import", body=file, headers=kind).data["detail"]


def test_a_database_that_is_none_any_more_is_not_the_callers_fault(tmp_path):
    with served(tmp_path / "studies.db") as line:
        line.create()
        (tmp_path / "studies.db").write_bytes(bytes(range(256)) * 64)
        for path in ("/health", "/api/v1/studies/meadow"):
            assert line.get(path).status == 503, path
