"""MOSS-TTS: the second engine, on transformers' Qwen3 backbone. Start reading at engine.py."""
