"""The report on 2584 (NCTU): expectimax and temporal differences on many cores and on GPUs.

Of its curves only what it says of them survives; its tables and stated values stand next to ours. Here the
search weighs tiles as play deals them, and the network has as many tuples as the report's, whose cells are not known.
To a search a board is worth nothing on which the player has no move; in the report's, what the network says of it. That
is an option, for learning, play and decisions.
"""

from ... import games
from ...api.progress import Silent
from ...evaluation import DEAD
from ...evaluation.ntuple import SMALLER
from ...games.interface import Position
from ...learning.options import TrainOptions
from ...learning.train import Files, train
from .. import td_update_rate, time_per_move
from . import td2584_directions as directions
from . import td2584_tables as tables
from .study import DIRECTIONS, VALUES, Exhibit, Measurement, Plan, Study

GAME, EVALUATION = "2584", SMALLER["2584"]
_LEARNT = {0: (10_000, 300_000), 1: (600, 20_000), 2: (50, 1000), 3: (8, 100)}  # games by layers
_LEARNT_ON_GPU = {0: (100_000, 500_000), 1: (20_000, 100_000), 2: (2000, 10_000), 3: (300, 1000)}
_LINES = 10  # points of a curve, but of few games, which have 2
_PLAYED = {0: (300, 1000), 1: (30, 1000), 2: (4, 1000), 3: (3, 64)}
_GPU_PLAYED = 200, 1000
_CORE_BOARDS = {1: (1000, 4000), 2: (100, 1000), 3: (10, 100)}
_BATCHES = {
    "merged": {1: 20_000, 2: 20_000, 3: 4_000},
    "multilevel": {1: 20_000, 2: 4_000, 3: 256},
    "naive": {1: 20_000, 2: 2_000, 3: 32},
}
_TREE_BOARDS = {1: (5, 20), 2: (5, 20), 3: (5, 20), 4: (5, 10), 5: (0, 3)}  # of a class, each searched by all ranks
_CHOICES = {  # of a search: the evaluation, the weights of chance
    "this program's": (EVALUATION, "weighted"),
    "chance unweighted": (EVALUATION, "uniform"),
    "dead boards valued": (EVALUATION + DEAD, "weighted"),
    "both, as the report's": (EVALUATION + DEAD, "uniform"),
}
_TARGETS = ("td", 0.1), ("returns", 0.1), ("returns", 0.03), ("returns", 0.01)  # with their learning rates
_WITHOUT_RULE = "update", "target", "choice"  # parts to which the rule of boards without a move is nothing
_SPLITS = 1, 4, 16, 64  # subtrees a worker: how far down a tree is split
_SPEED = {0: (4000, 100_000), 1: (200, 5000), 2: (20, 500), 3: (4, 64)}  # games to learn from, by layers
_UPDATED = (200, 1000), (1000, 1000)  # games, steps
_GPUS = 1, 2, 4
_GPUS_LEARN = {0: (50_000, 200_000), 2: (2000, 4000), 3: (300, 600)}  # games, by layers


def _point(study_size, part, **more):
    ruled = study_size.value_dead_boards and more.get("layers", 1) > 0
    rule = {"dead_boards": "valued"} if ruled and part not in _WITHOUT_RULE else {}
    return {"game": GAME, "part": part, "seed": study_size.seed, **rule, **more}


def _rule(study_size, layers):
    """Return the options of training that take the network's value of boards without a move, if so asked."""
    return {"value_dead_boards": True} if study_size.value_dead_boards and layers > 0 else {}


def _evaluation(study_size):
    return EVALUATION + DEAD * study_size.value_dead_boards


def _repeats(study_size):
    return range(study_size.repeats or study_size.choose(1, 3))


