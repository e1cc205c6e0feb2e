"""Where the team is, and what the way costs: on Today, on the map, in a new study."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from corrbandits import Moves, Study
from corrbandits.policies import placed
from tests.web.page.serving import texts, until
from tests.web.page.test_offline import LOST, measured
from tests.web.page.test_story import begin

DEAR = Moves(per_move=0.5, per_distance=0.01)


def costs(server, name):
    """Return the moves of a study, between its sites, by the rule itself."""
    settings = server.settings(name)
    return placed(settings.policy, settings.arms.coordinates).moves, settings.arms


def said(text):
    """Return what a way is said to cost."""
    return float(re.search(r"the way costs (\d+(?:\.\d+)?)", text)[1])


def test_the_team_is_where_it_measured_last_and_asks_from_there(visit, server):
    server.study("meadow", moves=DEAR, unit="kg")
    page = visit("/s/meadow/")
    expect(page.locator("#here")).to_contain_text("Where are you?")
    for k in range(4):
        page.get_by_role("button", name="Find the next site").click()
        site = page.locator("h2.arm")
        expect(page.locator("p.kicker")).to_have_text("Go here next")
        name = site.inner_text()
        measured(page, str(30 + k))
        expect(page.locator("#here")).to_contain_text(f"We are at {name}")
        expect(page.get_by_role("button", name="Find the next site")).to_be_visible()
    asked = server.events("meadow", "asked")
    assert [event.get("from") for event in asked] == [None, *(event["arm"] for event in asked[:-1])]


def test_another_place_is_said_with_the_keyboard(visit, server):
    server.study("meadow", rewards=5, trials=3, moves=DEAR, unit="kg")
    page = visit("/s/meadow/")
    here = page.locator("#here")
    here.get_by_role("button", name="Somewhere else?").press("Enter")
    field = page.get_by_label("We are at")
    expect(field).to_be_focused()
    page.keyboard.type("Z9")
    page.keyboard.press("Enter")
    expect(here).to_contain_text("There is no site called “Z9” here.")
    field.fill("A1")
    page.keyboard.press("Enter")
    expect(here).to_contain_text("We are at A1")
    expect(here.get_by_role("button", name="Somewhere else?")).to_be_focused()
    expect(page.locator("#leg")).to_contain_text("From A1: ")
    page.reload()
    expect(here).to_contain_text("We are at A1")
    here.get_by_role("button", name="Somewhere else?").click()
    page.get_by_role("button", name="Leave it").click()
    expect(here).to_contain_text("We are at A1")


def test_a_button_hears_of_a_click_though_something_arrives_while_it_is_pressed(visit, server):
    server.study("meadow", rewards=5, trials=3, moves=DEAR)
    page = visit("/s/meadow/")
    button = page.locator("#here").get_by_role("button", name="Somewhere else?")
    button.hover()
    page.mouse.down()
    with page.expect_response(lambda answer: answer.url.endswith("/standing")):
        server.observe("meadow", "F4", 31.0)
    page.evaluate("() => new Promise((done) => setTimeout(done, 300))")  # what came is drawn
    page.mouse.up()
    expect(page.get_by_label("We are at")).to_be_focused()
    expect(page.locator("#last")).to_contain_text("31")


# to the far corner the path along all sites is shorter than the road that leads there at once
ROADS = [(k, k + 1, 1.0 + 0.1 * k) for k in range(23)] + [(0, 23, 500.0), (2, 9, 3.5)]
GIVEN = {
    "cityblock": Moves(per_move=0.5, per_distance=0.01, distance="cityblock"),
    "scattered": Moves(0.5, 3.0),
    "graph": Moves(per_move=0.5, per_distance=0.2, graph=ROADS),
    "elsewhere": Moves(
        per_distance=2.0, coordinates=[(54 + k**2 / 1000, 10 - k / 77) for k in range(24)], distance="great_circle"
    ),
}


@pytest.mark.parametrize("make", ["study", *GIVEN])
def test_what_the_way_costs_is_what_the_rule_weighs(visit, server, make):
    if make == "scattered":
        server.scattered("meadow", rewards=5, moves=GIVEN[make])
    else:
        server.study("meadow", rewards=5, trials=3, moves=GIVEN.get(make, DEAR))
    paid, arms = costs(server, "meadow")
    page = visit("/s/meadow/")
    here = page.locator("#here")
    expect(here).to_contain_text("We are at")
    start = arms.count - 6 if make == "scattered" else arms.index("A4")  # a corner
    here.get_by_role("button").click()
    page.get_by_label("We are at").fill(arms.name(start))
    page.keyboard.press("Enter")
    row = page.locator("#mine ol li, #others li").first
    if make == "scattered":  # with others
        row.get_by_role("button").click()
    arm = arms.index(page.locator("h2.arm").inner_text())
    expect(page.locator("#leg")).to_contain_text(f"From {arms.name(start)}: ")
    assert said(page.locator("#leg").inner_text()) == pytest.approx(paid.cost(start, arm), rel=0.006)  # three digits
    if make != "scattered":
        rows = [text.splitlines() for text in texts(page, "#mine ol li .grow")]
        stops = [start, *(arms.index(lines[0]) for lines in rows)]
        np.testing.assert_allclose([said(lines[-1]) for lines in rows], paid.along(np.array(stops)), rtol=0.006)


def test_who_measured_at_another_time_has_not_moved(visit, server):
    server.drifting("moor", rewards=5, trials=2, moves=DEAR)
    page = visit("/s/moor/")
    here = page.locator("#here")
    here.get_by_role("button").click()
    page.get_by_label("We are at").fill("A1")
    page.keyboard.press("Enter")
    page.locator("#next").get_by_text("at …").click()
    page.locator("#next").get_by_label("When it was measured").fill("2026-03-14T09:30")
    measured(page, "31.2")
    expect(page.locator("#saved")).to_contain_text("Saved: 31.2")
    expect(here).to_contain_text("We are at A1")


@pytest.mark.parametrize("moves", [DEAR, GIVEN["graph"]], ids=["places", "roads"])
def test_without_a_connection_the_way_is_still_said(visit, server, moves):
    server.study("meadow", rewards=5, trials=3, moves=moves)
    page = visit("/s/meadow/", allow=LOST)
    expect(page.locator("#mine ol li")).to_have_count(3)
    expect(page.locator("#leg")).to_contain_text("the way costs")
    page.context.set_offline(True)
    first = page.locator("h2.arm").inner_text()
    measured(page, "31.2")
    expect(page.locator("#here")).to_contain_text(f"We are at {first}")
    expect(page.locator("#leg")).to_contain_text(f"From {first}: ")


def test_where_moves_cost_nothing_nothing_is_said_of_them(visit, server):
    server.study("meadow", rewards=5, trials=2)
    page = visit("/s/meadow/")
    expect(page.locator("#mine ol li")).to_have_count(2)
    expect(page.locator("#here")).to_be_hidden()
    expect(page.locator("#leg")).to_be_hidden()
    page = visit("/s/meadow/map#arm=3")
    expect(page.locator("#arm")).to_contain_text("Measure today")
    expect(page.get_by_role("button", name="We are here")).to_have_count(0)
    expect(page.locator("svg.map .heremark")).to_have_count(0)


def test_the_map_shows_where_they_are_and_the_way(visit, server):
    server.study("meadow", rewards=6, moves=Moves(per_distance=1000.0))
    page = visit("/s/meadow/map#arm=3", width=1200, height=800)
    expect(page.locator("#legend")).to_contain_text("you are here")
    before = page.locator("svg.map .heremark").get_attribute("d")
    page.get_by_role("button", name="We are here").press("Enter")
    until(lambda: page.locator("svg.map .heremark").get_attribute("d") != before)
    expect(page.locator("#arm")).to_contain_text("You are there.")
    assert page.evaluate("performance.getEntriesByType('resource').some((one) => one.name.includes('&from=3'))")
    page.goto(f"{server.url}/s/meadow/")
    expect(page.locator("#here")).to_contain_text("We are at D1")
    page.get_by_label("Or a list for the day").fill("3")
    page.get_by_role("button", name="Make the list").click()
    expect(page.locator("#mine ol li")).to_have_count(3)
    assert server.events("meadow", "asked")[-3]["from"] == 3
    page.goto(f"{server.url}/s/meadow/map")
    trail = page.locator("svg.map path.way").last
    until(lambda: len(re.findall("[ML]", trail.get_attribute("d"))) >= 3)
    page.get_by_label("Time").press("ArrowLeft")  # where they were then is not known
    expect(page.locator("svg.map .heremark")).to_have_count(0)


def test_the_button_keeps_the_focus_when_the_map_is_drawn_anew(visit, server):
    server.study("meadow", rewards=6, moves=DEAR)
    page = visit("/s/meadow/map#arm=3", width=1200, height=800)
    there = page.get_by_role("button", name="We are here")
    expect(page.locator("#legend")).to_contain_text("you are here")
    there.focus()
    page.evaluate("document.activeElement.dataset.before = 1")
    with Study.open(server.database, "meadow") as study:
        study.observe("A1", 30.0)
    expect(page.locator("#moment")).to_contain_text("after 7 entries")
    expect(page.locator("[data-before]")).to_have_count(0)
    expect(there).to_be_focused()


def test_a_new_study_is_told_what_moves_cost(visit, server):
    page = visit("/new")
    page.get_by_text("Does it cost to go from site to site?").click()
    page.get_by_label("Each move to another site costs").fill("1,234")
    page.get_by_label("For each unit of distance").fill("-2")
    page.set_input_files(
        "#file", files=[{"name": "a.csv", "mimeType": "text/csv", "buffer": b"name;x\na;0\nb;1\nc;3\n"}]
    )
    expect(page.locator("#preview")).to_contain_text("3 sites")
    create = page.get_by_role("button", name="Begin the study")
    create.click()
    expect(page.locator("#answer")).to_contain_text("Say which number you mean")
    page.get_by_role("button", name=re.compile("with decimals")).click()
    create.click()
    expect(page.locator("#answer")).to_contain_text("What a move costs is 0 or more, not -2")
    page.get_by_label("For each unit of distance").fill("0,5")
    page.get_by_label("What a site brings changes with time").check()
    create.click()
    expect(page.get_by_role("button", name="Find the next site")).to_be_visible()
    assert server.settings("a").policy.moves == Moves(per_move=1.234, per_distance=0.5)
    assert server.settings("a").recipe.in_real_time


def test_a_study_that_lies_nowhere_has_no_distance_to_pay_for(visit, server):
    page = visit("/new")
    page.set_input_files("#file", files=[{"name": "a.csv", "mimeType": "text/csv", "buffer": b"name\na\nb\nc\n"}])
    page.get_by_text("Does it cost to go from site to site?").click()
    page.get_by_label("For each unit of distance").fill("2")
    page.get_by_role("button", name="Begin the study").click()
    expect(page.locator("#answer")).to_contain_text("does not say where sites lie")
    page.get_by_label("For each unit of distance").fill("")
    page.get_by_label("Each move to another site costs").fill("3")
    page.get_by_role("button", name="Begin the study").click()
    expect(page.get_by_role("button", name="Find the next site")).to_be_visible()
    assert server.settings("a").policy.moves == Moves(per_move=3.0)


def test_a_new_study_is_told_nothing_of_moves_where_nothing_is_said(visit, server):
    page = visit("/new")
    begin(page)
    assert server.settings("meadow").policy.horizon == 40
    assert not hasattr(server.settings("meadow").policy, "moves")


def test_an_undo_that_meets_a_conflict_leaves_nothing_to_enter_again(visit, server):
    server.study("meadow", rewards=3, trials=1)
    page = visit("/s/meadow/", allow=(*LOST, "409"))
    measured(page, "31.2")
    undo = page.locator("#saved").get_by_role("button", name="Undo")
    expect(undo).to_be_visible()
    page.context.set_offline(True)
    undo.click()
    expect(page.locator("p.kicker")).to_have_text("Enter it again")
    server.amend("meadow", 4, 210.0)
    page.context.set_offline(False)
    refused = page.get_by_role("region", name="Not taken")
    expect(refused).to_contain_text("Somebody else has entered 210 here meanwhile.", timeout=20_000)
    expect(page.get_by_role("button", name="Find the next site")).to_be_visible()
    expect(page.locator("#mine")).to_be_hidden()
    assert server.told("meadow")[4] == 210.0


def test_what_was_typed_after_an_undo_that_meets_a_conflict_stays_and_is_asked_back(visit, server):
    server.study("meadow", rewards=3, trials=1)
    page = visit("/s/meadow/", allow=(*LOST, "409"))
    measured(page, "31.2")
    expect(page.locator("#saved").get_by_role("button", name="Undo")).to_be_visible()
    page.context.set_offline(True)
    page.locator("#saved").get_by_role("button", name="Undo").click()
    page.get_by_label("What did you measure?").fill("32")
    server.amend("meadow", 4, 210.0)
    page.context.set_offline(False)
    expect(page.locator("#meanwhile")).to_contain_text("Somebody else has entered 210 here", timeout=20_000)
    expect(page.get_by_label("What did you measure?")).to_have_value("32")
    page.locator("#meanwhile").get_by_role("button", name="Mine counts").click()
    until(lambda: server.told("meadow")[4] == 32.0)


def test_a_site_is_found_in_whatever_form_its_letters_are_typed(visit, server):
    with_accent = {"name": ["pre\u0301", "hill"], "x": [0.0, 1.0]}
    server._create("moor", with_accent, 0, 0, None, None, None)
    page = visit("/s/moor/")
    page.get_by_text("Measured somewhere else?").click()
    page.get_by_label("Which site?").fill("pr\u00e9")
    page.get_by_label("What was measured there?").fill("30")
    page.locator("#elsewhere").get_by_role("button", name="Save").click()
    until(lambda: list(server.told("moor").values()) == [30.0])
