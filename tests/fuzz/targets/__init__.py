"""Every target by its name."""

from . import archives, documents, messages, positions, searches, settings

_ROOMS = positions, documents, archives, searches, messages, settings
TARGETS = {name: target for room in _ROOMS for name, target in room.TARGETS.items()}
