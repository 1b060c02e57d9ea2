"""A voice in the files or request bodies that an engine takes: whole clips, the very samples, the text that fits them.

exports/ana-f5/
  export.json     engine, hashes, which clips and samples, text, provenance, warnings
  ...             what the engine takes; `refprep export --list` says it
"""

from refprep.export.registry import EXPORTERS, find_exporter
from refprep.export.write import Export, export_voice

__all__ = ["EXPORTERS", "Export", "export_voice", "find_exporter"]
