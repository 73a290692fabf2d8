"""The report on 2584 (NCTU): expectimax and temporal differences on many cores and on GPUs.

Of its figures some are known here: with 3 layers an average of 66,300 points, the best game 212,741, the 2584 tile in
86% of games; a GPU 32 times one thread at 3 layers and slower at 1; learning from 1,000 games of 1,000 steps 12.5 times
a thread's speed; two GPUs 0.973 to 0.975 efficient; games that learn without locks 24 times with 32 threads. Here the
search weighs tiles as play deals them, and the network has as many tuples as the report's, whose cells are not known.
"""

import time

from .. import games
from ..games.interface import Position
from ..gpu.expectimax import GpuExpectimax
from ..service.progress import Silent
from ..service.train import Files, train
from ..service.train_options import TrainOptions
from . import report, td2584_exhibits, updates
from .decisions import Core, classes, decide_on_card, play_on_card, repeated, rules_of, worst_error
from .report import Measurement, Study

GAME, EVALUATION = "2584", "ntuple"
_SAMPLED = 3, 24  # games that boards are taken from: laptop, cluster
_LEARNT = {0: (10_000, 300_000), 1: (600, 20_000), 2: (50, 1000), 3: (8, 200)}  # games by layers
_LINES = 10  # points of a curve
_PLAYED = {0: (300, 1000), 1: (30, 1000), 2: (4, 1000), 3: (1, 200)}
_CARD_PLAYED = 200, 1000
_CORE_BOARDS = {1: (1000, 4000), 2: (100, 1000), 3: (10, 100)}
_BATCHES = {
    "merged": {1: 100_000, 2: 20_000, 3: 4_000}, "multilevel": {1: 100_000, 2: 4_000, 3: 256},
    "naive": {1: 100_000, 2: 2_000, 3: 32},
}  # fmt: skip
_TREE_BOARDS = 5, 20  # of a class, each searched by all ranks
_SPEED = {0: (4000, 100_000), 1: (200, 5000)}  # games to learn from, by layers
_UPDATED = (200, 1000), (1000, 1000)  # games, steps
_CARDS = 1, 2, 4
_CARDS_LEARN = 50_000, 400_000  # games


def _measurements(effort):
    parts = _curves, _play, _decisions, _tree, _speed, _updates, _cards
    found = [each for part in parts for each in part(effort)]
    return sorted(found, key=lambda each: each.repeat)


def _point(effort, part, **more):
    return {"game": GAME, "part": part, "seed": effort.seed, **more}


def _repeats(effort):
    return range(effort.repeats or effort.choose(1, 3))


def learnt(comm, line, interrupted=lambda: False, **options):
    """Have all ranks of ``comm`` learn; return figures on rank 0. line: games of a point of the curve."""
    lines = []
    found = train(TrainOptions(GAME, **options), Files(line=line), comm, Silent(), interrupted, lines.append)
    if found is None:
        return None
    return {
        "seconds": found.seconds, "cpu_seconds": found.cpu_seconds, "moves": found.moves, "games": found.learnt,
        "moves_per_second": found.moves / max(found.seconds, 1e-9), "ranks": found.ranks,
        "curve": [{name: each[name] for name in ("games", "average", "average_error", "maximum", "win_rate")}
                  for each in lines if each["kind"] == "learning"],
    }  # fmt: skip


