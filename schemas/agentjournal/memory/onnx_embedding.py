"""The model in ONNX Runtime: tokens in, the mean of their last layer out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from agentjournal.memory.embedding import MODEL

_MOST_TOKENS = 256  # what the model was trained with; what is beyond is not seen
_BATCH = 16


class OnnxEmbedder:
    """all-MiniLM-L6-v2, on one thread: it runs beside what has to be quick."""

    model = MODEL

    def __init__(self, model: Path, vocabulary: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(model), options)
        self._tokenizer = Tokenizer.from_file(str(vocabulary))
        self._tokenizer.enable_truncation(_MOST_TOKENS)
        self._tokenizer.enable_padding()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector of length 1 for each text."""
        # Texts of nearly one length are put together: each is filled up to the longest.
        order = sorted(range(len(texts)), key=lambda each: len(texts[each]))
        vectors: list[list[float]] = [[] for _ in texts]
        for start in range(0, len(order), _BATCH):
            chosen = order[start : start + _BATCH]
            found = self._embed([texts[each] for each in chosen])
            for each, vector in zip(chosen, found, strict=True):
                vectors[each] = vector
        return vectors

    def _embed(self, texts: list[str]) -> list[list[float]]:
        encoded = self._tokenizer.encode_batch(texts)
        ids = np.array([each.ids for each in encoded], dtype=np.int64)
        mask = np.array([each.attention_mask for each in encoded], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden: Any = self._session.run(None, given)[0]
        shown = mask[..., None]
        mean = (hidden * shown).sum(axis=1) / shown.sum(axis=1)
        length = np.linalg.norm(mean, axis=1, keepdims=True)
        normal: list[list[float]] = (mean / np.maximum(length, 1e-12)).tolist()
        return normal
