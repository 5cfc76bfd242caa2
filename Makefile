.PHONY: check test judges bench torture
check: ; uv run ruff check . && uv run ruff format --check . && uv run mypy && uv run lint-imports
test: ; uv run pytest
judges: ; uv run python judges/run.py
