"""Studies: sweeps over numbers of ranks and ways to search, and the tables and figures of reports.

A study is a module with ``run(args, stage)`` (see ``rank_pool``) and a row in ``cli.study_arguments``. What it
measures are rows of a file (see ``results``), so that it can be gone on with, and read by others.
"""
