"""Trains one model. `python -m training.train --data DIR --base minilm --out DIR --name NAME [options]`."""

import argparse
import copy
import json
import math
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from training import augment, sets, templates
from training.encoding import Encoded, UnitTokenizer, batches, encode, tensors
from training.network import Extractor
from training.scoring import report

CORE_LEFT_OUT = 0.5  # of an epoch: long sentences with a single pair


def open_base(folder: Path, base: str) -> tuple[dict[str, np.ndarray], UnitTokenizer]:
    """`BASE.npz` (int8 matrices with scales per row, float32 vectors) and `BASE.tokenizer.json`."""
    from tokenizers import Tokenizer

    packed = np.load(folder / f"{base}.npz")
    weights = {}
    for name in packed.files:
        if name.endswith(".scale"):
            continue
        value = packed[name].astype(np.float32)
        if f"{name}.scale" in packed.files:
            value = (value.reshape(-1, 64) * packed[f"{name}.scale"].astype(np.float32)[:, None]).reshape(value.shape)
        weights[name] = value
    tokenizer = Tokenizer.from_file(str(folder / f"{base}.tokenizer.json"))
    special = ("<s>", "</s>", "<unk>") if base == "granite" else ("[CLS]", "[SEP]", "[UNK]")
    first, last, unknown = (tokenizer.token_to_id(name) for name in special)
    return weights, UnitTokenizer(tokenizer, spaced=base == "granite", first=first, last=last, unknown=unknown)


def build(weights: dict[str, np.ndarray], base: str, args: Any) -> Extractor:
    positions = weights["pos_emb"][2 if base == "granite" else 0 :] + weights["type_emb"][0]
    model = Extractor(
        len(weights["word_emb"]),
        len(positions),
        layers=args.layers,
        dropout=args.dropout,
        eps=1e-5 if base == "granite" else 1e-12,
        shapes=not args.no_shapes,
        crf=not args.no_crf,
    )
    state = {
        "word.weight": weights["word_emb"],
        "position.weight": positions,
        "emb_ln.weight": weights["emb_ln.w"],
        "emb_ln.bias": weights["emb_ln.b"],
    }
    keep = args.keep or list(range(args.layers))
    for number, origin in enumerate(keep):
        for part in ("qkv", "ao", "f1", "f2", "aln", "fln"):
            state[f"layers.{number}.{part}.weight"] = weights[f"l{origin}.{part}.w"]
            state[f"layers.{number}.{part}.bias"] = weights[f"l{origin}.{part}.b"]
    missing, unexpected = model.load_state_dict(
        {k: torch.from_numpy(np.array(v)) for k, v in state.items()}, strict=False
    )
    assert not unexpected, unexpected
    assert all(name.startswith(("labels", "transitions", "forbidden", "relations", "shape")) for name in missing), (
        missing
    )
    return model


def groups(model: Extractor, lr: float, head_lr: float, decay: float) -> list[dict[str, Any]]:
    """Lower layers move less."""
    result = []
    depth = len(model.layers)
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        if name.startswith(("labels", "transitions", "relations", "shape")):
            rate = head_lr * (3 if name == "transitions" else 1)
        elif name.startswith("layers."):
            rate = lr * decay ** (depth - 1 - int(name.split(".")[1]))
        else:
            rate = lr * decay**depth
        result.append({"params": [parameter], "lr": rate, "weight_decay": 0.01 if parameter.ndim > 1 else 0.0})
    return result


def losses(model: Extractor, t: dict[str, torch.Tensor], device: str) -> tuple[torch.Tensor, torch.Tensor]:
    with torch.autocast(device, torch.bfloat16):
        states = model.states(t["ids"], t["shapes"], t["mask"])
    emissions = model.emissions(states.float(), t["firsts"])
    free = model.log_partition(emissions, t["universe"], t["unit_mask"])
    bound = model.log_partition(emissions, t["allowed"], t["unit_mask"])
    labels = (free - bound).sum() / t["unit_mask"].sum() * 8
    if "row" not in t:
        return labels, labels.new_zeros(())
    with torch.autocast(device, torch.bfloat16):
        logits = model.relations(states, t["mask"], t["row"], t["spans"], t["kinds"], t["distance"], t["roles"])
    logits = logits.masked_fill(~t["known"], -1e4)
    weight = torch.where(t["gold"] == 0, 0.7, 1.0)
    return labels, (F.cross_entropy(logits, t["gold"], reduction="none") * weight).sum() / weight.sum()


