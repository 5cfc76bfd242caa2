"""Typed settings, read once at the start.

Every setting is `TRIVIUM_<NAME>` in the environment; the variable names of the systems Trivium replaces work as well
(`SEED_NAMES`). Values given by the caller (command line, tests) win over the environment, the environment over the
defaults. Nothing below the doors and app.py reads this module.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import platformdirs
from pydantic import AliasChoices, AliasGenerator, Field, PrivateAttr, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

PREFIX = "TRIVIUM_"

ResponseMode = Literal["ids_only", "metadata", "preview", "full"]
Toolset = Literal["knowledge", "code", "concepts"]
TOOLSETS: tuple[Toolset, ...] = get_args(Toolset)

SEED_NAMES: Mapping[str, tuple[str, ...]] = {
    "api_key": ("BMCIS_API_KEY", "MCP_API_KEY"),
    "store": ("DATABASE_URL",),
    "log_level": ("LOG_LEVEL",),
    "rate_limit_minute": ("BMCIS_RATE_LIMIT_MINUTE",),
    "rate_limit_hour": ("BMCIS_RATE_LIMIT_HOUR",),
    "rate_limit_day": ("BMCIS_RATE_LIMIT_DAY",),
    "rate_limit_admin_bypass": ("RATE_LIMIT_ADMIN_BYPASS",),
    "default_response_mode": ("DEFAULT_RESPONSE_MODE",),
    "max_tokens_per_response": ("MAX_TOKENS_PER_RESPONSE",),
    "enable_desktop_enhancements": ("ENABLE_DESKTOP_ENHANCEMENTS",),
    "include_confidence_scores": ("INCLUDE_CONFIDENCE_SCORES",),
    "token_warning_threshold": ("TOKEN_WARNING_THRESHOLD",),
    "low_quality_threshold": ("LOW_QUALITY_THRESHOLD",),
    "enable_response_compression": ("ENABLE_RESPONSE_COMPRESSION",),
    "response_streaming": ("RESPONSE_STREAMING",),
}


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an effective value came from: `default`, `given` or the name of an environment variable."""

    name: str
    value: object
    origin: str
    variable: str
    description: str


def variables(name: str) -> tuple[str, ...]:
    """The environment variables a setting listens to, the first that is set wins."""
    return (PREFIX + name.upper(), *SEED_NAMES.get(name, ()))


