"""The cluster on the page in a real Chromium: lanes of ranks, the tree of a search, a service that comes back."""

import re
import time
from urllib.parse import urlsplit

import pytest

from .browsing import Page, browser, contrast, needs_chromium  # noqa: F401
from .running import wait_for
from .serving import Service

RANKS = 3
MIDGAME = "---------XXXXX---OOOOOOO---XOX----OXXX----X--X--------X--------- X"  # no book has it
pytestmark = needs_chromium


@pytest.fixture(scope="module")
def service():
    with Service(RANKS, http=True) as service:
        yield service


@pytest.fixture
def page(browser, service):  # noqa: F811
    page = Page(browser, service)
    yield page
    page.tab.close()
    assert page.said == []


def lanes(page):
    """The texts of the lanes, once all are there."""
    page.tab.locator("#lanes tr").nth(RANKS - 1).wait_for()
    return [row.split("\t") for row in page.tab.locator("#lanes tr").all_inner_texts()]


def search(page, **settings):
    page.choose(**settings)
    page.tab.locator("#search").click()


def test_every_rank_has_a_lane(page):
    rows = lanes(page)
    assert [row[0] for row in rows] == ["0", "1", "2"]
    assert [row[2] for row in rows] == ["master", "cpu", "cpu"]
    page.until("rates", r"^3 ranks on 1 host, \S+ nodes/s$")
    labels = page.tab.locator("#lanes canvas").evaluate_all("all => all.map(each => each.ariaLabel)")
    assert all(re.fullmatch(r"busy \S+, communication \S+, idle \S+", label) for label in labels)


def busiest(page):
    """The largest share of busy time that a lane tells, in percent."""
    labels = page.tab.locator("#lanes canvas").evaluate_all("all => all.map(each => each.ariaLabel)")
    shares = [int(each) for label in labels for each in re.findall(r"busy (\d+)%", label)]
    return max(shares, default=0)  # lanes come with the first message


def test_lanes_show_work(page):
    search(page, game="othello", position=MIDGAME, seconds="30")
    wait_for(lambda: busiest(page) >= 50, 30)
    page.tab.locator("#stop").click()
    blue = page.tab.locator("#lanes canvas").evaluate_all(
        """all => all.map(each => {
            const data = each.getContext("2d").getImageData(0, 0, 120, 20).data
            const pixels = Array.from({ length: 2400 }, (_, i) => data.slice(4 * i, 4 * i + 3).join())
            return pixels.filter((rgb) => rgb === "0,114,178").length
        })"""
    )
    assert blue[0] == 0  # a master does not search
    assert max(blue[1:]) >= 10  # half of a sample


@pytest.mark.parametrize("policy", ["window", "brothers"])
def test_a_tree_appears_and_closes(page, policy):
    search(page, game="othello", position=MIDGAME, seconds="4", policy=policy)
    page.tab.locator("#tree li li").nth(3).wait_for()
    root = page.tab.locator("#tree > li")
    assert root.count() == 1
    assert page.tab.locator("#tree li[data-status=sent]").count() + page.tab.locator("#tree li").count() > 4
    page.tab.locator("#tree li[data-status=done]").first.wait_for()
    page.until("treeof", r"^othello, \d+ plies, ended$")
    assert re.search(r"\d+ [a-h][1-8]", page.text("deepening"))
    root.locator("summary").first.focus()  # it closes and opens by the keyboard
    page.tab.keyboard.press("Enter")
    assert not page.tab.locator("#tree li li").first.is_visible()
    page.tab.keyboard.press("Enter")
    assert page.tab.locator("#tree li li").first.is_visible()


def test_a_tree_of_a_game_against_chance(page):
    search(page, game="2048", seconds="30")
    page.until("treeof", "^2048, ")
    assert page.tab.locator("#tree > li").count() == 1  # the root, which the ranks search together
    page.tab.locator("#stop").click()


def test_a_reload_watches_again(page):
    lanes(page)
    page.tab.reload()
    assert len(lanes(page)) == RANKS


def test_names_and_contrast(page):
    lanes(page)
    search(page, game="othello", position=MIDGAME, seconds="1", policy="window")
    page.until("treeof", "ended$")
    for colours in ("light", "dark"):
        page.tab.emulate_media(color_scheme=colours)
        places = "#rates", "#treeof", ".legend", "#lanes td", "thead th", ".node .move", ".node .status", ".node .score"
        for place in places:
            assert contrast(page.tab.locator(place).first) >= 4.5, (colours, place)


def test_it_fits_a_phone(browser, service):  # noqa: F811
    page = Page(browser, service, viewport={"width": 360, "height": 740})
    lanes(page)
    search(page, game="othello", position=MIDGAME, seconds="1", policy="window")
    page.until("treeof", "ended$")
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= 360
    page.tab.close()


def test_many_ranks_are_low(page):
    lanes(page)
    lane = {"host": "node", "role": "worker", "device": "cpu", "state": "ready", "busy": 0.5, "communication": 0.1}
    lane |= {"idle": 0.4, "nodes_per_second": 10**6, "jobs": 5, "at_work": 1, "queued": 2, "table_full": 0.1}
    heights = page.tab.evaluate(
        """async lane => {
            const { Lanes } = await import("/static/lanes.js")
            const table = document.createElement("table"), body = document.createElement("tbody")
            table.append(body)
            document.querySelector(".cluster .scroll").replaceChildren(table)
            const shown = new Lanes(body), began = performance.now()
            const ranks = Array.from({ length: 64 }, (_, rank) => ({ ...lane, rank }))
            for (let i = 0; i < 20; i++) shown.show({ per_rank: ranks })
            return [body.offsetHeight / 64, (performance.now() - began) / 20]
        }""",
        lane,
    )
    assert heights[0] < 22
    assert heights[1] < 100  # milliseconds of drawing, on a busy machine


def test_the_page_is_back_with_the_service(browser, monkeypatch):  # noqa: F811
    monkeypatch.setenv("DISTSEARCH_TOKEN", "a-token-for-this-test")
    with Service(RANKS, http=True) as service:
        page = Page(browser, service)
        lanes(page)
        port = urlsplit(service.url).port
    page.until("rates", "^no answer")
    with Service(RANKS, http=True, port=port):
        page.until("rates", "nodes/s$")
        page.until("cluster", "nodes/s")
    page.tab.close()


def test_the_first_board_is_soon_there(browser, service):  # noqa: F811
    page = Page(browser, service)
    took = []
    for _ in range(5):
        began = time.perf_counter()
        page.tab.reload()
        page.tab.locator(".cell").first.wait_for()
        took.append(time.perf_counter() - began)
    page.tab.close()
    print(f"first board after {[round(each, 3) for each in took]} s")
    assert min(took) <= 0.5
