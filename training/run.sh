#!/bin/sh
# Two rounds and their mean, on a CPU or on an accelerator: training/run.sh DATA OUT
# DATA holds the annotated sets and what training.bases makes (the base model). OUT gets the ONNX graphs and metrics.json.
# About seven CPU minutes an epoch on one core; the first round is the long one.
set -e
data=$1; out=$2; work=$(mktemp -d)
export PYTHONPATH=src:.
train() {
  python3 -m training.train --data "$data" --out "$work" --ship "$work" --layers 4 "$@"
}
train --name first --lr 3e-4 --epochs 21
train --name second --start "$work/first" --lr 1.5e-4 --head-lr 5e-4 --ema 0.995 --epochs 4 --freeze-words \
  --more-wnut17 --seed 11
python3 -m training.average "$work/first" "$work/second" 0.35 "$work" both
python3 -m training.export "$work/both" "$data/minilm.tokenizer.json" "$out"
cp "$work/second.json" "$out/metrics.json"
