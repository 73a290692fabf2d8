"""Figures for paper and screen."""
