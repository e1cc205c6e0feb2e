"""Everybody can use it: by keys alone, by ear, on a narrow screen, in light and dark."""

import pytest
from playwright.sync_api import expect

from corrbandits import Moves

VIEWS = {
    "today": "/s/meadow/",
    "map": "/s/meadow/map#arm=3",
    "progress": "/s/meadow/progress",
    "history": "/s/meadow/history",
    "studies": "/",
    "new": "/new",
    "signin": "/signin",
}
SIZES = {"telephone": (360, 780), "desk": (1200, 800)}


def meadow(server, by="Ben"):
    """Create a study that shows all there is: its rewards change with time, and moves cost something."""
    server.drifting("meadow", rewards=8, trials=3, by=by, moves=Moves(per_move=0.5, per_distance=0.01))


def settled(page):
    expect(page.locator("[aria-busy=true]")).to_have_count(0, timeout=30_000)
    page.wait_for_timeout(600)


def serious(page, axe):
    """Return what axe finds on a page as it stands."""
    page.evaluate(axe)
    kinds = "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']"
    return [
        (page.url, one["id"], one["impact"], [node["html"][:120] for node in one["nodes"][:3]])
        for one in page.evaluate(f"axe.run(document, {{runOnly: {kinds}}})")["violations"]
        if one["impact"] in ("serious", "critical", "moderate")
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_where_time_and_place_are_said(visit, server, axe, scheme):
    meadow(server, by=None)
    page = visit("/s/meadow/", color_scheme=scheme, bypass_csp=True)
    page.get_by_role("button", name="Somewhere else?").click()
    page.locator("#next").get_by_text("at …").click()
    expect(page.locator("#next").get_by_label("When it was measured")).to_be_visible()
    settled(page)
    assert serious(page, axe) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.goto(f"{server.url}/new")
    page.get_by_text("Does it cost to go from site to site?").click()
    settled(page)
    assert serious(page, axe) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_axe_finds_nothing_serious(visit, server, axe, size, scheme):
    meadow(server)
    width, height = SIZES[size]
    page = visit("/", width=width, height=height, color_scheme=scheme, bypass_csp=True)
    found = []
    for path in VIEWS.values():
        page.goto(server.url + path)
        settled(page)
        found += serious(page, axe)
    assert found == []


@pytest.mark.parametrize("view", VIEWS)
def test_nothing_is_wider_than_a_narrow_screen(visit, server, view):
    meadow(server)
    page = visit(VIEWS[view], width=360)
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("view", VIEWS)
def test_what_is_tapped_is_large_enough(visit, server, view):
    meadow(server)
    page = visit(VIEWS[view], width=360)
    settled(page)
    small = page.eval_on_selector_all(
        "button, summary, select, .views a, a.button, input:not([type=radio]):not([type=checkbox]):not(.unseen)",
        """nodes => nodes.filter((n) => n.offsetParent && !n.closest("thead"))
            .map((n) => [n.textContent.trim() || n.id, n.getBoundingClientRect()])
            .filter(([, box]) => box.height < 40 || box.width < 40).map(([text]) => text)""",
    )
    assert small == []


def pressed(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def reach(page, name, most=60):
    """Go on with the tab key until something of this name has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        said = page.evaluate("(document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim()")
        if said.startswith(name):
            return
    raise AssertionError(f"no {name!r} is reached by keys")


def test_a_trial_is_asked_for_told_and_changed_by_keys_alone(visit, server):
    server.study("meadow", rewards=5)
    page = visit("/s/meadow/")
    expect(page.get_by_role("button", name="Find the next site")).to_be_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    reach(page, "Find the next site")
    page.keyboard.press("Enter")
    expect(page.get_by_label("What did you measure?")).to_be_focused()
    page.keyboard.type("32,5")
    page.keyboard.press("Enter")
    expect(page.locator("#saved")).to_contain_text("Saved: 32.5")
    reach(page, "Change")
    page.keyboard.press("Enter")
    page.keyboard.type("33")
    page.keyboard.press("Enter")
    expect(page.locator("#saved")).to_contain_text("Changed: 33")
    reach(page, "Map")
    page.keyboard.press("Enter")
    expect(page.locator("svg.map")).to_be_visible()


def test_what_has_the_focus_is_seen(visit, server):
    server.study("meadow", rewards=5)
    page = visit("/s/meadow/")
    expect(page.get_by_role("button", name="Find the next site")).to_be_visible()
    reach(page, "Find the next site")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineWidth") == "3px"
