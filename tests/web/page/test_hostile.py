"""Names as an attacker would choose them are shown as they are, everywhere, and run nothing."""

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from corrbandits import Study

NASTY = "<img src=x onerror=alert(1)>"
QUOTED = "\"'`${alert(1)}]//"


@pytest.fixture
def hostile(server):
    names = [f"{NASTY}{k}" if k % 2 else f"{QUOTED}{k}" for k in range(12)]
    arms = {"name": names, "x": [k % 4 for k in range(12)], "y": [k // 4 for k in range(12)]}
    with Study.create(server.database, NASTY, arms=arms, rounds=40, unit="<b>kg</b>", by=NASTY) as study:
        for k in range(6):
            study.tell(study.ask(), 30.0 + k)
        study.ask(2)
    return server


def test_names_are_shown_and_nothing_else(hostile, visit):
    page, ran = visit("/", width=1200, height=800), []
    page.on("dialog", lambda dialog: (ran.append(page.url), dialog.dismiss()))
    for view in ("", "map#arm=1", "progress", "history"):
        page.goto(f"{hostile.url}/s/{quote(NASTY, safe='')}/{view}")
        expect(page.locator("[aria-busy=true]")).to_have_count(0)
        page.wait_for_timeout(500)
        expect(page.locator("p.which")).to_have_text(NASTY)
        assert page.locator("img").count() == 0
        assert page.locator("main b").count() == 0
    assert ran == []


def test_a_file_of_such_names_is_previewed_as_text(server, visit):
    page = visit("/new")
    text = f'name,x,y,"{NASTY}"\n"{NASTY}",1,2,a\n{NASTY}2,2,2,b\n'
    page.set_input_files("#file", files=[{"name": f"{NASTY}.csv", "mimeType": "text/csv", "buffer": text.encode()}])
    expect(page.locator("#preview")).to_contain_text(NASTY)
    assert page.locator("img").count() == 0


def test_a_spreadsheet_that_is_no_csv_is_refused_with_words(server, visit):
    page = visit("/new", allow=("400", "415", "422"))
    given = {
        "name": "sites.xlsx",
        "mimeType": "application/vnd.ms-excel",
        "buffer": b"PK\x03\x04\x14\x00\x00\x00\xff\xfe",
    }
    page.set_input_files("#file", files=[given])
    expect(page.locator("#preview")).to_be_visible()
    expect(page.locator("#preview [role=alert]")).to_contain_text("CSV")


def test_what_the_browser_kept_cannot_break_the_page(server, visit):
    server.study("meadow", trials=1)
    page = visit("/s/meadow/")
    page.evaluate("localStorage.setItem('typed', '{broken')")
    page.reload()
    expect(page.get_by_label("What did you measure?")).to_be_visible()
