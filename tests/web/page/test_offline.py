"""The connection is lost, and comes back: nothing typed is lost, nothing is counted twice."""

import json
import re

from playwright.sync_api import expect

from tests.web.page.serving import until

LOST = ("ERR_INTERNET_DISCONNECTED", "ERR_FAILED", "ERR_CONNECTION", "ERR_NETWORK", "503", "504")


KEPT = "caches.match(location.href).then((page) => page !== undefined)"


def measured(page, typed):
    page.get_by_label("What did you measure?").fill(typed)
    page.get_by_role("button", name="Save", exact=True).first.click()


def test_what_is_typed_without_a_connection_is_kept_marked_and_sent_once(visit, server):
    server.study("meadow", rewards=4, trials=3)
    page = visit("/s/meadow/", allow=LOST)
    expect(page.locator("#mine ol li")).to_have_count(3)
    page.context.set_offline(True)
    expect(page.locator("#state")).to_contain_text("No connection")
    measured(page, "31,2")
    kept = page.get_by_role("region", name="Not sent yet")
    expect(kept).to_contain_text("1 entry kept on this device")
    expect(kept).to_contain_text("31.2")
    measured(page, "28")
    expect(kept).to_contain_text("2 entries kept on this device")
    assert len(server.told("meadow")) == 4
    page.context.set_offline(False)
    expect(kept).to_be_hidden(timeout=20_000)
    expect(page.locator("#state")).to_contain_text("Live", timeout=20_000)
    until(lambda: len(server.told("meadow")) == 6)
    assert {28.0, 31.2} <= set(server.told("meadow").values())


def test_an_answer_that_is_lost_does_not_count_twice(visit, server):
    server.study("meadow")
    page = visit("/s/meadow/", allow=LOST)
    sent = []

    def swallow(route):
        sent.append(route.request.headers["idempotency-key"])
        if len(sent) == 1:
            route.fetch()
            route.abort("connectionfailed")
        else:
            route.continue_()

    page.route("**/observe", swallow)
    page.get_by_text("Measured somewhere else?").click()
    page.get_by_label("Which site?").fill("B2")
    page.get_by_label("What was measured there?").fill("30")
    page.locator("#elsewhere").get_by_role("button", name="Save").click()
    expect(page.locator("#saved")).to_contain_text("Saved: 30 at B2", timeout=20_000)
    assert len(sent) == 2
    assert len(set(sent)) == 1
    assert list(server.told("meadow").values()) == [30.0]


def test_what_was_typed_survives_the_page_being_closed(visit, server):
    server.study("meadow", trials=1)
    page = visit("/s/meadow/", allow=LOST)
    expect(page.get_by_label("What did you measure?")).to_be_visible()
    page.context.set_offline(True)
    measured(page, "31.2")
    expect(page.get_by_role("region", name="Not sent yet")).to_be_visible()
    context = page.context
    page.close()
    context.set_offline(False)
    again = context.new_page()
    again.goto(f"{server.url}/s/meadow/")
    expect(again.locator("#last")).to_contain_text("31.2")
    until(lambda: server.told("meadow") == {1: 31.2})


def test_a_reward_that_was_told_otherwise_meanwhile_is_asked_back(visit, server):
    server.study("meadow", trials=1)
    page = visit("/s/meadow/", allow=(*LOST, "409"))
    expect(page.get_by_label("What did you measure?")).to_be_visible()
    page.context.set_offline(True)
    measured(page, "31.2")
    server.tell("meadow", 1, 28.0)
    page.context.set_offline(False)
    refused = page.get_by_role("region", name="Not taken")
    expect(refused).to_contain_text("Somebody else has entered 28 here meanwhile.", timeout=20_000)
    refused.get_by_role("button", name="Mine counts").click()
    expect(refused).to_be_hidden()
    until(lambda: server.told("meadow") == {1: 31.2})


def test_the_page_opens_without_a_connection(visit, server):
    server.study("meadow", rewards=4, trials=2)
    page = visit("/s/meadow/", service_workers="allow", allow=LOST)
    expect(page.locator("#mine ol li")).to_have_count(2)
    until(lambda: page.evaluate(KEPT))
    page.wait_for_timeout(500)
    name = page.locator("h2.arm").inner_text()
    page.context.set_offline(True)
    page.reload()
    expect(page.locator("h2.arm")).to_have_text(name)
    expect(page.locator("#state")).to_contain_text("No connection")
    measured(page, "31,2")
    expect(page.get_by_role("region", name="Not sent yet")).to_contain_text("1 entry")
    page.context.set_offline(False)
    expect(page.get_by_role("region", name="Not sent yet")).to_be_hidden(timeout=20_000)
    until(lambda: 31.2 in server.told("meadow").values())


