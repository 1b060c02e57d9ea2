"""How written words are read aloud: one module for each kind of thing that has several readings.

What is known of which language; everything else is compared by its letters (``refprep.text.normalise.fold``):

| language | numbers | years, ordinals | dates | clock | money | units, signs | abbreviations | contractions |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| en, de, fr, es, it, pt | yes | yes | yes | yes | yes | yes | yes | en, de in full; colloquial forms of the rest |
| nl, sv | yes | yes | yes | nl | yes | in part | yes | nl |
| zh, ja | yes | digit by digit | in figures | yes | yes | yes | no | none exist |
| ru, pl, ko, da, no | yes | yes | no | by its figures | in part | signs | ru, pl | no |
| others that num2words knows | yes | as it has them | no | by its figures | English names | English names | no | no |
| the rest | digits equal digits, grouped or not | no | no | no | English names | English names | no | no |

Scripts: Chinese is compared by toneless pinyin with the ``zh`` extra, Japanese by kana as well with the ``ja`` extra;
without them by characters, hiragana and katakana alike (``refprep.text.sounds``).

A reading never leaves out what is written, and only a reading that brings two texts closer is taken. What the kinds
share is in ``word`` (one written word) and ``neighbours`` (several that are read in another order than written).
"""

from refprep.text.readings.neighbours import Unit, units
from refprep.text.readings.word import readings

__all__ = ["Unit", "readings", "units"]
