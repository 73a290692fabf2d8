"""The command line: it reads options and positions, calls the library and prints what comes back."""

import importlib
import json
import logging
import os
import signal
import sys
import traceback

from ..core.errors import RanksLostError, UserError, complain
from ..formats import positions as position_file
from ..formats import stdout
from .arguments import parse
from .study_arguments import STUDIES


def main(argv=None):
    """Run the command line on this rank; return its exit status."""
    status = _main(argv)
    from ..cluster import mpi_runtime

    mpi_runtime.leave(status)
    return status


def _main(argv):
    if sys.stderr is None:  # closed by whoever started this
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    try:
        if sys.stdout is None:
            raise UserError("stdout is closed: there is nowhere to print the result")
        try:
            return _run(sys.argv[1:] if argv is None else argv)
        except SystemExit:  # of --help and --version, whose text may still be on its way
            sys.stdout.flush()
            raise
    except KeyboardInterrupt as interrupt:
        return _leave(128 + (interrupt.args[0] if interrupt.args else signal.SIGINT))
    except UserError as error:
        _complain(error)
        return _status(2)
    except RanksLostError as error:
        complain(f"distsearch: {error}")
        return _leave(1)
    except BrokenPipeError:
        stdout.silence()  # whoever read stdout has enough
        return 0
    except Exception as error:
        _abort(error)
        return 1


def _run(argv):
    args = parse(argv)
    from ..cluster import mpi_runtime

    _begin_log(getattr(args, "log_level", None))
    if args.command == "info":
        from .info import info

        return info(mpi_runtime.communicator(), args.json)
    deadline = getattr(args, "deadline", None)
    if mpi_runtime.launcher()[0] > 1 and (deadline is not None or mpi_runtime.tells_of_failures()):
        mpi_runtime.limit_beginning()
    comm, table = mpi_runtime.world(), _table(args)
    from ..api.interrupts import Interrupts, ignore
    from ..api.progress import Progress
    from ..api.session import Session
    from ..engines.pvs.table import DEFAULT_MIB

    interrupts = Interrupts()
    if comm is not None and comm.Get_rank() > 0:
        ignore()
    if args.command == "train":  # on every rank: learning takes no jobs from rank 0
        from ..learning.command import trainer_of

        return trainer_of(args.game)(args, comm, interrupts, Progress(), stdout.say)
    if getattr(args, "parallel", None) == "evaluation":  # on every rank as well
        return _spread(args, comm, interrupts)
    if args.command == "study":  # on every rank: it says itself how many search together
        return _study(args, comm, interrupts, Progress(), Session, argv)
    device = getattr(args, "device", None) or "cpu"
    groups = 0 if args.command == "simulate" else getattr(args, "groups", None) or 0
    with Session(comm, table, lambda: interrupts.signal is not None, Progress(), deadline, groups, device) as session:
        if session is None:
            return _afterwards(args, comm)
        if 0 < session.table_mib < (table or DEFAULT_MIB):
            _complain(f"a host's shared memory has room for a table of {session.table_mib} MiB only")
        with interrupts:
            tracing = _tracing(args, session)
            status = _RUNS[args.command](args, session, interrupts)
            tracing()
            session.close()
        return interrupts.exit_status or status


def _begin_log(level):
    """Have this rank log to stderr what is of a level or above; None: nothing."""
    if level is None:
        return
    from ..cluster import mpi_runtime

    handler = logging.StreamHandler()
    rank = mpi_runtime.place()[1]
    line = f"%(asctime)s.%(msecs)03d rank {rank} %(levelname)s %(name)s: %(message)s"
    handler.setFormatter(logging.Formatter(line, "%H:%M:%S"))
    log = logging.getLogger("distsearch")
    log.addHandler(handler)
    log.setLevel(level.upper())


def _study(args, *stage):
    from ..studies.rank_pool import Stage

    comm, interrupts, progress, session, argv = stage
    module = importlib.import_module(f"distsearch.studies.{STUDIES[args.study].module}")
    return module.run(args, Stage(comm, interrupts, progress, stdout.say, _complain, session, argv))


def _tracing(args, session):
    """Have the ranks keep a timeline, if one is asked for; return what writes it once the search is over."""
    path = getattr(args, "trace", None)
    if path is None:
        return lambda: None
    if getattr(args, "groups", None):
        raise UserError("trace goes without groups: sub-masters have no timeline")
    from .. import games
    from ..cluster.trace import MOST
    from ..formats import timeline

    timeline.check(path)
    game, cluster = games.find(args.game), session.cluster
    board = games.checked_board(game, None if args.board is None else games.parse_board(args.board))
    text = timeline.texts_of(game, game.rules(board))
    cluster.traced = MOST
    return lambda: timeline.write(path, cluster.traces, text)


