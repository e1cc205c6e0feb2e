"""A new study: files as people have them, a look at what was understood, and what is known beforehand."""

from playwright.sync_api import expect

from corrbandits import Study
from tests.web.page.serving import MESSY, until


def test_no_row_of_a_long_file_is_lost(visit, server):
    page = visit("/new")
    text = "name,x,y\n" + "".join(f"p{k},{k % 100},{k // 100}\n" for k in range(10_201))
    page.set_input_files("#file", files=[{"name": "plain.csv", "mimeType": "text/csv", "buffer": text.encode()}])
    expect(page.locator("#preview")).to_contain_text("10,201 sites", timeout=30_000)
    page.get_by_role("button", name="Begin the study").click()
    expect(page.get_by_role("button", name="Find the next site")).to_be_visible(timeout=60_000)
    with Study.open(server.database, "plain") as study:
        assert (study.arms.count, study.arms.name(10_200)) == (10_201, "p10200")


def test_a_table_of_many_columns_scrolls_in_its_own_box(visit, server):
    page = visit("/new", width=360)
    rows = "".join(f"Nordfeld-{k};{k % 4},5;{k // 4},5;Winterweizen;sandiger Lehm;am Feldrand\n" for k in range(12))
    text = "Plot no.;X [m];y (m);Sorte;Bodenart;Bemerkung\n" + rows
    page.set_input_files("#file", files=[{"name": "wide.csv", "mimeType": "text/csv", "buffer": text.encode()}])
    expect(page.locator("#preview")).to_contain_text("12 sites, with name, x, y, Sorte")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator("#preview .scroll").evaluate("node => node.scrollWidth > node.clientWidth")


def test_who_begins_before_the_file_was_read_waits_for_it(visit, server):
    page = visit("/new")
    reading = []
    page.route("**/arms/preview", lambda route: reading.append(route))
    page.set_input_files("#file", files=[{"name": "slow.csv", "mimeType": "text/csv", "buffer": b"name,x\na,0\nb,1\n"}])
    page.get_by_role("button", name="Begin the study").click()
    expect(page.get_by_role("button", name="Begin the study")).to_be_disabled()
    expect(page.locator("#answer")).to_be_empty()
    until(lambda: page.evaluate("true") and reading)
    reading[0].continue_()
    expect(page.get_by_role("button", name="Find the next site")).to_be_visible()
    with Study.open(server.database, "slow") as study:
        assert study.arms.count == 2


def test_of_two_files_the_one_chosen_last_counts(visit, server):
    page = visit("/new")
    reading = []
    page.route("**/arms/preview", lambda route: route.continue_() if reading else reading.append(route))
    for name, rows in (("first", b"name,x\na,0\nb,1\n"), ("second", b"name,x\na,0\nb,1\nc,2\n")):
        page.set_input_files("#file", files=[{"name": f"{name}.csv", "mimeType": "text/csv", "buffer": rows}])
        until(lambda: page.evaluate("true") and reading)
    expect(page.locator("#preview")).to_contain_text("3 sites")
    with page.expect_response("**/arms/preview"):
        reading[0].continue_()
    page.get_by_role("button", name="Begin the study").click()
    expect(page.get_by_role("button", name="Find the next site")).to_be_visible()
    with Study.open(server.database, "second") as study:
        assert study.arms.count == 3


def test_problems_of_a_file_are_named_by_row_and_column(visit, server):
    page = visit("/new")
    text = "name,x,y\nA,1,2\nB,one,3\nC,4,5\n"
    page.set_input_files("#file", files=[{"name": "bad.csv", "mimeType": "text/csv", "buffer": text.encode()}])
    expect(page.locator("#preview")).to_contain_text("row 3")
    expect(page.locator("#preview")).to_contain_text("column x")
    page.get_by_role("button", name="Begin the study").click()
    expect(page.locator("#answer")).to_contain_text("Put the file right first")