def _data_folder() -> Path:
    return Path(platformdirs.user_data_dir("trivium", appauthor=False))


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        alias_generator=AliasGenerator(validation_alias=lambda name: AliasChoices(*variables(name))),
        validate_by_name=True,
        validate_default=True,
        extra="forbid",
        frozen=True,
        enable_decoding=False,
        env_ignore_empty=True,
        protected_namespaces=(),
    )

    # --- where things live
    data: Path = Field(default_factory=_data_folder, description="Folder that holds everything Trivium keeps.")
    store: str = Field("", description="URL of a database server; empty: SQLite in the data folder.")
    store_read: str = Field("", description="URL that reads go through, for a role that may only read; empty: store.")
    store_pool: int = Field(10, ge=2, le=500, description="Connections of a process to the database server, at most.")
    store_wait_s: float = Field(10.0, gt=0, description="Longest wait for one of them while all are in use.")
    store_timeout_s: float = Field(30.0, gt=0, description="Longest run of one statement on the database server.")
    vectors: str = Field("", description="URL of a vector server; empty: embedded.")
    graph: str = Field("", description="URL of a graph server; empty: embedded.")
    cache: str = Field("", description="URL of a cache server shared by several machines; empty: in the process.")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = Field(
        "INFO", description="Least severe level that is logged."
    )

    # --- embedding and search
    model: str = Field("all-MiniLM-L6-v2", description="Embedding model.")
    model_path: Path | None = Field(None, description="Folder with the model's files, instead of a known source.")
    model_cache: Path = Field(
        default_factory=lambda: Path(platformdirs.user_cache_dir("trivium", appauthor=False)) / "models",
        description="Folder for model files, shared by all data folders.",
    )
    offline: bool = Field(False, description="Never fetch anything, model weights included.")
    embedder_url: str = Field("", description="OpenAI-compatible embeddings endpoint; empty: embed on this machine.")
    embedder_dimension: int = Field(
        0, ge=0, description="Length of its vectors; 0: ask the endpoint, which must then answer at the start."
    )
    embedder_key: SecretStr = Field(SecretStr(""), description="Bearer key for embedder_url.")
    git_credentials: SecretStr = Field(
        SecretStr(""),
        description="For private repositories: addresses like https://user:token@host, one or more, each for its host.",
    )
    extractor: Literal["onnx", "spacy", "gliner", "rules"] = Field(
        "onnx", description="What finds entities and relationships in documents."
    )
    extractor_model: str = Field("", description="Model of the spacy or gliner extractor: a name or a folder.")
    fusion: Literal["adaptive", "rrf"] = Field("adaptive", description="How keyword and vector rankings are merged.")
    boost_vendor: float = Field(0.0, ge=0, le=1, description="Largest gain for chunks of a vendor named in the query.")
    boost_document_type: float = Field(0.0, ge=0, le=1, description="Largest gain for the document type asked for.")
    boost_recency: float = Field(0.0, ge=0, le=1, description="Largest gain for recent documents.")
    boost_entity: float = Field(0.0, ge=0, le=1, description="Largest gain for chunks with entities of the query.")
    boost_topic: float = Field(0.0, ge=0, le=1, description="Largest gain for chunks on the query's topic.")
    reranker: str = Field("", description="Folder or hub id of a cross-encoder; empty: no reranking.")
    token_encoding: Literal["o200k_base", "cl100k_base"] = Field(
        "o200k_base", description="Vocabulary answers are counted in."
    )
    max_file_mb: float = Field(50.0, gt=0, description="Larger files are reported and skipped.")
    chunk_tokens: int = Field(500, ge=50, le=4000, description="Size of a chunk the splitter aims at.")
    threads: int = Field(0, ge=0, description="Threads for bulk work; 0: every core.")

    # --- answers
    toolsets: tuple[Toolset, ...] = Field(TOOLSETS, description="Which tools are served.")
    surface: Literal["classic", "compact", "both"] = Field(
        "classic", description="What clients see: every tool, only search_tools and execute_code, or both."
    )
    default_response_mode: ResponseMode = Field("metadata", description="Mode of an answer that asks for none.")
    max_tokens_per_response: int = Field(15_000, ge=500, description="No answer is larger than this.")
    token_warning_threshold: float = Field(0.8, gt=0, le=1, description="Share of that limit from which answers warn.")
    low_quality_threshold: float = Field(0.5, ge=0, le=1, description="Answers whose best score is below this say so.")
    slow_query_ms: float = Field(500.0, ge=0, description="An uncached answer slower than this says so.")
    enable_desktop_enhancements: bool = Field(True, description="Enhance answers for Claude Desktop by themselves.")
    include_confidence_scores: bool = Field(True, description="Enhanced answers carry confidence scores.")
    source_quality: dict[str, float] = Field(
        default_factory=dict, description="Quality 0–1 of sources by category, as JSON."
    )
    source_quality_default: float = Field(0.7, ge=0, le=1, description="Quality of categories without a value.")
    recency_half_life_days: float = Field(365.0, gt=0, description="Age at which recency is one half.")
    enable_response_compression: bool = Field(True, description="gzip over HTTP.")
    response_streaming: bool = Field(False, description="Answer over HTTP as an event stream instead of one JSON body.")

    # --- caches
    cache_search_ttl_s: float = Field(30.0, ge=0, description="Life of a cached ranking.")
    cache_vendor_ttl_s: float = Field(300.0, ge=0, description="Life of a cached vendor answer.")
    cache_entries: int = Field(1000, ge=0, description="Entries each cache keeps.")

    # --- keys
    api_key: SecretStr = Field(
        SecretStr(""), description="Key of a client over stdio; over HTTP a further key with every scope."
    )
    require_key: bool = Field(
        False, description="stdio: refuse calls when no key exists, instead of trusting the local user."
    )

    # --- limits; a value of 0 switches that limit off
    rate_limit_minute: int = Field(100, ge=0, description="Calls a minute over stdio.")
    rate_limit_hour: int = Field(1000, ge=0, description="Calls an hour over stdio.")
    rate_limit_day: int = Field(10_000, ge=0, description="Calls a day, on every transport.")
    rate_limit_http_read_minute: int = Field(60, ge=0, description="Reading calls a minute over HTTP.")
    rate_limit_http_read_hour: int = Field(1000, ge=0, description="Reading calls an hour over HTTP.")
    rate_limit_http_write_minute: int = Field(30, ge=0, description="Writing calls a minute over HTTP.")
    rate_limit_http_write_hour: int = Field(500, ge=0, description="Writing calls an hour over HTTP.")
    rate_limit_address_minute: int = Field(240, ge=0, description="Calls a minute from one address, whatever the keys.")
    rate_limit_auth_minute: int = Field(20, ge=0, description="Failed authentications a minute from one address.")
    rate_limit_admin_bypass: bool = Field(False, description="Keys with scope admin are not limited.")

    # --- the HTTP door
    http_host: str = Field("127.0.0.1", description="Address to listen on.")
    http_port: int = Field(8000, ge=0, le=65535, description="Port to listen on.")
    http_processes: int = Field(1, ge=1, le=64, description="Server processes.")
    allowed_hosts: tuple[str, ...] = Field((), description="Host headers that are served besides the local ones.")
    allowed_origins: tuple[str, ...] = Field((), description="Origins of web pages that may call, besides local ones.")
    allow_addresses: tuple[str, ...] = Field((), description="Addresses or networks that may connect; empty: all.")
    deny_addresses: tuple[str, ...] = Field((), description="Addresses or networks that may not connect.")
    trusted_proxies: tuple[str, ...] = Field((), description="Proxies whose X-Forwarded-For is believed.")
    max_request_mb: float = Field(10.0, gt=0, description="Largest request body.")
    body_timeout_s: float = Field(15.0, gt=0, description="A request body must be in by then.")
    deadline_s: float = Field(30.0, gt=0, description="Longest run of one call.")

    # --- watching
    audit_days: int = Field(90, ge=1, description="Days the audit log is kept.")
    harvest_results_hour: int = Field(
        2000, ge=0, description="Distinct results an hour of one key or address that look like harvesting."
    )
    harvest_failures_hour: int = Field(
        200, ge=0, description="Failed calls an hour of one key or address that look like probing."
    )
    harvest_delay_s: float = Field(1.0, ge=0, le=30, description="How much a flagged caller is slowed down per call.")
    breaker_failures: int = Field(5, ge=1, description="Store failures in a row that open the circuit breaker.")
    breaker_reset_s: float = Field(5.0, gt=0, description="Seconds until an open breaker lets one call try again.")

    # --- running an agent's code
    enable_code_execution: bool = Field(True, description="Offer execute_code.")
    sandbox_memory_mb: int = Field(512, ge=16, description="Memory of a run.")
    sandbox_timeout_s: float = Field(30.0, gt=0, le=300, description="Longest run.")
    sandbox_calls: int = Field(100, ge=1, le=10_000, description="Most calls of tools in one run.")
    sandbox_workers: int = Field(0, ge=0, le=64, description="Most runs at once; 0: one a core, 2 to 8.")
    sandbox_layer: Literal["auto", "bwrap", "confined", "limits"] = Field(
        "auto", description="What surrounds a run; auto: the strongest that works here."
    )

    _origins: dict[str, str] = PrivateAttr(default_factory=dict)

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self._origins = {name: _origin(name, given) for name in type(self).model_fields}

    @field_validator("log_level", mode="before")
    @classmethod
    def _upper(cls, value: object) -> object:
        return value.upper() if isinstance(value, str) else value

    @field_validator(
        "toolsets",
        "allowed_hosts",
        "allowed_origins",
        "allow_addresses",
        "deny_addresses",
        "trusted_proxies",
        mode="before",
    )
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("source_quality", mode="before")
    @classmethod
    def _parse(cls, value: object) -> object:
        if isinstance(value, str):
            import json

            return json.loads(value)
        return value

    @field_validator("source_quality")
    @classmethod
    def _in_range(cls, value: dict[str, float]) -> dict[str, float]:
        for category, quality in value.items():
            if not 0 <= quality <= 1:
                raise ValueError(f"{category}: {quality} is not between 0 and 1")
        return value

    @property
    def boosts(self) -> dict[str, float]:
        """The boosts that are on, by name."""
        values = {
            "vendor": self.boost_vendor,
            "document_type": self.boost_document_type,
            "recency": self.boost_recency,
            "entity": self.boost_entity,
            "topic": self.boost_topic,
        }
        return {name: value for name, value in values.items() if value > 0}

    def origins(self) -> list[Origin]:
        """Every setting with its effective value (secrets as their last four characters) and where it came from."""
        return [
            Origin(name, _shown(getattr(self, name)), self._origins[name], variables(name)[0], field.description or "")
            for name, field in type(self).model_fields.items()
        ]


def _origin(name: str, given: Mapping[str, object]) -> str:
    if name in given:
        return "given"
    environment = {key.upper(): value for key, value in os.environ.items()}
    return next((variable for variable in variables(name) if environment.get(variable)), "default")


def _shown(value: object) -> object:
    if isinstance(value, SecretStr):
        secret = value.get_secret_value()
        return f"…{secret[-4:]}" if len(secret) > 8 else "…" * bool(secret)
    if isinstance(value, str) and "://" in value:
        return re.sub(r"(://[^/@:]*):[^/@]*@", r"\1:…@", value)
    return value
