"""Protocols by which other programs have Othello searched: NBoard's, and the Go Text Protocol."""
