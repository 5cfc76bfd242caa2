"""Sentence encoders and cross-encoders on ONNX Runtime."""

from trivium.backends.onnx.embedder import OnnxEmbedder
from trivium.backends.onnx.folder import open_folder
from trivium.backends.onnx.opening import open_model
from trivium.backends.onnx.reranker import OnnxReranker, open_reranker

__all__ = ["OnnxEmbedder", "OnnxReranker", "open_folder", "open_model", "open_reranker"]