def _curves(effort):
    """What is learnt by games that a search of 0 to 3 layers plays."""
    for layers, counts in _LEARNT.items():
        count = effort.choose(*counts)
        asked = {"line": max(1, count // _LINES), "games": count, "layers": layers, "seed": effort.seed}

        def body(bench, asked=asked):
            return bench.call(learnt, effort.ranks, **asked)

        point = _point(effort, "curve", layers=layers, games=count, ranks=effort.ranks)
        yield Measurement(point, body, ranks=effort.ranks)


def _play(effort):
    """Games of the network that comes with the package, to 0 to 3 layers."""
    for layers, counts in _PLAYED.items():
        count = effort.choose(*counts)

        def on_cores(bench, layers=layers, count=count):
            with bench.session(effort.ranks, table=0) as session:
                found = session.play(GAME, count, seed=effort.seed, evaluation=EVALUATION, layers=layers)
            return {"scores": found.scores, "largest": found.largest, "moves": found.moves, "seconds": found.seconds}

        yield Measurement(_point(effort, "play", layers=layers, games=count, on="CPU"), on_cores, ranks=effort.ranks)
        many = effort.choose(*_CARD_PLAYED)

        def on_card(bench, layers=layers, many=many):
            numbers = range(many)
            return play_on_card(
                bench.card, GAME, EVALUATION, 2 * layers + 1, numbers, effort.seed, bench.interrupted
            )  # fmt: skip

        yield Measurement(_point(effort, "play", layers=layers, games=many, on="GPU"), on_card, cards=1)


def _decisions(effort):
    """A decision by class of board and layers, by a core and by each method of a card."""
    for repeat in _repeats(effort):
        for layers, counts in _CORE_BOARDS.items():
            for stage in td2584_exhibits.STAGES:
                count, at = effort.choose(*counts), {"layers": layers, "class": stage}

                def on_core(bench, count=count, layers=layers, stage=stage):
                    states = _states(effort, stage, count)
                    return {"seconds": Core(*rules_of(GAME, EVALUATION)).decide(states, 2 * layers + 1)[1]}

                yield Measurement(_point(effort, "decision", **at, on="CPU", boards=count), on_core, repeat)
                for method, batches in _BATCHES.items():
                    for boards in (1, batches[layers]):

                        def on_card(bench, method=method, boards=boards, layers=layers, stage=stage):
                            return _by_card(bench.card, method, _states(effort, stage, boards), layers)

                        how = {"on": "GPU", "method": method, "boards": boards}
                        yield Measurement(_point(effort, "decision", **at, **how), on_card, repeat, cards=1)


def _states(effort, stage, count):
    return repeated(classes(GAME, EVALUATION, effort.choose(*_SAMPLED), effort.seed)[stage], count)


def _by_card(gpu, method, states, layers):
    game, rules, chosen = rules_of(GAME, EVALUATION)
    values, seconds = decide_on_card(GpuExpectimax(gpu, game, rules, chosen, method), states, 2 * layers + 1)
    true, _ = Core(game, rules, chosen).decide(states[:5], 2 * layers + 1)
    return {"seconds": seconds, "device": gpu.name, "worst_error": worst_error(values[:5], true)}


def _tree(effort):
    """One board's tree searched by several ranks, board after board."""
    count = effort.choose(*_TREE_BOARDS)
    for repeat in _repeats(effort):
        for layers in effort.choose((2, 3), (2, 3, 4)):
            for stage in td2584_exhibits.STAGES:
                for ranks in effort.choose((1, 2, 3, 5), (1, 2, 3, 5, 9, 17, 33, 64)):

                    def body(bench, layers=layers, stage=stage, ranks=ranks):
                        game = games.find(GAME)
                        states = _states(effort, stage, count).tolist()
                        texts = [game.text(Position(tuple(state)), game.rules()) for state in states]
                        asked = {"game": GAME, "evaluation": EVALUATION, "layers": layers}
                        bench.search(texts[:1], ranks, 0, **asked)  # after which all ranks have the kernels
                        found = bench.search(texts, ranks, 0, **asked)
                        names = "seconds", "cpu_seconds", "boards", "scores", "ranks", "workers"
                        return {name: found[name] for name in names}

                    point = _point(effort, "tree", layers=layers, ranks=ranks, boards=count, **{"class": stage})
                    yield Measurement(point, body, repeat, ranks)


def _speed(effort):
    """Games that learn side by side without locks, by ranks."""
    for repeat in _repeats(effort):
        for layers, counts in _SPEED.items():
            for ranks in effort.choose((1, 2, 4), (1, 2, 4, 8, 16, 32)):
                count = effort.choose(*counts)
                asked = {"line": count, "games": count, "layers": layers, "seed": effort.seed}

                def body(bench, asked=asked, ranks=ranks):
                    return bench.call(learnt, ranks, **asked)

                yield Measurement(_point(effort, "learning", layers=layers, ranks=ranks, games=count), body, repeat,
                                  ranks)  # fmt: skip


def _updates(effort):
    """Learning from recorded games."""
    count, steps = effort.choose(*_UPDATED)
    for repeat in _repeats(effort):

        def on_core(bench):
            return {"seconds": updates.on_core(GAME, updates.recorded(GAME, count, steps, effort.seed), effort.seed)}

        def on_card(bench):
            paths = updates.recorded(GAME, count, steps, effort.seed)
            found = updates.on_card(bench.card, GAME, paths, effort.seed)
            return {way: {"kernel": kernel, "seconds": whole} for way, (kernel, whole) in found.items()}

        at = {"games": count, "steps": steps}
        yield Measurement(_point(effort, "update", on="CPU", **at), on_core, repeat)
        yield Measurement(_point(effort, "update", on="GPU", **at), on_card, repeat, cards=1)


def played_on_cards(comm, layers, count, seed, interrupted=lambda: False):
    """Have all ranks of ``comm`` play their share of games on a GPU each; return figures on rank 0."""
    from ..gpu import device

    rank, ranks = (0, 1) if comm is None else (comm.Get_rank(), comm.Get_size())
    gpu = device.Gpu(rank % device.count())
    numbers, plies = range(rank, count, ranks), 2 * layers + 1
    play_on_card(gpu, GAME, EVALUATION, plies, numbers[:1], seed, interrupted)  # kernels are there then
    if comm is not None:
        comm.Barrier()
    began = time.perf_counter()
    found = play_on_card(gpu, GAME, EVALUATION, plies, numbers, seed, interrupted)
    moves = found["moves"] if comm is None else comm.reduce(found["moves"])
    seconds = time.perf_counter() - began
    if rank > 0:
        return None
    return {"seconds": seconds, "moves": moves, "moves_per_second": moves / seconds, "ranks": ranks}


def _cards(effort):
    """Games that learn, and games of 3 layers, on several GPUs of this host."""
    count = effort.choose(*_CARDS_LEARN)
    for repeat in _repeats(effort):
        for cards in _CARDS:
            for exchange in ("games", "weights") if cards > 1 else ("games",):
                asked = {"line": count, "games": count, "device": "gpu", "exchange": exchange, "seed": effort.seed,
                         "merge": "mean"}  # fmt: skip

                def learn(bench, cards=cards, asked=asked):
                    return bench.call(learnt, cards, **asked)

                point = _point(effort, "cards", what=f"learning, exchange {exchange}", cards=cards, games=count)
                yield Measurement(point, learn, repeat, cards, cards)
            many = effort.choose(*_CARD_PLAYED)

            def play(bench, cards=cards, many=many):
                return bench.call(played_on_cards, cards, layers=3, count=many * cards, seed=effort.seed)

            point = _point(effort, "cards", what="play, 3 layers", cards=cards, games=many)
            yield Measurement(point, play, repeat, cards, cards)


_TITLE = "2584 by expectimax and temporal differences: the report's figures, made again"
STUDY = Study("td2584", _TITLE, _measurements, td2584_exhibits.exhibits, td2584_exhibits.complaints)


def run(args, stage):
    """Make the study; see ``report.run``."""
    return report.run(STUDY, args, stage)
