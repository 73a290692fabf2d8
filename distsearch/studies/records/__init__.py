"""Records: whole games solved, each by one command; see ``docs/records.md``."""
