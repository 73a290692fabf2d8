"""Tables and figures of reports as text and as Markdown."""

import pytest

from distsearch.studies.reports.tables import (
    UNKNOWN,
    Figure,
    Table,
    compared,
    percent,
    ratio,
    shown,
    to_csv,
    to_latex,
    to_markdown,
    to_text,
)

WAYS = [("a", *compared(2, 4)), ("b|c", *compared(0.5, None))]
TABLE = Table("Times", ("way", "ours", "theirs", "ratio"), WAYS, "A note.", "distsearch study x")
FIGURE = Figure("Speedup", "ranks", "speedup", {"one": [(1, 1.0), (4, 3.0, 2.5, 3.5)], "two": [(2, 1.5)]})


def test_a_table_as_text():
    assert to_text(TABLE).splitlines() == [
        "# Times",
        "# A note.",
        "# $ distsearch study x",
        "way  ours          theirs  ratio",
        "a       2               4   0.5×",
        "b|c   0.5  not known here      -",
    ]


def test_a_table_as_markdown():
    assert to_markdown(TABLE).split("\n\n") == [
        "### Times",
        "```\ndistsearch study x\n```",
        "| way | ours | theirs | ratio |\n|---|--:|--:|--:|\n"
        "| a | 2 | 4 | 0.5× |\n| b\\|c | 0.5 | not known here | - |",
        "A note.",
    ]


def test_a_table_as_csv_has_numbers_as_they_are():
    table = Table("T", ("a", "b, c"), [(0.1234567, None), ("x", 1_000_000)])
    assert to_csv(table) == 'a,"b, c"\n0.1234567,\nx,1000000\n'
    assert to_csv(FIGURE) == "ranks,one,two\n1,1.0,\n2,,1.5\n4,3.0,\n"


def test_a_table_as_latex():
    table = Table("50% & more", ("a_b", "ms ÷ µs"), [("x", 1.5)], "A #note.", "distsearch study x")
    assert to_latex(table, "x-1") == (
        "% $ distsearch study x\n\\begin{table}\n\\centering\n\\caption{50\\% \\& more}\n\\label{tab:x-1}\n"
        "\\begin{tabular}{lr}\n\\toprule\na\\_b & ms $\\div$ $\\mu$s \\\\\n\\midrule\nx & 1.5 \\\\\n\\bottomrule\n"
        "\\end{tabular}\n\\par\\smallskip\\footnotesize A \\#note.\n\\end{table}\n"
    )


def test_a_figure_is_its_points_as_a_table_and_its_picture():
    assert to_text(FIGURE).splitlines() == [
        "# Speedup",
        "ranks  one  two",
        "1        1    -",
        "2        -  1.5",
        "4        3    -",
    ]
    assert "\n\n![Speedup](x-1.png)\n\n| ranks | one | two |\n" in to_markdown(FIGURE, ["x-1.png", "x-1.svg"])
    assert FIGURE._replace(y="seconds").table().title == "Speedup: seconds"
    assert not FIGURE.empty
    assert FIGURE._replace(series={"one": []}).empty
    assert Table("", ("a",), []).empty


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        ("x", "x"),
        (0, "0"),
        (1234567, "1,234,567"),
        (1234.5, "1,234"),
        (123.44, "123.4"),
        (92.95, "92.95"),
        (0.012344, "0.01234"),
        (-2.5, "-2.5"),
    ],
)
def test_numbers_are_as_long_as_they_are_worth(value, text):
    assert shown(value) == text


def test_what_is_missing_stays_missing():
    assert compared(None, 3) == (None, 3, None)
    assert compared(3, None) == (3, UNKNOWN, None)
    assert ratio(None, 1) is ratio(1, None) is ratio(1, 0) is None
    assert ratio(1, 4) == 0.25
    assert percent(None) is None
    assert percent(0.125) == "12.5%"