def _afterwards(args, comm):
    """What a worker does when rank 0 needs it no more."""
    if args.command == "bench" and args.messages:
        from ..studies.bench import peers

        peers(comm)
    return 0


def _table(args):
    """Return the MiB of the table, None for the default, 0 for none; raises UserError if --table would be idle."""
    names = "algorithm", "ordering", "nodes"
    algorithm, ordering, nodes = (getattr(args, name, None) for name in names)
    with_table = (None, "expectimax") if _against_chance(args) else (None, "alphabeta")
    idle = algorithm not in with_table or ordering is not None or nodes is not None
    asked = getattr(args, "table", None)
    if asked is not None and idle:
        raise UserError("table goes with alphabeta and expectimax, and without ordering or nodes")
    if args.command not in ("search", "solve", "serve") or idle:  # simulate's virtual workers are one process
        return 0
    return asked


def _against_chance(args):
    from .. import games

    name = getattr(args, "game", None)
    return name in games.names() and games.find(name).PLAYERS == 1


def _search(args, session, interrupts):
    options, game, rules = _options(args)
    position = game.parse(args.position or "startpos", rules)
    if options.against_chance and args.position in (None, "startpos"):
        from ..api.chance import dealt

        position = dealt(game, position, rules, args.seed or 0)
    elif args.seed is not None and options.runs is None:
        raise UserError("seed goes with startpos of a game against chance, and with averaged and ida")
    positions = [position]
    checkpoint = _checkpoint(args, options, interrupts, positions)
    return _answer(args, interrupts, checkpoint, lambda: session.searcher(options).search(positions, checkpoint))


def _spread(args, comm, interrupts):
    """Search with every board evaluated by all ranks together."""
    from ..api import parallel_evaluation
    from ..api.progress import Progress

    options, game, rules = _options(args)
    position = game.parse(args.position or "startpos", rules)
    with interrupts:
        asked = options, position, lambda: interrupts.signal is not None, Progress()
        found = parallel_evaluation.search(comm, *asked)
    if found is not None:
        stdout.say(found.to_json() if args.json else found.to_text())
    return interrupts.exit_status


def _answer(args, interrupts, checkpoint, search):
    """Print what ``search()`` finds, or what an earlier run printed that came to its end; return the exit status."""
    if checkpoint.state and "output" in checkpoint.state:
        stdout.write(checkpoint.state["output"].encode())
        return 0
    output = "".join(f"{found.to_json() if args.json else found.to_text()}\n" for found in search())
    stdout.write(output.encode())
    if interrupts.signal is None:
        checkpoint.save(lambda: {"output": output})
    return 0


def _checkpoint(args, options, interrupts, positions=(), suffixes=(), **asked):
    """Return the Checkpoint of a search, or what stands for none; asked: what else tells one search from another."""
    from ..formats.checkpoint import NO_CHECKPOINT, Checkpoint, fingerprint

    if args.checkpoint is None:
        if args.resume:
            raise UserError("resume goes with checkpoint, which names the file to resume from")
        return NO_CHECKPOINT
    if options.against_chance:
        raise UserError("checkpoint is for games of two players")
    search = fingerprint(options, positions, command=args.command, json=args.json, **asked)
    return Checkpoint(args.checkpoint, search, args.resume, interrupts, _complain, suffixes)


def _solve(args, session, interrupts):
    from ..api.report import Report
    from ..formats.answer_log import SUFFIX

    options, game, rules = _options(args)
    if args.check and options.against_chance:
        raise UserError(f"check compares whole numbers, and {args.game}, a game against chance, has mean values")
    plain = args.plain or args.positions is None
    style = "json" if args.json else "lines" if plain else "table"
    path = "-" if args.positions is None else args.positions
    with position_file.opened(path) as descriptor:
        checkpoint = _checkpoint(args, options, interrupts, (), [SUFFIX], output=style, check=args.check)
        report = Report(session, options, game, rules, descriptor, style, args.check, _complain, checkpoint)
        report.run(stdout.write)
    if report.empty and interrupts.signal is None:
        raise UserError(f"{position_file.name_of(path)} holds no position")
    if report.summary and not args.json:
        complain(report.summary)
    return report.status


