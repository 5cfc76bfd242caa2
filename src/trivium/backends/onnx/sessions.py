"""ONNX Runtime sessions and tokenizers, opened the way every model here needs them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trivium.errors import ModelUnavailable

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Ints = npt.NDArray[np.integer[Any]]


def open_session(path: Path, *, optimise: bool) -> Any:
    """One thread a call: callers run in parallel, which beats splitting one call over cores (docs/decisions)."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimise else levels.ORT_DISABLE_ALL
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the driver's error classes share no base
        raise ModelUnavailable(
            f"ONNX Runtime cannot open {path}: {error}", hint="delete the file so that it is made again"
        ) from error


def open_tokenizer(path: Path) -> "Tokenizer":
    """Without the truncation and padding that tokenizer.json may hard-code: lengths are the caller's business."""
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the driver raises bare Exception
        raise ModelUnavailable(f"{path} is not a tokenizer: {error}", hint="fetch the model again") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def padded(rows: Sequence[Sequence[int] | Ints], dtype: type[np.integer[Any]]) -> tuple[Ints, Ints]:
    """Rows side by side, zeros on the right; and their lengths."""
    lengths = np.array([len(row) for row in rows], dtype)
    block = np.zeros((len(rows), int(lengths.max())), dtype)
    for line, row in enumerate(rows):
        block[line, : len(row)] = row
    return block, lengths
