"""Trains the extraction model that ships with Trivium. Needs torch; nothing here is imported by the package."""
