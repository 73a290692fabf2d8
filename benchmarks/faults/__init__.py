"""Real ranks of commands and of a service that are killed, crash, are held up or get no memory, at random moments."""
