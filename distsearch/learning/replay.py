"""Learning from games that were recorded, in place of games that are played for it.

The update ``games`` learns as training does from what it plays: from each game from its last afterstate to its first,
one game after another on a core, several side by side on a GPU. ``steps`` is the method of the report on 2584
(docs/reproducing.md): all moves of all games at once, a thread of a GPU each, with errors from the weights before the
update.
"""

import time

import numpy as np

from .. import games
from ..api.compiling import compile_with_notice
from ..core.errors import UserError
from ..formats.game_records import read_games
from ..gpu.learning import GpuLearner, games_at_once
from .cpu_team import shared_size
from .learner import Learner
from .report import TrainingResult
from .shared_arrays import Arrays
from .train import TrainingState, gpu_of_host, save_weights

UPDATES = "games", "steps"
_CELLS = np.uint64((1 << 62) - 1)  # of a state's second word, without the tiles that are due
# cells of the largest tuple up to which threads that change the same weight add once: see docs/gpu/learning.md
_SMALL = 5
# options that say how games are played and when they are looked at; others that a file keeps, as its seed, may be named
_PLAYING = (
    *("games", "layers", "value_dead_boards", "restart", "ranks_per_copy", "merge", "merge_every"),
    *("parallel_games", "exchange", "evaluate_every", "evaluate_games", "save_every"),
)


def check(options, asked, update):
    """Raise UserError unless an update goes with ``TrainOptions``; asked: names of the options that were given."""
    for name in sorted(set(asked) & set(_PLAYING)):
        raise UserError(f"{name.replace('_', '-')} is for games that are played, not for --replay")
    if update == "steps" and options.device != "gpu":
        raise UserError("update steps is for --device gpu")
    if update == "steps" and options.steps > 1:
        raise UserError("update steps learns from one move at a time: no --n-step, no --target returns")


def replay(options, files, record, update, progress, gpu=None, interrupted=lambda: False):
    """Learn once from every game of a record, by ``TrainOptions``, on one rank; return a TrainingResult.

    files: ``Files``; record: name of a file that ``play --record`` has written; update: of UPDATES; gpu: a Gpu, None:
    the host's first; interrupted: whether to end, which a core does between two games and a GPU never. Raises UserError
    for a record of another game, board or rules, and for what cannot be read or written.
    """
    game = games.find(options.game)
    rules = game.rules(options.board, **options.rules)
    arrays = Arrays(None, len(options.stages) + 1, options.size, options.coherence, shared_size(1))
    try:
        begun = TrainingState(options, files, game, arrays)
        paths = list(paths_of(record, game, rules))
        if options.device == "gpu":
            seconds, cpu_seconds = _on_gpu(options, game, rules, arrays, paths, update, progress, gpu)
            learnt = paths
        else:
            learnt, seconds, cpu_seconds = _on_core(options, game, rules, arrays, paths, progress, interrupted)
        # later stages are NaN where nothing was learnt
        if not np.isfinite(arrays.weights[0]).all() or np.isinf(arrays.weights).any():
            raise UserError("learning has diverged: a smaller --rate keeps it from that")
        if files.save is not None:
            played = {"options": options.described(), "games": begun.state["games"], "ranks": 1, "state": begun.state}
            others = {} if begun.window is None else {"window": begun.window}
            _save(files.save, options, game, arrays, {**played, "replayed": len(learnt)}, others)
    finally:
        arrays.close()
    return TrainingResult(
        options.described(),
        games=len(paths),
        learnt=len(learnt),
        moves=sum(len(gains) for _, gains in learnt),
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        merging=0.0,
        collisions=(0, 0),
        ranks=1,
        hosts=1,
        copies=1,
        complete=len(learnt) == len(paths),
        saved=files.save,
    )


def _save(path, *what):
    try:
        save_weights(path, *what)
    except OSError as error:
        raise UserError(f"cannot write {path[:200]}: {error.strerror or error}") from error


def _on_core(options, game, rules, arrays, paths, progress, interrupted):
    """Learn from one path after another; return those that were learnt from, seconds, and CPU seconds."""
    tuples, stages = options.network
    learner = Learner(
        game,
        rules,
        tuples,
        symmetric=not options.asymmetric,
        stages=stages,
        arrays=arrays,
        rate=options.rate,
        seed=0,
        steps=options.steps,
        coherent=options.coherence,
        room=max((len(gains) for _, gains in paths), default=1),
    )
    compile_with_notice(game.NAME, learner.compile, progress)
    began, cpu, count = time.perf_counter(), time.process_time(), 0
    for states, gains in paths:
        if interrupted():
            break
        learner.learn(states, np.cumsum(gains))
        count += 1
    return paths[:count], time.perf_counter() - began, time.process_time() - cpu


def _on_gpu(options, game, rules, arrays, paths, update, progress, gpu):
    """Learn on a GPU by an update of UPDATES; return seconds from arrays to arrays of the host, and CPU seconds."""
    tuples, stages = options.network
    gpu, made = gpu or gpu_of_host(0), []

    def make():
        how = {"symmetric": not options.asymmetric, "coherent": options.coherence, "rate": options.rate, "seed": 0}
        how |= {
            "games": games_at_once(tuples, coherent=options.coherence),
            "room": 1,
            "steps": options.steps,
            "stages": stages,
        }
        made.append(GpuLearner(gpu, game, rules, tuples, **how))

    compile_with_notice(f"{game.NAME} on {gpu.name}", make, progress)
    (learner,) = made
    began, cpu = time.perf_counter(), time.process_time()
    learner.upload(arrays.weights, arrays.traces)
    if paths:
        states, gains = (np.concatenate(each) for each in zip(*paths, strict=True))
        learner.take_steps(states, gains, np.cumsum([0, *(len(points) for _, points in paths)]))
        if update == "steps":
            learner.update_steps(combined=max(map(len, tuples)) <= _SMALL)
        else:
            learner.update_games()
    learner.download(arrays.weights, arrays.traces)
    return time.perf_counter() - began, time.process_time() - cpu


def paths_of(record, game, rules):
    """Yield (afterstates: uint64, shape (n, 2); points of the move to each: int32, shape (n,)) of a record's games."""
    for each in read_games(record):
        other, its_rules = each.rules()
        if other is not game or not np.array_equal(its_rules, rules):
            raise UserError(f"{each.where}: a game of {other.NAME} by other rules than those to learn")
        states, gains = [], []
        for state, points in each.afterstates(game, rules):
            states.append(state)
            gains.append(points)
        if states:
            states = np.array(states, np.uint64)
            states[:, 1] &= _CELLS
            yield states, np.array(gains, np.int32)
