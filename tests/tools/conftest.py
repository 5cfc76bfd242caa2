"""Servers for the tests in this folder."""

from served import corpus, serve, served  # noqa: F401 -- fixtures
