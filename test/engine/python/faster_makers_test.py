"""The replaced loops and constructors make the items that the library's own make, byte for byte.

    PYTHONPATH=src/engine/python PYTHONHASHSEED=1 python -m unittest discover -s test/engine/python -p "*_test.py"

FASTER_MAKERS_SEEDS=500 compares more seeds; the seeds start at another number each day.
"""

import json
import os
import time
import unittest

import library  # first: it makes the library importable without matplotlib

import faster_makers
from errors import EngineError

SEEDS = int(os.environ.get("FASTER_MAKERS_SEEDS", "1"))
FIRST_SEED = int(time.time() // 86_400) * 1_000

CONFIGS = {
    "knight_swap": [{}, {"min_nodes": 9, "max_nodes": 9, "impossible_ratio": 1}, {"max_nodes": 10, "min_pieces": 3, "max_pieces": 3}],
    "quantum_lock": [{}, {"difficulty": 3}, {"difficulty": 20}],
    "countdown": [{}, {"min_numbers": 2, "max_numbers": 3, "min_target": 1}, {"min_numbers": 11, "max_numbers": 12}],
    "puzzle24": [{}, {"min_value": -5, "max_value": 6}, {"operators": ["+", "/", "-"]}, {"min_value": 0, "max_value": 9}],
    "sudoku": [{}, {"min_empty": 50, "max_empty": 55}],
    "futoshiki": [{}, {"max_board_size": 5, "max_difficulty": 0}, {"min_difficulty": 3}, {"min_board_size": 6, "max_board_size": 7}],
    "zebra_puzzles": [{}, {"num_people": 3, "num_characteristics": 5}, {"num_people": 2, "num_characteristics": 7}],
    "sokoban": [{}, {"min_w": 7, "max_w": 8, "min_h": 7, "max_h": 8, "min_boxes": 3, "max_boxes": 4}],
    "acre": [{"size": 20}, {"size": 30, "train": 0}, {}],
    "game_of_life": [
        {"simulation_steps": 0},
        {"grid_size_x": 3, "grid_size_y": 4, "filled_cells": 6, "simulation_steps": 5},
        {"filled_cells": 60, "simulation_steps": 3},
    ],
    "arc_agi": [{}, {"use_train": False}, {"use_eval": False}],
    "figlet_font": [{}, {"min_word_len": 5, "max_word_len": 6}],
    "group_anagrams": [{}, {"max_anagram_groups": 40}],
    "spell_backward": [{}, {"min_word_len": 8}],
    "word_ladder": [{}, {"min_word_length": 5, "max_word_length": 5}, {"min_chain_length": 5, "max_chain_length": 6}],
}


def make(functions, task, config, seed):
    faster_makers.patch_library(functions)
    library._datasets.clear()
    try:
        return json.dumps(library.make_entry(task, config, seed, 0), default=repr)
    except EngineError as error:
        return str(error)


class FasterMakersTest(unittest.TestCase):
    def tearDown(self):
        faster_makers.patch_library()

    def test_items_are_those_of_the_library(self):
        for task, configs in CONFIGS.items():
            for config in configs:
                for seed in range(FIRST_SEED, FIRST_SEED + SEEDS):
                    with self.subTest(task=task, config=config, seed=seed):
                        mine = make(faster_makers.REPLACEMENTS, task, config, seed)
                        self.assertEqual(mine, make(faster_makers.ORIGINALS, task, config, seed))


if __name__ == "__main__":
    unittest.main()
