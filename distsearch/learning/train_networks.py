"""Training of networks of tuples as the command line asks for it: options, lines, and what signals do."""

import json

from ..core.errors import UserError
from ..evaluation import patterns
from .options import asked
from .report import line_text
from .train import Files, train


def train_networks(args, comm, interrupts, progress, say):
    """Learn by parsed arguments, see ``trainers``. Signals save what was learnt, and end it with status 0 then."""
    if args.rounds is not None:
        raise UserError(f"rounds are for {patterns.GAME}")
    options = asked(args)
    files = Files(args.save, args.resume, args.compact, args.record)

    def told(line):
        say(json.dumps(line) if args.json else line_text(line))

    if comm is not None and comm.Get_rank() > 0:
        train(options, files, comm, progress, lambda: False, told)
        return 0
    with interrupts:

        def interrupted():
            return interrupts.signal is not None or interrupts.save and files.save is not None

        found = train(options, files, comm, progress, interrupted, told)
        say(found.to_json() if args.json else found.to_text())
        if files.save is not None:
            interrupts.forgive()  # batch systems say so when time is up, and what was learnt is saved
        return interrupts.exit_status
