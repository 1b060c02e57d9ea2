"""What a GPU must be able to replay: no look from the host, nothing that moves between devices. No GPU is needed."""

from __future__ import annotations

import pytest
import torch
from engine_kit import tiny_checkpoint
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from refprep.engine.codec import CodecDecoder
from refprep.engine.codec.config import read_codec_config
from refprep.engine.codec.decoder import DecoderNetwork
from refprep.engine.codec.prepared import prepare
from refprep.engine.config import read_config
from refprep.engine.kv_cache import KVCache
from refprep.engine.loader import open_weights
from refprep.engine.model import TalkerTree
from refprep.engine.prefill import BUCKETS, read_prompt
from refprep.engine.prompt import TalkerPrompt
from refprep.engine.runner import suppressed_ids, write_frame
from refprep.engine.slots import Slots
from refprep.types import GREEDY, SamplingParams

pytestmark = pytest.mark.usefixtures("one_torch_thread")

MOST_NODES = 1925
"""Of the tiny checkpoints: 3 layers, 15 passes of 2 layers and 16 draws; 1916 and 1917 when this was written."""

DEFAULT = SamplingParams()
SAMPLED = SamplingParams(top_p=0.9, subtalker_top_p=0.8)


FROM_HOST = (
    "lift_fresh",
    "scalar_tensor",
    "aten.arange.",
    "aten.full.",
    "aten.zeros.",
    "aten.ones.",
    "aten.tensor",
)
LOOKS = ("_local_scalar_dense", "nonzero", "unique", "masked_select", "is_nonzero", "equal.default")


class NoTravel(TorchDispatchMode):
    """Refuses what fake tensors let pass: copies between kinds of devices, and tensors made of the host's numbers."""

    def __init__(self, *, makes_tensors=False):
        super().__init__()
        self.barred = LOOKS if makes_tensors else (*LOOKS, *FROM_HOST)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        assert not any(name in str(func) for name in self.barred), f"{func} needs the host"
        out = func(*args, **(kwargs or {}))
        flat = torch.utils._pytree.tree_leaves((args, kwargs or {}))
        kinds = {t.device.type for t in flat if isinstance(t, torch.Tensor)}
        if isinstance(out, torch.Tensor) and kinds and "copy" in str(func):
            kinds.add(out.device.type)
        assert len(kinds) < 2, f"{func} mixes {kinds}"
        return out


def fake_talker(config, device="cuda"):
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device(device):
            tree = TalkerTree(config).eval().requires_grad_(False)
    finally:
        torch.set_default_dtype(torch.float32)
    tree.talker.prepare()
    return tree.talker


def occupied(talker, sampling, batch=3):
    width = talker.config.hidden_size
    slots = Slots.empty(talker, slots=batch)
    slots.reserve(talker, tokens=64, frames=16, steps=8)
    slots.set_sampling([sampling] * batch, talker.config)
    embeds = torch.zeros(10, width, dtype=talker.dtype, device=talker.device)
    return slots, TalkerPrompt(embeds, embeds[:8], embeds[0])


@pytest.mark.parametrize("name", ["base-0.6b", "base-1.7b"])
@pytest.mark.parametrize("sampling", [GREEDY, DEFAULT, SAMPLED], ids=["greedy", "default", "top-p"])
def test_prompt_and_frame_stay_on_the_device(name, sampling):
    config = read_config(tiny_checkpoint(name))
    with FakeTensorMode(), torch.inference_mode():
        talker = fake_talker(config)
        slots, prompt = occupied(talker, sampling)
        suppressed = suppressed_ids(talker)
        with NoTravel(makes_tensors=True):
            row = slots.rows(slice(0, 1))
            row.hidden.copy_(read_prompt(talker, row.cache, prompt, slots.rotary, buckets=BUCKETS))
        with NoTravel():
            write_frame(talker, slots.rows(slice(0, 2)), suppressed, limit=32, is_exact=False)
        assert slots.report.device.type == slots.hidden.device.type == "cuda"
        assert slots.hidden.dtype is slots.cache.keys.dtype is torch.bfloat16