def train(args: Any) -> dict[str, Any]:
    torch.manual_seed(args.seed)
    torch.backends.cuda.matmul.allow_tf32 = True
    device = "cuda" if torch.cuda.is_available() else "cpu"
    rng = np.random.default_rng(args.seed)
    weights, units = open_base(args.data, args.base)
    model = build(weights, args.base, args)
    if args.start:
        model.load_state_dict(shipped(args.start))
    model.word.requires_grad_(not args.freeze_words)
    model = model.to(device)
    ema = copy.deepcopy(model)
    sentences = sets.training_sentences(args.data)
    names = templates.names_of(sentences)
    sentences += [s for s in sentences if s.origin == "wnut17"] if args.more_wnut17 else []
    sentences += templates.made_up(sentences, args.made_up, args.seed)
    encoded = [encode(s, units) for s in sentences]
    per_epoch = sum(1 for _ in batches(encoded, args.tokens, np.random.default_rng(0)))
    total = per_epoch * args.epochs
    optimizer = torch.optim.AdamW(groups(model, args.lr, args.head_lr, args.decay), fused=device == "cuda")
    base_rates = [group["lr"] for group in optimizer.param_groups]
    step, began = 0, time.time()
    for epoch in range(args.epochs):
        model.train()
        seen = torch.zeros(2, device=device)
        plan = list(batches(varied(sentences, units, names, args.seed + epoch), args.tokens, rng))
        for batch in plan:
            done = (time.time() - began) / args.seconds if args.seconds else step / total
            if done >= 1:
                break
            rate = min(1.0, (done + 1e-4) / 0.06) * 0.5 * (1 + math.cos(math.pi * done))
            for group, initial in zip(optimizer.param_groups, base_rates, strict=True):
                group["lr"] = initial * rate
            t = tensors(batch, device, rng)
            labels, relations = losses(model, t, device)
            optimizer.zero_grad(set_to_none=True)
            (labels + args.relation_weight * relations).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            with torch.no_grad():
                keep = min(args.ema, (step + 1) / (step + 10))
                torch._foreach_lerp_(_moving(ema), _moving(model), 1 - keep)
            seen += torch.stack([labels.detach(), relations.detach()])
            step += 1
        if args.seconds and time.time() - began > args.seconds:
            break
        if epoch % 4 == 3 or epoch == args.epochs - 1 or device == "cpu":
            print(
                f"{args.name} epoch {epoch + 1} loss {(seen / len(plan)).tolist()} {time.time() - began:.0f}s",
                flush=True,
            )
        if args.ship and device == "cpu":  # hours, so that a run which is cut short is not lost
            ship(ema, args)
    metrics = {
        "name": args.name,
        "seconds": round(time.time() - began),
        "epochs": round(step / per_epoch, 2),
        "config": {k: str(v) for k, v in vars(args).items() if k not in ("data", "out", "ship", "start")},
        "steps": step,
        "ema": report(ema, units, args.data, device),
    }
    args.out.mkdir(parents=True, exist_ok=True)
    if args.ship:
        quantise(ema)
        metrics["int8"] = report(ema, units, args.data, device)
        ship(ema, args)
    (args.out / f"{args.name}.json").write_text(json.dumps(metrics, indent=1))
    return metrics


def _moving(model: Extractor) -> list[torch.Tensor]:
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def varied(
    sentences: list[sets.Sentence], units: UnitTokenizer, names: dict[str, list[str]], seed: int
) -> list[Encoded]:
    """An epoch's sentences."""
    rng = random.Random(seed)
    kept = [s for s in sentences if s.origin != "core" or rng.random() >= CORE_LEFT_OUT]
    return [encode(augment.variant(sentence, names, rng), units) for sentence in kept]


def shipped(stem: Path) -> dict[str, torch.Tensor]:
    """Weights that `ship` wrote, as floats."""
    packed: dict[str, np.ndarray] = {}
    for part in ("words", "rest"):
        packed |= dict(np.load(f"{stem}-{part}.npz"))
    state = {}
    for name, value in packed.items():
        if not name.endswith(".scale"):
            scale = packed.get(f"{name}.scale")
            state[name] = torch.from_numpy(value.astype(np.float32) * (1 if scale is None else scale[:, None]))
    return state


def rows_as_int8(value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """One scale a row: an output channel of a matrix, a word of the embedding table."""
    scale = value.abs().amax(1, keepdim=True).clamp(min=1e-8) / 127
    return (value / scale).round().clamp(-127, 127), scale


@torch.no_grad()
def quantise(model: Extractor) -> None:
    """Puts every matrix where int8 can hold it, so that what is scored is what ships."""
    for name, parameter in model.named_parameters():
        if parameter.ndim == 2 and name != "transitions":
            values, scale = rows_as_int8(parameter)
            parameter.copy_(values * scale)


def ship(model: Extractor, args: Any) -> None:
    """Two files (the words, the rest), each below the size a transfer may have."""
    words, rest = {}, {}
    for name, value in model.state_dict().items():
        target = words if name == "word.weight" else rest
        if value.ndim == 2 and name not in ("transitions", "forbidden"):
            numbers, scale = rows_as_int8(value)
            target[name] = numbers.to(torch.int8).cpu().numpy()
            target[f"{name}.scale"] = scale[:, 0].float().cpu().numpy()
        else:
            target[name] = value.float().cpu().numpy()
    np.savez_compressed(args.ship / f"{args.name}-words.npz", **words)
    np.savez_compressed(args.ship / f"{args.name}-rest.npz", **rest)


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--data", type=Path, required=True)
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--name", required=True)
    p.add_argument("--base", choices=["minilm", "granite"], default="minilm")
    p.add_argument("--ship", type=Path, help="folder for the int8 weights")
    p.add_argument("--layers", type=int, default=6)
    p.add_argument("--keep", type=int, nargs="*", help="layers of the base to start from")
    p.add_argument("--epochs", type=int, default=16)
    p.add_argument("--seconds", type=float, help="for trials: the schedule runs on the clock, whatever --epochs says")
    p.add_argument("--tokens", type=int, default=2048)
    p.add_argument("--lr", type=float, default=2e-4)
    p.add_argument("--head-lr", type=float, default=1e-3)
    p.add_argument("--decay", type=float, default=0.9)
    p.add_argument("--dropout", type=float, default=0.1)
    p.add_argument("--ema", type=float, default=0.998)
    p.add_argument("--relation-weight", type=float, default=1.0)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--no-shapes", action="store_true")
    p.add_argument("--no-crf", action="store_true")
    p.add_argument("--more-wnut17", action="store_true", help="every wnut17 sentence twice")
    p.add_argument("--start", type=Path, help="weights to go on from: the stem of what --ship wrote")
    p.add_argument("--freeze-words", action="store_true", help="leave the embeddings of words as they are")
    p.add_argument("--made-up", type=int, default=1500, help="sentences of training.templates")
    return p


if __name__ == "__main__":
    print(json.dumps(train(parser().parse_args())["ema"]))
