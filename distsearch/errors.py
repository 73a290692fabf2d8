"""The one exception for what a user got wrong."""


class UserError(Exception):
    """Bad input. Its text is one line that names what is wrong and what would be right; exit status 2."""
