"""What training on GPUs takes: a GPU for every rank, and a learner on it."""

from ..api.progress import Silent
from ..api.run import compile_once
from ..core.errors import UserError
from ..gpu.learning import CardLearner, games_at_once


def learner_of(options, game, team, gpu, progress):
    """Return this rank's CardLearner; gpu: its GPU, None: one of the host's, shared if there are more ranks."""
    if options.forward and team.ranks > 1 and options.exchange == "games":
        raise UserError("GPUs that tell one another their games learn from them when they are over: no --forward")
    rules, (tuples, _) = game.rules(options.board, **options.rules), options.network
    gpu = gpu or _gpu(team.place)
    made = None

    def make():
        nonlocal made
        made = CardLearner(
            gpu,
            game,
            rules,
            tuples,
            not options.asymmetric,
            options.coherence,
            options.rate,
            options.seed,
            options.at_once or games_at_once(tuples, options.forward),
        )

    name = f"cuda-{game.NAME}-{options.tuples}-{options.asymmetric:d}{options.coherence:d}-{gpu.architecture}"
    compile_once(name, f"{game.NAME} on {gpu.name}", make, progress if team.first else Silent())
    return made


def _gpu(place):
    from ..gpu import device

    count = device.count()
    if not count:
        raise UserError("this host has no GPU: use --device cpu")
    return device.Gpu(place % count)
