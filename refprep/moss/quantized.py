"""Generators in INT4 or INT8, through transformers' own loaders; heads and code embeddings stay as they are.

    quant_method         package that has to be there
    awq, gptq            gptqmodel (and optimum, for gptq)
    compressed-tensors   compressed-tensors; the library computes with the unpacked weights, which take the room of dtype

The audio heads have 1025 outputs, which no packing of these takes, and the code tables decide which voice is heard.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path

import torch
from torch import nn
from transformers import PreTrainedModel, Qwen3Config

from refprep.engine.loader import open_weights
from refprep.errors import BackendError, MachineError
from refprep.moss.backbone import qwen3_config
from refprep.moss.config import DelayConfig, GeneratorConfig, LocalConfig
from refprep.moss.delay import DelayModel
from refprep.moss.local import LocalModel

NEEDED = {
    "awq": ("gptqmodel", "accelerate"),
    "gptq": ("gptqmodel", "optimum", "accelerate"),
    "compressed-tensors": ("compressed_tensors", "accelerate"),
}
"""Modules to import, by quant_method."""

KEPT = (
    "emb_ext",
    "lm_heads",
    "audio_embeddings",
    "local_transformer",
    "local_text_lm_head",
    "language_model.embed_tokens",
    "transformer.embed_tokens",
)
"""Prefixes of what is never quantized."""

_PACKED = ("qweight", "qzeros", "scales", "g_idx", "weight_packed", "weight_scale", "weight_zero_point")


def load_quantized(
    folder: Path, config: GeneratorConfig, *, device: torch.device, dtype: torch.dtype
) -> DelayModel | LocalModel:
    """Load a checkpoint whose config.json has a ``quantization_config``.

    Raises:
        BackendError: A method that is not known, heads or code embeddings that are quantized, or weights that do not fit.
        MachineError: The method's package is missing.
    """
    method = check_method(folder, config)
    check_kept(folder)
    tree = _tree(config)
    settings = dict(config.quantization or {})
    settings["modules_to_not_convert"] = sorted({*(settings.get("modules_to_not_convert") or ()), *KEPT})
    base = qwen3_config(config.backbone, config.backbone_values)
    if method == "compressed-tensors":
        del settings["modules_to_not_convert"]  # its own `ignore` list names them
        settings["ignore"] = sorted({*(settings.get("ignore") or ()), *(f"re:{name}.*" for name in KEPT)})
    base.quantization_config = settings
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the libraries underneath warn of their own future
            loaded, info = tree.from_pretrained(
                str(folder),
                config=base,
                dtype=dtype,
                device_map={"": device},
                output_loading_info=True,
                local_files_only=True,
            )
            loaded()
    except ImportError as error:
        raise _missing(method, str(error), folder) from error
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # whatever the loaders of three packages raise
        raise BackendError(
            f"transformers does not load its {method} weights: {error}",
            where=str(folder),
            fix="Take the whole checkpoint again, or use the bfloat16 one.",
        ) from error
    return _moved(loaded, info, config, folder)


def check_method(folder: Path, config: GeneratorConfig) -> str:
    """The quantization method, if it can be run here.

    Raises:
        BackendError: It is not known.
        MachineError: Its package is missing.
    """
    settings = config.quantization or {}
    method = str(settings.get("quant_method", "")).replace("_", "-").lower()
    if method not in NEEDED:
        raise BackendError(
            f"its weights are quantized by {method or 'a method without a name'}",
            where=str(folder / "config.json"),
            fix=f"Methods that load: {', '.join(NEEDED)}; or use the bfloat16 checkpoint.",
        )
    absent = [name for name in NEEDED[method] if importlib.util.find_spec(name) is None]
    if absent:
        raise _missing(method, f"{', '.join(absent)} is not installed", folder)
    return method


def check_kept(folder: Path) -> None:
    """Refuse a checkpoint whose heads or code embeddings are packed.

    Raises:
        BackendError: They are; the tensors are named.
    """
    names = open_weights(folder).files
    packed = sorted(n for n in names if n.startswith(KEPT) and n.rsplit(".", 1)[-1] in _PACKED)
    if packed:
        raise BackendError(
            f"heads or code embeddings are quantized: {', '.join(packed[:4])}",
            where=str(folder),
            fix="Quantize the linear layers of the backbone alone; exclude " + ", ".join(KEPT) + ".",
        )


class _Tree(PreTrainedModel):  # type: ignore[misc]  # the library ships no types
    """The generator's modules in the library's clothes, so that its loaders take them."""

    config_class = Qwen3Config
    base_model_prefix = ""
    _supports_sdpa = True
    generator: GeneratorConfig

    def __init__(self, config: Qwen3Config) -> None:
        super().__init__(config)
        own = LocalModel if isinstance(self.generator, LocalConfig) else DelayModel
        for name, part in own(self.generator).named_children():  # type: ignore[arg-type]  # by its kind
            setattr(self, name, part)
        self.post_init()

    def forward(self) -> None:
        """Nothing but what the library hangs on a model's first call: compressed-tensors unpacks its weights there."""

    def _init_weights(self, module: nn.Module) -> None:
        """Nothing: a weight that the file lacks is an error here, never a fresh number."""


def _tree(config: GeneratorConfig) -> type[_Tree]:
    return type("MossTree", (_Tree,), {"generator": config})


def _moved(
    loaded: nn.Module, info: Mapping[str, Iterable[object] | None], config: GeneratorConfig, folder: Path
) -> DelayModel | LocalModel:
    odd = {
        key: sorted(map(str, info.get(key) or ()))
        for key in ("missing_keys", "unexpected_keys", "mismatched_keys")
    }
    if any(odd.values()):
        what = "; ".join(
            f"{key.replace('_', ' ')}: {', '.join(names[:4])}" for key, names in odd.items() if names
        )
        raise BackendError(what, where=str(folder), fix="Take the whole checkpoint from its publisher again.")
    with torch.device("meta"):
        model = DelayModel(config) if isinstance(config, DelayConfig) else LocalModel(config)
    for name, _ in list(model.named_children()):
        setattr(model, name, getattr(loaded, name))
    model.requires_grad_(False).eval()
    return model


def _missing(method: str, what: str, folder: Path) -> MachineError:
    packages = " ".join(name.replace("_", "-") for name in NEEDED[method])
    return MachineError(
        f"its {method} weights need a package: {what}",
        where=str(folder),
        fix=f"Run: pip install {packages}; or use the bfloat16 checkpoint.",
    )