def test_a_server_that_stops_and_starts_is_found_again(visit, server):
    server.study("meadow", rewards=4, trials=2)
    page = visit("/s/meadow/", allow=LOST)
    expect(page.locator("#state")).to_contain_text("Live")
    server.stop()
    expect(page.locator("#state")).to_contain_text("No connection")
    measured(page, "31,2")
    expect(page.get_by_role("region", name="Not sent yet")).to_be_visible()
    server.start()
    expect(page.locator("#state")).to_contain_text("Live", timeout=30_000)
    expect(page.get_by_role("region", name="Not sent yet")).to_be_hidden(timeout=30_000)
    kept = page.evaluate("localStorage.getItem('typed')") or ""
    assert "31.2" in kept or 31.2 in server.told("meadow").values(), "forgotten before it was saved"
    until(lambda: 31.2 in server.told("meadow").values())


def test_keys_are_made_when_something_is_typed(visit, server):
    server.study("meadow", trials=1)
    page = visit("/s/meadow/", allow=LOST)
    expect(page.get_by_label("What did you measure?")).to_be_visible()
    page.context.set_offline(True)
    measured(page, "31.2")
    expect(page.get_by_role("region", name="Not sent yet")).to_be_visible()
    (entry,) = json.loads(page.evaluate("localStorage.getItem('typed')"))
    assert re.fullmatch(r"[0-9a-f]{32}", entry["key"])
    assert entry["reward"] == 31.2


def test_a_browser_that_keeps_nothing_still_sends(visit, server):
    server.study("meadow", trials=1)
    page = visit("/s/meadow/")
    page.evaluate("void (Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); })")
    measured(page, "31.2")
    expect(page.locator("#saved")).to_contain_text("Saved: 31.2")
    assert server.told("meadow") == {1: 31.2}


def test_two_tabs_send_what_was_typed_once(visit, server):
    server.study("meadow")
    one = visit("/s/meadow/", allow=LOST)
    context = one.context
    other = context.new_page()
    other.goto(f"{server.url}/s/meadow/")
    expect(other.get_by_role("button", name="Find the next site")).to_be_visible()
    one.get_by_text("Measured somewhere else?").click()
    context.set_offline(True)
    one.get_by_label("Which site?").fill("B2")
    one.get_by_label("What was measured there?").fill("30")
    one.locator("#elsewhere").get_by_role("button", name="Save").click()
    expect(other.get_by_role("region", name="Not sent yet")).to_contain_text("30")
    context.set_offline(False)
    until(lambda: server.told("meadow") != {})
    expect(other.get_by_role("region", name="Not sent yet")).to_be_hidden()
    one.wait_for_timeout(1500)
    assert list(server.told("meadow").values()) == [30.0]


def test_a_reward_of_a_trial_that_others_gave_back_can_still_be_counted(visit, server):
    server.study("meadow", trials=1)
    page = visit("/s/meadow/", allow=(*LOST, "409"))
    expect(page.get_by_label("What did you measure?")).to_be_visible()
    page.context.set_offline(True)
    measured(page, "31.2")
    server.cancel("meadow", 1)
    page.context.set_offline(False)
    refused = page.get_by_role("region", name="Not taken")
    expect(refused).to_contain_text("This was given back meanwhile.", timeout=20_000)
    expect(refused.get_by_role("button", name="Mine counts")).to_have_count(0)
    refused.get_by_role("button", name="Count it").click()
    until(lambda: list(server.told("meadow").values()) == [31.2])


def test_a_change_made_without_a_connection_takes_nothing_away_that_others_entered(visit, server):
    server.study("meadow", rewards=3)
    page = visit("/s/meadow/", allow=(*LOST, "409"))
    last, refused = page.locator("#last"), page.get_by_role("region", name="Not taken")
    expect(last.get_by_role("button", name="Change")).to_have_count(3)
    page.context.set_offline(True)
    for value in ("25", "26"):  # the second is a change of the first, not of what the server knows
        last.locator("[data-key=change-1]").click()
        last.get_by_label(re.compile("What is right")).fill(value)
        last.get_by_role("button", name="Change", exact=True).click()
    last.locator("[data-key=change-2]").click()
    last.get_by_label(re.compile("What is right")).fill("27")
    last.get_by_role("button", name="Change", exact=True).click()
    last.locator("[data-key=change-3]").click()
    last.get_by_role("button", name="Take back").click()
    server.amend("meadow", 2, 210.0)
    server.amend("meadow", 3, 220.0)
    page.context.set_offline(False)
    expect(refused).to_contain_text("2 entries not taken", timeout=20_000)
    assert server.told("meadow") == {1: 26.0, 2: 210.0, 3: 220.0}
    expect(refused).to_contain_text("Somebody else has entered 210 here meanwhile.")
    refused.get_by_role("button", name="Mine counts").click()
    until(lambda: server.told("meadow")[2] == 27.0)
    refused.get_by_role("button", name="Take 220 back").click()
    until(lambda: 3 not in server.told("meadow"))
    expect(refused).to_be_hidden()


def test_discarding_says_what_is_discarded(visit, server):
    server.study("meadow", trials=1)
    page = visit("/s/meadow/", allow=LOST)
    name = page.locator("h2.arm").inner_text()
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.accept()))
    page.context.set_offline(True)
    page.get_by_role("button", name="Cannot be measured").click()
    page.get_by_role("button", name="Discard").click()
    expect(page.locator("h2.arm")).to_have_text(name)
    assert asked[1] == f"Discard “{name} given back”? It has not been sent."
    assert server.open("meadow") == [1]
