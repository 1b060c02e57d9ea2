"""A voice on disk: a folder that explains itself, and the proof that it is what it was.

voices/ana/
  voice.json      what it is made of, how it was judged, what was refused and why (schema: manifests/voice.schema.json)
  reference.wav   the joined samples
  reference.txt   the text, word for word
  report.html     the same for people: one file, no network
  codes/          codes and speaker embedding for each checkpoint that it was encoded for, copied from the cache
"""

from refprep.voice.read import Voice, load_voice
from refprep.voice.verify import Verification, verify_voice

__all__ = ["Verification", "Voice", "load_voice", "verify_voice"]
