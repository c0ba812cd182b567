"""A Python worker: a forked process that serves one request at a time and sends a message for each unit as soon as it is done.

    {"op": "tasks", "custom": bool}                            {"value": {version, library_tasks: JSON text, custom_tasks, problems}}
    {"op": "config", "task", "units": [config]}                {"value": canonical config}
    {"op": "items", "task", "config", "units": [[seed, i]]}    {"value": {question, entry}}
    {"op": "score", "task", "config", "seed", "entry", "units": [answer]}   {"value": score}
    {"op": "run", "task", "config", "seed", "entry", "units": [inputs as JSON]}   {"value": whether its program gives its output}
    {"op": "explain", "task", "question", "units": [answer]}   {"value": text or null}
    {"op": "tests", "units": [[folder, pattern]]}              {"value": {tests, failed, failures}}

Requests about a custom task also have its "file", which is imported now if it has not been, and for items, scores and explanations the "code_hash" of
the caller's items: other code rejects them. Each request has "deadline_ms", the time limit of one unit. The first message is {"started": true}: the dataset is ready and
the clock of the first unit starts. Instead of a value a unit can give {"error": code, "detail", "path"} (the request is rejected),
{"raised": text} (the scorer raised an exception on this answer) or {"out_of_memory": true}. What is raised while an item is made
is always the error make_failed.
"""

import functools
import gc
import json
import math
import os
import socket

import config_fields
import library
import custom_tasks
import unit_tests
from errors import EngineError, describe_error
from frames import encode_frame, read_frame
from sandbox import layers, rlimits
from typed_json import decode_typed, encode_typed

STARTED_FRAME = encode_frame({"started": True})
# What a worker of this kind may do, where that is not a kind of its own.
SANDBOX_KINDS = {"dataset": "items", "sympy": "score"}
# On top of that of other workers of their sandbox: a data set is never finished, and sympy may take seconds for an answer.
EXTRA_NICENESS = 9
# For creating a dataset, before the first unit.
PREPARE_DEADLINE_S = 10


def serve(socket_path, kind, workspace, network, zygote):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(socket_path)
    if kind in SANDBOX_KINDS:
        os.nice(EXTRA_NICENESS)
    sandbox_layers = layers.enter_sandbox(SANDBOX_KINDS.get(kind, kind), workspace, network)
    if os.getppid() != zygote:
        return  # it ended before this process asked to end with it; only a zygote that knows this process can kill it
    gc.enable()
    stream = connection.makefile("rb", buffering=1 << 16)
    connection.sendall(encode_frame({"pid": os.getpid(), "kind": kind, "layers": sandbox_layers}))
    while (request := read_frame(stream)) is not None:
        rlimits.limit_cpu_time(PREPARE_DEADLINE_S)
        process_unit = _prepare(request, workspace)
        connection.sendall(STARTED_FRAME)
        for unit in request.get("units", [None]):
            rlimits.limit_cpu_time(request["deadline_ms"] / 1000)
            connection.sendall(_compute_outcome(request["op"], process_unit, unit))


def _prepare(request, workspace):
    """Returns the function that processes one unit. If preparing fails, every unit fails the same way."""
    try:
        if "file" in request:
            library.import_custom_tasks(request["file"])
        return OPERATIONS[request["op"]](request, workspace)
    except (Exception, SystemExit) as failure:
        reason = failure  # Python deletes the name of an except clause at its end

        def fail(_unit):
            raise reason

        return fail


# The code of an exception that the operation does not foresee. A scorer may raise anything on an answer.
UNFORESEEN_CODES = {"items": "make_failed", "config": "invalid_config", "tests": "tests_failed"}


def _compute_outcome(op, process_unit, unit):
    """Returns the frame to send. That a value cannot be encoded is an outcome as well."""
    try:
        return encode_frame({"value": process_unit(unit)})
    except EngineError as error:
        return encode_frame(error.to_message())
    except MemoryError:
        return encode_frame({"out_of_memory": True})
    except (Exception, SystemExit) as error:
        if op in UNFORESEEN_CODES:
            return encode_frame(EngineError(UNFORESEEN_CODES[op], describe_error(error)).to_message())
        if isinstance(error, SystemExit):
            raise
        return encode_frame({"raised": describe_error(error)})


