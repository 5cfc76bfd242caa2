"""Sentence encoders and cross-encoders on ONNX Runtime."""

from trivium.backends.onnx.embedder import OnnxEmbedder
from trivium.backends.onnx.opening import open_model

__all__ = ["OnnxEmbedder", "open_model"]
