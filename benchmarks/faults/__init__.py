"""Real ranks that are killed, crash, are held up or get no memory, at random moments of jobs of all kinds."""
