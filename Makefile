.PHONY: check test judges bench torture

# Lint, format, strict types, import contracts.
check:
	uv run ruff check .
	uv run ruff format --check .
	uv run mypy
	uv run lint-imports

test:
	uv run pytest

# Independent judges of the MCP server: conformance, Inspector, TypeScript SDK, Claude Code, fuzzer.
judges:
	uv run python judges/run.py

# Figures as ratios in one run; each script says what it measures with --help.
bench:
	uv run python benchmarks/retrieval.py
	uv run python benchmarks/search.py
	uv run python benchmarks/ingest.py
	uv run python benchmarks/vectors.py
	uv run python benchmarks/embedding.py

# Kills, faults and races, for longer than the suite has time.
torture:
	uv run python benchmarks/torture_ingest.py --kills 100
