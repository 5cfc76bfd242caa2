"""Collects a run's metrics and the weights that go on: `python -m training.choose WORK OUT`."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any


def total(report: dict[str, Any]) -> float:
    entities = report["entities"]
    return float(
        entities["wnut17"]["micro"]
        + entities["conll04"]["micro"]
        + entities["wikigold"]["micro"]
        + 2 * report["crossner_mean"]
        + entities["crossner_ai"]["PRODUCT"]
        + report["relations"]["conll04"]["micro"]
        + report["relations"]["core"]["micro"]
    )


def line(name: str, report: dict[str, Any]) -> str:
    entities = report["entities"]
    micro = {k.removeprefix("crossner_"): f"{v['micro']} ({v['precision']}/{v['recall']})" for k, v in entities.items()}
    relations = {k: v["micro"] for k, v in report["relations"].items()}
    product = entities["crossner_ai"]["PRODUCT"]
    return f"{name}: {micro} mean {report['crossner_mean']} PRODUCT {product} {relations} total {total(report):.1f}"


def main(work: Path, out: Path) -> None:
    runs = {
        path.stem: json.loads(path.read_text()) for path in work.glob("*.json") if not path.stem.startswith("teacher")
    }
    out.mkdir(parents=True, exist_ok=True)
    (out / "metrics.json").write_text(json.dumps(runs, indent=1))
    for name, run in sorted(runs.items()):
        print(run.get("epochs"), run["seconds"], line(name, run["ema"]))
        if "int8" in run:
            print("   ", line("int8", run["int8"]))
    for family in ("six", "four", "clean"):
        members = [name for name, run in runs.items() if name.startswith(family) and "int8" in run]
        if members:
            best = max(members, key=lambda name: total(runs[name]["int8"]))
            for part in ("words", "rest"):
                shutil.copy(work / "ship" / f"{best}-{part}.npz", out / f"{best}-{part}.npz")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
