"""Who may do what: signing in, reading only, a server behind a proxy; and the field to play with."""

import re

import pytest
from playwright.sync_api import expect

from corrbandits.web.service.tokens import new_token
from tests.web.page.serving import Server, until


@pytest.fixture
def guarded(tmp_path):
    """A server with tokens behind a proxy with a prefix, and the tokens by role."""
    path = tmp_path / "tokens"
    tokens = {role: new_token(path, name, role) for name, role in (("Anna", "manage"), ("Ben", "tell"), ("Cy", "read"))}
    with Server(tmp_path / "guarded.db", prefix="/field", tokens=path) as running:
        running.study("meadow", rewards=5, trials=1)
        yield running, tokens


def test_a_link_signs_in_and_leaves_no_token_behind(guarded, visit):
    server, tokens = guarded
    page = visit(f"/signin#{tokens['tell']}", of=server)
    expect(page.get_by_role("heading", name="Studies")).to_be_visible()
    assert tokens["tell"] not in page.url
    assert page.evaluate("history.length") <= 3
    page.goto(f"{server.url}/s/meadow/")
    page.get_by_label("What did you measure?").fill("31,2")
    page.get_by_role("button", name="Save", exact=True).first.click()
    expect(page.locator("#last")).to_contain_text("Ben")
    page.get_by_role("link", name="Map", exact=True).click()
    expect(page.locator("svg.map")).to_be_visible()
    assert "/field/s/meadow/map" in page.url


def test_who_is_not_signed_in_is_led_to_where_one_signs_in_and_back(guarded, visit):
    server, tokens = guarded
    page = visit("/s/meadow/history", of=server, allow=("401",))
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("#answer")).to_contain_text("not a token")
    page.get_by_label("Token").fill(tokens["read"])
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="History")).to_be_visible()


def test_who_may_only_read_is_shown_nothing_to_write_with(guarded, visit):
    server, tokens = guarded
    page = visit(f"/signin?next=/field/s/meadow/#{tokens['read']}", of=server)
    expect(page.locator("h2.arm")).to_be_visible()
    expect(page.get_by_label("What did you measure?")).to_have_count(0)
    expect(page.locator("#last")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("Change|Take back|Cannot"))).to_have_count(0)
    page.goto(f"{server.url}/new")
    expect(page.get_by_text("You may not begin a study here")).to_be_visible()
    expect(page.get_by_role("button", name="Begin the study")).to_have_count(0)


def test_next_leads_to_no_other_place(guarded, visit):
    server, tokens = guarded
    page = visit("/signin", of=server)
    for there in ("//elsewhere.test/", "/%09/elsewhere.test/", "/%0a%5celsewhere.test", "javascript:alert(1)", "//%5b"):
        page.goto(f"{server.url}/signin?next={there}#{tokens['read']}")
        expect(page.get_by_role("heading", name="Studies")).to_be_visible()
        assert page.url == f"{server.url}/"


def test_signing_out_ends_it(guarded, visit):
    server, tokens = guarded
    refused = ("401",)  # what was being read when they left
    page = visit(f"/signin?next=/field/s/meadow/#{tokens['tell']}", of=server, allow=refused)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.goto(f"{server.url}/s/meadow/")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_what_arrives_while_they_sign_out_is_no_error(guarded, visit):
    server, tokens = guarded
    page = visit(f"/signin?next=/field/s/meadow/#{tokens['tell']}", of=server, allow=("401",))
    expect(page.locator("h2.arm")).to_be_visible()
    page.evaluate("void (caches.delete = () => new Promise((done) => setTimeout(done, 1500)))")
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("h2.arm")).to_have_count(0)
    page.evaluate("['typed', 'unsigned'].forEach((name) => dispatchEvent(new CustomEvent(name)))")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_who_signed_out_sees_nothing_that_the_browser_kept(guarded, visit):
    server, tokens = guarded
    page = visit(f"/signin?next=/field/s/meadow/#{tokens['tell']}", of=server, service_workers="allow", allow=("401",))
    expect(page.locator("h2.arm")).to_be_visible()
    until(lambda: page.evaluate("caches.open('seen').then((c) => c.keys()).then((keys) => keys.length)") >= 3)
    page.reload()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.goto(f"{server.url}/s/meadow/")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert page.evaluate("caches.has('seen')") is False


