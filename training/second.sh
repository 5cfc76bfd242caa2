#!/bin/sh
# The second round: students of the first round's students. training/second.sh DATA OUT SECONDS
# DATA/soft.npz is made by training.relabel from the exported models of the first round.
data=$1; out=$2; seconds=$3
work=$(mktemp -d); mkdir -p "$work/ship"
export OMP_NUM_THREADS=1
trial() {
  name=$1; shift
  python3 -m training.train --data "$data" --out "$work" --name "$name" --epochs 200 --layers 4 --teacher "$data/soft.npz" \
    --seconds "$seconds" --ship "$work/ship" "$@" >"$work/$name.log" 2>&1 &
}
trial four-a --lr 2e-4 --seed 3
trial four-b --lr 1.5e-4 --more-wnut17 --seed 4
trial four-c --lr 2e-4 --more-wnut17 --dropout 0.15 --seed 5
wait
python3 -m training.choose "$work" "$out"
cp "$work"/ship/*.npz "$out"
tail -qn 1 "$work"/*.log | cut -c1-200
