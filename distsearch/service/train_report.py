"""Lines about training, for people."""

_MOST = 4  # tiles of a line


def line_text(line):
    """Return a line of ``Statistics`` or an evaluation as a text."""
    shares = [f"{tile} {share:.1%}" for tile, share in line["reached"].items()][:_MOST]
    what = f"  without learning, {line['evaluated']} games" if line["kind"] == "evaluation" else ""
    rate = f", {line['moves_per_second']:,} moves/s" if "moves_per_second" in line else ""
    return (
        f"{line['games']:>9,} games{what}  average {line['average']:,.0f}, maximum {line['maximum']:,}, "
        f"won {line['win_rate']:.1%} ({', '.join(shares)}){rate}"
    )
