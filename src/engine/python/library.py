"""The library, imported once and made deterministic: one dataset per config, seeds set for each item, scorers made safe."""

import copy
import datetime
import decimal
import importlib.metadata
import json
import os
import random
import sys
import traceback
import types
from collections import OrderedDict

import config_fields
from errors import EngineError, describe_error
from typed_json import decode_typed, encode_typed


class _StubModule(types.ModuleType):
    """A module in which every name is a function that does nothing."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *a, **k: None


_FOLDER = os.path.dirname(__file__)
sys.path.append(os.path.join(_FOLDER, "shims"))
# A wheel brings packages that pip cannot install without a compiler. They come first: the engine needs exactly these versions.
sys.path.insert(1, os.path.join(_FOLDER, "vendor"))

# Only cellpylib's plotting imports matplotlib: leaving it out saves 0.2 s and 36 MB.
for _name in ("matplotlib", "matplotlib.pyplot", "matplotlib.animation", "matplotlib.collections", "mpl_toolkits", "mpl_toolkits.mplot3d"):
    sys.modules[_name] = _StubModule(_name)

import dateutil.parser  # noqa: E402
import numpy  # noqa: E402
import reasoning_gym  # noqa: E402, F401
from reasoning_gym.arithmetic import time_intervals  # noqa: E402
from reasoning_gym.code.codeio import CodeIODataset  # noqa: E402
from reasoning_gym.factory import CURRICULA, DATASETS, ProceduralDataset  # noqa: E402

import faster_datasets  # noqa: E402
import faster_makers  # noqa: E402
import custom_tasks  # noqa: E402
import safe_eval  # noqa: E402



class _FixedDate(datetime.date):
    """time_intervals puts times of day on the date of today, which would stand in the metadata of its items."""

    @classmethod
    def today(cls):
        return cls(2000, 1, 1)


def _parse_on_fixed_date(text):
    return dateutil.parser.parse(text, default=datetime.datetime(2000, 1, 1))


time_intervals.date = _FixedDate
time_intervals.parser = types.SimpleNamespace(parse=_parse_on_fixed_date)
safe_eval.patch_library()
faster_makers.patch_library()

VERSION = importlib.metadata.version("reasoning_gym")
TASKS = sorted(name for name in DATASETS if name != "composite")
# These build their lists from the seed when the dataset is created; all others read the seed again for each item.
SEEDED_AT_CONSTRUCTION = {"acre", "gsm_symbolic", "list_functions"}
# The scorers of these tasks modify the entry.
MUTATES_ENTRY = {"knight_swap"}
MAX_CACHED_DATASETS = 160

# Modules with custom tasks, which the parent of the workers has found. They are imported in a worker that needs them, so
# that their code is inside the sandbox and cannot harm the library's tasks.
custom_sources = []
# Tasks of the modules that this process has imported, and why others are missing.
_custom = {}
custom_problems = []
_imported = set()

_datasets = OrderedDict()
_fields = {}


def import_custom_tasks(file=None):
    """Imports the module of a file, or all modules. Each is imported once, and alone, so that it cannot harm the tasks of others."""
    for source in custom_sources:
        if source.path not in _imported and file in (None, source.path):
            _imported.add(source.path)
            tasks, problems = custom_tasks.load([source], DATASETS, CURRICULA, _custom)
            _custom.update(tasks)
            custom_problems.extend(problems)
    return _custom


def is_custom(task):
    return task in _custom


def require_code(task, code_hash):
    """Raises EngineError unless this process has the code with which the caller's item of a custom task was made."""
    custom = _custom.get(task)
    if (custom.source.code_hash if custom else None) == code_hash:
        return
    reason = next((problem["detail"] for problem in custom_problems if code_hash and not custom), "this process has other code of the task")
    raise EngineError("engine_version_mismatch", f"{task}: {reason}")


def get_config_fields(task):
    if task not in _fields:
        if task not in TASKS and not is_custom(task):
            raise EngineError("unknown_task", f"there is no task named {task!r}")
        _fields[task] = config_fields.list_fields(task, DATASETS[task][1])
    return _fields[task]


def canonicalize(task, config):
    """The fields of `config` that differ from the library's defaults, as sorted plain JSON. Raises EngineError if one is invalid."""
    known, values = get_config_fields(task), {}
    for name, value in config.items():
        if name not in known:
            raise EngineError("invalid_config", _unknown_field_message(task, name, known), f"config.{name}")
        values[name] = config_fields.coerce(known[name].hint, known[name].default, value, f"config.{name}")
    try:
        instance = DATASETS[task][1](**values)
        if hasattr(instance, "validate"):
            instance.validate()
    except Exception as error:
        raise _to_invalid_config(error, values) from None
    return {name: config_fields.to_json(values[name]) for name in sorted(values) if values[name] != known[name].default}


def _unknown_field_message(task, name, known):
    reason = "cannot be set" if name in config_fields.HIDDEN_FIELDS else "unknown field"
    return f"config.{name}: {reason}; {task} has {', '.join(known) or 'no fields'}"


def _to_invalid_config(error, values):
    """The library's own message, or the assertion that failed; no traceback."""
    line = traceback.extract_tb(error.__traceback__)[-1].line or ""
    detail = str(error) or line.removeprefix("assert ")
    named = [n for n in values if n in detail] or [n for n in values if n in line] or list(values)
    return EngineError("invalid_config", detail, f"config.{named[0]}" if named else "config")


