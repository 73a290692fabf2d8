"""What can be asked of training, checked."""

import re
from dataclasses import dataclass, field
from typing import Annotated

from .. import games
from ..api.declarations import Option, check_values, declared, shown
from ..api.options import check_rules, checked_seed, parse_seed
from ..core.errors import UserError
from ..evaluation import ntuple
from ..evaluation.tuple_network import sizes
from ..gpu.learning import check
from .gpu_team import EXCHANGES
from .merging import MODES
from .shared_arrays import RESULTS

_MOST_GAMES = 10**12
_MOST_LAYERS = 3
_MOST_STEPS = 1000
# A resumed training may have others of these.
_FREE = "games", "rate", "evaluate_every", "evaluate_games", "save_every"
_OF_RANKS = "ranks_per_copy", "merge", "merge_every", "device", "exchange", "parallel_games"
_FREE += *_OF_RANKS, "restart", "target", "n_step", "layers", "value_dead_boards"
_FORMER = {"online": "forward", "n_step": "steps", "initial_value": "optimistic"}  # names in files of before 0.1
DEVICES = "cpu", "gpu"
TARGETS = "td", "returns"
_ALL_STEPS = 1 << 40  # more moves than a game has
# what only a CPU does; each has to be as usual for a GPU
_FOR_CPU = {"warm_up": 0, "ranks_per_copy": 0, "collisions": False}
WINS = {"2048": 2048, "2584": 2584}
_NETWORK, _LEARNING, _RANKS = "the network", "learning", "many ranks"
_GPUS, _FILES = "GPUs, one a rank", "evaluation and files"


def _parse_stages(text):
    if not re.fullmatch(r"[0-9]{1,9}(,[0-9]{1,9})*", text):
        raise UserError(f"stages '{text[:60]}' are not tiles, such as 16384,32768")
    return tuple(map(int, text.split(",")))


def _check_tiles(stages):
    if not isinstance(stages, tuple | list) or not all(isinstance(tile, int) for tile in stages):
        raise UserError(f"stages {stages!r:.60} are not tiles, such as (16384, 32768)")


def _games(text, group, low=0, high=_MOST_GAMES, metavar="N"):
    return Option(text, metavar, low=low, high=high, group=group)