def test_a_step_of_the_codec_stays_on_the_device():
    folder = tiny_checkpoint("base-0.6b")
    config, weights = read_codec_config(folder), open_weights(folder / "speech_tokenizer")
    with FakeTensorMode(), torch.inference_mode():
        with torch.device("cuda"):
            network = DecoderNetwork(config.decoder_config).eval().requires_grad_(False)
        prepare(network)
        decoder = CodecDecoder(network, config.decoder_config, weights, torch.device("cuda"))
        state, codes = decoder.fresh(2), torch.zeros(2, 4, 16, dtype=torch.int64, device="cuda")
        with NoTravel(makes_tensors=True):
            samples = decoder.step(codes, state)
        assert samples.shape == (2, 4 * 1920)
        assert samples.device.type == state.memory.device.type == "cuda"


def test_the_guard_against_travel_can_fail():
    with FakeTensorMode():
        x = torch.zeros(2, device="cuda")
        with NoTravel(), pytest.raises(AssertionError, match="mixes"):
            x.cpu()


@pytest.mark.parametrize(
    "made",
    [
        lambda x: x[[0, 1]],
        lambda x: torch.tensor([1], device="cuda") + x,
        lambda x: torch.where(x > 0, 1.0, x),
    ],
)
def test_numbers_of_the_host_would_be_seen(made):
    with FakeTensorMode():
        x = torch.zeros(2, device="cuda")
        with NoTravel(), pytest.raises(AssertionError, match="needs the host"):
            made(x)


def test_a_look_from_the_host_would_be_seen():
    with FakeTensorMode(), pytest.raises(Exception, match="_local_scalar_dense"):
        bool(torch.zeros(2, device="cuda").sum() > 0)


class WholeFrame(torch.nn.Module):
    """One frame of a batch, as a graph would capture it."""

    def __init__(self, talker, slots):
        super().__init__()
        self.talker, self.slots, self.suppressed = talker, slots, suppressed_ids(talker)

    def forward(self, position):
        self.slots.position.copy_(position)
        write_frame(self.talker, self.slots, self.suppressed, limit=32, is_exact=False)
        return self.slots.report.clone()


@pytest.mark.parametrize("name", ["base-0.6b", "base-1.7b"])
def test_the_frame_exports_without_an_operation_that_syncs(name, record_property):
    """Its nodes are the launches of an unfused frame: they may not grow unnoticed."""
    with torch.inference_mode(False), torch.no_grad():
        talker = fake_talker(read_config(tiny_checkpoint(name)), "cpu")
        slots, _ = occupied(talker, DEFAULT)
        program = torch.export.export(
            WholeFrame(talker, slots), (torch.zeros(3, dtype=torch.int64),), strict=False
        )
    called = [str(node.target) for node in program.graph.nodes if node.op == "call_function"]
    assert not [name for name in called if any(look in name for look in (*LOOKS, "_to_copy", "aten.arange"))]
    record_property("nodes", len(called))
    print(f"{name}: {len(called)} nodes a frame")  # noqa: T201  # pytest -rP shows it
    assert len(called) <= MOST_NODES


def test_the_cache_keeps_the_checkpoints_dtype():
    """A float32 speaker embedding once widened the whole prefill and its cache: 2.4 times slower."""
    config = read_config(tiny_checkpoint("base-0.6b"))
    with FakeTensorMode(), torch.inference_mode():
        talker = fake_talker(config)
        wide = torch.zeros(1, 10, talker.config.hidden_size, dtype=torch.float32, device="cuda")
        cache = KVCache.empty(talker.config, slots=1, capacity=16, dtype=talker.dtype, device=talker.device)
        with pytest.raises(AssertionError, match="would be cached as"):
            talker.prefill(wide, talker.rotary(16), cache)
