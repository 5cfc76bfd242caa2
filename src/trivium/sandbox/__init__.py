"""Runs an agent's program next to the data.

The way of a program: `check.py` reads it and says what it cannot do, `rewrite.py` gives it attribute access to results,
`runner.py` runs it on a worker (`workers.py`) and answers its calls; `values.py` is what may cross between the two.
A worker is a process of pydantic-monty, started by `launcher.py` inside the strongest layer of the operating system
that works here (`isolation.py`). What the functions do that a program may call is the caller's business.
"""
