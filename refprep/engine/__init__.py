"""Our own inference engine for Qwen3-TTS at 12.5 frames a second: start reading in ``engine.py``."""
