"""A package published by one indexed repository and imported by another: the two are joined, whichever changes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from code_repository import write_repository
from trivium.app import App
from trivium.code.dependencies import get_dependencies
from trivium.code.dependents import get_dependents
from trivium.code.paths import find_path
from trivium.errors import InvalidInput, NotFound

Files = dict[str, str]

PYTHON: tuple[Files, Files] = (
    {
        "pyproject.toml": '[project]\nname = "acme-auth"\n',
        "src/acme_auth/__init__.py": "from acme_auth.client import Client\n",
        "src/acme_auth/client.py": (
            "class Client:\n    def login(self, name):\n        return self.greet(name)\n\n"
            "    def greet(self, name):\n        return name\n\n\ndef connect():\n    return Client()\n"
        ),
        "src/acme_auth/tokens.py": "def check(token):\n    return bool(token)\n",
        "tests/test_client.py": "def test_nothing():\n    assert True\n",
    },
    {
        "app/__init__.py": "",
        "app/main.py": (
            "from acme_auth import Client\nfrom acme_auth.client import connect\nimport acme_auth.tokens\n\n\n"
            "class Loud(Client):\n    def greet(self, name):\n        return name.upper()\n\n\n"
            "def run():\n    client = connect()\n"
            "    acme_auth.tokens.check('x')\n    Loud().login('bob')\n    return client.login('ann')\n"
        ),
    },
)
TYPESCRIPT: tuple[Files, Files] = (
    {
        "package.json": '{"name": "@acme/auth", "main": "dist/index.js", "exports": {".": "./dist/index.js",'
        ' "./tokens": "./dist/tokens.js"}}',
        "src/index.ts": 'export { Client } from "./client";\n',
        "src/client.ts": "export class Client {\n  login(name: string) {\n    return name;\n  }\n}\n",
        "src/tokens.ts": "export function check(token: string) {\n  return !!token;\n}\n",
    },
    {
        "package.json": '{"name": "shop"}',
        "src/main.ts": (
            'import { Client } from "@acme/auth";\nimport { check } from "@acme/auth/tokens";\n\n'
            "export class Loud extends Client {}\n\n"
            "export function run() {\n  const client = new Client();\n  check('x');\n  return client.login('ann');\n}\n"
        ),
    },
)
GO: tuple[Files, Files] = (
    {
        "go.mod": "module example.com/acme/auth\n",
        "tokens/tokens.go": (
            "package tokens\n\ntype Client struct{}\n\nfunc (c *Client) Login() bool {\n\treturn true\n}\n\n"
            "func Check(token string) bool {\n\treturn true\n}\n"
        ),
    },
    {
        "go.mod": "module example.com/shop\n",
        "main.go": (
            'package main\n\nimport "example.com/acme/auth/tokens"\n\nfunc run() {\n\tvar c tokens.Client\n'
            '\tc.Login()\n\ttokens.Check("x")\n}\n'
        ),
    },
)
RUST: tuple[Files, Files] = (
    {
        "Cargo.toml": '[package]\nname = "acme-auth"\nversion = "0.1.0"\n',
        "src/lib.rs": "pub mod tokens;\npub use tokens::Client;\n",
        "src/tokens.rs": (
            "pub struct Client {}\n\nimpl Client {\n    pub fn login(&self) -> bool {\n        true\n    }\n}\n\n"
            "pub fn check(token: &str) -> bool {\n    crate::tokens::Client {}.login()\n}\n"
        ),
    },
    {
        "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\n',
        "src/main.rs": (
            "use acme_auth::Client;\nuse acme_auth::tokens::check;\n\nfn run(client: &Client) {\n"
            '    client.login();\n    check("x");\n}\n\nfn main() {}\n'
        ),
    },
)
JAVA: tuple[Files, Files] = (
    {
        "src/com/acme/auth/Client.java": (
            "package com.acme.auth;\n\n"
            "public class Client {\n    public boolean login() {\n        return true;\n    }\n}\n"
        ),
        "src/com/acme/auth/Tokens.java": (
            "package com.acme.auth;\n\npublic class Tokens {\n    public static boolean check(String token) {\n"
            "        return true;\n    }\n}\n"
        ),
    },
    {
        "src/com/shop/Main.java": (
            "package com.shop;\n\nimport com.acme.auth.Client;\nimport com.acme.auth.Tokens;\n\n"
            "public class Main extends Client {\n    void run(Client client) {\n        client.login();\n"
            '        Tokens.check("x");\n    }\n}\n'
        ),
    },
)
CSHARP: tuple[Files, Files] = (
    {
        "Client.cs": (
            "namespace Acme.Auth\n{\n"
            "    public class Client\n    {\n        public bool Login() { return true; }\n    }\n}\n"
        ),
    },
    {
        "Main.cs": (
            "using Acme.Auth;\n\nnamespace Shop\n{\n    public class Loud : Client\n    {\n"
            "        void Run(Client client) { client.Login(); }\n    }\n}\n"
        ),
    },
)
PHP: tuple[Files, Files] = (
    {
        "composer.json": '{"name": "acme/auth", "autoload": {"psr-4": {"Acme\\\\Auth\\\\": "src/"}}}',
        "src/Client.php": (
            "<?php\nnamespace Acme\\Auth;\n\n"
            "class Client\n{\n    public function login()\n    {\n        return true;\n"
            "    }\n}\n"
        ),
    },
    {
        "main.php": (
            "<?php\nnamespace Shop;\n\nuse Acme\\Auth\\Client;\n\nfunction run(Client $client)\n{\n"
            "    return $client->login();\n}\n"
        ),
    },
)
RUBY: tuple[Files, Files] = (
    {
        "acme_auth.gemspec": 'Gem::Specification.new { |s| s.name = "acme_auth" }\n',
        "lib/acme_auth.rb": "class AcmeClient\n  def login\n    true\n  end\nend\n",
    },
    {"main.rb": 'require "acme_auth"\n\ndef run\n  client = AcmeClient.new\n  client.login\nend\n'},
)
PAIRS = {
    "python": (PYTHON, "Client.login", "app/main.py::run", "src/acme_auth/client.py"),
    "typescript": (TYPESCRIPT, "Client.login", "src/main.ts::run", "src/index.ts"),
    "go": (GO, "Client.Login", "main.go::run", "tokens/tokens.go"),
    "rust": (RUST, "Client.login", "src/main.rs::run", "src/tokens.rs"),
    "java": (JAVA, "Client.login", "src/com/shop/Main.java::Main.run", "src/com/acme/auth/Client.java"),
    "csharp": (CSHARP, "Client.Login", "Main.cs::Loud.Run", "Client.cs"),
    "php": (PHP, "Client.login", "main.php::run", "src/Client.php"),
    "ruby": (RUBY, "AcmeClient.login", "main.rb::run", "lib/acme_auth.rb"),
}


def index(app: App, tmp_path: Path, pair: tuple[Files, Files], order: tuple[int, ...] = (0, 1)) -> None:
    for number in order:
        name = ("auth", "shop")[number]
        app.code.repositories.index(str(write_repository(tmp_path / name, pair[number])), name)


def dependents(app: App, kind: str, path: str, **more: Any) -> dict[str, Any]:
    return get_dependents(app.code.graph, kind, path, "auth", include_cross_repo=True, **more)


def abroad(answer: dict[str, Any], relationship: str = "calls") -> set[str]:
    return {
        row["path"]
        for row in answer["dependents"]
        if row["repository"] == "shop" and row["relationship"] == relationship
    }


@pytest.mark.parametrize("language", sorted(PAIRS))
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_callers_and_importers_in_another_repository_are_dependents(
    app: App, tmp_path: Path, language: str, order: tuple[int, ...]
) -> None:
    pair, method, caller, file = PAIRS[language]
    index(app, tmp_path, pair, order)
    assert abroad(dependents(app, "function", method)) == {caller}
    assert abroad(dependents(app, "file", file), "imports") == {caller.partition("::")[0]}


def test_functions_classes_and_callbacks_are_followed_through_re_exports(app: App, tmp_path: Path) -> None:
    index(app, tmp_path, PYTHON)
    assert abroad(dependents(app, "function", "src/acme_auth/tokens.py::check")) == {"app/main.py::run"}
    assert abroad(dependents(app, "function", "connect")) == {"app/main.py::run"}
    assert abroad(dependents(app, "class", "Client"), "extends") == {"app/main.py::Loud"}
    back = get_dependents(app.code.graph, "function", "Loud.greet", "shop", include_cross_repo=True)
    assert {(row["repository"], row["path"]) for row in back["dependents"]} == {
        ("auth", "src/acme_auth/client.py::Client.login")
    }


def test_without_being_asked_the_answer_keeps_to_one_repository_and_says_so(app: App, tmp_path: Path) -> None:
    index(app, tmp_path, PYTHON)
    answer = get_dependents(app.code.graph, "function", "connect", "auth")
    assert answer["dependents"] == []
    impact = answer["impact_analysis"]
    assert (impact["lower_bound"], impact["upper_bound"]) == (0, 1)
    assert impact["cross_repo_impact_count"] == 1
    own = get_dependencies(app.code.graph, "function", "run", "shop", relationship_types=["calls"])
    assert [row["path"] for row in own["dependencies"]] == ["app/main.py::Loud"]
    assert own["metadata"]["cross_repo_count"] == 3
    asked = dependents(app, "function", "connect")["impact_analysis"]
    assert (asked["direct_impact_count"], asked["lower_bound"], asked["upper_bound"]) == (1, 1, 1)
    assert asked["impact_score"] > 0


def test_dependencies_and_paths_lead_into_the_other_repository_where_asked(app: App, tmp_path: Path) -> None:
    index(app, tmp_path, PYTHON)
    found = get_dependencies(app.code.graph, "function", "run", "shop", 1, ["calls"], include_cross_repo=True)
    assert {row["path"] for row in found["dependencies"] if row["repository"] == "auth"} >= {
        "src/acme_auth/client.py::Client.login",
        "src/acme_auth/client.py::connect",
        "src/acme_auth/tokens.py::check",
    }
    ends = {"from_entity": "app/main.py::run", "to_entity": "auth/src/acme_auth/client.py::Client.greet"}
    path = find_path(app.code.graph, repository="shop", include_cross_repo=True, **ends)
    assert [(node["repository"], node["identifier"]) for node in path["path"]] == [
        ("shop", "app/main.py::run"),
        ("auth", "src/acme_auth/client.py::Client.login"),
        ("auth", "src/acme_auth/client.py::Client.greet"),
    ]
    with pytest.raises(NotFound, match="Entity not found"):
        find_path(app.code.graph, repository="shop", **ends)


def test_a_candidate_is_accepted_as_it_was_listed(app: App, tmp_path: Path) -> None:
    index(app, tmp_path, PYTHON)
    app.code.repositories.index(str(write_repository(tmp_path / "fork", PYTHON[0])), "fork")
    with pytest.raises(InvalidInput, match="ambiguous") as caught:
        get_dependents(app.code.graph, "function", "connect")
    for candidate in caught.value.allowed or ():
        answer = get_dependents(app.code.graph, "function", candidate)
        assert answer["entity"]["repository"] == candidate.partition("/")[0]


def test_a_change_on_either_side_is_followed(app: App, tmp_path: Path) -> None:
    index(app, tmp_path, PYTHON)
    (tmp_path / "auth/src/acme_auth/client.py").write_text(
        "class Client:\n    pass\n\n\ndef connect():\n    return 1\n"
    )
    app.code.repositories.update("auth")
    assert abroad(dependents(app, "function", "connect")) == {"app/main.py::run"}
    assert abroad(dependents(app, "function", "src/acme_auth/tokens.py::check")) == {"app/main.py::run"}
    (tmp_path / "shop/app/main.py").write_text("def run():\n    return 2\n")
    app.code.repositories.update("shop")
    assert abroad(dependents(app, "function", "connect")) == set()


def test_a_repository_that_goes_takes_its_edges_and_one_that_returns_brings_them(app: App, tmp_path: Path) -> None:
    index(app, tmp_path, PYTHON)
    app.code.repositories.remove("auth")
    left = app.code.graph.outgoing(["symbol:shop:app/main.py"], ("imports", "calls", "extends", "references"), True)
    assert {edge.target for edge in left if not edge.target.startswith("symbol:shop:")} == {"symbol:package:acme_auth"}
    index(app, tmp_path, PYTHON, (0,))
    assert abroad(dependents(app, "function", "connect")) == {"app/main.py::run"}
    app.code.repositories.remove("shop")
    assert dependents(app, "function", "connect")["dependents"] == []


def test_the_edges_are_the_same_in_whatever_order_repositories_came(
    app: App, tmp_path: Path, open_data: Callable[..., App]
) -> None:
    other = open_data(tmp_path / "other")
    index(app, tmp_path, PYTHON)
    index(other, tmp_path, PYTHON, (1, 0))
    ids = [s.symbol_id for s in app.code.graph.symbols(None)]
    words = ("imports", "calls", "extends", "implements", "references")
    assert app.code.graph.outgoing(ids, words) == other.code.graph.outgoing(ids, words)


def test_two_checkouts_of_one_package_are_both_impacted(app: App, tmp_path: Path) -> None:
    index(app, tmp_path, PYTHON)
    app.code.repositories.index(str(write_repository(tmp_path / "fork", PYTHON[0])), "fork")
    for name in ("auth", "fork"):
        answer = get_dependents(app.code.graph, "function", "connect", name, include_cross_repo=True)
        (row,) = [r for r in answer["dependents"] if r["relationship"] == "calls"]
        assert (row["repository"], row["metadata"]["resolution"]) == ("shop", "inferred")


def test_a_name_that_only_happens_to_be_the_same_joins_nothing(app: App, tmp_path: Path) -> None:
    auth = {"tests/helpers.py": "def connect():\n    return 1\n", "acme/__init__.py": "def one():\n    return 1\n"}
    shop = {"main.py": "from tests.helpers import connect\n\n\ndef run():\n    return connect()\n"}
    index(app, tmp_path, (auth, shop))
    assert dependents(app, "function", "connect")["dependents"] == []
