"""The mean of two rounds' weights: `python -m training.average FIRST SECOND SHARE OUT-FOLDER NAME`.

The rounds lie in one basin, and between them the model is better than at either end. SHARE is the second's; the
relation head is the second's alone.
"""

import argparse
import sys
from pathlib import Path

from training.network import Extractor
from training.train import quantise, ship, shipped


def main(first: Path, second: Path, share: float, out: Path, name: str) -> None:
    one, two = shipped(first), shipped(second)
    mean = {
        key: value if key.startswith("relations.") else one[key] * (1 - share) + value * share
        for key, value in two.items()
    }
    layers = 1 + max(int(key.split(".")[1]) for key in mean if key.startswith("layers."))
    model = Extractor(len(mean["word.weight"]), len(mean["position.weight"]), layers=layers)
    model.load_state_dict(mean)
    quantise(model)
    ship(model, argparse.Namespace(ship=out, name=name))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]), Path(sys.argv[4]), sys.argv[5])
