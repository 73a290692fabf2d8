"""What a study of a report shows, on stdout and as files: Markdown, CSV, LaTeX, PNG and SVG."""

import os
from pathlib import Path
from typing import NamedTuple

from ...core.errors import UserError
from . import directions
from .study import Exhibit
from .tables import Figure, Table, draw, to_csv, to_latex, to_markdown, to_text

_FORMATS = "png", "svg"


class _Part(NamedTuple):
    """A section of an exhibit (None: of the whole study), and the name of its files."""

    exhibit: Exhibit | None
    section: Table | Figure
    name: str


class Shown:
    """All that a study shows of MeasuredRows: its exhibits, directions, and lines on what was left out."""

    def __init__(self, study, study_size, found, left_out, only=""):
        self._study, self._left_out, self._parts = study, left_out, []
        for exhibit in study.content:
            command = study_size.command(study.name, exhibit.name)
            sections = list(exhibit.sections(found, study_size))
            for count, section in enumerate(sections, 1):
                name = f"{study.name}-{exhibit.name}" + f"-{count}" * (len(sections) > 1)
                if not section.empty:
                    self._parts.append(_Part(exhibit, section._replace(command=command), name))
        self._directions = [each for exhibit in study.content for each in exhibit.directions(found)]
        if any(each.held != directions.MISSING for each in self._directions):
            section = directions.table(self._directions)._replace(command=study_size.command(study.name, only))
            self._parts.append(_Part(None, section, f"{study.name}-directions"))

    def text(self):
        """Return all as text."""
        parts = [to_text(each.section) for each in self._parts]
        return "\n\n".join([f"# {self._study.title}", *parts, *(f"# {line}" for line in self._left_out)])

    def write(self, folder, print_error):
        """Write all into a folder; figures where there is matplotlib. Raises UserError."""
        parts, drawing = [f"# {self._study.title}"], True
        for exhibit, section, name in self._parts:
            pictures = []
            if isinstance(section, Figure) and drawing:
                try:
                    pictures = [os.path.basename(path) for path in draw(section, folder, name, _FORMATS)]
                except UserError as error:
                    print_error(error)
                    drawing = False
            _write(folder / f"{name}.csv", to_csv(section))
            _write(folder / f"{name}.tex", to_latex(section, name))
            source = self._study.source
            place = f"In {source}: {exhibit.place}; of theirs: {exhibit.theirs}." if exhibit and exhibit.place else ""
            parts.append(to_markdown(section, pictures, place))
        _write(folder / f"{self._study.name}.md", "\n\n".join([*parts, *self._left_out]) + "\n")


def _write(path, text):
    try:
        path.write_text(text)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from error


def made_folder(output) -> Path:
    """Return the Path of a folder, which is made if it is not there; raises UserError."""
    folder = Path(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"cannot make the folder {str(output)[:200]}: {reason}") from error
    return folder
