"""Training from end to end, on all ranks: what is said of it, recorded and saved."""

import os
from dataclasses import dataclass

import numpy as np

from .. import games
from ..api.compiling import compile_with_notice
from ..api.facts import Facts, compact
from ..api.progress import Silent
from ..cluster import mpi_runtime
from ..core.errors import UserError, print_error
from ..core.saved import Saved
from ..evaluation import ntuple, tuple_network, weight_packing
from ..gpu.learning import GpuLearner, games_at_once
from .cpu_team import Team, shared_size
from .gpu_team import GpuTeam
from .learner import Learner
from .merging import Merger
from .options import WINS
from .phases import COLUMNS, Statistics, Training, TrainingPlan
from .private_pages import private_pages
from .rank_group import agreed
from .report import LearningCurve, TrainingResult
from .shared_arrays import Arrays

LINE = 1000  # games of a line


@dataclass
class Files:
    """Where training is kept. Creating one raises UserError if it makes no sense.

    save: name of the file of weights, or None; resume: go on from there, if there is one; weights_only: make it small
    at the end, so that nothing can go on from it; record: name of the file that takes a line of JSON for every
    ``line`` games (None: LINE), or None.
    """

    save: str | None = None
    resume: bool = False
    weights_only: bool = False
    record: str | None = None
    line: int | None = None

    def __post_init__(self):
        if self.save is None and (self.resume or self.weights_only):
            raise UserError("resume and weights-only go with save, which names the file")
        if self.save is not None and not self.save.endswith(tuple_network.ENDING):
            raise UserError(f"save {self.save[:200]} does not end in {tuple_network.ENDING}, as files of weights do")


def train(options, files, comm, progress, interrupted, told, gpu=None):
    """Learn by ``TrainOptions``, on all ranks of ``comm`` (None: this process alone); return TrainingResult on rank 0.

    told(dictionary): takes each line and each evaluation, on rank 0; gpu: what this rank has for a GPU, None: one of
    its host's. Raises UserError on every rank for what makes no sense or cannot be read, and on rank 0 for what cannot
    be written at the end.
    """
    if options.device == "gpu":
        return _train_on_gpus(options, files, comm, progress, interrupted, told, gpu)
    team = Team(comm, options.ranks_per_copy)
    if options.stages and team.copies > 1:
        raise UserError("stages are for ranks that share their weights: those not learnt yet cannot be merged")
    game = games.find(options.game)
    rules = game.rules(options.board, **options.rules)
    tuples, stages = options.network
    several, most = team.copies > 1, shared_size(max(team.sizes))
    near = [len(cells) for cells in tuples] if game.NAME in ntuple.NEAR else None
    shape = len(stages) + 1, options.size
    arrays = agreed(comm, lambda: Arrays(team.sharers, *shape, options.coherence, most, several, team.here, near))
    pages = None
    try:
        if options.layers == 0:  # a search takes so long that few write at a time
            pages = private_pages(arrays, team.place, min(team.sizes), options.rate, several)
        learner = Learner(
            game,
            rules,
            tuples,
            symmetric=not options.asymmetric,
            stages=stages,
            arrays=arrays,
            rate=options.rate,
            seed=options.seed,
            coherent=options.coherence,
            counting=options.collisions,
            visiting=several,
            layers=options.layers,
            steps=options.steps,
            forward=options.online,
            pages=pages,
            restart=options.restart,
            dead_boards=options.value_dead_boards,
        )
        merger = None
        if several and team.place == 0:
            merger = Merger(team.leaders, arrays, options.merge, options.rate, None if pages is None else pages.shared)
        team.join(arrays, learner, merger, pages)
        begun = agreed(comm, lambda: TrainingState(options, files, game, arrays) if team.first else None)
        _compile(team, options, learner, merger, pages, progress, interrupted)
        if not team.first:
            team.work()
            return None
        return _run_training(team, options, files, game, arrays, learner, begun, progress, interrupted, told)
    finally:
        if pages is not None:
            pages.close()
        arrays.close()


def _train_on_gpus(options, files, comm, progress, interrupted, told, gpu):
    """As ``train``, a GPU a rank."""
    team = GpuTeam(comm, options.exchange, options.merge, options.merge_every, options.online)
    game = games.find(options.game)
    shape = len(options.stages) + 1, options.size
    arrays = agreed(comm, lambda: Arrays(None, *shape, options.coherence, shared_size(1), here=team.here))
    try:
        learner = agreed(comm, lambda: _gpu_learner(options, game, team, gpu, progress))
        team.join(arrays, learner)
        begun = agreed(comm, lambda: TrainingState(options, files, game, arrays) if team.first else None)
        if not team.first:
            team.work()
            return None
        return _run_training(team, options, files, game, arrays, learner, begun, progress, interrupted, told)
    except UserError as error:
        if team.ranks > 1 and team.at_work:  # the others wait for this rank, which a GPU has failed
            print_error(f"distsearch: rank {team.rank}: {error}")
            mpi_runtime.abort(2)
        raise
    finally:
        arrays.close()


