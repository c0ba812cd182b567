"""Writes packages/scorers/src/data/word-ladder-words.json: the words that the library's word_ladder knows, by length, sorted and joined.

usage, with the pinned library's Python: scripts/word-ladder-words.py"""

import json
from pathlib import Path

from reasoning_gym.algorithmic.word_ladder import WordLadderDataset

words = WordLadderDataset._load_words_from_csv(3, 5)
assert all(len(word) == length and word.isascii() for length in words for word in words[length])
joined = {str(length): "".join(sorted(words[length])) for length in sorted(words)}
Path(__file__).parent.parent.joinpath("packages/scorers/src/data/word-ladder-words.json").write_text(json.dumps(joined, indent=2) + "\n")
