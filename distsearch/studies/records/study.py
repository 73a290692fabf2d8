"""The study ``records``: its tables in their order."""

from ..reports.study import Study
from . import connect4_boards, othello_boards, small_boards

STUDY = Study(
    "records",
    "Records: games that are solved",
    (othello_boards.EXHIBIT, connect4_boards.EXHIBIT, small_boards.EXHIBIT),
    othello_boards.complaints,
    source="print",
)