def learnt(comm, line, interrupted=lambda: False, **options):
    """Have all ranks of ``comm`` learn; return figures on rank 0. line: games of a point of the curve."""
    lines = []
    found = train(TrainOptions(GAME, **options), Files(line=line), comm, Silent(), interrupted, lines.append)
    if found is None:
        return None
    names = "games", "average", "average_error", "maximum", "win_rate", "seconds"
    curve = [{name: each[name] for name in names} for each in lines if each["kind"] == "learning"]
    figures = {name: getattr(found, name) for name in ("seconds", "cpu_seconds", "moves", "ranks")}
    rate = found.moves / max(found.seconds, 1e-9)
    total, before = 0.0, 0
    for each in curve:
        games, before = each["games"] - before, each["games"]
        total += games * each["average"]
    average = total / before if before else None
    written, lost = found.collisions
    figures |= {"collisions": lost / written} if written else {}
    return {**figures, "games": found.learnt, "average": average, "moves_per_second": rate, "curve": curve}


def _line(count):
    """Return how many games a point of a learning curve has, of ``count`` in all."""
    return count // (_LINES if count >= 100 else 2)


def _curves(study_size):
    """What is learnt by games that a search of 0 to 3 layers plays, by all ranks and on a GPU."""
    for on, ranks, games_by_layers in ("CPU", study_size.ranks, _LEARNT), ("GPU", 1, _LEARNT_ON_GPU):
        for layers, counts in games_by_layers.items():
            count = study_size.choose(*counts)
            asked = {"line": _line(count), "games": count, "layers": layers, "seed": study_size.seed}
            asked |= {"device": on.lower(), **_rule(study_size, layers)}

            def body(bench, ranks=ranks, asked=asked):
                return bench.call(learnt, ranks, **asked)

            point = _point(study_size, "curve", layers=layers, games=count, on=on, ranks=ranks)
            yield Measurement(point, body, ranks=ranks, gpus=int(on == "GPU"))


def _play(study_size):
    """Games of the network that comes with the package, to 0 to 3 layers, by all ranks and on a GPU."""
    for layers, counts in _PLAYED.items():
        for on, count, ranks in (
            ("CPU", study_size.choose(*counts), study_size.ranks),
            ("GPU", study_size.choose(*_GPU_PLAYED), 1),
        ):

            def body(bench, layers=layers, on=on, count=count, ranks=ranks):
                return _games(bench, study_size, layers, count, ranks, on.lower())

            point = _point(study_size, "play", layers=layers, games=count, on=on, ranks=ranks)
            yield Measurement(point, body, ranks=ranks, gpus=int(on == "GPU"))


def _games(bench, study_size, layers, count, ranks, device):
    wanted, depth = _evaluation(study_size), 2 * layers + 1
    return time_per_move.played(bench, GAME, wanted, depth, count, study_size.seed, ranks, device)


def _decisions(study_size):
    """A decision by class of board and layers, by a core and by each method of a GPU."""
    wanted = _evaluation(study_size)
    for repeat in _repeats(study_size):
        for layers, counts in _CORE_BOARDS.items():
            for stage in tables.STAGES:
                count, at = study_size.choose(*counts), {"layers": layers, "class": stage, "drawn": "different"}

                def by_core(bench, count=count, layers=layers, stage=stage):
                    return time_per_move.by_core(GAME, wanted, _states(study_size, stage, count), 2 * layers + 1)

                yield Measurement(_point(study_size, "decision", **at, on="CPU", boards=count), by_core, repeat)
                for method, batches in _BATCHES.items():
                    for boards in (1, batches[layers]):

                        def on_gpu(bench, method=method, boards=boards, layers=layers, stage=stage):
                            given = _states(study_size, stage, boards), 2 * layers + 1, method
                            return time_per_move.on_gpu(bench.gpu, GAME, wanted, *given)

                        how = {"on": "GPU", "method": method, "boards": boards}
                        yield Measurement(_point(study_size, "decision", **at, **how), on_gpu, repeat, gpus=1)


def _states(study_size, stage, count):
    return time_per_move.states(GAME, EVALUATION, study_size.seed, stage, count)


