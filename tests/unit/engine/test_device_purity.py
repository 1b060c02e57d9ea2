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
from refprep.engine.prompt import TalkerPrompt
from refprep.engine.runner import choose_first, complete_frame, prefill, suppressed_ids
from refprep.engine.slots import Slots
from refprep.types import GREEDY, SamplingParams

pytestmark = pytest.mark.usefixtures("one_torch_thread")

SAMPLED = SamplingParams(top_p=0.9, subtalker_top_p=0.8)


class NoTravel(TorchDispatchMode):
    """Refuses copies between kinds of devices, which fake tensors let pass."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
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
    slots.reserve(tokens=64, frames=16, steps=8)
    slots.set_sampling([sampling] * batch, talker.config)
    embeds = torch.zeros(10, width, dtype=talker.dtype, device=talker.device)
    return slots, TalkerPrompt(embeds, embeds[:8], embeds[0])


@pytest.mark.parametrize("name", ["base-0.6b", "base-1.7b"])
@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
def test_prefill_and_step_stay_on_the_device(name, sampling):
    config = read_config(tiny_checkpoint(name))
    with FakeTensorMode(), torch.inference_mode():
        talker = fake_talker(config)
        slots, prompt = occupied(talker, sampling)
        rotary, suppressed = talker.rotary(64), suppressed_ids(talker)
        with NoTravel():
            prefill(talker, slots.rows(slice(0, 1)), prompt.embeds, rotary)
            first = choose_first(talker, slots, suppressed)
            complete_frame(talker, slots, first, rotary, limit=32, is_exact=False)
        assert first.device.type == slots.hidden.device.type == "cuda"
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
        with NoTravel():
            samples = decoder.step(codes, state)
        assert samples.shape == (2, 4 * 1920)
        assert samples.device.type == state.memory.device.type == "cuda"


def test_the_guard_against_travel_can_fail():
    with FakeTensorMode(), NoTravel(), pytest.raises(AssertionError, match="mixes"):
        torch.zeros(2, device="cuda").cpu()


def test_a_look_from_the_host_would_be_seen():
    with FakeTensorMode(), pytest.raises(Exception, match="_local_scalar_dense"):
        bool(torch.zeros(2, device="cuda").sum() > 0)


class FrameStep(torch.nn.Module):
    """One frame of a batch, as a graph would capture it."""

    def __init__(self, talker, slots):
        super().__init__()
        self.talker, self.slots = talker, slots
        self.rotary, self.suppressed = talker.rotary(64), suppressed_ids(talker)

    def forward(self):
        first = choose_first(self.talker, self.slots, self.suppressed)
        complete_frame(self.talker, self.slots, first, self.rotary, limit=32, is_exact=False)
        return first


@pytest.mark.slow
@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
def test_a_frame_traces_as_one_graph_and_gives_the_same_codes(sampling):
    """fullgraph raises at any graph break: a branch on data, a look from the host, an unknown call."""
    config = read_config(tiny_checkpoint("base-1.7b"))
    with torch.inference_mode():
        talker = fake_talker(config, "cpu")
        generator = torch.Generator().manual_seed(0)
        for parameter in talker.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.1)
        talker.prepare()
        runs = []
        for compiled in (False, True):
            slots, prompt = occupied(talker, sampling)
            for row in range(3):
                slots.occupy(row, prompt, sampling, seed=row, frames=16)
                prefill(talker, slots.rows(slice(row, row + 1)), prompt.embeds, talker.rotary(64))
            step = FrameStep(talker, slots)
            call = torch.compile(step, backend="eager", fullgraph=True) if compiled else step
            for _ in range(3):
                call()
            runs.append(slots.codes[:, :3].clone())
        assert torch.equal(*runs)


def test_the_cache_keeps_the_checkpoints_dtype():
    """A float32 speaker embedding once widened the whole prefill and its cache: 2.4 times slower."""
    config = read_config(tiny_checkpoint("base-0.6b"))
    with FakeTensorMode(), torch.inference_mode():
        talker = fake_talker(config)
        wide = torch.zeros(1, 10, talker.config.hidden_size, dtype=torch.float32, device="cuda")
        cache = KVCache.empty(talker.config, slots=1, capacity=16, dtype=talker.dtype, device=talker.device)
        with pytest.raises(AssertionError, match="would be cached as"):
            talker.prefill(wide, talker.rotary(16), cache)
