"""Trivium's own extraction model on ONNX Runtime. The weights lie in this folder; see weights/MODEL_CARD.md."""

from trivium.backends.onnx_extract.extractor import OnnxExtractor

__all__ = ["OnnxExtractor"]
