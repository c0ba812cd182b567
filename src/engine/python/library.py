"""The library, imported once and held to its word: instances per config, seeds set for each item, scorers made safe."""

import copy
import decimal
import importlib.metadata
import json
import os
import random
import sys
import traceback
import types
from collections import OrderedDict

import config_fields as fields
from errors import Fault


class _Nothing(types.ModuleType):
    """A module whose every name is a function that does nothing."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *a, **k: None


sys.path.append(os.path.join(os.path.dirname(__file__), "shims"))

# Only cellpylib's plotting imports matplotlib: leaving it out saves 0.2 s and 36 MB.
for _name in ("matplotlib", "matplotlib.pyplot", "matplotlib.animation", "matplotlib.collections", "mpl_toolkits", "mpl_toolkits.mplot3d"):
    sys.modules[_name] = _Nothing(_name)

import numpy  # noqa: E402
import reasoning_gym  # noqa: E402, F401
from reasoning_gym.code.codeio import CodeIODataset  # noqa: E402
from reasoning_gym.factory import DATASETS  # noqa: E402

import safe_eval as reading  # noqa: E402

reading.install()

VERSION = importlib.metadata.version("reasoning_gym")
TASKS = sorted(name for name in DATASETS if name != "composite")
# Their lists are made when an instance is, from its seed; all others read the seed again for each item.
SEEDED_AT_CONSTRUCTION = {"acre", "gsm_symbolic", "list_functions"}
# Their scorer writes into the entry.
WRITES_ENTRY = {"knight_swap"}
KEPT_INSTANCES = 160

_instances = OrderedDict()
_fields = {}


def config_fields(task):
    if task not in _fields:
        if task not in TASKS:
            raise Fault("unknown_task", f"there is no task named {task!r}")
        _fields[task] = fields.of(task, DATASETS[task][1])
    return _fields[task]


def canonical(task, config):
    """The fields of `config` that differ from the library's defaults, in plain JSON, sorted; Fault if they are not valid."""
    known, values = config_fields(task), {}
    for name, value in config.items():
        if name not in known:
            raise Fault("invalid_config", _unknown(task, name, known), f"config.{name}")
        values[name] = fields.coerce(known[name].hint, known[name].default, value, f"config.{name}")
    try:
        instance = DATASETS[task][1](**values)
        if hasattr(instance, "validate"):
            instance.validate()
    except Exception as error:
        raise _refusal(error, values) from None
    return {name: fields.to_json(values[name]) for name in sorted(values) if values[name] != known[name].default}


def _unknown(task, name, known):
    reason = "cannot be set" if name in fields.HIDDEN else "unknown field"
    return f"config.{name}: {reason}; {task} has {', '.join(known) or 'no fields'}"


def _refusal(error, values):
    """The library's own words, or the condition that did not hold; no traceback."""
    line = traceback.extract_tb(error.__traceback__)[-1].line or ""
    detail = str(error) or line.removeprefix("assert ")
    named = [n for n in values if n in detail] or [n for n in values if n in line] or list(values)
    return Fault("invalid_config", detail, f"config.{named[0]}" if named else "config")


def instance(task, config, seed):
    """The dataset of a config, ready for `seed`; one instance serves every seed where the library allows."""
    key = (task, json.dumps(config, sort_keys=True), seed if task in SEEDED_AT_CONSTRUCTION else None)
    dataset = _instances.get(key)
    if dataset is None:
        known = config_fields(task)
        values = {n: fields.coerce(known[n].hint, known[n].default, v, f"config.{n}") for n, v in config.items()}
        try:
            dataset = reasoning_gym.create_dataset(task, seed=seed, **values)
        except MemoryError:
            raise
        except Exception as error:
            raise _refusal(error, values) from None
        dataset.data_of_class = CodeIODataset._jsonl_data
        _instances[key] = dataset
        while len(_instances) > KEPT_INSTANCES:
            _instances.popitem(last=False)
    _instances.move_to_end(key)
    dataset.seed = dataset.config.seed = seed
    if task == "codeio":  # its data hang on the class: the last instance made would speak for all
        CodeIODataset._jsonl_data = dataset.data_of_class
    return dataset


def make(task, config, seed, index):
    """The entry of a recipe, as the library makes it."""
    dataset = instance(task, config, seed)
    if task in fields.SIZED and index >= len(dataset):
        raise Fault("index_out_of_range", f"{task} has {len(dataset)} items with this config; set config.size for more", "index")
    decimal.setcontext(decimal.Context())  # decimal_arithmetic sets the precision of whatever comes after it
    random.seed(seed + index)
    numpy.random.seed((seed + index) % 2**32)
    try:
        return dataset[index]
    except MemoryError:
        raise
    except Exception as error:
        raise Fault("make_failed", f"the library could not make this item: {type(error).__name__}: {error}", "config") from None


def score(task, config, seed, entry, answer):
    """The library's own score of an answer; it may raise whatever the library raises."""
    dataset = instance(task, config, seed)
    # As in the process that has just made the item: decimal_arithmetic leaves its precision behind.
    precision = dataset.config.precision if task == "decimal_arithmetic" else None
    decimal.setcontext(decimal.Context() if precision is None else decimal.Context(prec=precision))
    return float(dataset.score_answer(answer, copy.deepcopy(entry) if task in WRITES_ENTRY else entry))


def warm():
    """Takes the library through what hosts score, so that those forked from now on begin with its caches: a first integral takes
    0.2 s of a cold one. Only fixed texts are read; none of codeio's programs is run."""
    for task in "simple_integration", "intermediate_integration":
        entry = make(task, {}, 0, 0)
        for answer in entry["answer"], "x**2/2 + sin(x)*exp(x)":
            score(task, {}, 0, entry, answer)
    score("codeio", {}, 0, {"answer": '{"a": [1]}', "metadata": {}}, '{"a": [2]}')
