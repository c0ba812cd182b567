"""Places of custom tasks, and what their modules register."""

import os
import sys
import tempfile
import unittest

ENGINE = os.path.join(os.path.dirname(__file__), "..", "..", "..", "src", "engine", "python")
FIXTURES = os.path.join(os.path.dirname(__file__), "..", "..", "fixtures", "custom-tasks")
sys.path.insert(0, ENGINE)

import library  # noqa: E402
import custom_tasks  # noqa: E402
from errors import EngineError  # noqa: E402
from reasoning_gym.factory import CURRICULA, DATASETS  # noqa: E402


def write_module(folder, name, text="", task=None):
    if task:
        text += f"""
from dataclasses import dataclass
from reasoning_gym.factory import ProceduralDataset, register_dataset
@dataclass
class Config:
    seed: int = 0
    size: int = 1
class Dataset(ProceduralDataset):
    pass
register_dataset({task!r}, Dataset, Config)
"""
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    return path


def forget_custom_tasks():
    library.custom_sources = []
    for names in library._custom, library._imported, library.custom_problems:
        names.clear()


class CustomTasksTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.path, self.modules = list(sys.path), set(sys.modules)
        self.datasets, self.curricula = dict(DATASETS), dict(CURRICULA)

    def tearDown(self):
        sys.path[:] = self.path
        for name in set(sys.modules) - self.modules:
            del sys.modules[name]
        for registry, before in (DATASETS, self.datasets), (CURRICULA, self.curricula):
            for name in set(registry) - set(before):
                del registry[name]

    def load(self, *places):
        sources, found = custom_tasks.find_sources(places)
        tasks, problems = custom_tasks.load(sources, DATASETS, CURRICULA)
        return tasks, found + problems

    def test_a_folder_of_modules_and_packages_leaves_out_tests(self):
        write_module(self.folder, "one.py", task="own_one")
        write_module(self.folder, "two/__init__.py", "from . import inner")
        write_module(self.folder, "two/inner.py", task="own_two")
        write_module(self.folder, "test_one.py", "raise SystemExit")
        tasks, problems = self.load(self.folder)
        self.assertEqual((sorted(tasks), problems), (["own_one", "own_two"], []))

    def test_a_package_a_file_and_a_module_name_are_places_too(self):
        write_module(self.folder, "pack/__init__.py", task="own_pack")
        file = write_module(self.folder, "single.py", task="own_single")
        write_module(self.folder, "named/deep/__init__.py", task="own_named")
        write_module(self.folder, "named/__init__.py")
        sys.path.append(self.folder)
        tasks, problems = self.load(os.path.join(self.folder, "pack"), file, "named.deep")
        self.assertEqual((sorted(tasks), problems), (["own_named", "own_pack", "own_single"], []))

    def test_an_installed_package_is_found_by_its_entry_point(self):
        write_module(self.folder, "our_tasks/games.py", task="own_game")
        write_module(self.folder, "our_tasks/__init__.py")
        write_module(self.folder, "our_tasks-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: our-tasks\nVersion: 1.0\n")
        entry_points = "[reasoning_gym_server.tasks]\nours = our_tasks.games\n"
        write_module(self.folder, "our_tasks-1.0.dist-info/entry_points.txt", entry_points)
        sys.path.append(self.folder)
        tasks, problems = self.load()
        self.assertEqual((list(tasks), problems), (["own_game"], []))
        self.assertEqual(tasks["own_game"].source.readable, (os.path.join(self.folder, "our_tasks", "games.py"),))

    def test_a_package_does_not_show_the_folder_that_it_lies_in(self):
        write_module(self.folder, "pack/__init__.py", task="own_pack")
        write_module(self.folder, "secret.txt", "secret")
        sources, _ = custom_tasks.find_sources([os.path.join(self.folder, "pack")])
        self.assertEqual([source.readable for source in sources], [(os.path.join(self.folder, "pack"),)])
        self.assertNotIn(self.folder, sys.path)

    def test_finding_runs_no_code(self):
        write_module(self.folder, "bad/__init__.py", "raise SystemExit('ran')")
        write_module(self.folder, "bad/inner.py")
        sys.path.append(self.folder)
        custom_tasks.find_sources([self.folder, "bad.inner"])

    def test_the_hash_changes_with_any_file_of_the_package_but_not_with_its_tests(self):
        write_module(self.folder, "pack/__init__.py", "1")
        data = write_module(self.folder, "pack/data/words.txt", "a")
        pack = os.path.join(self.folder, "pack")
        first = custom_tasks._hash_files(pack)
        write_module(self.folder, "pack/test_pack.py", "anything")
        self.assertEqual(custom_tasks._hash_files(pack), first)
        with open(data, "w") as file:
            file.write("b")
        self.assertNotEqual(custom_tasks._hash_files(pack), first)

    def test_a_name_of_the_library_or_of_another_file_is_a_problem_that_names_the_file(self):
        taken = write_module(self.folder, "a_taken.py", task="chain_sum")
        first = write_module(self.folder, "b_first.py", task="own_same")
        second = write_module(self.folder, "c_second.py", task="own_same")
        tasks, problems = self.load(self.folder)
        self.assertEqual(list(tasks), ["own_same"])
        self.assertEqual([problem["file"] for problem in problems], [taken, second])
        self.assertIn("in the library", problems[0]["detail"])
        self.assertIn(first, problems[1]["detail"])

    def test_a_module_that_fails_or_registers_nothing_is_a_problem(self):
        write_module(self.folder, "fails.py", "x = 1\nraise KeyError('lost')")
        write_module(self.folder, "silent.py")
        tasks, problems = self.load(self.folder)
        self.assertEqual(tasks, {})
        self.assertIn("fails.py, line 2", problems[0]["detail"])
        self.assertIn("registers no task", problems[1]["detail"])

    def test_a_name_that_no_item_id_can_hold_is_a_problem(self):
        write_module(self.folder, "dots.py", task="own.dots")
        tasks, problems = self.load(self.folder)
        self.assertEqual((tasks, len(problems)), ({}, 1))
        self.assertIn("is not a task name", problems[0]["detail"])

    def test_a_module_keeps_its_code_and_is_a_problem_once_what_it_shares_has_changed(self):
        path = write_module(self.folder, "one.py", task="own_one")
        write_module(self.folder, "_shared.py")
        sources, _ = custom_tasks.find_sources([self.folder])
        write_module(self.folder, "one.py", "def (")
        self.assertEqual(next(custom_tasks.list_syntax_errors([self.folder]))["detail"], "SyntaxError: invalid syntax (one.py, line 1)")
        tasks, problems = custom_tasks.load(sources, DATASETS, CURRICULA)
        self.assertEqual((list(tasks), problems), (["own_one"], []))
        DATASETS.pop("own_one")
        write_module(self.folder, "_shared.py", "x = 1")
        tasks, problems = custom_tasks.load(sources, DATASETS, CURRICULA)
        self.assertEqual(tasks, {})
        self.assertIn("have changed since the server read them", problems[0]["detail"])

    def test_a_module_that_exits_or_never_ends_is_a_problem(self):
        write_module(self.folder, "a_exits.py", "raise SystemExit(3)")
        write_module(self.folder, "b_hangs.py", "while True: pass")
        write_module(self.folder, "c_good.py", task="own_good")
        limit, custom_tasks.IMPORT_LIMIT_S = custom_tasks.IMPORT_LIMIT_S, 0.2
        self.addCleanup(setattr, custom_tasks, "IMPORT_LIMIT_S", limit)
        tasks, problems = self.load(self.folder)
        self.assertEqual(list(tasks), ["own_good"])
        self.assertIn("SystemExit: 3 (a_exits.py, line 1)", problems[0]["detail"])
        self.assertIn("takes more than 0.2 s (b_hangs.py, line 1)", problems[1]["detail"])

    def test_items_of_other_code_are_rejected(self):
        path = write_module(self.folder, "one.py", task="own_one")
        write_module(self.folder, "_shared.py")
        library.custom_sources = sources = custom_tasks.find_sources([self.folder])[0]
        self.addCleanup(forget_custom_tasks)
        library.import_custom_tasks(path)
        library.require_code("own_one", library.custom_sources[0].code_hash)
        library.require_code("chain_sum", None)
        for task, code_hash in [("own_one", "0" * 12), ("own_one", None), ("chain_sum", "0" * 12), ("unknown", "0" * 12)]:
            with self.assertRaises(EngineError) as caught:
                library.require_code(task, code_hash)
            self.assertEqual(caught.exception.code, "engine_version_mismatch")
        write_module(self.folder, "_shared.py", "x = 1")
        DATASETS.pop("own_one")
        forget_custom_tasks()  # as in a new worker
        library.custom_sources = sources
        library.import_custom_tasks(path)
        with self.assertRaisesRegex(EngineError, "have changed since the server read them"):
            library.require_code("own_one", library.custom_sources[0].code_hash)

    def test_places_that_cannot_be_used_say_why(self):
        good = write_module(self.folder, "good/fine.py", task="own_fine")
        large = write_module(self.folder, "large/module.py")
        for k in range(custom_tasks.MAX_HASHED_FILES):
            write_module(self.folder, f"large/data/{k}")
        write_module(self.folder, "taken/json.py")
        os.mkdir(os.path.join(self.folder, "empty"))
        cases = {
            "./nowhere": "no folder or Python file",
            "no_such_module": "no module no_such_module",
            os.path.join(self.folder, "empty"): "no Python file",
            os.path.join(self.folder, "taken"): "already has",
            os.path.dirname(large): "in a folder of their own",
        }
        sources, problems = custom_tasks.find_sources([*cases, good])
        self.assertEqual([source.path for source in sources], [good])
        for (place, reason), problem in zip(cases.items(), problems, strict=True):
            self.assertEqual(problem["file"], place)
            self.assertIn(reason, problem["detail"])

    def test_only_regular_files_are_hashed_and_an_unreadable_one_costs_its_place_alone(self):
        good = write_module(self.folder, "good/fine.py", task="own_fine")
        os.symlink("/nowhere", os.path.join(self.folder, "good", ".#fine.py"))
        os.symlink("/nowhere", os.path.join(self.folder, "good", "words.txt"))
        pack = os.path.dirname(write_module(self.folder, "pack/__init__.py", task="own_pack"))
        os.symlink("/nowhere", os.path.join(pack, "words.txt"))
        os.mkfifo(os.path.join(pack, "pipe"))
        with open(os.fsencode(pack) + b"/not-utf-8-\xe9.txt", "w"):
            pass
        bad = os.path.dirname(write_module(self.folder, "bad/__init__.py", task="own_bad"))
        os.symlink("/proc/self/mem", os.path.join(bad, "unreadable"))  # also by root
        tasks, [problem] = self.load(bad, pack, os.path.dirname(good))
        self.assertEqual(sorted(tasks), ["own_fine", "own_pack"])
        self.assertEqual(problem["file"], bad)
        self.assertIn("Input/output error", problem["detail"])

    def test_two_places_with_a_module_of_one_name_are_a_problem_that_names_both(self):
        one, two = write_module(self.folder, "a/same.py", task="own_a"), write_module(self.folder, "b/same.py", task="own_b")
        tasks, [problem] = self.load(one, two)
        self.assertEqual(list(tasks), ["own_a"])
        self.assertIn(f"{two} and {one} are both named same", problem["detail"])

    def test_an_entry_that_is_none_says_what_is_wrong(self):
        good = {"question": "?", "answer": "1", "metadata": {}}
        custom_tasks.check_entry(good)
        custom_tasks.check_entry({"question": "?", "metadata": {}})
        for entry, reason in [
            ([], "must return a dict, not list"),
            ({**good, "question": None}, "question must be a text, not NoneType"),
            ({**good, "answer": 7}, "answer must be a text, not int"),
            ({"question": "?", "answer": "1"}, "metadata must be a dict, not NoneType"),
        ]:
            with self.assertRaisesRegex(TypeError, reason):
                custom_tasks.check_entry(entry)

    def test_the_ladder_is_the_levels_of_the_curriculum(self):
        tasks, problems = self.load(FIXTURES)
        self.assertEqual(problems, [])
        self.assertEqual([rung["words"] for rung in custom_tasks.list_ladder(tasks["word_count"])], [5, 10, 20, 50, 100])


if __name__ == "__main__":
    unittest.main()
