"""The macros that sources are compiled with, to see that they compile for GPUs: the usual ones first."""

_NETWORK = {
    "GAME": 2584,
    "PARTS": 64,
    "POINTS": 1,
    "LOOKUPS": 2,
    "IMAGES": "IMAGE(1073754640)IMAGE(18014403878212624)",
    "STAGES": 2,
    "SYMMETRIC": 0,
}
_HEURISTICS = {"GAME": 2048, "PARTS": 63, "KINDS": 3, "BATCH": 4}
_LEARNING = {"SYMMETRIC": 1, "AT_ONCE": 4, "STAGES": 1, "SEARCHING": 0, "DEAD_BOARDS": 0}
_2048 = {"GAME": 2048, "TUPLES": "TUPLE(0x3f)TUPLE(0x3f0)TUPLE(0x77)TUPLE(0x770)", **_LEARNING}
_2584 = {"GAME": 2584, "TUPLES": "TUPLE(0xf)TUPLE(0xf0)TUPLE(0x33)", **_LEARNING}
_OTHELLO = {"BOARD_ROWS": 8, "BOARD_COLUMNS": 8, "TO_WINNER": 1, "BONUS": 6400, "WIDENED": 100}
VARIANTS = {  # by source: the macros (dictionaries) that it is compiled with, where it takes any
    "connect4_solver.cu": [
        {},
        {"LANES": 1},
        {"LANES": 4, "ROWS": 4, "COLUMNS": 8},
        {"LANES": 16, "THREADS": 256, "BLOCKS": 4, "ROWS": 3, "COLUMNS": 16},
        {"ROWS": 63, "COLUMNS": 1},
    ],
    "connect4_to_depth.cu": [{}, {"LANES": 4, "ROWS": 4, "COLUMNS": 8}],
    "othello_to_depth.cu": [
        {**_OTHELLO, "EVALUATION": 0},
        {**_OTHELLO, "EVALUATION": 1, "LANES": 16, "BLOCKS": 4},
        {**_OTHELLO, "EVALUATION": 2, "PATTERNS": "TWO(0x8040201008040201)FOUR(0xff)EIGHT(0x1f07)", "LANES": 32},
        {**_OTHELLO, "BOARD_ROWS": 6, "BOARD_COLUMNS": 6, "EVALUATION": 2, "PATTERNS": "FOUR(0x70707)"},
    ],
    "endgame.cu": [
        {},
        {"LANES": 1},
        {"LANES": 32, "LEAF": 6, "MOST": 24, "SHARING": 1},
        {"BOARD_ROWS": 6, "BOARD_COLUMNS": 5, "SHARING": 1},
    ],
    "expectimax.cu": [_NETWORK, _HEURISTICS, {"WHOLE": 1, "GAME": 2584}],
    "expectimax_leaves.cu": [_NETWORK, _HEURISTICS],
    "expectimax_levels.cu": [_NETWORK],
    "expectimax_paths.cu": [{**_NETWORK, "DEAD_BOARDS": 1}],
    "learning.cu": [
        {**_2048, "COHERENT": 0},
        {**_2584, "COHERENT": 1},
        {**_2584, "COHERENT": 0, "SYMMETRIC": 0, "AT_ONCE": 1},
        {**_2584, "COHERENT": 0, "STAGES": 2, "SEARCHING": 128, "BLOCKS": 4},
        {**_2584, "COHERENT": 0, "SEARCHING": 128, "BLOCKS": 4, "DEAD_BOARDS": 1},
    ],
}
