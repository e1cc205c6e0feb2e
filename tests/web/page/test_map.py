"""The map: its layers, its slider, a site chosen by pointer, by keys and from the table."""

import re

from playwright.sync_api import expect

from corrbandits import Study
from tests.web.page.serving import until


def cells(page):
    return page.eval_on_selector_all("svg.map > path", "nodes => nodes.map((n) => n.getAttribute('d'))")


def test_layers_are_switched_and_a_legend_says_what_is_shown(visit, server):
    server.study("meadow", rewards=8, trials=1, unit="kg")
    page = visit("/s/meadow/map")
    expect(page.locator("#legend")).to_contain_text("expected, kg")
    seen = {str(cells(page))}
    for name, words in (
        ("Uncertainty", "how far off"),
        ("Chance", "chance to be best"),
        ("Measured", "times measured"),
    ):
        page.get_by_role("radio", name=name).check(force=True)
        expect(page.locator("#legend")).to_contain_text(words)
        seen.add(str(cells(page)))
    assert len(seen) == 4
    expect(page.locator("#legend")).to_contain_text("best so far")


def test_the_slider_goes_back_in_time(visit, server):
    server.study("meadow", rewards=10)
    page = visit("/s/meadow/map", width=1200, height=800)
    slider = page.get_by_label("Time")
    expect(page.locator("#moment")).to_have_text("Now, after 10 entries")
    now = cells(page)
    slider.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#moment")).to_contain_text("After 9 of 10")
    until(lambda: cells(page) != now)
    slider.press("Home")
    expect(page.locator("#legend")).to_contain_text("Nothing can be compared yet")
    page.get_by_role("button", name="Now").click()
    expect(page.locator("#moment")).to_have_text("Now, after 10 entries")
    until(lambda: cells(page) == now)


def test_a_site_is_chosen_by_a_tap_and_shows_what_was_told_of_it(visit, server):
    server.study("meadow", rewards=10)
    page = visit("/s/meadow/map")
    expect(page.locator("#legend")).to_contain_text("expected")  # which moves what is below it
    box = page.locator("svg.map").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 12, box["y"] + box["height"] / 8)
    expect(page.locator("#arm h2")).to_have_text("A4")
    expect(page.locator("#arm")).to_contain_text("Chance to be best")
    page.locator("#arm .chips button").first.click()
    expect(page.locator("#arm h2")).not_to_have_text("A4")


def test_arrow_keys_go_from_site_to_site_and_say_where_they_are(visit, server):
    server.study("meadow", rewards=10)
    page = visit("/s/meadow/map#arm=0")
    expect(page.locator("#arm h2")).to_have_text("A1")
    expect(page.locator("#legend")).to_contain_text("expected")
    page.locator("svg.map").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#arm h2")).to_have_text("B1")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#arm h2")).to_have_text("B2")
    expect(page.locator("#said")).to_contain_text(re.compile(r"B2: .* ± .*measured"))


def test_an_arrow_key_chooses_a_site_also_at_the_edge(visit, server):
    arms = {"name": [f"post {k}" for k in range(6)], "x": list(range(6)), "y": [0] * 6}  # nothing above, nothing below
    with Study.create(server.database, "hedge", arms=arms, rounds=40) as study:
        for k in range(8):
            study.tell(study.ask(), 3.0 + k % 3)
    page = visit("/s/hedge/map")
    expect(page.locator("#legend")).to_contain_text("expected")
    page.locator("svg.map").focus()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#arm h2")).to_have_text(re.compile("post"))


def test_the_table_says_the_same_and_is_sorted_by_its_heads(visit, server):
    server.study("meadow", rewards=10)
    page = visit("/s/meadow/map", width=1200, height=800)
    page.get_by_text("The same as a table").click()
    rows = page.locator("#table tbody tr")
    expect(rows).to_have_count(24)
    page.get_by_role("button", name="Site", exact=True).click()
    expect(rows.first).to_contain_text("A1")
    rows.nth(7).get_by_role("button").click()
    expect(page.locator("#arm h2")).to_have_text(rows.nth(7).get_by_role("button").inner_text())


def test_scattered_sites_have_names_and_a_scale_bar(visit, server):
    server.scattered("coast", rewards=8)
    page = visit("/s/coast/map", width=1200, height=800)
    texts = page.locator("svg.map text")
    expect(texts.filter(has_text=re.compile(r"^[\d.]+ k?m$"))).to_have_count(1)
    expect(texts.get_by_text("site 3", exact=True)).to_be_attached()


def test_sites_on_a_line_are_a_curve_with_a_band(visit, server):
    server.line("transect", rewards=8)
    page = visit("/s/transect/map")
    expect(page.locator("#field svg path.band")).to_be_visible()


def test_sites_without_places_are_shown_too(visit, server):
    server.nowhere("prices", rewards=8)
    page = visit("/s/prices/map")
    expect(page.locator("#field svg[role=img]")).to_be_visible()


def test_more_sites_than_one_answer_holds_are_each_drawn_once(visit, server):
    server.large("plain", side=102, rewards=6)
    page = visit("/s/plain/map")
    expect(page.locator("#moment")).to_have_text("Now, after 6 entries", timeout=60_000)
    with page.expect_response(lambda answer: "/belief" in answer.url and "offset=10000" in answer.url):
        page.get_by_role("button", name="Now").click()  # asks again for what has not changed
    page.wait_for_timeout(500)
    page.get_by_text("The same as a table").click()
    expect(page.locator("#table")).to_contain_text("The first 500 of 10,404.")
    assert "NaN" not in "".join(cells(page))
    server.observe("plain", 10_400, 11.0)
    expect(page.locator("#moment")).to_have_text("Now, after 7 entries", timeout=60_000)
    expect(page.locator("#table")).to_contain_text("The first 500 of 10,404.")
    assert "NaN" not in "".join(cells(page))
