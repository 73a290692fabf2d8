"""``distsearch bench``: fixed searches with a signature, message rates, and the kernels of a GPU."""

import json

from ..api.declarations import of_command
from ..api.options import Options
from ..core.errors import UserError
from ..formats import positions as position_file
from ..formats import stdout
from ..studies import bench, gpu_bench
from .flags import add_game, add_options, add_resources, options_of, resources_of
from .launch import Launch


def add_arguments(parser):
    add_game(parser, position=False, optional=True)
    parser.add_argument(
        "--messages", action="store_true", help="instead: empty jobs through the master, on 2 ranks or more"
    )
    parser.add_argument("--positions", metavar="FILE", help="instead: search these, to the limits; - for stdin")
    add_options(parser, of_command(Options, "bench"))
    add_resources(parser, "bench")


def run(args, argv):
    launch = Launch(resources_of(args), table=False)
    status = launch.lead(lambda session: _bench(args, launch, session))
    if args.messages and not launch.is_first:
        bench.peers(launch.comm)
    return status


def _bench(args, launch, session):
    if args.messages and args.positions is not None:
        raise UserError("--messages and --positions exclude each other")
    if args.device not in (None, "cpu"):
        return _bench_gpu(args, session)
    if not args.messages:
        rows = _rows(args, launch, session)
        stdout.print_result(bench.bench_json(*rows) if args.json else bench.bench_text(*rows))
        return 0
    if session.ranks == 1:
        raise UserError("bench --messages needs two ranks or more: mpirun -n 2 distsearch bench --messages")
    cluster, prefetch = session.cluster, 2 if args.prefetch is None else args.prefetch
    figures = bench.messages(cluster, session.progress, session.interrupted, prefetch)
    session.close()
    figures.update(bench.peers(cluster.comm))
    stdout.print_result(json.dumps(figures) if args.json else bench.messages_text(figures))
    return 0


def _bench_gpu(args, session):
    if args.device != "gpu":
        raise UserError("bench measures --device cpu or gpu")
    if args.messages or args.positions is not None or args.game is not None:
        raise UserError("bench --device gpu has searches of its own")
    if session.ranks > 1:
        raise UserError("bench --device gpu measures one GPU: start it without mpirun")
    if not args.json:
        stdout.print_result(gpu_bench.HEAD)
    wrong = 0
    for row in gpu_bench.bench_gpu(session.gpu, session.interrupted):
        stdout.print_result(gpu_bench.bench_gpu_json(row) if args.json else gpu_bench.bench_gpu_text(row))
        wrong += row.get("wrong", 0)
    return int(bool(wrong))


def _rows(args, launch, session):
    """Return the rows and the signature of the fixed searches, or of those of a file."""
    if args.positions is None:
        if args.game is not None:
            raise UserError(f"bench {args.game} needs --positions FILE; without a game it has searches of its own")
        return bench.bench(session.progress, session.interrupted)
    if args.game is None:
        raise UserError("--positions needs a game: distsearch bench GAME --positions FILE")
    options, game, rules = options_of(args)
    positions, bad = position_file.read(args.positions, game, rules, launch.interrupts, launch.print_error)
    if bad:
        name = position_file.name_of(args.positions)
        raise UserError(f"{name} has {bad} bad lines: its figures would be of other work")
    return bench.bench_positions(options, positions, args.game, session.progress, session.interrupted)
