"""What talks to people and programs: options, runs, results, progress."""