def _gpu_learner(options, game, team, gpu, progress):
    """Return this rank's GpuLearner; gpu: its GPU, None: one of the host's, shared if there are more ranks."""
    if options.online and team.ranks > 1 and options.exchange == "games":
        raise UserError("GPUs that tell one another their games learn from them when they are over: no --online")
    if options.restart and team.ranks > 1 and options.exchange == "games":
        raise UserError("GPUs that tell one another their games play each once: restart goes with --exchange weights")
    if options.stages and team.ranks > 1 and options.exchange == "weights":
        raise UserError("stages are for GPUs that tell one another their games: those not learnt yet cannot be merged")
    rules, (tuples, stages) = game.rules(options.board, **options.rules), options.network
    gpu, how = gpu or gpu_of_host(team.place), (options.online, options.layers, options.coherence)
    made = None

    def make():
        nonlocal made
        made = GpuLearner(
            gpu,
            game,
            rules,
            tuples,
            symmetric=not options.asymmetric,
            coherent=options.coherence,
            rate=options.rate,
            seed=options.seed,
            games=options.parallel_games or games_at_once(tuples, *how),
            restart=options.restart,
            layers=options.layers,
            steps=options.steps,
            stages=stages,
            dead_boards=options.value_dead_boards,
        )

    compile_with_notice(f"{game.NAME} on {gpu.name}", make, progress if team.first else Silent())
    return made


def gpu_of_host(place):
    """Return a GPU of this host for the rank of a number there; raises UserError without one."""
    from ..gpu import device

    count = device.count()
    if not count:
        raise UserError("this host has no GPU: use --device cpu")
    return device.Gpu(place % count)


def _compile(team, options, learner, merger, pages, progress, interrupted):
    """Compile on the first rank of each host; the others then load."""

    def compile_all():
        learner.compile()
        if merger is not None:
            merger.compile()
        if pages is not None:
            pages.compile()

    if team.ranks == 1:
        compile_with_notice(options.game, compile_all, progress, None, interrupted)
    elif team.first_here:  # an interrupt waits until all ranks can end together
        compile_with_notice(options.game, compile_all, progress if team.first else Silent())
    team.meet()
    if not team.first_here:
        compile_all()
    team.meet(count_from_here=True)


class TrainingState:
    """What training begins with: what was saved, or weights that know nothing."""

    def __init__(self, options, files, game, arrays):
        self.state, self.window = {"games": 0, "begun": 0, "seconds": 0.0, "since": 0.0, "due": False}, None
        try_out(files.save, files.resume, ", or go on with what it has by --resume")
        if files.resume and os.path.exists(files.save):
            self._resume(options, files.save, game, arrays)
        else:
            tuples, _ = options.network
            arrays.weights[0] = options.initial_value / (len(tuples) * (1 if options.asymmetric else 8))
            arrays.weights[1:] = np.nan
        self.curve = LearningCurve(files.record, self.state["games"] if files.resume else None)

    def _resume(self, options, path, game, arrays):
        net, others = tuple_network.load_all(path, game.NAME, 1 << game.BITS)
        shown = path[:200]
        if net.record.get("state") is None:
            raise UserError(f"{shown} has weights alone: training cannot go on from there")
        saved, columns = Saved(net.record["state"], shown), len(game.VALUES)
        try:
            options.check_resumes(net.record["options"], shown)
            with arrays.as_in_files():
                arrays.weights[:] = net.weights
                if options.coherence and "traces" in others:
                    if not np.isfinite(others["traces"]).all():
                        raise UserError(f"{shown} has traces that are not numbers")
                    arrays.traces[:] = others["traces"]
            self.state = {name: saved.integer(name) for name in ("games", "begun")}
            self.state |= {name: saved.number(name) for name in ("seconds", "since")} | {"due": saved.flag("due")}
            if "window" in others:  # there is none after a replay
                window = self.window = Saved(others, shown).array("window", np.int64, (None, COLUMNS))
                if np.any(window < 0) or np.any(window[:, 1] >= columns):
                    raise UserError(f"{shown} is damaged: its window has what no game has")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UserError(f"{shown} is of another version's training, which cannot go on here") from error


def try_out(path, again=False, hint=""):
    """Raise UserError now, and not after hours, if nothing can be written there.

    again: a file may be there already; hint: what to add to the message if one is.
    """
    if path is None:
        return
    if os.path.isfile(path) and not again:
        raise UserError(f"{path[:200]} is there already: name another{hint}")
    if os.path.isdir(path):
        raise UserError(f"cannot write {path[:200]}: it is a folder")
    try:
        with open(f"{path}.new", "wb"):
            pass
        os.unlink(f"{path}.new")
    except (OSError, ValueError) as error:
        raise UserError(f"cannot write {path[:200]}: {getattr(error, 'strerror', None) or error}") from error


