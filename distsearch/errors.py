"""The one exception for what a user got wrong."""


class UserError(Exception):
    """Bad input. Its text is one line that names what is wrong and what would be right; exit status 2.

    The text may quote what the user gave: line breaks in it become spaces, other unprintable characters "?".
    """

    def __init__(self, text):
        super().__init__("".join(c if c.isprintable() else "?" for c in " ".join(str(text).split())))
