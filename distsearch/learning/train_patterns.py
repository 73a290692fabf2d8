"""Training of Othello's patterns from end to end, on all ranks; see ``learning.othello_patterns``."""

import json
import re

from .. import __version__, games
from ..api.options import checked_seed
from ..core.errors import UserError
from ..evaluation import patterns, tuple_network
from ..games import othello
from .othello_patterns import Crew, train
from .train import try_out
from .waiting import agreed

ROUNDS = "4096:2,16384:3,49152:4,98304:5"
_SOLVED, _PASSES = 13, 12  # empty squares from which on scores are exact; passes over the positions of a round
_MOST_GAMES, _DEEPEST = 10**7, 12
_TAKEN = "command", "game", "board", "rounds", "seed", "save", "json"  # arguments


def parse_rounds(text):
    """Return (games, plies of their searches) of each round of a text such as ROUNDS; raises UserError."""
    rounds = []
    for part in text.split(","):
        found = re.fullmatch(r"(\d{1,9}):(\d{1,3})", part)
        if not found or not 1 <= int(found[1]) <= _MOST_GAMES or not 1 <= int(found[2]) <= _DEEPEST:
            raise UserError(
                f"rounds '{text[:60]}' are not games:depth of each, such as {ROUNDS}; games up to {_MOST_GAMES}, "
                f"depth up to {_DEEPEST}"
            )
        rounds.append((int(found[1]), int(found[2])))
    return rounds


def train_patterns(args, comm, interrupts, progress, say):
    """Learn by parsed arguments, see ``trainers``. Signals end it as they end any process: nothing is kept."""
    for name, value in vars(args).items():
        if name not in _TAKEN and value not in (None, False):
            raise UserError(f"{name.replace('_', '-')} is not for othello, which takes board, rounds, seed and save")
    if args.save is None or not args.save.endswith(tuple_network.ENDING):
        raise UserError(f"othello learns all at once: it needs --save FILE{tuple_network.ENDING}")
    rounds, seed = parse_rounds(args.rounds or ROUNDS), checked_seed(args.seed or 0)
    board = games.checked_board(othello, None if args.board is None else games.parse_board(args.board))
    patterns.check_board(board)
    crew = Crew(comm)
    agreed(comm, lambda: try_out(args.save) if crew.rank == 0 else None)
    played, depths = zip(*rounds, strict=True)
    tell = progress.note if crew.rank == 0 else lambda text: None
    net = train(played, depths, _SOLVED, _PASSES, seed, crew, tell, board)
    if crew.rank > 0:
        return 0
    try:
        tuple_network.save(args.save, net, compact=True)
    except OSError as error:
        raise UserError(f"cannot write {args.save[:200]}: {error.strerror or error}") from error
    record = net.record
    say(
        json.dumps({"game": net.game, "save": args.save, **record, "version": __version__})
        if args.json
        else f"othello {board[0]}x{board[1]}  {record['positions']:,} positions of {played[-1]:,} games and those of "
        "the round before\n"
        f"  error      {record['error']:.2f} discs on games it has not seen\n  saved      {args.save}\n"
        f"{record['cpu_seconds']} CPU s, {record['ranks']} rank{'s' * (record['ranks'] > 1)}"
    )
    return 0
