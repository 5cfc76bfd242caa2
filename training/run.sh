#!/bin/sh
# Teachers, soft labels, students, beside each other on one accelerator:
#   training/run.sh DATA OUT TEACHER-SECONDS STUDENT-SECONDS
# DATA is made by training.bases, training.unlabelled and a copy of the annotated sets. OUT gets the metrics and the
# int8 weights of the students that scored best at each size.
set -e
data=$1; out=$2; teach=$3; learn=$4
work=$(mktemp -d); mkdir -p "$work/ship"
export OMP_NUM_THREADS=1
trial() {
  name=$1; shift
  python3 -m training.train --data "$data" --out "$work" --name "$name" --epochs 200 "$@" >"$work/$name.log" 2>&1 &
}
for fold in 0 1 2 3; do
  trial "teacher-m$fold" --fold $fold --seed 1$fold --lr 3e-4 --seconds "$teach" --save "$work/m$fold.pt"
  trial "teacher-g$fold" --fold $fold --seed 2$fold --base granite --seconds "$teach" --save "$work/g$fold.pt"
done
wait
tail -qn 1 "$work"/teacher-*.log
python3 -m training.distil --data "$data" --teachers "$work"/m?.pt "$work"/g?.pt --out "$work/soft.pt"
soft="--teacher $work/soft.pt --seconds $learn --ship $work/ship"
trial six --layers 6 --lr 2e-4 $soft
trial six-fast --layers 6 --lr 4e-4 $soft
trial four --layers 4 --lr 3e-4 $soft
trial four-fast --layers 4 --lr 5e-4 $soft
trial four-spread --layers 4 --keep 0 1 3 5 --lr 4e-4 $soft
trial four-alone --layers 4 --lr 3e-4 --seconds "$learn" --ship "$work/ship"
trial clean-four --layers 4 --lr 3e-4 --seconds "$learn" --ship "$work/ship" --no-conll04
wait
python3 -m training.choose "$work" "$out"
tail -qn 2 "$work"/*.log | cut -c1-300
