"""`trivium keys|audit|cache|schema|settings` as a person types them."""

import json
from pathlib import Path
from typing import Any

import pytest

from trivium.doors.cli.main import run
from trivium.doors.cli.serve import first_key
from trivium.doors.guard.keys import Keys
from trivium.guard_stores import open_guard
from trivium.ports.audit import AuditEntry
from trivium.settings import Settings


def answer(capsys: pytest.CaptureFixture[str], data: Path, *words: str) -> Any:
    assert run(["--data", str(data), *words]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_key_is_created_listed_rotated_and_revoked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = answer(capsys, tmp_path, "keys", "create", "laptop", "--scope", "write", "--expires", "90d", "--json")
    assert made["key"].startswith("trv_")
    assert made["scopes"] == ["write"]
    listed = answer(capsys, tmp_path, "keys", "list", "--json")
    assert [one["state"] for one in listed] == ["active"]
    assert made["key"] not in json.dumps(listed)
    rotated = answer(capsys, tmp_path, "keys", "rotate", "laptop", "--json")
    assert rotated["key"] != made["key"]
    assert run(["--data", str(tmp_path), "keys", "revoke", "laptop"]) == 0
    capsys.readouterr()
    assert [one["state"] for one in answer(capsys, tmp_path, "keys", "list", "--json")] == ["revoked", "revoked"]


def test_an_unknown_key_and_a_wrong_span_are_wrong_calls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--data", str(tmp_path), "keys", "revoke", "nobody"]) == 2
    assert run(["--data", str(tmp_path), "keys", "create", "x", "--expires", "soon"]) == 2
    assert "90d" in capsys.readouterr().err


def test_the_audit_log_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stores = open_guard(Settings(data=tmp_path))
    stores.audit.append(
        [
            AuditEntry(1.0, "req_1", "a", "abcd", "", "http", "get_chunk", "{}", "ok", 10, 1, 2.0),
            AuditEntry(2.0, "req_2", "a", "abcd", "", "http", "get_chunk", "{}", "RATE_LIMIT", 0, 0, 0.1, "probing"),
        ]
    )
    stores.close()
    assert [one["request_id"] for one in answer(capsys, tmp_path, "audit", "--json")] == ["req_2", "req_1"]
    assert [one["request_id"] for one in answer(capsys, tmp_path, "audit", "--flagged", "--json")] == ["req_2"]
    assert run(["--data", str(tmp_path), "audit", "--outcome", "ok"]) == 0
    assert "req_1" in capsys.readouterr().out


def test_clearing_caches_reaches_every_process(tmp_path: Path) -> None:
    stores = open_guard(Settings(data=tmp_path))
    assert run(["--data", str(tmp_path), "cache", "clear"]) == 0
    assert stores.counters.value("cache_epoch") == 1
    stores.close()


def test_the_schema_is_printed_in_both_forms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "SearchResultFull" in answer(capsys, tmp_path, "schema", "--json")["$defs"]
    assert run(["schema", "--typescript"]) == 0
    assert "export interface MCPResponseEnvelope<T> {" in capsys.readouterr().out
    assert run(["schema", "--typescript", "--json"]) == 2


def test_settings_are_printed_with_their_origin(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BMCIS_RATE_LIMIT_MINUTE", "7")
    rows = {row["name"]: row for row in answer(capsys, tmp_path, "settings", "--json")}
    assert (rows["rate_limit_minute"]["value"], rows["rate_limit_minute"]["origin"]) == (7, "BMCIS_RATE_LIMIT_MINUTE")
    assert rows["rate_limit_hour"]["origin"] == "default"


def test_the_first_http_start_makes_one_key_and_prints_it_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(data=tmp_path)
    key = first_key(settings)
    assert key is not None
    assert key in capsys.readouterr().out
    assert first_key(settings) is None
    assert capsys.readouterr().out == ""
    stores = open_guard(settings)
    assert Keys(stores.keys).identify(key, "http").may("admin")
    stores.close()