def _perft(args, session, interrupts):
    options, game, rules = _options(args)
    from ..api.perft import perft

    positions, bad = [], 0
    if args.positions is None:
        positions = [game.parse(args.position or "startpos", rules)]
    elif args.position is not None:
        raise UserError("position and --positions exclude each other")
    else:
        positions, bad = position_file.read(args.positions, game, rules, interrupts, _complain)
    if not positions:
        return 1
    checkpoint = _checkpoint(args, options, interrupts, positions, plies=args.plies)
    asked = options, args.plies, positions, session.cluster, session.progress, session.interrupted, checkpoint
    return _answer(args, interrupts, checkpoint, lambda: perft(*asked)) or int(bool(bad))


def _play(args, session, interrupts):
    from ..api.play import DEFAULT_GAMES, check_limits

    check_limits(**vars(args))
    options, _, _ = _options(args)
    count = DEFAULT_GAMES if args.games is None else args.games
    found = session.played(options, count, args.seed or 0, args.record)
    stdout.say(found.to_json() if args.json else found.to_text())
    return 0


def _tune(args, session, interrupts):
    from ..api.tune import TuneBudget, tune

    if args.depth is None and args.layers is None:
        args.depth = 3
    options, _, _ = _options(args)
    names = "games", "generations", "population", "sigma"
    budget = TuneBudget(**{name: getattr(args, name) for name in names if getattr(args, name) is not None})
    asked = session.cluster, session.progress, session.interrupted, args.record
    found = tune(options, budget, args.seed or 0, *asked)
    stdout.say(found.to_json() if args.json else found.to_text())
    return 0


def _sample(args, session, interrupts):
    from ..api.sample import sample
    from ..formats.game_records import RecordFile

    asked = args.record, args.stage, args.count, args.seed, session.progress, session.interrupted
    texts = sample(args.game, *asked)
    if texts and args.output is not None:
        with RecordFile(args.output) as file:
            file.write("\n".join(texts))
    elif texts:
        stdout.say("\n".join(texts))
    return 0


def _simulate(args, session, interrupts):
    options, game, rules = _options(args)
    from ..api.simulate import Machine, simulate

    given = {name: value for name, value in vars(args).items() if name in vars(Machine()) and value is not None}
    machine, position = Machine(**given), game.parse(args.position or "startpos", rules)
    if options.against_chance and args.position in (None, "startpos"):
        from ..api.chance import dealt

        position = dealt(game, position, rules, machine.seed)
    found = simulate(options, machine, position, session.progress, session.interrupted, args.explain)
    stdout.say(found.to_json() if args.json else found.to_text())
    return 0


def _bench(args, session, interrupts):
    from ..studies import bench

    if args.messages and args.positions is not None:
        raise UserError("--messages and --positions exclude each other")
    if args.device not in (None, "cpu"):
        return _bench_gpu(args, session)
    if not args.messages:
        rows = _bench_rows(args, session, interrupts)
        stdout.say(bench.bench_json(*rows) if args.json else bench.bench_text(*rows))
        return 0
    if session.ranks == 1:
        raise UserError("bench --messages needs two ranks or more: mpirun -n 2 distsearch bench --messages")
    cluster, prefetch = session.cluster, 2 if args.prefetch is None else args.prefetch
    figures = bench.messages(cluster, session.progress, session.interrupted, prefetch)
    session.close()
    figures.update(bench.peers(cluster.comm))
    stdout.say(json.dumps(figures) if args.json else bench.messages_text(figures))
    return 0


def _bench_gpu(args, session):
    if args.device != "gpu":
        raise UserError("bench measures --device cpu or gpu")
    if args.messages or args.positions is not None or args.game is not None:
        raise UserError("bench --device gpu has searches of its own")
    if session.ranks > 1:
        raise UserError("bench --device gpu measures one GPU: start it without mpirun")
    from ..studies import gpu_bench

    if not args.json:
        stdout.say(gpu_bench.HEAD)
    wrong = 0
    for row in gpu_bench.bench_gpu(session.gpu, session.interrupted):
        stdout.say(gpu_bench.bench_gpu_json(row) if args.json else gpu_bench.bench_gpu_text(row))
        wrong += row.get("wrong", 0)
    return int(bool(wrong))


def _bench_rows(args, session, interrupts):
    """Return the rows and the signature of the fixed searches, or of those of a file."""
    from ..studies import bench

    if args.positions is None:
        if args.game is not None:
            raise UserError(f"bench {args.game} needs --positions FILE; without a game it has searches of its own")
        return bench.bench(session.progress, session.interrupted)
    if args.game is None:
        raise UserError("--positions needs a game: distsearch bench GAME --positions FILE")
    options, game, rules = _options(args)
    positions, bad = position_file.read(args.positions, game, rules, interrupts, _complain)
    if bad:
        raise UserError(
            f"{position_file.name_of(args.positions)} has {bad} bad lines: its figures would be of other work"
        )
    return bench.bench_positions(options, positions, args.game, session.progress, session.interrupted)


