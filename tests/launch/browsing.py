"""The page in a real Chromium, for the tests of it and for its picture."""

import re
import shutil

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
pytest.importorskip("uvicorn", reason="the extra http is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
PATIENCE = 180_000  # milliseconds: kernels may have to be compiled


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
