"""A private repository over HTTP: the server asks for a login, and no part of it is kept anywhere in plain text."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from private_git import TOKEN, USER, private_repository, secrets_in
from served import Serve
from trivium.app import App
from trivium.backends.git import SubprocessGit, known_credentials
from trivium.errors import InvalidInput


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with private_repository(tmp_path) as address:
        yield address


@pytest.fixture(autouse=True)
def no_helpers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The machine's own git settings and proxies stay out of it."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def test_a_private_repository_is_cloned_and_its_token_kept_nowhere(
    app: App, address: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    report = app.code.repositories.index(f"http://{USER}:{TOKEN}@{address}", "private")
    assert report.repository.file_count == 5
    assert report.repository.url == f"http://{address}"
    with pytest.raises(InvalidInput, match="git fetch failed") as refused:
        app.code.repositories.update("private")
    assert app.code.repositories.get("private").status == "error"
    assert secrets_in(app.data) == []
    said = caplog.text + "".join(capfd.readouterr()) + str(refused.value) + repr(refused.value.__cause__)
    assert TOKEN not in said


def test_an_update_takes_the_credentials_that_the_settings_name_for_its_host(
    address: str, open_data: Callable[..., App], data: Path
) -> None:
    host = address.partition("/")[0]
    app = open_data(data, git_credentials=f"https://x:wrong@elsewhere.example http://{USER}:{TOKEN}@{host}")
    assert app.code.repositories.index(f"http://{address}", "private").added == 5
    assert app.code.repositories.update("private").unchanged >= 5
    assert secrets_in(data) == []
    assert TOKEN not in repr(app.settings)


def test_an_update_asks_the_credential_helpers_of_git(app: App, address: str, tmp_path: Path) -> None:
    store = tmp_path / "known"
    store.write_text(f"http://{USER}:{TOKEN}@{address.partition('/')[0]}\n")
    (tmp_path / "gitconfig").write_text(f'[credential]\n\thelper = store --file "{store}"\n')
    app.code.repositories.index(f"http://{address}", "private")
    assert app.code.repositories.update("private").unchanged >= 5
    assert secrets_in(app.data) == []


def test_credentials_go_to_their_own_host_alone(address: str, tmp_path: Path) -> None:
    git = SubprocessGit(known_credentials(f"http://{USER}:{TOKEN}@127.0.0.1:9"))
    with pytest.raises(InvalidInput, match="git fetch failed"):
        git.fetch(f"http://{address}", None, tmp_path / "clone", None)


@pytest.mark.parametrize("written", ["someone:s3cr3t-t0ken@host", "ftp://a:s3cr3t-t0ken@host", "https://host"])
def test_credentials_that_cannot_be_read_are_refused_without_being_shown(written: str) -> None:
    with pytest.raises(InvalidInput, match="address 2 is not of the form") as refused:
        known_credentials(f"https://a:b@host {written}")
    assert TOKEN not in refused.value.message


@pytest.mark.parametrize(
    "written", [f"http://{USER}:{TOKEN}@", f"http://{TOKEN}@", f"http://{USER}:p@{TOKEN}@", f"{USER}:{TOKEN}@host:"]
)
def test_no_answer_log_or_audit_entry_of_the_server_shows_a_token(
    serve: Serve, data: Path, written: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    served = serve(data=data, toolsets="code")
    answer = served.call("index_repository", source=f"{written}127.0.0.1:9/team/api.git")
    assert answer.is_error
    served.body("list_indexed_repositories")
    served.gate.close()
    assert TOKEN not in str(answer) + caplog.text
    assert secrets_in(data) == []
