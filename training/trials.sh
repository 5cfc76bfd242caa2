#!/bin/sh
# Several configurations beside each other on one accelerator: training/trials.sh DATA OUT SECONDS
# Each prints and writes its metrics; nothing of it ships.
data=$1; out=$2; seconds=$3
export OMP_NUM_THREADS=1
trial() {
  name=$1; shift
  python3 -m training.train --data "$data" --out "$out" --name "$name" --seconds "$seconds" --epochs 100 "$@" >"$out/$name.log" 2>&1 &
}
trial plain --no-shapes --no-crf --lr 1e-4 --decay 1
trial minilm
trial minilm-fast --lr 4e-4
trial granite --base granite
trial granite-noshape --base granite --no-shapes
trial granite-fast --base granite --lr 4e-4
trial granite-noconll --base granite --no-conll04
trial granite-rel --base granite --no-redocred-pairs --relation-weight 1
trial granite-4 --base granite --layers 4
trial granite-big --base granite --tokens 1024
wait
for f in "$out"/*.json; do python3 - "$f" <<'P'
import json, sys
r = json.load(open(sys.argv[1])); e = r["ema"]
print(r["name"], r["seconds"], {k: v["micro"] for k, v in e["entities"].items()}, "mean", e["crossner_mean"],
      "PRODUCT ai", e["entities"]["crossner_ai"]["PRODUCT"], "wnut", e["entities"]["wnut17"]["PRODUCT"], {k: v["micro"] for k, v in e["relations"].items()})
P
done
tail -n 3 "$out"/*.log
