"""Is a synthesised clip what it was meant to be: the text, all of it and nothing else, in the voice of the reference?

open_target   a voice's folder -> ScoreTarget, what every output is held against
score_output  Clip, ScoreTarget -> ScoredOutput
best_of       ScoredOutputs -> the one to keep
trim_leaks    Clip, OutputScore -> the clip without leaked words
"""

from refprep.scoring.best import best_of
from refprep.scoring.output import ScoredOutput, score_output
from refprep.scoring.target import ScoreTarget, open_target
from refprep.scoring.trim import trim_leaks

__all__ = ["ScoreTarget", "ScoredOutput", "best_of", "open_target", "score_output", "trim_leaks"]