def _list_tasks(request, _workspace):
    def list_tasks(_unit):
        custom = library.import_custom_tasks() if request["custom"] else {}
        custom_tasks, problems = {}, list(library.custom_problems)
        for name, task in custom.items():
            try:
                custom_tasks[name] = _describe_custom_task(task)
            except Exception as error:
                problems.append({"file": task.source.path, "detail": f"{name}: {describe_error(error)}"})
        return {
            "version": library.VERSION,
            "library_tasks": encode_library_tasks(),
            "custom_tasks": custom_tasks,
            "problems": problems,
        }

    return list_tasks


@functools.cache
def encode_library_tasks():
    """As text, which a worker sends as it is: to read the objects behind it, it would copy 2 MB that it shares with its parent."""
    return json.dumps({name: _describe_task(name) for name in library.TASKS}, separators=(",", ":"))


def _describe_task(task):
    dataset_cls, config_cls = library.DATASETS[task]
    bounds_by_field = config_fields.read_bounds(config_cls)
    properties = {}
    for name, field in library.get_config_fields(task).items():
        schema, bounds = config_fields.json_schema(field.hint, field.default), dict(bounds_by_field.get(name, {}))
        if "items" in bounds and schema.get("type") == "array":
            schema["items"] |= bounds.pop("items")
        bounds.pop("items", None)
        properties[name] = schema | bounds | {"default": config_fields.to_json(field.default)}
    return {
        "category": "custom" if library.is_custom(task) else dataset_cls.__module__.split(".")[1],
        "config_schema": {"type": "object", "additionalProperties": False, "properties": properties},
    }


def _describe_custom_task(task):
    """A curriculum that makes no valid config gives no ladder, but the reason."""
    ladder, reason = [], None if task.curriculum_cls else "it has no curriculum"
    try:
        for rung in custom_tasks.list_ladder(task):
            ladder.append(library.canonicalize(task.name, {name: config_fields.to_json(value) for name, value in rung.items()}))
    except Exception as error:
        ladder, reason = [], f"its curriculum gives no valid config at level {len(ladder)}: {error}"[:500]
    description = (task.dataset_cls.__doc__ or "").strip().split("\n")[0]
    custom = {
        "file": task.source.path,
        "code_hash": task.source.code_hash,
        "scorer": task.source.scorer,
        "explains": hasattr(task.dataset_cls, "explain_answer"),
        "ladder": ladder,
        "no_ladder_reason": reason,
    }
    return _describe_task(task.name) | {"description": description or None, "custom": custom}


def _canonicalize(request, _workspace):
    return lambda config: library.canonicalize(request["task"], config)


def _make_items(request, workspace):
    library.require_code(request["task"], request.get("code_hash"))
    library.get_dataset(request["task"], request["config"], request["units"][0][0])

    def make(unit):
        workspace.clear()
        entry = library.make_entry(request["task"], request["config"], *unit)
        typed_entry = encode_typed({"answer": entry["answer"], "metadata": entry["metadata"]})
        return workspace.normalize_paths({"question": entry["question"], "entry": typed_entry})

    return make


def _score_answers(request, _workspace):
    task, config, seed = request["task"], request["config"], request["seed"]
    library.require_code(task, request.get("code_hash"))
    entry = decode_typed(request["entry"])
    library.get_dataset(task, config, seed)
    return lambda answer: _finite_or_zero(library.score(task, config, seed, entry, answer))


def _run_program(request, _workspace):
    entry = decode_typed(request["entry"])
    give_output = library.load_program(request["config"], request["seed"], entry)
    return lambda inputs: library.is_output_of(entry, give_output, inputs)


def _explain_answers(request, _workspace):
    library.require_code(request["task"], request.get("code_hash"))
    return lambda answer: library.explain(request["task"], request["question"], answer)


def _run_unit_tests(_request, _workspace):
    def run(unit):
        library.import_custom_tasks()
        return unit_tests.run(*unit)

    return run


def _finite_or_zero(score):
    return score if math.isfinite(score) else 0.0


OPERATIONS = {
    "tasks": _list_tasks,
    "config": _canonicalize,
    "items": _make_items,
    "score": _score_answers,
    "run": _run_program,
    "explain": _explain_answers,
    "tests": _run_unit_tests,
}
