"""When something was measured: by default when it was typed, by the server's clock, whatever the telephone's shows."""

import json
import time
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from tests.web.page.serving import until
from tests.web.page.test_offline import LOST, measured

HOUR = 3600
STALE = 5  # seconds that the date in an answer may be old
WRONG = """(() => {{
  const [Real, ahead] = [Date, {seconds} * 1000];
  globalThis.Date = class extends Real {{
    constructor(...given) {{ given.length ? super(...given) : super(Real.now() + ahead); }}
    static now() {{ return Real.now() + ahead; }}
  }};
}})()"""


def wrong_clock(page, seconds):
    """Open a page anew on a telephone whose clock is so many seconds ahead."""
    page.context.add_init_script(WRONG.format(seconds=seconds))
    page.reload()
    expect(page.get_by_label("What did you measure?")).to_be_visible()
    assert abs(page.evaluate("Date.now()") / 1000 - time.time() - seconds) < 30


def test_a_study_that_drifts_asks_when_and_another_does_not(visit, server):
    server.drifting("moor", trials=1)
    server.study("meadow", trials=1)
    expect(visit("/s/moor/").locator("#next").get_by_role("group", name="Measured")).to_be_visible()
    expect(visit("/s/meadow/").locator("#next form")).to_be_visible()
    expect(visit("/s/meadow/").get_by_role("group", name="Measured")).to_have_count(0)


def test_another_time_is_said_with_the_keyboard_in_local_time_and_kept_in_utc(visit, server):
    server.drifting("moor", trials=2)
    page = visit("/s/moor/")  # in Berlin
    page.get_by_label("What did you measure?").focus()
    page.keyboard.type("31,2")
    for key in ("Tab", "Tab", "ArrowRight", "Tab"):
        page.keyboard.press(key)
    field = page.locator("#next").get_by_label("When it was measured")
    expect(field).to_be_focused()
    field.fill("2026-03-14T09:30")
    page.keyboard.press("Enter")
    expect(page.locator("#saved")).to_contain_text("Saved: 31.2")
    expect(page.locator("#last")).to_contain_text("Sat 14 Mar, 09:30, entered")
    ((when, _),) = server.measured("moor").values()
    assert when == datetime(2026, 3, 14, 8, 30, tzinfo=UTC).timestamp()
    page.goto(f"{server.url}/s/moor/history")
    expect(page.locator("#events")).to_contain_text("14 Mar 2026, 09:30:00 CET, entered")


def test_by_default_it_was_measured_now(visit, server):
    server.drifting("moor", trials=1)
    page = visit("/s/moor/")
    began = time.time()
    measured(page, "31.2")
    expect(page.locator("#saved")).to_contain_text("Saved")
    when, told = server.measured("moor")[1]
    assert began - 2 <= when <= told + 2


def test_a_time_to_come_is_refused_before_it_is_kept(visit, server):
    server.drifting("moor", trials=1)
    page = visit("/s/moor/")
    page.locator("#next").get_by_text("at …").click()
    field = page.locator("#next").get_by_label("When it was measured")
    for value, words in (
        ("2999-01-01T00:00", "cannot have been measured in the future"),
        ("", "Say when it was measured"),
    ):
        field.fill(value)
        measured(page, "31.2")
        expect(page.locator("#next .note")).to_contain_text(words)
        expect(field).to_be_focused()
    assert page.evaluate("localStorage.getItem('typed')") is None
    expect(page.get_by_label("What did you measure?")).to_have_value("31.2")
    page.locator("#next").get_by_text("now", exact=True).click()
    measured(page, "31.2")
    until(lambda: server.told("moor") == {1: 31.2})


@pytest.mark.parametrize("make", ["study", "drifting"])
def test_what_is_typed_without_a_connection_was_measured_when_it_was_typed(visit, server, make):
    getattr(server, make)("meadow", trials=1)
    page = visit("/s/meadow/", allow=LOST)
    expect(page.get_by_label("What did you measure?")).to_be_visible()
    page.context.set_offline(True)
    before = time.time()
    measured(page, "31.2")
    expect(page.get_by_role("region", name="Not sent yet")).to_be_visible()
    after = time.time()
    page.wait_for_timeout(3000)
    page.context.set_offline(False)
    until(lambda: server.told("meadow") == {1: 31.2})
    when, told = server.measured("meadow")[1]
    assert before - 2 < when < after + 2
    assert told - when > 2.5