def entered(page, value):
    page.get_by_label("What did you measure?").fill(value)
    page.get_by_role("button", name="Save", exact=True).first.click()


def test_what_one_person_typed_is_not_sent_in_the_name_of_the_next(guarded, visit):
    server, tokens = guarded
    page = visit(
        f"/signin?next=/field/s/meadow/#{tokens['tell']}", of=server, allow=("ERR_FAILED", "ERR_INTERNET", "401")
    )
    expect(page.locator("h2.arm")).to_be_visible()
    page.route("**/tell", lambda route: route.abort())
    entered(page, "77")
    expect(page.get_by_role("region", name="Not sent yet")).to_contain_text("77")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.go_back()
    page.wait_for_timeout(500)
    assert "77" not in page.locator("body").inner_text()
    page.unroute("**/tell")
    page.goto(f"{server.url}/signin?next=/field/s/meadow/#{tokens['manage']}")
    waiting = page.get_by_role("region", name="Of somebody else")
    expect(waiting).to_contain_text(re.compile("77 · typed .* by Ben"))
    page.wait_for_timeout(2000)
    expect(waiting).to_be_visible()
    assert 77.0 not in server.told("meadow").values()
    page.goto(f"{server.url}/signin?next=/field/s/meadow/#{tokens['tell']}")
    until(lambda: 77.0 in server.told("meadow").values())
    expect(page.locator("#last li").filter(has_text="77")).to_contain_text("Ben")


def test_who_cannot_sign_out_or_was_signed_out_is_told_so(guarded, visit):
    server, tokens = guarded
    page = visit(f"/signin?next=/field/s/meadow/#{tokens['tell']}", of=server, allow=("ERR_INTERNET", "401"))
    expect(page.locator("#state")).to_have_text("Live")
    page.context.set_offline(True)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("alert")).to_contain_text("You are still signed in. There is no connection.")
    path = server.options.tokens
    path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if "Ben" not in line))
    page.context.set_offline(False)
    expect(page.locator("#unsigned")).to_contain_text("You are not signed in any more.")
    expect(page.locator("#state")).to_have_text("Signed out")


def test_what_is_sent_late_bears_the_name_of_who_typed_it(visit, server):
    server.study("meadow", trials=1)
    page = visit("/s/meadow/", allow=("ERR_INTERNET",))
    page.evaluate("localStorage.setItem('name', 'Anna')")
    page.reload()
    expect(page.locator("#state")).to_have_text("Live")
    page.context.set_offline(True)
    entered(page, "31.2")
    page.evaluate("localStorage.setItem('name', 'Ben')")
    page.context.set_offline(False)
    expect(page.locator("#last")).to_contain_text("Anna", timeout=20_000)


def test_a_name_is_kept_and_seen_by_others(visit, server):
    server.study("meadow")
    anna, ben = visit("/s/meadow/"), visit("/s/meadow/")
    anna.get_by_text("Say who you are").click()
    anna.get_by_label("Your name").fill("Anna Ø")
    anna.get_by_role("button", name="Keep").click()
    expect(anna.locator("#elsewhere")).to_contain_text("You are Anna Ø")
    anna.get_by_role("button", name="Find the next site").click()
    expect(ben.locator("#others")).to_contain_text("Anna Ø · since")


@pytest.fixture
def played(tmp_path):
    with Server(tmp_path / "demo.db", demo=True) as running:
        yield running


def test_a_visitor_plays_and_then_sees_the_truth(played, visit):
    page = visit("/", of=played)
    page.get_by_role("link", name=re.compile("demo field")).click()
    expect(page.locator("#next")).to_contain_text("A field to play with")
    for _ in range(2):
        page.get_by_role("button", name="Find the next site").click()
        page.get_by_role("button", name="Tell me what grows here").click()
        expect(page.get_by_role("button", name="Find the next site")).to_be_visible()
    until(lambda: len(played.told("demo field")) == 2)
    page.get_by_role("link", name="Map", exact=True).click()
    page.get_by_role("button", name="Show the truth").click()
    expect(page.locator("#legend")).to_contain_text("the truth, dt/ha")
    expect(page.get_by_role("radio", name="The truth")).to_have_count(1)
