"""What can be asked of training, checked."""

import math
import re
from dataclasses import dataclass, field, fields
from numbers import Integral, Real

from .. import games
from ..api.options import checked_seed
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
_FREE = (
    "games",
    "rate",
    "evaluate_every",
    "evaluate_games",
    "save_every",
    "sharing",
    "device",
    "exchange",
    "at_once",
)  # a resumed training may have others
DEVICES = "cpu", "gpu"
# what only a CPU does; each has to be as usual for a GPU
_FOR_CPU = {"stages": (), "steps": 1, "layers": 0, "warm_up": 0, "sharing": 0, "collisions": False}
WINS = {"2048": 2048, "2584": 2584}


@dataclass
class TrainOptions:
    """How to learn. Creating one raises UserError if it makes no sense.

    game: its name; board: (rows, columns) or None for the usual one; rules: the game's own options; games: how many;
    tuples: a preset's name or cells such as ``0,1,2,3/4,5,6,7``, None for the first preset; asymmetric: tuples are not
    looked up on turned and mirrored boards; stages: tiles with which stages after the first begin; rate: of learning,
    None for 0.1, or 1 with coherence; coherence, forward, steps, layers: see ``learning.td``; optimistic: what every
    board is taken to be worth before; warm_up: games that one rank learns from alone before the others; sharing:
    ranks of a host that share a copy of the weights, 0: all; merge, merge_every: how copies merge, and after how many
    games; evaluate_every, evaluate_games: games after which there are
    so many without learning; save_every: games, 0: at the end; collisions: count writes that collide; seed: of all.
    device: of DEVICES; of GPUs exchange: what they tell one another, see ``learning.gpu_team``; at_once: games that
    each plays at a time, 0: as many as are known to be good.
    """

    game: str
    board: tuple | None = None
    rules: dict = field(default_factory=dict)
    games: int = 100_000
    tuples: str | None = None
    asymmetric: bool = False
    stages: tuple = ()
    rate: float | None = None
    coherence: bool = False
    forward: bool = False
    steps: int = 1
    layers: int = 0
    optimistic: float = 0.0
    warm_up: int = 0
    sharing: int = 0
    merge: str = MODES[0]
    merge_every: int = 2000
    evaluate_every: int = 0
    evaluate_games: int = 100
    save_every: int = 0
    collisions: bool = False
    seed: int = 0
    device: str = DEVICES[0]
    exchange: str = EXCHANGES[0]
    at_once: int = 0

    def __post_init__(self):
        game = games.find(self.game)
        if game.NAME not in ntuple.PRESETS:
            raise UserError(f"train is for {', '.join(ntuple.PRESETS)} and othello; not for {game.NAME}")
        for name, low, high in (
            ("games", 1, _MOST_GAMES),
            ("steps", 1, _MOST_STEPS),
            ("layers", 0, _MOST_LAYERS),
            ("warm_up", 0, _MOST_GAMES),
            ("merge_every", 1, _MOST_GAMES),
            ("evaluate_every", 0, _MOST_GAMES),
            ("evaluate_games", 1, RESULTS),
            ("save_every", 0, _MOST_GAMES),
            ("sharing", 0, 10**6),
            ("at_once", 0, 1 << 16),
        ):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or not low <= value <= high:
                raise UserError(f"{name.replace('_', '-')} {value!r:.40} is not a number from {low} to {high}")
        checked_seed(self.seed)
        if self.rate is None:
            self.rate = 1.0 if self.coherence else 0.1
        for name, high in (("rate", 10.0), ("optimistic", 1e9)):
            value = getattr(self, name)
            if not isinstance(value, Real) or not math.isfinite(value) or not 0 <= value <= high:
                raise UserError(f"{name} {value!r:.40} is not a number from 0 to {high:g}")
        if self.merge not in MODES:
            raise UserError(f"merge '{self.merge!s:.40}' is not {' or '.join(MODES)}")
        if self.forward and self.layers:
            raise UserError("forward goes with 0 layers: a search's table would hold values from before it learnt")
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
        for name, every in (("device", DEVICES), ("exchange", EXCHANGES)):
            if getattr(self, name) not in every:
                raise UserError(f"{name} '{getattr(self, name)!s:.40}' is not {' or '.join(every)}")
        if self.device == "cpu":
            if self.at_once or self.exchange != EXCHANGES[0]:
                raise UserError("at-once and exchange are for --device gpu")
            return
        for name, usual in _FOR_CPU.items():
            if getattr(self, name) != usual:
                raise UserError(f"{name.replace('_', '-')} {_shown(getattr(self, name))} is for --device cpu")
        if self.exchange == "weights" and self.merge == "visits":
            raise UserError("GPUs do not count visits: exchange weights goes with --merge mean or sum")
        check(games.find(self.game).rules(self.board), self.network[0])

    @property
    def network(self):
        """The tuples, and the codes with which stages begin."""
        game = games.find(self.game)
        codes = tuple(game.VALUES.index(tile) for tile in self.stages)
        return ntuple.checked_tuples(game, self.tuples, self.board), codes

    @property
    def size(self):
        """Weights of a stage."""
        return sum(sizes(self.network[0], 1 << games.find(self.game).BITS))

    def described(self):
        """Return all of it as plain values by name, for people and files."""
        return {**vars(self), "board": list(self.board), "stages": list(self.stages)}

    def check_resumes(self, described, shown):
        """Raise UserError unless this goes on with training that was ``described``."""
        own = self.described()
        for name in sorted(own.keys() - set(_FREE)):
            if own[name] != described.get(name):
                raise UserError(
                    f"{shown} is of training with {name.replace('_', '-')} {_shown(described.get(name))}, "
                    f"not {_shown(own[name])}"
                )


def _shown(value):
    """Return the value of an option as people would write it."""
    if isinstance(value, dict):
        return ", ".join(map(str, value.values())) or "the usual"
    if isinstance(value, list | tuple):
        return ",".join(map(str, value)) or "none"
    return {True: "on", False: "off"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def asked(args):
    """Return the TrainOptions of parsed arguments; raises UserError."""
    names = {each.name for each in fields(TrainOptions)} - {"game", "board", "rules", "stages"}
    given = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    if args.board is not None:
        given["board"] = games.parse_board(args.board)
    if args.spawn is not None:
        given["rules"] = {"spawn": args.spawn}
    if args.stages is not None:
        if not re.fullmatch(r"[0-9]{1,9}(,[0-9]{1,9})*", args.stages):
            raise UserError(f"stages '{args.stages[:60]}' are not tiles, such as 16384,32768")
        given["stages"] = tuple(map(int, args.stages.split(",")))
    return TrainOptions(args.game, **given)
