"""Servers for the tests in this folder."""

from served import corpus, serve  # noqa: F401 -- fixtures
