"""Micro-F1 on the dev parts, exact span and type; relations given the entities."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import torch

from training import sets
from training.encoding import UnitTokenizer, batches, encode, tensors
from training.network import Extractor
from training.sets import LABELS, RELATIONS, Sentence


def viterbi(emissions: np.ndarray, move: np.ndarray, start: np.ndarray) -> list[int]:
    score = emissions[0] + start
    back = []
    for row in emissions[1:]:
        total = score[:, None] + move
        best = total.argmax(0)
        back.append(best)
        score = total[best, np.arange(len(best))] + row
    path = [int(score.argmax())]
    for best in reversed(back):
        path.append(int(best[path[-1]]))
    return path[::-1]


def spans_of(path: list[int]) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    for unit, label in enumerate(path):
        name = LABELS[label]
        if name[0] == "B":
            found.append((unit, unit, name[2:]))
        elif name[0] == "I" and found:
            start, _, kind = found[-1]
            found[-1] = (start, unit, kind)
    return found


def entity_scores(predict: Any, sentences: list[Sentence]) -> dict[str, float]:
    counts: Counter[tuple[str, str]] = Counter()
    kinds = {kind for s in sentences for _, _, kind in s.gold}
    for sentence, spans in zip(sentences, predict(sentences), strict=True):
        gold = set(sentence.gold)
        found = {(sentence.units[a][0], sentence.units[b][1], k) for a, b, k in spans if k in kinds}
        for item in gold:
            counts[item[2], "gold"] += 1
        for item in found:
            counts[item[2], "found"] += 1
            counts[item[2], "right"] += item in gold
    total = {name: sum(v for (_, n), v in counts.items() if n == name) for name in ("gold", "found", "right")}
    result = {
        "micro": f1(total["right"], total["found"], total["gold"]),
        "precision": round(100 * total["right"] / max(total["found"], 1), 1),
        "recall": round(100 * total["right"] / max(total["gold"], 1), 1),
    }
    for kind in sorted(kinds):
        result[kind] = f1(counts[kind, "right"], counts[kind, "found"], counts[kind, "gold"])
    return result


def f1(right: int, found: int, gold: int) -> float:
    return round(200 * right / (found + gold), 1) if found + gold else 0.0


@torch.no_grad()
def predictor(models: list[Extractor], tokenizers: list[UnitTokenizer], device: str) -> Any:
    """Spans per sentence; several models are averaged in the scores."""

    def predict(sentences: list[Sentence]) -> list[list[tuple[int, int, str]]]:
        scores: list[np.ndarray | None] = [None] * len(sentences)
        for model, units in zip(models, tokenizers, strict=True):
            model.eval()
            encoded = [encode(s, units) for s in sentences]
            where = {id(e): n for n, e in enumerate(encoded)}
            for batch in batches(encoded, 16384, None):
                t = tensors(batch, device)
                with torch.no_grad(), torch.autocast(device, torch.bfloat16):
                    states = model.states(t["ids"], t["shapes"], t["mask"])
                    e = model.emissions(states.float(), t["firsts"]).log_softmax(-1)
                for row, item in enumerate(batch):
                    n = where[id(item)]
                    own = e[row, : len(item.firsts)].cpu().numpy()
                    before = scores[n]
                    if before is None:
                        scores[n] = own
                    else:
                        size = min(len(before), len(own))
                        scores[n] = before[:size] + own[:size]
        move = np.mean([(m.transitions + m.forbidden).detach().cpu().numpy() for m in models], 0)
        return [spans_of(viterbi(s / len(models), move, move[0])) if s is not None and len(s) else [] for s in scores]

    return predict


@torch.no_grad()
def relation_scores(
    model: Extractor, units: UnitTokenizer, sentences: list[Sentence], device: str, names: set[str] | None = None
) -> dict[str, float]:
    model.eval()
    counts: Counter[tuple[str, str]] = Counter()
    for batch in batches([encode(s, units) for s in sentences], 8192, None):
        t = tensors(batch, device)
        if "row" not in t:
            continue
        with torch.autocast(device, torch.bfloat16):
            states = model.states(t["ids"], t["shapes"], t["mask"])
            logits = model.relations(states, t["mask"], t["row"], t["spans"], t["kinds"], t["distance"], t["roles"])
        logits = logits.masked_fill(~t["known"], -1e4)
        for gold, found in zip(t["gold"].tolist(), logits.argmax(-1).tolist(), strict=True):
            counts[merged(gold), "gold"] += 1
            counts[merged(found), "found"] += 1
            counts[merged(gold), "right"] += merged(gold) == merged(found)
    wanted = (names or set(map(str, RELATIONS))) - {"NONE"}
    total = {n: sum(v for (k, m), v in counts.items() if m == n and k in wanted) for n in ("gold", "found", "right")}
    result = {"micro": f1(total["right"], total["found"], total["gold"])}
    for name in RELATIONS[1:]:
        if counts[name, "gold"]:
            result[name] = f1(counts[name, "right"], counts[name, "found"], counts[name, "gold"])
    return result


def merged(relation: int) -> str:
    return RELATIONS[relation]


def dev_sets(folder: Path) -> dict[str, list[Sentence]]:
    found = {
        "wnut17": sets.wnut17(folder, "dev"),
        "conll04": sets.conll04(folder, "dev"),
        "wikigold": sets.wikigold(folder),
    }
    return found | {f"crossner_{d}": sets.crossner(folder, d, "dev") for d in sets.CROSSNER}


def report(model: Extractor, units: UnitTokenizer, folder: Path, device: str) -> dict[str, Any]:
    dev = dev_sets(folder)
    predict = predictor([model], [units], device)
    entities = {name: entity_scores(predict, sentences) for name, sentences in dev.items()}
    crossner = [entities[f"crossner_{d}"]["micro"] for d in sets.CROSSNER]
    return {
        "entities": entities,
        "crossner_mean": round(sum(crossner) / len(crossner), 1),
        "relations": {
            "conll04": relation_scores(model, units, dev["conll04"], device, {"WORKS_FOR", "LOCATED_IN"}),
            "core": relation_scores(model, units, sets.core(folder, held=True), device),
        },
    }
