"""Makes the picture of the page in docs/service.md: ``python tests/launch/page_picture.py [FILE]``."""

import argparse
from pathlib import Path

from playwright.sync_api import sync_playwright
from serving import Service

FILE = Path(__file__).parents[2] / "docs" / "page.png"
SIZE = {"width": 1060, "height": 1300}
POSITION = "------XO-OOX-XOO--OOXXO----OOOXX---XOO-------O------------------ X"  # no book has it
SETTINGS = {"position": POSITION, "seconds": "20", "policy": "brothers"}


def main():
    """Search a position of Othello on 3 ranks, with the scores of all moves, and take the picture meanwhile."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", default=FILE)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    args = parser.parse_args()
    with Service(3, http=True) as service, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=args.chromium, args=["--no-sandbox"])
        tab = browser.new_page(viewport=SIZE, color_scheme="light")
        tab.goto(f"{service.url}#token={service.token}")
        tab.locator(".cell").first.wait_for()
        tab.locator("#seconds").fill(SETTINGS["seconds"])
        tab.locator("#policy").select_option(SETTINGS["policy"])
        tab.locator("#all").check()
        tab.locator("#position").fill(SETTINGS["position"])
        tab.locator("#position").press("Enter")
        tab.locator("#turn", has_text="X to move").wait_for()
        tab.wait_for_timeout(10_000)  # idle ranks in the strips
        tab.locator("#search").click()
        tab.wait_for_timeout(15_000)
        tab.screenshot(path=args.file)
        browser.close()


if __name__ == "__main__":
    main()
