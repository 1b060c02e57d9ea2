"""The 12.5 Hz codec: samples to codes once per reference, codes to samples as a stream."""

from refprep.engine.codec.decoder import CodecDecoder
from refprep.engine.codec.encoder import CodecEncoder
from refprep.engine.codec.load import load_codec_decoder, load_codec_encoder
from refprep.engine.codec.stream import CodecState

__all__ = ["CodecDecoder", "CodecEncoder", "CodecState", "load_codec_decoder", "load_codec_encoder"]
