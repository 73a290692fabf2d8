"""The command line: its options, its commands, and what they print."""
