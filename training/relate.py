"""The relation head alone, on an encoder that stays as it is: `python -m training.relate --data DIR --start STEM …`.

Every sentence is encoded once; the head then sees it many times. Takes minutes on a CPU.
"""

import argparse
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from training import sets, templates
from training.encoding import Encoded, batches, encode, tensors
from training.network import Extractor
from training.scoring import relation_scores
from training.sets import RELATIONS
from training.train import build, open_base, quantise, ship, shipped

WEIGHT = {"redocred": 0.5, "core": 1.0, "made up": 1.0}  # redocred: what everybody knows, said or not


@torch.no_grad()
def states_of(model: Extractor, items: list[Encoded]) -> dict[int, torch.Tensor]:
    model.eval()
    found = {}
    for batch in batches(items, 4096, None):
        t = tensors(batch, "cpu")
        with torch.autocast("cpu", torch.bfloat16):
            states = model.states(t["ids"], t["shapes"], t["mask"])
        for row, item in enumerate(batch):
            found[id(item)] = states[row, : len(item.ids)].half()
    return found


def loss_of(model: Extractor, batch: list[Encoded], cached: dict[int, torch.Tensor], rng: Any) -> torch.Tensor | None:
    t = tensors(batch, "cpu", rng)
    if "row" not in t:
        return None
    states = torch.zeros(len(batch), t["ids"].shape[1], 384)
    for row, item in enumerate(batch):
        states[row, : len(item.ids)] = cached[id(item)].float()
    states = F.dropout(states, 0.1)
    with torch.autocast("cpu", torch.bfloat16):
        logits = model.relations(states, t["mask"], t["row"], t["spans"], t["kinds"], t["distance"], t["roles"])
    logits = logits.masked_fill(~t["known"], -1e4)
    weight = torch.tensor([WEIGHT[item.sentence.origin] for item in batch])[t["row"]]
    weight = weight * torch.where(t["gold"] == 0, 0.7, 1.0)
    return (F.cross_entropy(logits, t["gold"], reduction="none", label_smoothing=0.02) * weight).sum() / weight.sum()


def train(args: Any) -> None:
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    weights, units = open_base(args.data, "minilm")
    model = build(weights, "minilm", args)
    model.load_state_dict(shipped(args.start))
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name.startswith("relations"))
    annotated = sets.training_sentences(args.data)
    sentences = [s for s in annotated if s.pairs] + templates.made_up(annotated, args.made_up, args.seed, doubled=0.5)
    items = [encode(s, units) for s in sentences]
    cached = states_of(model, items)
    print(len(items), "sentences encoded", flush=True)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=args.lr, weight_decay=0.01)
    plan = [batch for _ in range(args.epochs) for batch in batches(items, 3072, rng)]
    model.train()
    for step, batch in enumerate(plan):
        done = step / len(plan)
        for group in optimizer.param_groups:
            group["lr"] = args.lr * min(1.0, (done + 1e-3) / 0.05) * 0.5 * (1 + math.cos(math.pi * done))
        loss = loss_of(model, batch, cached, rng)
        if loss is not None:
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], 1.0)
            optimizer.step()
    quantise(model)
    ship(model, args)
    held = {
        "conll04": relation_scores(model, units, sets.conll04(args.data, "dev"), "cpu", {"WORKS_FOR", "LOCATED_IN"}),
        "core": relation_scores(model, units, sets.core(args.data, held=True), "cpu"),
    }
    config = {k: str(v) for k, v in vars(args).items() if k not in ("data", "ship", "start")}
    (args.ship / f"{args.name}.json").write_text(json.dumps({"config": config, "relations": held}, indent=1))
    print(json.dumps(held), flush=True)


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--data", type=Path, required=True)
    p.add_argument("--start", type=Path, required=True, help="stem of weights that training.train shipped")
    p.add_argument("--ship", type=Path, required=True)
    p.add_argument("--name", required=True)
    p.add_argument("--layers", type=int, default=4)
    p.add_argument("--keep", type=int, nargs="*")
    p.add_argument("--dropout", type=float, default=0.1)
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--lr", type=float, default=5e-4)
    p.add_argument("--made-up", type=int, default=5000)
    p.add_argument("--seed", type=int, default=5)
    p.set_defaults(no_shapes=False, no_crf=False)
    return p


if __name__ == "__main__":
    assert len(RELATIONS) == 17
    train(parser().parse_args())