@pytest.mark.parametrize("seconds", [HOUR, -26 * HOUR])
def test_a_telephone_whose_clock_is_wrong_is_put_right(visit, server, seconds):
    server.drifting("moor", trials=2)
    page = visit("/s/moor/", allow=LOST)
    wrong_clock(page, seconds)
    page.context.set_offline(True)
    measured(page, "31.2")
    expect(page.get_by_role("region", name="Not sent yet")).to_be_visible()
    page.context.set_offline(False)
    until(lambda: len(server.told("moor")) == 1)
    ((when, told),) = server.measured("moor").values()
    assert told - 20 < when < told + STALE


def test_what_was_typed_before_the_server_was_heard_is_put_right_when_it_is(visit, server):
    server.drifting("moor", trials=1)
    page = visit("/s/moor/")
    expect(page.locator("#state")).to_have_text("Live")  # it has sent all it found: the next page finds this
    typed = time.time() - 100
    entry = {"study": "moor", "kind": "tell", "trial": 1, "arm": 0, "name": "A1", "reward": 31.2, "key": "k"}
    entry |= {"at": typed + HOUR, "ahead": None}
    page.evaluate("entry => localStorage.setItem('typed', JSON.stringify([entry]))", entry)
    page.context.add_init_script(WRONG.format(seconds=HOUR))
    page.reload()
    until(lambda: server.told("moor") == {1: 31.2})
    assert abs(server.measured("moor")[1][0] - typed) < STALE


def test_a_clock_that_changes_after_it_was_typed_changes_nothing(visit, server):
    server.drifting("moor", trials=1)
    page = visit("/s/moor/", allow=LOST)
    wrong_clock(page, HOUR)
    page.context.set_offline(True)
    before = time.time()
    measured(page, "31.2")
    after = time.time()
    (entry,) = json.loads(page.evaluate("localStorage.getItem('typed')"))
    assert abs(entry["ahead"] + HOUR) < STALE
    other = page.context.browser.new_context()
    again = other.new_page()  # as after the telephone has found the right time
    again.route("**/*", lambda route: route.fulfill(body="<p>") if "/s/" in route.request.url else route.continue_())
    again.goto(f"{server.url}/s/moor/")
    again.evaluate("entry => localStorage.setItem('typed', JSON.stringify([entry]))", entry)
    again.unroute("**/*")
    again.reload()
    until(lambda: server.told("moor") == {1: 31.2})
    assert before - STALE - 1 < server.measured("moor")[1][0] < after + STALE + 1
    other.close()


def test_the_same_is_sent_again_after_an_answer_was_lost(visit, server):
    server.drifting("moor", trials=1)
    page = visit("/s/moor/", allow=LOST)
    sent = []

    def swallow(route):
        sent.append(route.request.post_data_json)
        if len(sent) == 1:
            route.fetch()
            route.abort("connectionfailed")
        else:
            route.continue_()

    page.route("**/tell", swallow)
    measured(page, "31.2")
    expect(page.locator("#saved")).to_contain_text("Saved: 31.2", timeout=20_000)
    assert len(sent) == 2
    assert sent[0] == sent[1]
    assert server.told("moor") == {1: 31.2}


def test_who_told_the_same_meanwhile_is_no_conflict(visit, server):
    server.study("meadow", trials=1)
    page = visit("/s/meadow/", allow=(*LOST, "409"))
    expect(page.get_by_label("What did you measure?")).to_be_visible()
    page.context.set_offline(True)
    measured(page, "31.2")
    server.tell("meadow", 1, 31.2)
    page.context.set_offline(False)
    expect(page.locator("#saved")).to_contain_text("Saved: 31.2", timeout=20_000)
    expect(page.get_by_role("region", name="Not taken")).to_have_count(0)


def test_what_a_worker_has_kept_says_nothing_of_the_time(visit, server):
    server.drifting("moor", trials=1)
    page = visit("/s/moor/", service_workers="allow", allow=LOST)
    expect(page.get_by_label("What did you measure?")).to_be_visible()
    until(lambda: page.evaluate("caches.match(location.href).then((page) => page !== undefined)"))
    page.wait_for_timeout(3500)
    page.context.set_offline(True)
    page.reload()
    before = time.time()
    measured(page, "31.2")
    expect(page.get_by_role("region", name="Not sent yet")).to_be_visible()
    after = time.time()
    (entry,) = json.loads(page.evaluate("localStorage.getItem('typed')"))
    assert entry["ahead"] is None
    page.context.set_offline(False)
    until(lambda: server.told("moor") == {1: 31.2})
    assert before - 2 < server.measured("moor")[1][0] < after + 2
