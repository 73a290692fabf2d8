"""Master and workers as state machines without I/O, and the transports that carry their messages."""
