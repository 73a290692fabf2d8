"""The pages: short where they promise it, whole, and their links and the files that they name are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
DECISIONS = sorted((DOCS / "decisions").glob("0*.md"))
PAGES = [*sorted(DOCS.rglob("*.md")), *sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("*/README.md"))]


def name(path):
    return path.relative_to(ROOT).as_posix()


def text(path):
    return path.read_text(encoding="utf-8")


def prose(path):
    """A page without its listings."""
    return re.sub(r"^ *```.*?^ *```", "", text(path), flags=re.DOTALL | re.MULTILINE)


def test_the_first_pages_are_short():
    assert len(text(ROOT / "README.md").encode()) <= 8192
    assert len(text(DOCS / "architecture.md").splitlines()) <= 200


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_to_files(page):
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose(page))
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []


def test_files_that_the_pages_about_code_name_are_there():
    missing = []
    for page in (DOCS / "architecture.md", *DECISIONS):
        for path in re.findall(r"`([a-z0-9_]+(?:/[a-z0-9_]+)+\.(?:py|cuh|cu|h))", text(page)):
            if not (ROOT / "distsearch" / path).exists() and not (ROOT / path).exists():
                missing.append(f"{name(page)}: {path}")
    assert missing == []


def test_decisions_are_numbered_and_have_their_parts():
    assert [int(path.name[:4]) for path in DECISIONS] == list(range(1, len(DECISIONS) + 1))
    index = text(DOCS / "decisions" / "README.md")
    for path in DECISIONS:
        assert re.findall(r"^## (.*)", text(path), re.MULTILINE) == ["Context", "Decision", "Measurements"], path.name
        assert f"| {path.name[:4]} | [{text(path).splitlines()[0][2:]}]({path.name}) |" in index


def test_the_site_has_every_page():
    nav = re.findall(r"([\w/.-]+\.md)$", text(ROOT / "mkdocs.yml"), re.MULTILINE)
    assert sorted(nav) == sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