@dataclass
class TrainOptions:
    """How to learn. Creating one raises UserError if it makes no sense."""

    game: str  # its name
    board: tuple | None = None  # (rows, columns), None for the usual one
    rules: dict = field(default_factory=dict)  # the game's own options: name -> text

    games: Annotated[int, _games("games to play in all (default 100000)", None, 1)] = 100_000
    tuples: Annotated[
        str | None,
        Option("a preset's name (2048: 4x6 ..., 2584: 3x4 ...), or cells: 0,1,2,3/4,5,6,7", "T", group=_NETWORK),
    ] = None
    asymmetric: Annotated[
        bool, Option("look tuples up on the board as it is, and not on turned and mirrored ones", group=_NETWORK)
    ] = False
    stages: Annotated[
        tuple[int, ...],
        Option(
            "largest tiles with which further stages of the network begin (default: none)",
            "TILE,...",
            parse=_parse_stages,
            check=_check_tiles,
            group=_NETWORK,
        ),
    ] = ()
    initial_value: Annotated[
        float, Option("value of every afterstate before learning (default 0)", "V", low=0, high=1e9, group=_NETWORK)
    ] = 0.0
    rate: Annotated[
        float | None, Option("learning rate (default 0.1; with coherence 1)", "A", low=0, high=10, group=_LEARNING)
    ] = None
    coherence: Annotated[
        bool, Option("give each weight a learning rate of its own, by its errors (TC learning)", group=_LEARNING)
    ] = False
    online: Annotated[
        bool, Option("update after every move, not from the last move to the first of a game", group=_LEARNING)
    ] = False
    n_step: Annotated[
        int, Option("n of n-step TD (default 1)", "N", unit="moves", low=1, high=_MOST_STEPS, group=_LEARNING)
    ] = 1
    target: Annotated[
        str,
        Option(
            "what afterstates learn from: td (default): the points of the next N moves (--n-step) and the value then; "
            "returns: all points to the end of the game, not with --online or --n-step",
            "NAME",
            choices=TARGETS,
            group=_LEARNING,
        ),
    ] = TARGETS[0]
    restart: Annotated[
        bool,
        Option(
            "when a game is over, play on from its middle, then from the middle of that continuation, and so on, while "
            "64 moves or more lie between the middle and the end",
            group=_LEARNING,
        ),
    ] = False
    layers: Annotated[
        int,
        Option("depth of the search for each move: 0 (default) to 3", "X", low=0, high=_MOST_LAYERS, group=_LEARNING),
    ] = 0
    value_dead_boards: Annotated[
        bool,
        Option(
            "searches give a board without a legal move what the network says of it, as a report on 2584 does, not 0; "
            "with --layers 1 or more",
            group=_LEARNING,
        ),
    ] = False
    seed: Annotated[
        int, Option("seed of all games (default 0)", "N", check=checked_seed, parse=parse_seed, group=_LEARNING)
    ] = 0
    warm_up: Annotated[int, _games("games that one rank learns from before the others begin (default 0)", _RANKS)] = 0
    ranks_per_copy: Annotated[
        int, _games("ranks per copy of the weights on each host (default 0: all of them)", _RANKS, 0, 10**6)
    ] = 0
    merge: Annotated[
        str,
        Option("how changes of copies are merged: visits (default), sum or mean", "NAME", choices=MODES, group=_RANKS),
    ] = MODES[0]
    merge_every: Annotated[int, _games("games between merges (default 2000)", _RANKS, 1)] = 2000
    collisions: Annotated[bool, Option("count weights that two ranks change at the same time", group=_RANKS)] = False
    device: Annotated[
        str, Option("cpu (default) or gpu: games and learning stay there", "NAME", choices=DEVICES, group=_GPUS)
    ] = DEVICES[0]
    parallel_games: Annotated[
        int, _games("games that a GPU plays in parallel (default 0: as many as are fast)", _GPUS, 0, 1 << 16)
    ] = 0
    exchange: Annotated[
        str,
        Option(
            "games: every GPU learns from those of all (default); weights: they are merged",
            "NAME",
            choices=EXCHANGES,
            group=_GPUS,
        ),
    ] = EXCHANGES[0]
    evaluate_every: Annotated[int, _games("games between evaluations (default 0: none)", _FILES)] = 0
    evaluate_games: Annotated[int, _games("games of an evaluation (default 100)", _FILES, 1, RESULTS)] = 100
    save_every: Annotated[int, _games("games between savings (default 0: at the end, and at SIGTERM)", _FILES)] = 0

    def __post_init__(self):
        game = games.find(self.game)
        if game.NAME not in ntuple.PRESETS:
            raise UserError(f"train is for {', '.join(ntuple.PRESETS)} and othello; not for {game.NAME}")
        check_values(self)
        check_rules(game, self.rules)
        if self.rate is None:
            self.rate = 1.0 if self.coherence else 0.1
        if self.online and self.layers:
            raise UserError("online goes with 0 layers: a search's table would hold values from before it learnt")
        if self.value_dead_boards and not self.layers:
            raise UserError("value-dead-boards is for layers 1 and more: without a search there are no such boards")
        if self.target == "returns" and (self.online or self.n_step > 1):
            raise UserError("target returns goes without online and n-step: games are learnt from when they are over")
        if self.online and self.restart:
            raise UserError("restart is for games that are learnt from when they are over: no --online")
        self.board = games.checked_board(game, self.board)
        if not self.asymmetric and self.board != (4, 4):
            raise UserError("boards other than 4x4 take --asymmetric: only 4x4 ones are turned and mirrored")
        default = next(iter(ntuple.PRESETS[game.NAME]))
        self.tuples = default if self.tuples is None else self.tuples
        ntuple.checked_tuples(game, self.tuples, self.board)
        self._check_stages(game)
        self._check_device()

    def _check_stages(self, game):
        tiles = game.VALUES
        if len(self.stages) >= ntuple.MOST_STAGES or any(tile not in tiles[2:] for tile in self.stages):
            raise UserError(
                f"stages {_shown(self.stages):.60} are not up to {ntuple.MOST_STAGES - 1} tiles of {game.NAME}"
            )
        if list(self.stages) != sorted(set(self.stages)):
            raise UserError(f"stages {_shown(self.stages):.60} are not in rising order")

    def _check_device(self):
        if self.device == "cpu":
            if self.parallel_games or self.exchange != EXCHANGES[0]:
                raise UserError("parallel-games and exchange are for --device gpu")
            return
        for name, usual in _FOR_CPU.items():
            if getattr(self, name) != usual:
                raise UserError(f"{shown(name)} {_shown(getattr(self, name))} is for --device cpu")
        if self.online and self.n_step > 1:
            raise UserError("online with several steps is for --device cpu")
        if self.exchange == "weights" and self.merge == "visits":
            raise UserError("GPUs do not count visits: exchange weights goes with --merge mean or sum")
        game = games.find(self.game)
        check(game, game.rules(self.board), self.network[0], not self.asymmetric, self.layers)

    @property
    def network(self):
        """The tuples, and the codes with which stages begin."""
        game = games.find(self.game)
        codes = tuple(game.VALUES.index(tile) for tile in self.stages)
        return ntuple.checked_tuples(game, self.tuples, self.board), codes

    @property
    def steps(self):
        """How many moves of its game an afterstate learns from."""
        return _ALL_STEPS if self.target == "returns" else self.n_step

    @property
    def size(self):
        """Weights of a stage."""
        return sum(sizes(self.network[0], 1 << games.find(self.game).BITS))

    def described(self):
        """Return all of it as plain values by name, for people and files."""
        return {**vars(self), "board": list(self.board), "stages": list(self.stages)}

    @classmethod
    def resumed(cls, game, board, rules, asked, described):
        """Return the options of training that goes on: those that are asked for, else those that were ``described``.

        What depends on the ranks and GPUs of a run is as usual where it is not asked for. So is what a flag turns on
        and none turns off. Raises UserError.
        """
        taken = {}
        for name in declared(cls).keys() - asked.keys() - set(_OF_RANKS):
            value = described.get(name, described.get(_FORMER.get(name)))
            if value is not None and not (name in _FREE and isinstance(value, bool)):
                taken[name] = tuple(value) if isinstance(value, list) else value
        if asked.get("coherence") and not described.get("coherence"):
            taken.pop("rate", None)  # which is another one then
        there, its_rules = described.get("board"), described.get("rules")
        if board is None and isinstance(there, list) and [type(each) for each in there] == [int, int]:
            board = tuple(there)
        if not rules and isinstance(its_rules, dict) and all(isinstance(each, str) for each in its_rules.values()):
            rules = its_rules
        return cls(game, board, rules, **{**taken, **asked})

    def check_resumes(self, described, file):
        """Raise UserError unless this goes on with training that was ``described``."""
        own = self.described()
        for name in sorted(own.keys() - set(_FREE)):
            there = described.get(name, described.get(_FORMER.get(name)))
            if own[name] != there and not (name == "coherence" and there is False):  # its traces may begin later
                raise UserError(f"{file} is of training with {shown(name)} {_shown(there)}, not {_shown(own[name])}")


def _shown(value):
    """Return the value of an option as people would write it."""
    if isinstance(value, dict):
        return ", ".join(map(str, value.values())) or "the usual"
    if isinstance(value, list | tuple):
        return ",".join(map(str, value)) or "none"
    return {True: "on", False: "off"}.get(value, str(value)) if isinstance(value, bool) else str(value)
