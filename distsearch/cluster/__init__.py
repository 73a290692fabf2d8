"""Master and workers as state machines without I/O, and the transports that carry their messages."""

import logging

logging.getLogger("distsearch").addHandler(logging.NullHandler())  # a library says nothing unless it is asked to
