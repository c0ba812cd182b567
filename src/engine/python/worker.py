"""One host: a forked process that answers one request at a time, a message for each unit of it as soon as it is done.

    {"op": "tasks"}                                            {"k": 0, "value": {version, tasks}}
    {"op": "config", "task", "units": [config]}                {"k": 0, "value": canonical config}
    {"op": "items", "task", "config", "units": [[seed, i]]}    {"k": 0, "value": {question, entry}}
    {"op": "score", "task", "config", "seed", "entry", "units": [answer]}   {"k": 0, "value": score}

A request has "deadline_ms" beside it. First comes {"begun": true}: the dataset stands, and from now on each unit has its deadline.
Instead of a value: {"fault", "detail", "path"} (refused), {"raised": text} (a scorer raised on an answer), {"memory": true}.
"""

import gc
import math
import os
import socket

import config_bounds as bounds
import config_fields as fields
import frames
import library
from sandbox import rlimits as limits
import typed_json as typed
from sandbox import layers as walls
from errors import Fault

BEGUN = frames.encode({"begun": True})


PREPARE_S = 10


def run(path, kind, folder, network):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    layers = walls.around_host(kind, folder, network)
    gc.enable()
    stream = connection.makefile("rb", buffering=1 << 16)
    connection.sendall(frames.encode({"pid": os.getpid(), "kind": kind, "layers": layers}))
    while (request := frames.read(stream)) is not None:
        limits.processor(PREPARE_S)
        answer = _prepared(request, folder)
        connection.sendall(BEGUN)
        for k, unit in enumerate(request.get("units", [None])):
            limits.processor(request["deadline_ms"] / 1000)
            connection.sendall(frames.encode({"k": k, **_outcome(answer, unit)}))


def _prepared(request, folder):
    """The function of one unit. If it cannot be had, every unit has that outcome."""
    try:
        return WORK[request["op"]](request, folder)
    except (Fault, MemoryError) as failure:
        reason = failure  # the name in an except clause ends with it

        def refuse(_unit):
            raise reason

        return refuse


def _outcome(answer, unit):
    try:
        return {"value": answer(unit)}
    except Fault as fault:
        return fault.message()
    except MemoryError:
        return {"memory": True}
    except Exception as error:
        return {"raised": f"{type(error).__name__}: {error}"[:500]}


def _tasks(_request, _folder):
    return lambda _: {"version": library.VERSION, "tasks": {name: _described(name) for name in library.TASKS}}


def _described(task):
    dataset_cls, config_cls = library.DATASETS[task]
    limits_of = bounds.of(config_cls)
    properties = {}
    for name, field in library.config_fields(task).items():
        own, bound = fields.schema(field.hint, field.default), dict(limits_of.get(name, {}))
        if "items" in bound and own.get("type") == "array":
            own["items"] |= bound.pop("items")
        bound.pop("items", None)
        properties[name] = own | bound | {"default": fields.to_json(field.default)}
    return {
        "category": dataset_cls.__module__.split(".")[1],
        "config_schema": {"type": "object", "additionalProperties": False, "properties": properties},
    }


def _config(request, _folder):
    return lambda config: library.canonical(request["task"], config)


def _items(request, folder):
    library.instance(request["task"], request["config"], request["units"][0][0])

    def make(unit):
        folder.empty()
        entry = library.make(request["task"], request["config"], *unit)
        typed_entry = typed.encode({"answer": entry["answer"], "metadata": entry["metadata"]})
        return folder.unnamed_in({"question": entry["question"], "entry": typed_entry})

    return make


def _score(request, _folder):
    task, config, seed = request["task"], request["config"], request["seed"]
    entry = typed.decode(request["entry"])
    library.instance(task, config, seed)
    return lambda answer: _finite(library.score(task, config, seed, entry, answer))


def _finite(score):
    return score if math.isfinite(score) else 0.0


WORK = {"tasks": _tasks, "config": _config, "items": _items, "score": _score}
