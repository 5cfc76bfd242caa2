"""Text to vectors by an OpenAI-compatible `/v1/embeddings` endpoint (a hosted service, Ollama, vLLM, TEI, llama.cpp).

Requests are bounded in size, repeated with growing pauses where that can help, and fail as BackendUnavailable with
what the endpoint said. The key never appears in a message.
"""

import json
import math
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from trivium.errors import BackendUnavailable, InvalidInput
from trivium.model.embedding import EmbeddingModel, Vectors

TEXTS_PER_REQUEST = 64
CHARACTERS_PER_REQUEST = 200_000
LONGEST_PAUSE_S = 30.0

_RETRYABLE = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_BYTES_PER_TOKEN = 3  # English prose has about 4.5, code 3: erring on this side, nothing is cut off unseen
_SPECIAL_TOKENS = 2


class HttpEmbedder:
    def __init__(
        self,
        url: str,
        model: str,
        key: str = "",
        *,
        dimension: int | None = None,
        max_tokens: int = 512,
        timeout_s: float = 30.0,
        tries: int = 4,
        first_pause_s: float = 0.5,
        query_prefix: str = "",
        passage_prefix: str = "",
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """`url` is the endpoint's base, with or without `/v1` or `/v1/embeddings`. Without `dimension` the endpoint is
        asked once, when it is first needed."""
        self._url = endpoint(url)
        self._name = model
        self._key = key
        self._max_tokens = max_tokens
        self._timeout_s = timeout_s
        self._tries = tries
        self._first_pause_s = first_pause_s
        self._prefixes = query_prefix, passage_prefix
        self._pause = pause
        self._model = EmbeddingModel(model, dimension, max_tokens) if dimension else None

    @property
    def model(self) -> EmbeddingModel:
        if self._model is None:
            dimension = len(self._request(["dimension"])[0])
            self._model = EmbeddingModel(self._name, dimension, self._max_tokens)
        return self._model

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed([self._prefixes[0] + text for text in texts])

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed([self._prefixes[1] + text for text in texts])

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """An estimate on the high side, since the endpoint's tokenizer is not known here: one token for every three
        bytes of UTF-8, at least one a word, and two special ones."""
        return [_SPECIAL_TOKENS + _estimated_tokens(self._prefixes[1] + text) for text in texts]

    def _embed(self, texts: list[str]) -> Vectors:
        vectors = np.empty((len(texts), self.model.dimension), np.float32)
        done = 0
        for batch in _batches(texts):
            vectors[done : done + len(batch)] = self._vectors(batch)
            done += len(batch)
        return vectors

    def _vectors(self, batch: list[str]) -> Vectors:
        """Endpoints refuse empty texts and need not normalise."""
        rows = self._request([text if text.strip() else "." for text in batch])
        if {len(row) for row in rows} != {self.model.dimension}:
            sizes = sorted({len(row) for row in rows})
            raise BackendUnavailable(
                f"{self._url} gave vectors of {sizes} dimensions for {self._name}, expected {self.model.dimension}",
                hint="the endpoint serves another model now: trivium reindex --model NAME",
            )
        vectors: Vectors = np.array(rows, np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.maximum(lengths, 1e-12)
        return vectors

    def _request(self, texts: list[str]) -> list[list[float]]:
        body = json.dumps({"model": self._name, "input": texts, "encoding_format": "float"}).encode()
        for attempt in range(self._tries):
            try:
                return _rows(self._post(body), len(texts), self._url)
            except _TryAgain as error:
                last = error
            if attempt < self._tries - 1:
                self._pause(min(LONGEST_PAUSE_S, last.retry_after_s or self._first_pause_s * 2**attempt))
        raise BackendUnavailable(
            f"{self._url} does not embed: {last}",
            retry_after_s=last.retry_after_s or 5.0,
            hint="check that the endpoint runs and that TRIVIUM_EMBEDDER_URL is right; search goes on with keywords",
        ) from last

    def _post(self, body: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._url, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=self._timeout_s) as response:
                answer: bytes = response.read()
                return answer
        except urllib.error.HTTPError as error:
            with error:
                raise self._refusal(error) from error
        except OSError as error:  # URLError, timeouts and resets are all of this kind
            raise _TryAgain(str(getattr(error, "reason", error))) from error

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        said = " ".join(error.read(500).decode("utf-8", "replace").split())
        if error.code in _RETRYABLE:
            return _TryAgain(f"{error.code} {error.reason} {said}", _seconds(error.headers.get("Retry-After")))
        hint = {
            401: "give a valid key with TRIVIUM_EMBEDDER_KEY",
            403: "give a key that may use this model with TRIVIUM_EMBEDDER_KEY",
            404: "check TRIVIUM_EMBEDDER_URL and the model's name",
        }.get(error.code, "check the model's name and the length of the texts")
        return BackendUnavailable(f"{self._url} refuses: {error.code} {error.reason} {said}", hint=hint)


class _TryAgain(Exception):
    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


def endpoint(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise InvalidInput(f"{url!r} is not an http(s) address", field="embedder_url", allowed=["https://host/v1"])
    base = url.rstrip("/").removesuffix("/embeddings")
    return f"{base}/embeddings" if base.endswith("/v1") or base != url.rstrip("/") else f"{base}/v1/embeddings"


def _rows(answer: bytes, expected: int, url: str) -> list[list[float]]:
    """`data` in the order of `index`: the protocol does not promise that they come sorted."""
    try:
        data: list[dict[str, Any]] = json.loads(answer)["data"]
        rows = [entry["embedding"] for entry in sorted(data, key=lambda entry: entry.get("index", 0))]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BackendUnavailable(
            f"{url} did not answer with embeddings", hint="is it an OpenAI-compatible embeddings endpoint?"
        ) from error
    if len(rows) != expected:
        raise BackendUnavailable(f"{url} gave {len(rows)} vectors for {expected} texts")
    return rows


def _batches(texts: list[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) == TEXTS_PER_REQUEST or size + len(text) > CHARACTERS_PER_REQUEST):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def _estimated_tokens(text: str) -> int:
    return max(len(text.split()), math.ceil(len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN))


def _seconds(retry_after: str | None) -> float | None:
    return float(retry_after) if retry_after and retry_after.isdigit() else None
