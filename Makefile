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

# Figures as ratios in one run; each script says what it measures with --help. DATA: the public sets; CACHE: kept vectors.
DATA ?= ../shared/data
CACHE ?= .bench
bench:
	uv run python benchmarks/retrieval.py $(DATA)/retrieval
	uv run python benchmarks/search.py --texts $(DATA) --cache $(CACHE) --embed 100000
	uv run python benchmarks/ingest.py
	uv run python benchmarks/vectors.py --texts $(DATA) --cache $(CACHE) --embed 100000
	uv run python benchmarks/embedding.py $(DATA)/retrieval
	uv run python benchmarks/sandbox.py
	uv run python benchmarks/sandbox_search.py
	uv run python benchmarks/sandbox_tokens.py

# Kills, faults and races, for longer than the suite has time.
torture:
	uv run python benchmarks/torture_ingest.py --kills 100
	uv run python benchmarks/torture_servers.py
	uv run python benchmarks/torture_concepts.py --kills 300 --processes 8 --updates 1000
	uv run python benchmarks/torture_sandbox.py --programs 10000
	TRIVIUM_TORTURE=1 uv run pytest -n 0 --timeout 0 tests/unit/concepts/test_beside_a_dictionary.py