def _tree(study_size):
    """One board's tree searched by several ranks, board after board; and at 3 layers by the size of the pool."""
    counts = study_size.choose((1, 2, 3, 5), (1, 2, 3, 5, 9, 17, 33, 64))

    def planned(layers, stage, ranks, repeat, **how):
        count = study_size.choose(*_TREE_BOARDS[layers])

        def body(bench):
            game = games.find(GAME)
            states = _states(study_size, stage, count).tolist()
            texts = [game.text(Position(tuple(state)), game.rules()) for state in states]
            asked = {"game": GAME, "evaluation": _evaluation(study_size), "layers": layers, **how}
            bench.search(texts[:1], ranks, 0, **asked)  # after which all ranks have the kernels
            found = bench.search(texts, ranks, 0, **asked)
            return {name: found[name] for name in ("seconds", "cpu_seconds", "nodes", "scores", "ranks", "workers")}

        part = "split" if how else "tree"
        at = {"layers": layers, "class": stage, "drawn": "different", "ranks": ranks, "boards": count}
        point = _point(study_size, part, **at, **how)
        return Measurement(point, body, repeat, ranks)

    for repeat in _repeats(study_size):
        for layers in (each for each, boards in _TREE_BOARDS.items() if study_size.choose(*boards)):
            for stage in tables.STAGES:
                for ranks in counts:
                    yield planned(layers, stage, ranks, repeat)
        for ranks in counts[1:]:
            for factor in _SPLITS:
                yield planned(3, "normal", ranks, repeat, load_factor=factor)


def _speed(study_size):
    """Games that learn side by side without locks, by ranks; and how often two ranks change a weight at once."""
    counts = study_size.choose((1, 2, 4), (1, 2, 4, 8, 16, 32))

    def planned(layers, ranks, repeat, **how):
        count = study_size.choose(*_SPEED[layers])
        seed = study_size.seed + repeat  # averages of several runs have an interval
        asked = {"line": _line(count), "games": count, "layers": layers, "seed": seed}
        point = _point(study_size, "collisions" if how else "learning", ranks=ranks, **asked)
        asked |= {**how, **_rule(study_size, layers)}
        return Measurement(point, lambda bench: bench.call(learnt, ranks, **asked), repeat, ranks)

    for repeat in _repeats(study_size):
        for layers in _SPEED:
            for ranks in counts:
                yield planned(layers, ranks, repeat)
        for ranks in counts[1:]:
            yield planned(0, ranks, repeat, collisions=True)


def _updates(study_size):
    """Learning from recorded games."""
    count, steps = study_size.choose(*_UPDATED)

    def by_core(bench):
        return td_update_rate.by_core(GAME, td_update_rate.recorded(GAME, count, steps, study_size.seed))

    def on_gpu(bench):
        return td_update_rate.on_gpu(bench.gpu, GAME, td_update_rate.recorded(GAME, count, steps, study_size.seed))

    for repeat in _repeats(study_size):
        for on, body in (("CPU", by_core), ("GPU", on_gpu)):
            point = _point(study_size, "update", on=on, games=count, steps=steps)
            yield Measurement(point, body, repeat, gpus=int(on == "GPU"))


def _gpus(study_size):
    """Games that learn, and games of 3 layers, on several GPUs of this host."""
    many = study_size.choose(*_GPU_PLAYED)
    for repeat in _repeats(study_size):
        for gpus in _GPUS:
            for layers, counts in _GPUS_LEARN.items():
                count = study_size.choose(*counts)
                for exchange in ("games", "weights") if gpus > 1 else ("games",):
                    seed = study_size.seed + repeat
                    asked = {"line": _line(count), "games": count, "layers": layers, "seed": seed}
                    what = {"what": f"learning, {layers} layers, exchange {exchange}", **asked}
                    asked |= {"device": "gpu", "exchange": exchange, "merge": "mean", **_rule(study_size, layers)}

                    def learn(bench, gpus=gpus, asked=asked):
                        return bench.call(learnt, gpus, **asked)

                    point = _point(study_size, "gpus", **what, gpus=gpus)
                    yield Measurement(point, learn, repeat, gpus, gpus)
            ranks = 1 if gpus == 1 else gpus + 1  # the first of several hands games out and has no GPU

            def play(bench, gpus=gpus, ranks=ranks):
                return _games(bench, study_size, 3, many * gpus, ranks, "gpu")

            point = _point(study_size, "gpus", what="play, 3 layers", gpus=gpus, games=many * gpus)
            yield Measurement(point, play, repeat, ranks, gpus)