def _serve(args, session, interrupts):
    from .. import games
    from ..server.request_queue import Desk
    from ..server.server import Server

    if args.socket is None and (sys.stdin is None or sys.stdout is None):
        raise UserError("stdin or stdout is closed: give --socket, or both")
    desk = Desk(session)
    desk.warm(games.names(players=2))
    where = "stdin" if args.socket is None else args.socket
    told = f"serving {where} with {session.ranks} rank{'s' * (session.ranks > 1)}"
    status = Server(desk, args.socket).serve(session.interrupted, lambda: session.progress.note(told))
    interrupts.forgive()
    return status


_OF_TREES = (  # options that mean nothing where the squares of boards are shared, and not the tree
    "time",
    "nodes",
    "exact",
    "policy",
    "load_factor",
    "prefetch",
    "table",
    "window",
    "pruning",
    "par_depth",
    "all_moves",
    "selective",
    "fit",
    "layers",
    "deeper",
    "min_probability",
    "chance",
    "spawn",
    "seed",
    "runs",
    "width",
    "deadline",
    "groups",
    "device",
    "trace",
    "checkpoint",
    "resume",
)


def _options(args):
    """Return (Options, game module, rules array) of parsed arguments."""
    from ..api.options import parse_deeper, parse_window, resolve
    from ..api.sampled_options import ALGORITHMS as SAMPLED

    limits = ("depth", "time", "nodes", "exact")
    if getattr(args, "window", None) is not None:
        args.window = parse_window(args.window)
    if getattr(args, "deeper", None) is not None:
        args.deeper = parse_deeper(args.deeper)
    names = *limits, "window", "prefetch", "algorithm", "policy", "load_factor", "ordering", "evaluation", "all_moves"
    names += "layers", "min_probability", "chance", "deeper", "pruning", "par_depth", "runs", "width"
    names += "selective", "fit"
    if args.command == "solve" or getattr(args, "algorithm", None) in SAMPLED:
        names += ("seed",)
    given = {name: getattr(args, name) for name in names if getattr(args, name, None) is not None}
    if "evaluation" in given:
        from ..formats.weights_file import named

        given["evaluation"] = named(given["evaluation"], args.game)
    if args.command == "solve" and not given.keys() & {*limits, "layers"} and given.get("algorithm") != "ida":
        if _against_chance(args):
            raise UserError(
                f"solve {args.game} needs --depth, --layers or --time: against chance there is no exact search"
            )
        given["exact"] = True
    if getattr(args, "resume", False) and not given.keys() & {"policy", "ordering", "nodes", "algorithm"}:
        from ..formats.checkpoint import policy_in

        given["policy"] = policy_in(args.checkpoint or "")  # the default depends on what may change: the load factor
    if getattr(args, "parallel", None) == "evaluation":
        from ..api import parallel_evaluation

        other = [name.replace("_", "-") for name in _OF_TREES if getattr(args, name) not in (None, False)]
        given = {name: value for name, value in given.items() if name not in _OF_TREES}
        return parallel_evaluation.checked(
            args.game, other, board=args.board, empties=args.empties, rules=dict(args.rule or ()), **given
        )
    return resolve(args.game, args.board, args.empties, getattr(args, "spawn", None), dict(args.rule or ()), **given)


_RUNS = {  # command -> what runs it: (arguments, session, interrupts) -> exit status
    "search": _search,
    "solve": _solve,
    "play": _play,
    "tune": _tune,
    "sample": _sample,
    "perft": _perft,
    "simulate": _simulate,
    "bench": _bench,
    "serve": _serve,
}


def _complain(error):
    if _is_first():
        complain(f"distsearch: {error}")


def _is_first():
    from ..cluster import mpi_runtime

    return mpi_runtime.place()[1] == 0


def _status(status):
    """The exit status of a rank: the first one speaks for all."""
    return status if _is_first() else 0


def _leave(status):
    """End every rank, without a word; return the exit status of a single one."""
    from ..cluster import mpi_runtime

    if mpi_runtime.place()[0] > 1:
        mpi_runtime.abort(status)
    return status


def _abort(error):
    """Show this rank's traceback, unless another rank has done so, and end the whole job."""
    from ..cluster import mpi_runtime

    ranks, rank = mpi_runtime.place()
    where = f"distsearch: rank {rank} of {ranks} failed\n" if ranks > 1 else ""
    if not mpi_runtime.echoes_an_abort(error):
        complain(f"{where}{traceback.format_exc().rstrip()}")
    if ranks > 1:
        mpi_runtime.abort(1)
