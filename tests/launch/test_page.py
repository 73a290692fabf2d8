"""The page of ``serve --http`` in a real Chromium: every game is shown, played, searched and watched."""

import re
import shutil

import pytest

from .serving import Service

playwright = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
pytest.importorskip("uvicorn", reason="the extra http is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
PATIENCE = 180_000  # milliseconds: kernels may have to be compiled
TWO, CHANCE = ("othello", "connect4"), ("2048", "2584")


@pytest.fixture(scope="module")
def service():
    with Service(1, http=True) as service:
        yield service


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Page:
    """A tab with the page; ``said`` is what its console and its scripts complain of."""

    def __init__(self, browser, service, **options):
        self.tab, self.said = browser.new_page(**options), []
        self.tab.set_default_timeout(PATIENCE)
        self.tab.on("console", self._listen)
        self.tab.on("pageerror", lambda error: self.said.append(str(error)))
        self.tab.goto(f"{service.url}#token={service.token}")
        self.tab.locator(".cell").first.wait_for()

    def _listen(self, message):
        if message.type == "error" and "503" not in message.text:  # a busy machine may not tell its state in time
            self.said.append(message.text)

    def choose(self, **values):
        """Set fields of the form by their ids, then wait for the first board."""
        for name, value in values.items():
            field = self.tab.locator(f"#{name}")
            if field.evaluate("each => each.tagName") == "SELECT":
                field.select_option(value)
            else:
                field.fill(value)
                field.press("Enter" if name == "position" else "Tab")

    def text(self, name):
        return self.tab.locator(f"#{name}").inner_text()

    def moves(self, least):
        """Return the moves of the game once there are so many."""
        self.tab.locator("#history li").nth(least - 1).wait_for()
        return self.tab.locator("#history li").all_inner_texts()

    def until(self, name, text):
        self.tab.locator(f"#{name}", has_text=re.compile(text)).wait_for()


@pytest.fixture
def page(browser, service):
    page = Page(browser, service)
    yield page
    page.tab.close()
    assert page.said == []


@pytest.mark.parametrize("game", TWO)
def test_a_person_plays_the_computer(page, game):
    page.choose(seconds="0.2", second="it", game=game)
    page.tab.locator(".cell.legal").first.click()
    page.moves(2)
    page.until("turn", "^X to move$")
    assert len(page.tab.locator(".cell:not([data-holds='-'])").all()) == (6 if game == "othello" else 2)
    page.tab.locator("#undo").click()
    page.tab.locator("#history:not(:has(li))").wait_for(state="attached")
    page.until("turn", "^X to move$")


@pytest.mark.parametrize("game", CHANCE)
def test_tiles_slide_by_keys(page, game):
    page.choose(game=game)
    page.tab.locator(".board.sliding").wait_for()
    for key in ("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown") * 3:
        page.tab.keyboard.press(key)
        page.tab.wait_for_timeout(100)
    assert set(page.moves(4)) <= {"left", "right", "up", "down"}
    assert page.text("turn").endswith(" points")


@pytest.mark.parametrize("game", [*TWO, *CHANCE])
def test_a_search_tells_what_it_finds(page, game):
    page.choose(game=game, seconds="0.5")
    page.tab.locator("#search").click()
    page.until("move", r"^\w+$")
    page.tab.locator("#stop:disabled").wait_for()
    assert page.text("error") == ""
    assert page.text("score") not in ("", "–")
    assert page.tab.locator(".best").count() == 1


def test_it_plays_against_itself_to_the_end(page):
    page.choose(game="othello", size="4x4", seconds="0.1", first="it", second="it")
    page.until("turn", "wins|loses|draw")
    assert len(page.moves(8)) <= 12


def test_scores_of_all_moves_stand_on_the_board(page):
    page.choose(game="connect4", position="4453222", seconds="1")
    page.tab.locator("#all").check()
    page.tab.locator("#search").click()
    page.tab.locator("#stop:disabled").wait_for()
    page.tab.locator(".cell.legal span").nth(6).wait_for()
    assert len(page.tab.locator(".cell.legal span").all_inner_texts()) == 7
    assert page.tab.locator(".cell.best").get_attribute("aria-label").startswith("e")


def test_a_position_that_cannot_be_read_is_said(page):
    page.choose(game="othello", position="nonsense")
    page.until("error", "position has .n. where only X, O and - can stand")
    page.choose(position="f5d6c3")
    page.tab.locator("#error:empty").wait_for(state="attached")
    page.until("turn", "^O to move$")
    page.said.clear()  # the console tells of the refusal as well


def test_a_reload_keeps_the_position(page):
    page.choose(game="connect4", position="44")
    page.tab.locator(".cell:not([data-holds='-'])").nth(1).wait_for()
    page.tab.reload()
    page.tab.locator(".cell:not([data-holds='-'])").nth(1).wait_for()
    assert page.tab.locator("#game").input_value() == "connect4"


def test_everything_has_a_name_and_can_be_read(page):
    nameless = page.tab.locator("button, input, select").evaluate_all(
        "all => all.filter(each => !(each.ariaLabel || each.textContent.trim() || each.labels?.length))"
        ".map(each => each.outerHTML)"
    )
    assert nameless == []
    for colours in ("light", "dark"):
        page.tab.emulate_media(color_scheme=colours)
        for place in ("body", "dt", "#cluster", "button.main", "a"):
            assert contrast(page.tab.locator(place).first) >= 4.5, (colours, place)


def test_it_fits_a_phone(browser, service):
    page = Page(browser, service, viewport={"width": 360, "height": 740})
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= 360
    page.tab.close()


def contrast(element):
    """Return the contrast of a text with what is behind it (WCAG 2)."""
    front, back = element.evaluate(
        """each => {
            let behind = each
            while (behind.parentElement && getComputedStyle(behind).backgroundColor.endsWith(", 0)"))
                behind = behind.parentElement
            return [getComputedStyle(each).color, getComputedStyle(behind).backgroundColor]
        }"""
    )
    light, dark = sorted((luminance(colour) for colour in (front, back)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
