"""``train`` as the command line asks for it: networks of tuples, or the patterns of Othello."""

import json
import re

from .. import __version__, games
from ..api.options import checked_seed
from ..core.errors import UserError
from ..evaluation import patterns, tuple_network
from ..games import othello
from . import othello_patterns
from .options import asked
from .rank_group import RankGroup, agreed
from .report import line_text
from .train import Files, train, try_out

ROUNDS = "4096:2,16384:3,49152:4,98304:5"
_SOLVED, _PASSES = 13, 12  # empty squares from which on scores are exact; passes over the positions of a round
_MOST_GAMES, _DEEPEST = 10**7, 12
_TAKEN = "command", "game", "board", "rounds", "seed", "save", "json"  # arguments


def train_networks(args, comm, interrupts, progress, say):
    """Learn by parsed arguments, see ``trainer_of``. Signals save what was learnt, and end it with status 0 then."""
    if args.rounds is not None:
        raise UserError(f"rounds are for {patterns.GAME}")
    options = asked(args)
    files = Files(args.save, args.resume, args.compact, args.record)

    def told(line):
        say(json.dumps(line) if args.json else line_text(line))

    if comm is not None and comm.Get_rank() > 0:
        train(options, files, comm, progress, lambda: False, told)
        return 0
    with interrupts:

        def interrupted():
            return interrupts.signal is not None or interrupts.save and files.save is not None

        found = train(options, files, comm, progress, interrupted, told)
        say(found.to_json() if args.json else found.to_text())
        if files.save is not None:
            interrupts.forgive()  # batch systems say so when time is up, and what was learnt is saved
        return interrupts.exit_status


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
    """Learn by parsed arguments, see ``trainer_of``. Signals end it as they end any process: nothing is kept."""
    for name, value in vars(args).items():
        if name not in _TAKEN and value not in (None, False):
            raise UserError(f"{name.replace('_', '-')} is not for othello, which takes board, rounds, seed and save")
    if args.save is None or not args.save.endswith(tuple_network.ENDING):
        raise UserError(f"othello learns all at once: it needs --save FILE{tuple_network.ENDING}")
    rounds, seed = parse_rounds(args.rounds or ROUNDS), checked_seed(args.seed or 0)
    board = games.checked_board(othello, None if args.board is None else games.parse_board(args.board))
    patterns.check_board(board)
    group = RankGroup(comm)
    agreed(comm, lambda: try_out(args.save) if group.rank == 0 else None)
    played, depths = zip(*rounds, strict=True)
    tell = progress.note if group.rank == 0 else lambda text: None
    net = othello_patterns.train(played, depths, _SOLVED, _PASSES, seed, group, tell, board)
    if group.rank > 0:
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


def trainer_of(game):
    """Return the function that trains for a game, by its name; all ranks call it.

    (arguments, comm, interrupts, progress, say) -> exit status. comm: None for this process alone; interrupts: an
    ``Interrupts``, which rank 0 may enter; say(text): takes what is to be printed, on rank 0. It raises UserError, on
    every rank for what makes no sense or cannot be read, on rank 0 for what cannot be written at the end.
    """
    return train_patterns if game == patterns.GAME else train_networks
