"""Windows of attention: exact, in memory that is linear in the length."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F  # noqa: N812

from refprep.moss.codec import attention
from refprep.moss.codec.attention import RingView, WholeView

pytestmark = pytest.mark.usefixtures("one_torch_thread")

CPU = torch.device("cpu")


def states(length, batch=1, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(3, batch, length, 2, 4, generator=generator).unbind(0)


def naive(queries, keys, values, window):
    back = torch.arange(queries.shape[1])[:, None] - torch.arange(keys.shape[1])
    mask = (back >= 0) & (back < window)
    seen = F.scaled_dot_product_attention(
        queries.transpose(1, 2), keys.transpose(1, 2), values.transpose(1, 2), attn_mask=mask
    )
    return seen.transpose(1, 2)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 60), st.integers(1, 70), st.integers(1, 20))
def test_blocks_see_what_one_mask_shows(length, window, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attention, "_BLOCK", block)
        seen = WholeView(length, window, CPU).attend(0, *states(length))
    assert torch.allclose(seen, naive(*states(length), window), atol=1e-6)


def test_masks_do_not_grow_with_the_clip():
    sizes = []
    for length in (3000, 6000):
        view = WholeView(length, 1000, CPU)
        view.attend(0, *states(length))
        sizes.append(sum(mask.numel() for mask in view._masks.values()))
    assert sizes[0] == sizes[1] < 3 * 1500 * 500


@settings(max_examples=40, deadline=None)
@given(st.data(), st.integers(1, 12), st.integers(1, 6))
def test_a_ring_shows_what_the_whole_shows(data, window, capacity):
    length = data.draw(st.integers(1, 50))
    parts = states(length)
    ring = torch.zeros(1, 2, 1, window - 1 + capacity, 2, 4)
    before, found = torch.zeros(1, dtype=torch.int64), []
    while int(before) < length:
        new = min(data.draw(st.integers(1, capacity)), length - int(before))
        view = RingView(ring, before, new, window, None)
        found.append(view.attend(0, *(x[:, int(before) : int(before) + new] for x in parts)))
        before = before + new
    assert torch.allclose(torch.cat(found, dim=1), naive(*parts, window), atol=1e-6)


def test_more_than_a_ring_holds_is_refused():
    with pytest.raises(ValueError, match="do not fit"):
        RingView(torch.zeros(1, 2, 1, 8, 2, 4), torch.zeros(1, dtype=torch.int64), 4, 6, None)


def test_a_short_ring_is_exact_while_the_clip_fits_it():
    whole, short = WholeView(12, 12, CPU), WholeView(12, 12, CPU, short_ring=4)
    assert torch.allclose(whole.attend(0, *states(12)), short.attend(0, *states(12)), atol=1e-6)
    longer = WholeView(20, 12, CPU, short_ring=4).attend(0, *states(20))
    exact = WholeView(20, 12, CPU).attend(0, *states(20))
    same = (longer - exact).abs().amax(dim=(0, 2, 3)) < 1e-6
    assert same[:12].all()
    assert not same[12:15].any()
