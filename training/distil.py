"""Soft labels of an ensemble. A training sentence is labelled only by teachers that never saw it.

`python -m training.distil --data DIR --teachers A.pt B.pt … --out soft.pt`
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch

from training import sets
from training.encoding import batches, encode, tensors
from training.sets import LABELS, RELATIONS, Sentence
from training.train import build, open_base


class Sums:
    """Running sums over teachers: log-probabilities of units, probabilities of pairs."""

    def __init__(self, sentences: list[Sentence]) -> None:
        self.units = [np.zeros((len(s.units), len(LABELS)), np.float32) for s in sentences]
        self.votes = np.zeros(len(sentences), np.int64)
        self.pairs = [[np.zeros(len(RELATIONS), np.float32) for _ in s.pairs] for s in sentences]

    def averaged(self) -> tuple[list[np.ndarray | None], list[list[np.ndarray | None]]]:
        units: list[np.ndarray | None] = []
        for total, votes in zip(self.units, self.votes, strict=True):
            scores = np.exp(total / max(votes, 1))
            units.append((scores / scores.sum(-1, keepdims=True)).astype(np.float16) if votes else None)
        pairs = [[p / p.sum() if p.sum() > 0 else None for p in row] for row in self.pairs]
        return units, pairs


@torch.no_grad()
def label(path: Path, data: Path, sentences: list[Sentence], sums: Sums, device: str) -> None:
    loaded = torch.load(path, weights_only=False)
    args = argparse.Namespace(**loaded["args"])
    weights, units = open_base(data, args.base)
    model = build(weights, args.base, args).to(device)
    model.load_state_dict({k: v.float() if v.is_floating_point() else v for k, v in loaded["state"].items()})
    model.eval()
    wanted = [
        n for n, s in enumerate(sentences) if s.origin == "unlabelled" or sets.fold_of(s, args.folds) == args.fold
    ]
    encoded = [encode(sentences[n], units) for n in wanted]
    where = {id(e): n for n, e in zip(wanted, encoded, strict=True)}
    for batch in batches(encoded, 16384, None):
        t = tensors(batch, device)
        with torch.autocast("cuda", torch.bfloat16, enabled=device == "cuda"):
            states = model.states(t["ids"], t["shapes"], t["mask"])
        scores = model.emissions(states.float(), t["firsts"]).log_softmax(-1).cpu().numpy()
        for row, item in enumerate(batch):
            number, count = where[id(item)], len(item.firsts)
            sums.units[number][:count] += scores[row, :count]
            sums.units[number][count:] += np.log(1 / len(LABELS))
            sums.votes[number] += 1
        if "row" in t:
            _add_pairs(model, t, states, batch, where, sums, device)


def _add_pairs(
    model: Any,
    t: dict[str, torch.Tensor],
    states: torch.Tensor,
    batch: list[Any],
    where: dict[int, int],
    sums: Sums,
    device: str,
) -> None:
    with torch.autocast("cuda", torch.bfloat16, enabled=device == "cuda"):
        logits = model.relations(states, t["mask"], t["row"], t["spans"], t["kinds"], t["distance"], t["roles"])
    chances = logits.masked_fill(~t["known"], -1e4).softmax(-1).cpu().numpy()
    at = 0
    for item in batch:
        for number, (head, tail, _) in enumerate(item.sentence.pairs):
            ends = max(item.sentence.entities[head].end, item.sentence.entities[tail].end)
            if ends < len(item.firsts):
                sums.pairs[where[id(item)]][number] += chances[at]
                at += 1


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--data", type=Path, required=True)
    p.add_argument("--teachers", type=Path, nargs="+", required=True)
    p.add_argument("--out", type=Path, required=True)
    args = p.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    sentences = sets.training_sentences(args.data) + sets.unlabelled(args.data)
    sums = Sums(sentences)
    for teacher in args.teachers:
        label(teacher, args.data, sentences, sums, device)
    units, pairs = sums.averaged()
    torch.save({"units": units, "pairs": pairs}, args.out)
    print("labelled", len(sentences), "by", len(args.teachers), "teachers", flush=True)


if __name__ == "__main__":
    main()
