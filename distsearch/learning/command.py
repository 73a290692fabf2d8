"""``train`` as the command line asks for it: networks of tuples, or the patterns of Othello."""

import contextlib
import json
import re

from .. import __version__, games
from ..api.declarations import given, shown
from ..api.options import checked_seed
from ..core import archive
from ..core.errors import UserError
from ..evaluation import patterns, tuple_network
from ..games import othello
from . import othello_patterns
from .options import TrainOptions
from .rank_group import RankGroup, agreed
from .replay import UPDATES, replay
from .replay import check as check_replay
from .report import line_text
from .train import Files, train, try_out

ITERATIONS = "4096:2,16384:3,49152:4,98304:5"
_SOLVED, _SOLVED_LARGE = 13, 10  # empty squares from which on scores are exact; on boards of more than 64 squares
_PASSES = 12  # over the positions of an iteration
_MOST_GAMES, _DEEPEST = 10**7, 12
_TAKEN = "command", "game", "board", "iterations", "seed", "save", "json", "log_level"  # arguments


def train_networks(args, comm, interrupts, progress, print_result):
    """Learn by parsed arguments, see ``trainer_of``. Signals save what was learnt, and end it with status 0 then."""
    if args.iterations is not None:
        raise UserError(f"iterations are for {patterns.GAME}")
    board = None if args.board is None else games.parse_board(args.board)
    asked = given(args, TrainOptions)
    described = {}
    if args.resume and args.save is not None and args.replay is None:
        described = _described(args.save, comm)
    options = TrainOptions.resumed(args.game, board, args.rules, asked, described)
    files = Files(args.save, args.resume, args.weights_only, args.record)
    if args.replay is not None:
        return _replay(args, options, asked, files, comm, interrupts, progress, print_result)
    if args.update is not None:
        raise UserError("update goes with --replay FILE, games to learn from")

    def told(line):
        print_result(json.dumps(line) if args.json else line_text(line))

    if comm is not None and comm.Get_rank() > 0:
        train(options, files, comm, progress, lambda: False, told)
        return 0
    with interrupts:

        def interrupted():
            return interrupts.signal is not None or interrupts.save and files.save is not None

        found = train(options, files, comm, progress, interrupted, told)
        print_result(found.to_json() if args.json else found.to_text())
        if files.save is not None:
            interrupts.forgive()  # batch systems say so when time is up, and what was learnt is saved
        return interrupts.exit_status


def _described(path, comm):
    """Return the options with which a file of weights was trained, {} where none is; all ranks call it."""
    found = None
    if comm is None or comm.Get_rank() == 0:
        with contextlib.suppress(UserError):  # told when all of the file is read
            found = archive.header_of(path, tuple_network.KIND).get("record")
    record = found if comm is None else comm.bcast(found)
    described = record.get("options") if isinstance(record, dict) else None
    return described if isinstance(described, dict) else {}


def _replay(args, options, asked, files, comm, interrupts, progress, print_result):
    update = args.update or UPDATES[0]
    check_replay(options, asked, update)
    if comm is not None and comm.Get_size() > 1:
        raise UserError("replay is for one rank")
    if files.record is not None or files.weights_only:
        raise UserError("record and weights-only are for games that are played, not for --replay")
    if files.save is None:
        progress.note("what is learnt is not kept: there is no --save FILE")
    with interrupts:
        found = replay(options, files, args.replay, update, progress, interrupted=lambda: interrupts.signal is not None)
        print_result(found.to_json() if args.json else found.to_text())
        if files.save is not None:
            interrupts.forgive()
        return interrupts.exit_status


def parse_iterations(text):
    """Return (games, plies of their searches) of each iteration of a text such as ITERATIONS; raises UserError."""
    iterations = []
    for part in text.split(","):
        found = re.fullmatch(r"(\d{1,9}):(\d{1,3})", part)
        if not found or not 1 <= int(found[1]) <= _MOST_GAMES or not 1 <= int(found[2]) <= _DEEPEST:
            raise UserError(
                f"iterations '{text[:60]}' are not games:depth of each, such as {ITERATIONS}; "
                f"games up to {_MOST_GAMES}, depth up to {_DEEPEST}"
            )
        iterations.append((int(found[1]), int(found[2])))
    return iterations


def train_patterns(args, comm, interrupts, progress, print_result):
    """Learn by parsed arguments, see ``trainer_of``. Signals end it as they end any process: nothing is kept."""
    for name, value in vars(args).items():
        if name not in _TAKEN and value not in (None, False, {}):
            raise UserError(f"{shown(name)} is not for othello, which takes board, iterations, seed and save")
    if args.save is None or not args.save.endswith(tuple_network.ENDING):
        raise UserError(f"othello learns all at once: it needs --save FILE{tuple_network.ENDING}")
    iterations, seed = parse_iterations(args.iterations or ITERATIONS), checked_seed(args.seed or 0)
    board = games.checked_board(othello, None if args.board is None else games.parse_board(args.board))
    patterns.check_board(board)
    group = RankGroup(comm)
    agreed(comm, lambda: try_out(args.save) if group.rank == 0 else None)
    played, depths = zip(*iterations, strict=True)
    tell = progress.note if group.rank == 0 else lambda text: None
    solved = _SOLVED if board[0] * board[1] <= 64 else _SOLVED_LARGE
    net = othello_patterns.train(played, depths, solved, _PASSES, seed, group, tell, board)
    if group.rank > 0:
        return 0
    try:
        tuple_network.save(args.save, net, compact=True)
    except OSError as error:
        raise UserError(f"cannot write {args.save[:200]}: {error.strerror or error}") from error
    record = net.record
    print_result(
        json.dumps({"game": net.game, "save": args.save, **record, "version": __version__})
        if args.json
        else f"othello {board[0]}x{board[1]}  {record['positions']:,} positions of {played[-1]:,} games and those of "
        "the iteration before\n"
        f"  error      {record['error']:.2f} discs on games it has not seen\n  saved      {args.save}\n"
        f"{record['cpu_seconds']} CPU s, {record['ranks']} rank{'s' * (record['ranks'] > 1)}"
    )
    return 0


def trainer_of(game):
    """Return the function that trains for a game, by its name; all ranks call it.

    (arguments, comm, interrupts, progress, print_result) -> exit status. comm: None for this process alone; interrupts:
    an ``Interrupts``, which rank 0 may enter; print_result(text) is called on rank 0. The function raises UserError, on
    every rank for what makes no sense or cannot be read, on rank 0 for what cannot be written at the end.
    """
    return train_patterns if game == patterns.GAME else train_networks