def _doubts(study_size):
    """What the report's choices change: its target, its chance, and what a board without a move is worth."""
    count, line = study_size.choose(10_000, 300_000), study_size.choose(2000, 50_000)
    for target, rate in _TARGETS:
        asked = {"line": line, "games": count, "seed": study_size.seed, "target": target, "rate": rate}

        def learn(bench, asked=asked):
            return bench.call(learnt, study_size.ranks, **asked)

        point = _point(study_size, "target", target=target, rate=rate, games=count)
        yield Measurement(point, learn, ranks=study_size.ranks)
    games_of = study_size.choose(200, 2000)
    for name, (wanted, chance) in _CHOICES.items():

        def play(bench, wanted=wanted, chance=chance):
            with bench.session(study_size.ranks, table=0) as session:
                how = {"evaluation": wanted, "layers": 1, "chance": chance}
                found = session.play(GAME, games_of, seed=study_size.seed, **how)
            return {"scores": found.scores, "largest": found.largest, "ranks": found.ranks}

        yield Measurement(_point(study_size, "choice", choice=name, games=games_of), play, ranks=study_size.ranks)


_CURVES, _GAMES, _DECIDED, _TREES = (
    Plan(_curves, (0.5, 3.5)),
    Plan(_play, (0.3, 3)),
    Plan(_decisions, (0.1, 1)),
    Plan(_tree, (0.3, 3.5)),
)
_DOUBTS = Plan(_doubts, (0.2, 1.5))
_SPEEDS, _UPDATES, _SEVERAL = Plan(_speed, (0.4, 2.5)), Plan(_updates, (0.1, 0.5)), Plan(_gpus, (0.2, 3))
_EXHIBITS = (
    Exhibit(
        "6.1",
        "6.1, 6.9",
        "score by games learnt from, 0 to 3 layers",
        (_CURVES,),
        tables.curves,
        DIRECTIONS,
        directions.curves,
    ),
    Exhibit(
        "play",
        "abstract, 6.1",
        "games of the best agent, 0 to 3 layers",
        (_GAMES,),
        tables.played,
        VALUES,
        directions.played,
    ),
    Exhibit("6.3", "6.3", "one board's tree shared by threads", (_TREES,), tables.trees, DIRECTIONS, directions.trees),
    Exhibit(
        "6.4",
        "6.4",
        "naive against multi-level generation",
        (_DECIDED,),
        tables.methods,
        DIRECTIONS,
        directions.methods,
    ),
    Exhibit(
        "6.5",
        "6.2, 6.5, 7, 8",
        "a decision by class and layers, one core and a GPU",
        (_DECIDED, _TREES),
        tables.decisions,
        VALUES,
        directions.decisions,
    ),
    Exhibit(
        "6.6",
        "6.6",
        "learning from 1,000 games of 1,000 steps",
        (_UPDATES,),
        tables.updates,
        VALUES,
        directions.updates,
    ),
    Exhibit(
        "6.7",
        "6.7",
        "games that learn side by side without locks",
        (_SPEEDS,),
        tables.learning,
        VALUES,
        directions.learning,
    ),
    Exhibit("6.8", "6.8", "one, two and four GPUs", (_SEVERAL,), tables.gpus, VALUES, directions.gpus),
    Exhibit(
        "totals",
        "6.9",
        "a game that is learnt from, in all",
        (_SPEEDS, _SEVERAL),
        tables.totals,
        VALUES,
        directions.totals,
    ),
    Exhibit("choices", "", "what the report's target, chance and dead boards change", (_DOUBTS,), tables.choices),
)
_TITLE = "2584 by expectimax and temporal differences: the report's figures, made again"
STUDY = Study("td2584", _TITLE, _EXHIBITS, tables.complaints)
