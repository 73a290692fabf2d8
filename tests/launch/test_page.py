"""The page of ``serve --http`` in a real Chromium: every game is shown, played, searched and watched."""

import pytest

from .browsing import Page, browser, contrast, needs_chromium  # noqa: F401
from .serving import Service

pytestmark = needs_chromium
TWO, CHANCE = ("othello", "connect4"), ("2048", "2584")


@pytest.fixture(scope="module")
def service():
    with Service(1, http=True) as service:
        yield service


@pytest.fixture
def page(browser, service):  # noqa: F811
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


def test_it_fits_a_phone(browser, service):  # noqa: F811
    page = Page(browser, service, viewport={"width": 360, "height": 740})
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= 360
    page.tab.close()
