"""A small repository as the seed draws it, for the tests that need one."""

from pathlib import Path

FIXTURES = Path(__file__).parent / "fixtures"
FILES = {
    ".gitignore": "ignored/\n",
    "ignored/secret.ts": "export function neverSeen() {}\n",
    "src/utils/jwt.ts": (
        'import jsonwebtoken from "jsonwebtoken";\n\n'
        "/** Checks the signature of a JSON web token. */\n"
        "export function validateToken(token: string): boolean {\n  return jsonwebtoken.verify(token);\n}\n"
    ),
    "src/db/users.ts": "export function findUser(name: string) {\n  return { name };\n}\n",
    "src/services/base.ts": "export class Service {\n  start() {\n    return true;\n  }\n}\n",
    "src/services/auth.ts": (
        'import { validateToken } from "../utils/jwt";\n'
        'import { findUser } from "../db/users";\n'
        'import { Service } from "./base";\n\n'
        "export class AuthService extends Service {\n"
        "  check(token: string) {\n    return validateToken(token);\n  }\n}\n\n"
        "export function authenticate(name: string, token: string) {\n"
        "  validateToken(token);\n  return findUser(name);\n}\n"
    ),
    "src/routes/api.ts": (
        'import { authenticate } from "../services/auth";\n\n'
        "export function handleLogin(request: any) {\n  return authenticate(request.name, request.token);\n}\n"
    ),
}


def write_repository(folder: Path, files: dict[str, str] | None = None) -> Path:
    for path, text in (FILES if files is None else files).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def project(name: str) -> dict[str, bytes]:
    """The files of a labelled project, by language."""
    root = FIXTURES / "code" / name
    files = [path for path in sorted(root.rglob("*")) if path.is_file() and path.name != "labels.txt"]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}