def test_what_is_known_is_drawn_at_once_and_told(visit, server):
    page = visit("/new", width=1200, height=800)
    page.set_input_files("#file", files=[{"name": "known.csv", "mimeType": "text/csv", "buffer": MESSY.encode()}])
    expect(page.locator("#preview")).to_contain_text("24 sites")
    page.get_by_text("What do you know already?").click()
    page.get_by_label("two sites in three between").fill("25")
    page.get_by_label("and", exact=True).fill("35,0")
    page.get_by_label("How far one site tells of another").nth(1).fill("70")
    surfaces = page.locator(".surfaces svg")
    expect(surfaces).to_have_count(3)
    before = surfaces.first.inner_html()
    page.get_by_label("How far one site tells of another").nth(1).fill("20")
    until(lambda: surfaces.first.inner_html() != before)
    page.get_by_role("button", name="Begin the study").click()
    expect(page.get_by_role("button", name="Find the next site")).to_be_visible()
    assert "told mean 25 to 35, deviation 2.5 to 10, length" in server.prior("known")


def test_a_file_is_dropped_and_rows_are_pasted(visit, server):
    page = visit("/new")
    dropped = page.evaluate_handle(
        """(text) => {
            const data = new DataTransfer();
            data.items.add(new File([text], "dropped.csv", {type: "text/csv"}));
            return data;
        }""",
        MESSY,
    )
    page.dispatch_event("#drop", "drop", {"dataTransfer": dropped})
    expect(page.locator("#preview")).to_contain_text("24 sites")
    expect(page.get_by_label("What is it called?")).to_have_value("dropped")
    page.get_by_text("Paste rows instead").click()
    page.get_by_label("Rows of a spreadsheet").fill("Site\tlat\tlon\nbrook\t54,1\t10,2\nhill\t54,2\t10,3\n")
    page.get_by_label("What is it called?").click()
    expect(page.locator("#preview")).to_contain_text("2 sites, with name, latitude, longitude")


def test_what_sites_bring_is_read_as_rewards_are(visit, server):
    page = visit("/new", width=1200, height=900)
    page.set_input_files("#file", files=[{"name": "known.csv", "mimeType": "text/csv", "buffer": MESSY.encode()}])
    expect(page.locator("#preview")).to_contain_text("24 sites")
    page.get_by_text("What do you know already?").click()
    page.get_by_label("two sites in three between").fill("1,000")
    page.get_by_label("and", exact=True).fill("2,500")
    note = page.locator("#level-note")
    expect(note).to_contain_text("“1,000” can be read in two ways")
    page.get_by_role("button", name="Begin the study").click()
    expect(page.locator("#answer")).to_contain_text("Say which number you mean")
    note.get_by_role("button", name="1000 a whole number").click()
    expect(note).not_to_contain_text("“1,000” can be read")
    note.get_by_role("button", name="2500 a whole number").click()
    expect(note).to_contain_text("“2,500” is read as 2,500.")
    page.get_by_role("button", name="Begin the study").click()
    expect(page.get_by_role("button", name="Find the next site")).to_be_visible()
    assert "told mean 1000 to 2500" in server.prior("known")


def test_what_is_wrong_with_what_sites_bring_is_said(visit):
    page = visit("/new", width=1200, height=900)
    page.set_input_files("#file", files=[{"name": "known.csv", "mimeType": "text/csv", "buffer": MESSY.encode()}])
    page.get_by_text("What do you know already?").click()
    low, high = page.get_by_label("two sites in three between"), page.get_by_label("and", exact=True)
    begin, answer = page.get_by_role("button", name="Begin the study"), page.locator("#answer")
    for smaller, larger, words in (
        ("25", "", "the larger number is missing"),
        ("many", "35", "“many” is not a number"),
        ("35", "25,5", "these are read as 35 and 25.5"),
    ):
        low.fill(smaller)
        high.fill(larger)
        begin.click()
        expect(answer).to_contain_text(words)
