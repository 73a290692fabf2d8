"""The stored node array: grow it from a forest of roots, pick jobs off it, back scores up it. No messages here."""
