"""Everybody can use it: by keys alone, by ear, on a narrow screen, in light and dark."""

import pytest
from playwright.sync_api import expect

from corrbandits import Moves
from tests.web.page.conftest import visiting
from tests.web.page.serving import Server

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
    """Wait until everything is there, and nothing moves or fades any more."""
    expect(page.locator("[aria-busy=true]")).to_have_count(0, timeout=30_000)
    page.wait_for_timeout(300)
    page.wait_for_function("document.getAnimations().every((one) => one.playState !== 'running')")


@pytest.fixture(scope="module", params=VIEWS)
def view(browser, request, tmp_path_factory):
    """A view of a study that all tests of views only look at, on a telephone."""
    with Server(tmp_path_factory.mktemp("access") / "studies.db") as server, visiting(browser, server) as visit:
        meadow(server)
        page = visit(VIEWS[request.param], bypass_csp=True)
        settled(page)
        yield page


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
def test_axe_finds_nothing_serious(view, axe, size, scheme):
    width, height = SIZES[size]
    view.set_viewport_size({"width": width, "height": height})
    view.emulate_media(color_scheme=scheme)
    settled(view)
    assert serious(view, axe) == []


def test_nothing_is_wider_than_a_narrow_screen(view):
    view.set_viewport_size({"width": 360, "height": 780})
    settled(view)
    assert view.evaluate("document.documentElement.scrollWidth") <= 360


def test_what_is_tapped_is_large_enough(view):
    view.set_viewport_size({"width": 360, "height": 780})
    settled(view)
    small = view.eval_on_selector_all(
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
