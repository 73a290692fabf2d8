"""python -m distsearch."""

import sys

from .cli.main import main

sys.exit(main())
