"""Kinds of work: the records of their jobs, the runners that do the jobs, and the sources that hand them out."""
