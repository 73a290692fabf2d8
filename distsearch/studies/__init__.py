"""Studies: what the program measures of itself, over many runs, for tables and figures."""