def save_weights(path, options, game, arrays, record, others, compact=False):
    """Write what was learnt to a file; raises OSError.

    game: a module; record: what the file tells of the training; others: arrays to keep with the weights, by name;
    compact: make it small, without traces.
    """
    tuples, stages = options.network
    net = tuple_network.Network(
        game=game.NAME,
        board=options.board,
        options=options.rules,
        tuples=tuples,
        symmetric=not options.asymmetric,
        stages=stages,
        weights=arrays.weights,
        record=record,
    )
    with arrays.as_in_files():
        if compact and arrays.traces is not None and not stages:
            classes = weight_packing.classes_of(arrays.traces[:, 1])
            tuple_network.save_packed(path, net, classes, 1 << game.BITS)
        elif compact or arrays.traces is None:
            tuple_network.save(path, net, compact, others)
        else:
            tuple_network.save(path, net, compact, {**others, "traces": arrays.traces})


def _run_training(team, options, files, game, arrays, learner, begun, progress, interrupted, told):
    """Have the ranks learn, on rank 0; return TrainingResult."""
    if files.save is None:
        progress.note("what is learnt is not kept: there is no --save FILE")
    try:
        return TrainingRun(team, options, files, game, arrays, begun, progress, told).run(interrupted, learner)
    finally:
        team.finish()
        begun.curve.close()


class TrainingRun:
    def __init__(self, team, options, files, game, arrays, begun, progress, told):
        self._team, self._options, self._files, self._game, self._arrays = team, options, files, game, arrays
        self._curve, self._progress, self._told, self._failed = begun.curve, progress, told, None
        self._diverged = False
        win = game.VALUES.index(WINS[game.NAME])
        self._statistics = Statistics(
            files.line or LINE, game.VALUES, win, self._line, begun.state["games"], begun.state["since"], begun.window
        )
        plan = TrainingPlan(
            games=options.games,
            warm_up=options.warm_up if team.ranks > 1 else 0,
            merge_every=options.merge_every if team.copies > 1 else 0,
            evaluate_every=options.evaluate_every,
            evaluated=options.evaluate_games,
            save_every=options.save_every,
        )
        self._training = Training(
            team,
            arrays,
            plan,
            self._statistics,
            game.VALUES,
            win,
            begun=begun.state["begun"],
            seconds=begun.state["seconds"],
            due=begun.state["due"],
        )

    def run(self, interrupted, learner):
        training, before, merger = self._training, self._statistics.games, self._team.merger
        seconds = training.seconds
        self._progress.begin()
        complete = training.run(
            lambda: interrupted() or self._failed is not None, self._describe, self._evaluated, self._save
        )
        self._progress.clear()
        if self._failed is not None:
            raise self._failed
        return TrainingResult(
            self._options.described(),
            games=training.games,
            learnt=training.games - before,
            moves=training.moves,
            seconds=training.seconds - seconds,
            cpu_seconds=training.cpu_seconds,
            merging=self._team.merging if merger is None else merger.seconds,
            collisions=learner.collisions,
            ranks=self._team.ranks,
            hosts=self._team.hosts,
            copies=self._team.copies,
            complete=complete,
            saved=self._files.save,
        )

    def _line(self, line):
        self._tell({"kind": "learning", **line})
        if not line["average"]:  # no move is better than another where weights are no numbers any more
            self._diverged = True
            self._failed = self._failed or UserError(
                "learning has diverged: games end without a point; a smaller --rate"
                + (" or --parallel-games" if self._options.device == "gpu" else "")
                + " keeps it from that"
            )

    def _evaluated(self, line):
        self._tell({"kind": "evaluation", **line})

    def _tell(self, line):
        """Hand a line on; what fails ends training at its next look, and not in the middle of a phase."""
        try:
            self._curve.add(line)
            self._progress.clear()
            self._told(line)
        except (UserError, OSError) as error:
            self._failed = self._failed or error

    def _describe(self):
        if self._progress.due():
            training = self._training
            rate = f"{compact(training.moves / max(training.seconds, 1e-9))} moves/s"
            asked = self._options.games
            self._progress.tell(Facts(training.seconds, counted="games", done=training.games, total=asked, more=rate))

    def _save(self, last):
        if self._files.save is None or self._diverged:
            return
        self._team.settle()
        options, training, files = self._options, self._training, self._files
        state = {
            "games": training.games,
            "begun": training.begun,
            "seconds": training.seconds,
            "since": self._statistics.since,
            "due": training.due,
        }
        record = {"options": options.described(), "games": training.games, "ranks": self._team.ranks}
        compact = files.weights_only and training.games >= options.games and not training.due  # or it could not go on
        others = {} if compact else {"window": self._statistics.window}
        if not compact:
            record["state"] = state
        try:
            save_weights(files.save, options, self._game, self._arrays, record, others, compact)
        except OSError as error:
            failed = UserError(f"cannot write {files.save[:200]}: {error.strerror or error}")
            if last:
                self._failed = self._failed or failed
            else:
                self._progress.note(f"distsearch: {failed}; training goes on")
