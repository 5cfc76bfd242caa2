"""What lies in deploy/ fits together: names that refer to something find it, settings exist, commands too."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from trivium.doors.cli.main import build
from trivium.settings import Settings, variables

DEPLOY = Path(__file__).parents[2] / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SETTINGS = {name for field in Settings.model_fields for name in variables(field)}
COMMANDS = set(typer.main.get_command(build()).commands)  # type: ignore[attr-defined]


def objects() -> list[dict[str, Any]]:
    listed = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())["resources"]
    return [one for name in listed for one in yaml.safe_load_all((KUBERNETES / name).read_text())]


def named(kind: str) -> dict[str, dict[str, Any]]:
    return {one["metadata"]["name"]: one for one in objects() if one["kind"] == kind}


def pod_specs() -> Iterator[tuple[dict[str, str], dict[str, Any]]]:
    """Labels and spec of every pod that is made."""
    for one in objects():
        if one["kind"] in ("Deployment", "StatefulSet", "Job"):
            template = one["spec"]["template"]
        elif one["kind"] == "CronJob":
            template = one["spec"]["jobTemplate"]["spec"]["template"]
        else:
            continue
        yield template["metadata"]["labels"], template["spec"]


def test_every_manifest_is_listed() -> None:
    listed = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())["resources"]
    assert {path.name for path in KUBERNETES.glob("*.yaml")} == {*listed, "kustomization.yaml"}


def test_selectors_find_pods() -> None:
    pods = [labels for labels, _ in pod_specs()]
    selectors = [one["spec"]["selector"] for one in objects() if one["kind"] == "Service"]
    selectors += [
        one["spec"]["selector"]["matchLabels"]
        for one in objects()
        if one["kind"] in ("Deployment", "StatefulSet", "PodDisruptionBudget")
    ]
    for selector in selectors:
        assert any(selector.items() <= labels.items() for labels in pods), selector


def test_pods_refer_to_secrets_settings_and_volumes_that_are_there() -> None:
    secrets, settings = named("Secret"), named("ConfigMap")
    for _, spec in pod_specs():
        volumes = {volume["name"] for volume in spec.get("volumes", ())} | {"data"}  # data: or of a claim template
        for container in spec["containers"]:
            for source in container.get("envFrom", ()):
                assert source.get("configMapRef", {}).get("name", "trivium-settings") in settings
                assert source.get("secretRef", {}).get("name", "trivium-secrets") in secrets
            for variable in container.get("env", ()):
                reference = variable.get("valueFrom", {}).get("secretKeyRef")
                assert not reference or reference["key"] in secrets[reference["name"]]["stringData"]
            assert {mount["name"] for mount in container.get("volumeMounts", ())} <= volumes


def test_every_setting_exists() -> None:
    given = [*named("ConfigMap")["trivium-settings"]["data"], *named("Secret")["trivium-secrets"]["stringData"]]
    given += COMPOSE["x-trivium"]["environment"]
    given += re.findall(r"TRIVIUM_\w+(?==)", (DEPLOY / "Dockerfile").read_text())
    assert {name for name in given if name.startswith("TRIVIUM_")} <= SETTINGS


def test_every_command_exists() -> None:
    asked = [
        container["args"][0]
        for _, spec in pod_specs()
        for container in spec["containers"]
        if container["image"] == "trivium"
    ]
    asked += [
        service["command"][0] for service in COMPOSE["services"].values() if service["image"].startswith("trivium")
    ]
    assert set(asked) <= COMMANDS
    assert {"serve", "worker", "migrate"} <= set(asked)


@pytest.mark.parametrize("name", ["POSTGRES_PASSWORD", "REDIS_PASSWORD", "TRIVIUM_HOST"])
def test_compose_does_not_start_without_what_must_be_chosen(name: str) -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    assert f"${{{name}:?" in text
    used = set(re.findall(r"\$\{(\w+)", text)) - {"TRIVIUM_VECTORS", "TRIVIUM_GRAPH"}
    assert used <= set(re.findall(r"^(\w+)=", (DEPLOY / ".env.example").read_text(), re.M))


def test_images_are_pinned() -> None:
    images = [container["image"] for _, spec in pod_specs() for container in spec["containers"]]
    images += [service["image"] for service in COMPOSE["services"].values()]
    assert all(":" in image and not image.endswith(":latest") for image in images if image != "trivium")