def get_dataset(task, config, seed):
    """The dataset of a config, ready for `seed`. One dataset serves every seed where the library allows it."""
    key = (task, json.dumps(config, sort_keys=True), seed if task in SEEDED_AT_CONSTRUCTION or is_custom(task) else None)
    dataset = _datasets.get(key)
    if dataset is None:
        known = get_config_fields(task)
        values = {n: config_fields.coerce(known[n].hint, known[n].default, v, f"config.{n}") for n, v in config.items()}
        try:
            dataset = _create_codeio(seed, values) if task == "codeio" else reasoning_gym.create_dataset(task, seed=seed, **values)
        except MemoryError:
            raise
        except Exception as error:
            raise _to_invalid_config(error, values) from None
        dataset.codeio_data = CodeIODataset._jsonl_data
        _datasets[key] = dataset
        while len(_datasets) > MAX_CACHED_DATASETS:
            _datasets.popitem(last=False)
    _datasets.move_to_end(key)
    dataset.seed = dataset.config.seed = seed
    if task == "codeio":  # keeps its data on the class: otherwise the last dataset created would overwrite all others
        CodeIODataset._jsonl_data = dataset.codeio_data
    return dataset


def _create_codeio(seed, values):
    """The library reads all programs for each config, in half a second. Each of its items has a new process, so they are read once."""
    config = DATASETS["codeio"][1](seed=seed, **values)
    config.validate()
    dataset = CodeIODataset.__new__(CodeIODataset)
    ProceduralDataset.__init__(dataset, config=config, seed=config.seed, size=config.size)
    CodeIODataset._jsonl_data = faster_datasets.get_codeio_programs(config.difficulty)
    assert CodeIODataset._jsonl_data, "No data found for the specified difficulty level"
    return dataset


def make_entry(task, config, seed, index):
    """Makes the entry of a recipe with the library."""
    dataset = get_dataset(task, config, seed)
    if task in config_fields.SIZE_DEPENDENT_TASKS and index >= len(dataset):
        raise EngineError("index_out_of_range", f"{task} has {len(dataset)} items with this config; set config.size for more", "index")
    decimal.setcontext(decimal.Context())  # decimal_arithmetic changes the precision for everything after it
    random.seed(seed + index)
    numpy.random.seed((seed + index) % 2**32)
    try:
        entry = dataset[index]
        if is_custom(task):
            custom_tasks.check_entry(entry)
        return entry
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:
        maker = "its code" if is_custom(task) else "the library"
        detail = f"{maker} cannot make an item of {task} with seed {seed} and index {index}: {describe_error(error)}"
        raise EngineError("make_failed", detail, "seed") from None


def score(task, config, seed, entry, answer):
    """The library's own score of an answer. Raises whatever the library raises."""
    dataset = get_dataset(task, config, seed)
    # As in a process that has just made the item: decimal_arithmetic leaves its precision set.
    precision = dataset.config.precision if task == "decimal_arithmetic" else None
    decimal.setcontext(decimal.Context() if precision is None else decimal.Context(prec=precision))
    return float(dataset.score_answer(answer, copy.deepcopy(entry) if task in MUTATES_ENTRY or is_custom(task) else entry))


def load_program(config, seed, entry):
    """The program of an item of codeio, which the library draws first. What it defines, its maker of inputs may use and change."""
    index = entry["metadata"]["source_index"]
    program = random.Random(seed + index).choice(get_dataset("codeio", config, seed).codeio_data)
    random.seed(seed + index)
    numpy.random.seed((seed + index) % 2**32)
    names = {"Random": random.Random}
    exec(f"{program['code_sample']}\n\n{program['input_generator']}", names)
    return names["main_solution"]


def is_output_of(entry, give_output, inputs):
    """Whether a program gives the output of an item on inputs, as JSON; not where it raises on them, or takes too much memory."""
    try:
        output = decode_typed(encode_typed(give_output(**json.loads(inputs))))
    except (Exception, SystemExit):
        return False
    return _is_same(output, entry["metadata"]["output_data"])


def _is_same(a, b):
    """Equal as JSON: numbers by value, lists and tuples alike, and true is no number."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_is_same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_is_same(a[key], b[key]) for key in a)
    return a == b or (a != a and b != b)


MAX_EXPLANATION_CHARS = 500


def explain(task, question, answer):
    """What a custom task says about an answer, or None. It is called on the class, with no seed and no config from which it could make
    the reference answer."""
    text = DATASETS[task][0].explain_answer(question, answer)
    if not isinstance(text, (str, type(None))):
        raise TypeError(f"explain_answer must return a text or None, not {type(text).__name__}")
    return (text or "").strip()[:MAX_EXPLANATION_CHARS] or None


def warm_caches():
    """Creates the datasets of the defaults and scores a few fixed answers, so that workers forked from now on inherit filled caches: the
    datasets take 0.15 s, and the first integral 0.2 s in a cold process. No program of codeio is run."""
    for task in TASKS:
        if task not in SEEDED_AT_CONSTRUCTION:
            get_dataset(task, {}, 0)
    for task in "simple_integration", "intermediate_integration":
        entry = make_entry(task, {}, 0, 0)
        for answer in entry["answer"], "x**2/2 + sin(x)*exp(x)":
            score(task, {}, 0, entry, answer)
    score("codeio", {}, 0, {"answer": '{"a": [1]}', "metadata": {}}, '{"a": [2]}')
