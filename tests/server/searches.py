"""Searches of every game by every algorithm, as fields of a request and as arguments of the command line."""

from typing import Any

LATE = {"othello": ("startpos", "4x4"), "connect4": ("1122", "5x4")}  # games that are searched in milliseconds
TILES = "2,4,8,16,0,4,8,2,0,2,4,8,0,0,2,4"
FIBONACCI = "1,2,3,5,0,8,13,2,0,2,3,8,0,0,1,3"

TWO_PLAYERS: list[dict[str, Any]] = [
    {"exact": True},
    {"exact": True, "window": [-1, 1]},
    {"depth": 5},
    {"depth": 4, "all_moves": True},
    {"depth": 4, "algorithm": "minimax"},
    {"depth": 5, "ordering": "static"},
    {"nodes": 3000},
    *({"depth": 5, "policy": policy} for policy in ("split", "brothers", "window", "pool")),
]
BY_CHANCE: list[dict[str, Any]] = [
    {"depth": 3},
    {"layers": 1, "all_moves": True},
    {"depth": 3, "evaluation": "rows", "chance": "uniform"},
    {"depth": 5, "evaluation": "rows", "min_probability": 0.01, "load_factor": 2},
    {"depth": 3, "evaluation": "rows", "depth_by_empty": [[4, 5]]},
    {"depth": 3, "algorithm": "expectiminimax"},
    {"depth": 3, "algorithm": "expectiminimax", "pruning": "none", "par_depth": 2},
    {"depth": 4, "algorithm": "minimax"},
    {"depth": 5, "algorithm": "alphabeta", "policy": "brothers"},
    {"depth": 3, "algorithm": "averaged", "runs": 4, "width": 2, "seed": 7},
    {"algorithm": "ida", "nodes": 2000, "runs": 4, "seed": 7},
    {"algorithm": "mcts", "nodes": 2000, "runs": 4, "seed": 7},
    {"algorithm": "mcts", "evaluation": "playout", "nodes": 2000, "runs": 2},
]
CASES = [
    *(
        {"game": game, "position": text, "board": board, **how}
        for game, (text, board) in LATE.items()
        for how in TWO_PLAYERS
    ),
    *(
        {"game": game, "position": text, **how}
        for game, text in (("2048", TILES), ("2584", FIBONACCI))
        for how in BY_CHANCE
    ),
    *({"game": game, "seed": 5, "depth": 3, "evaluation": "rows"} for game in ("2048", "2584")),  # of startpos
]
OF_THE_REQUEST = {"id", "type", "index"}  # fields of an answer that search does not print


def arguments(case: dict[str, Any]) -> list[str]:
    """Return a case as arguments of ``distsearch``."""
    found = ["search", case["game"], *([case["position"]] if "position" in case else []), "--json"]
    for name, value in case.items():
        if name in ("game", "position"):
            continue
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            found.append(flag)
        else:
            found.append(f"{flag}={_text(value)}")
    return found


def _text(value):
    if not isinstance(value, list):
        return str(value)
    return ",".join(":".join(map(str, each)) if isinstance(each, list) else str(each) for each in value)


def agreed(answer: dict[str, Any]) -> dict[str, Any]:
    """Return what of an answer is the same at any number of ranks."""
    names = ("game", "board", "position", "score", "unit", "meaning", "bound", "proved", "complete", "depth", "moves")
    return {name: answer.get(name) for name in (*names, "algorithm", "runs", "width", "goals", "seed", "pruning")}
