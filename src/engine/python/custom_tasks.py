"""Custom tasks beside the library's: found in the places of TASKS_PATH, and loaded inside the sandbox of a worker that
needs them.

A place is a folder that is one package (it has `__init__.py`), a folder of modules and packages, one file, or the dotted name of an
importable module. Besides, every entry point of the group `reasoning_gym_server.tasks` names a module. Importing a module calls the
library's `register_dataset(name, DatasetClass, ConfigClass, CurriculumClass)`; nothing else is asked of it.

`find_sources` runs in the parent of the workers, which has the rights of the server's user: it reads files and runs none of them.
"""

import contextlib
import dataclasses
import hashlib
import importlib
import importlib.machinery
import importlib.metadata
import importlib.util
import json
import os
import re
import signal
import sys
import traceback

ENTRY_POINT_GROUP = "reasoning_gym_server.tasks"
# Tests and private files of a folder are no tasks.
SKIPPED_PREFIXES = ("_", ".", "test_", "conftest")
HASH_CHARS = 12
MAX_HASHED_FILES, MAX_HASHED_BYTES = 2000, 64 << 20
SCORER_ENDINGS = (".ts", ".mts", ".js", ".mjs")
IMPORT_LIMIT_S = 5
TASK_NAME = re.compile("[a-z0-9_]{1,64}")
# Compiled code, caches, tests and texts for readers are no part of a task's identity.
UNHASHED_FOLDERS = {"__pycache__", ".pytest_cache", ".git"}
UNHASHED_PREFIXES = ("test_", "conftest", ".")
UNHASHED_SUFFIXES = (".md",)


class TaskPathError(Exception):
    """A place that cannot be used; the message names it and says what to do."""


@dataclasses.dataclass
class Source:
    """A module with tasks."""

    module: str
    # The file, or the folder of a package.
    path: str
    # Of a file: workers that start later have the same code, whatever becomes of it. None for a package.
    code: bytes | None
    # Of all files in `hashed`: an item is only scored by the code that made it.
    code_hash: str
    # The module and what it shares with others of its folder.
    hashed: tuple
    # What the sandbox must let a worker read.
    readable: tuple
    # Scores its answers in TypeScript or JavaScript, if there is one.
    scorer: str | None


@dataclasses.dataclass
class CustomTask:
    name: str
    source: Source
    dataset_cls: type
    config_cls: type
    curriculum_cls: type | None


def find_sources(places):
    """Finds the modules of all places and of all entry points, and makes them importable. Returns them, and a message for each place
    that cannot be used."""
    by_module, problems = {}, []
    points = importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)
    finders = [(place, lambda place=place: _find_in_place(place)) for place in places if place]
    finders += [(point.value, lambda point=point: _find_entry_point(point)) for point in points]
    for place, find in finders:
        try:
            for source in find():
                other = by_module.setdefault(source.module, source)
                if other.path != source.path:
                    raise TaskPathError(f"{source.path} and {other.path} are both named {source.module}: rename one of them")
        except (TaskPathError, OSError) as error:
            problems.append({"file": place, "detail": str(error)})
    return list(by_module.values()), problems


def _find_entry_point(point):
    return [_find_module(point.value.split(":")[0], f"entry point {point.name}")]


def _find_in_place(place):
    path = os.path.abspath(os.path.expanduser(place))
    if os.path.isfile(path) and path.endswith(".py"):
        return [_locate(os.path.basename(path)[:-3], path)]
    if not os.path.isdir(path):
        if os.sep in place or place.startswith("."):
            raise TaskPathError(f"TASKS_PATH: there is no folder or Python file {path}")
        return [_find_module(place, f"TASKS_PATH entry {place}")]
    if os.path.isfile(os.path.join(path, "__init__.py")):
        return [_locate(os.path.basename(path), path)]
    modules, shared = {}, []
    for name in sorted(os.listdir(path)):
        full = os.path.join(path, name)
        if not name.startswith(SKIPPED_PREFIXES) and name.endswith(".py") and os.path.isfile(full):
            modules[name[:-3]] = full
        elif not name.startswith(SKIPPED_PREFIXES) and os.path.isfile(os.path.join(full, "__init__.py")):
            modules[name] = full
        elif name not in UNHASHED_FOLDERS and _is_hashed(name):
            shared.append(full)
    if not modules:
        raise TaskPathError(f"TASKS_PATH: {path} has no Python file and no package")
    if path not in sys.path:
        sys.path.append(path)  # its modules may import what they share, such as `_words.py`
    return [_locate(module, full, path, shared) for module, full in modules.items()]


def _locate(module, path, folder=None, shared=()):
    if not module.isidentifier():
        raise TaskPathError(f"{path} cannot be imported: {module!r} is no name of a Python module. Rename it.")
    if module in sys.modules or module in sys.stdlib_module_names:
        raise TaskPathError(f"{path} has the name of a module that Python already has: rename it")
    return _describe_source(module, path, folder, shared)


def _describe_source(module, path, folder=None, shared=()):
    """`folder`: if its modules may import each other and what they share."""
    scorer = _find_scorer(path)
    hashed = tuple(dict.fromkeys(filter(None, [path, *shared, scorer])))
    tests = os.path.join(os.path.dirname(path), "test_" + os.path.basename(path))  # `task check` runs them in the sandbox
    readable = (folder,) if folder else (*hashed, *([tests] if os.path.isfile(tests) else []))
    code = None
    if "." not in module and os.path.isfile(path):
        with open(path, "rb") as file:
            code = file.read(MAX_HASHED_BYTES)
    return Source(module, path, code, _hash_files(*hashed, code=code), hashed, readable, scorer)


def _find_scorer(path):
    stem = os.path.join(path, "scorer") if os.path.isdir(path) else path.removesuffix(".py") + ".scorer"
    return next((stem + ending for ending in SCORER_ENDINGS if os.path.isfile(stem + ending)), None)


def _find_module(name, what):
    """Looks the module up without running any code of its packages."""
    search, spec = None, None
    for part in name.split("."):
        spec = importlib.machinery.PathFinder.find_spec(part, search)
        if spec is None:
            raise TaskPathError(f"{what}: there is no module {name} in {sys.prefix}, and no folder of that name")
        search = spec.submodule_search_locations
    path = spec.submodule_search_locations[0] if spec.submodule_search_locations else spec.origin
    path = os.path.abspath(path)
    return _describe_source(name, path)


def _is_hashed(name):
    return not name.startswith(UNHASHED_PREFIXES) and not name.endswith(UNHASHED_SUFFIXES)


def _list_files(*paths):
    """These files, and those below these folders: no dangling links, and no pipes, which never end."""
    files = list(paths)
    for path in filter(os.path.isdir, paths):
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(set(folders) - UNHASHED_FOLDERS)
            files += [os.path.join(folder, name) for name in names if _is_hashed(name)]
    return sorted(filter(os.path.isfile, set(files)))


def _hash_files(*paths, code=None):
    """SHA-256 of files, and of the files below folders, data files included; of `code` in place of the first file."""
    root = os.path.dirname(paths[0])
    files = _list_files(*paths)
    digest = hashlib.sha256()
    if len(files) > MAX_HASHED_FILES or sum(map(os.path.getsize, files)) > MAX_HASHED_BYTES:
        limit = f"{MAX_HASHED_FILES} files or {MAX_HASHED_BYTES >> 20} MB"
        raise TaskPathError(f"{root} has more than {limit}, which would all be a part of its tasks: keep tasks in a folder of their own")
    for file in files:
        with open(file, "rb") as content:
            text = content.read() if code is None or file != paths[0] else code
        digest.update(os.fsencode(os.path.relpath(file, root)) + b"\0" + hashlib.sha256(text).digest())
    return digest.hexdigest()[:HASH_CHARS]


def load(sources, datasets, curricula, known_tasks=None):
    """Imports the modules. Returns the tasks that they registered by name, and a message for each that could not be loaded. `known_tasks`
    are those of modules that were imported before."""
    tasks, problems = {}, []
    for source in sources:
        known = dict(datasets)
        try:
            if _hash_files(*source.hashed, code=source.code) != source.code_hash:
                raise TaskPathError("its files have changed since the server read them: save them again under --watch-tasks, or restart the server")
            with _time_limit(IMPORT_LIMIT_S):
                _import(source)
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            problems.append({"file": source.path, "detail": _describe_failure(error, source, {**(known_tasks or {}), **tasks})})
        added = [name for name in datasets if name not in known]
        if not added and not any(problem["file"] == source.path for problem in problems):
            problems.append({"file": source.path, "detail": "it registers no task: call reasoning_gym.factory.register_dataset"})
        for name in added:
            if TASK_NAME.fullmatch(name):
                tasks[name] = CustomTask(name, source, *datasets[name], curricula.get(name))
            else:
                problems.append({"file": source.path, "detail": f"{name!r} is not a task name: use lowercase letters, digits and underscores"})
    return tasks, problems


@contextlib.contextmanager
def _time_limit(seconds):
    def stop(_signal, _frame):
        raise TimeoutError(f"importing it takes more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
    except OSError:  # a worker that scores may have no timer; the server ends it when it takes too long
        seconds = 0
    try:
        yield
    finally:
        if seconds:
            signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _import(source):
    """From its own place, whatever else has that name on the path."""
    if "." in source.module:
        importlib.import_module(source.module)
        return
    is_package = os.path.isdir(source.path)
    file = os.path.join(source.path, "__init__.py") if is_package else source.path
    spec = importlib.util.spec_from_file_location(source.module, file, submodule_search_locations=[source.path] if is_package else None)
    module = sys.modules[source.module] = importlib.util.module_from_spec(spec)
    try:
        if source.code is None:
            spec.loader.exec_module(module)
        else:
            exec(compile(source.code, file, "exec"), module.__dict__)
    except BaseException:
        del sys.modules[source.module]
        raise


def _describe_failure(error, source, tasks):
    if isinstance(error, TaskPathError):
        return str(error)
    text = f"{type(error).__name__}: {error}"
    if "is already registered" in text:
        taken = next((task for task in tasks.values() if f"'{task.name}'" in text), None)
        owner = f"in {taken.source.path}" if taken else "in the library"
        return f"{error}, {owner}: give the task another name"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(source.path)]
    return f"{text} ({os.path.basename(frames[-1].filename)}, line {frames[-1].lineno})" if frames else text


def list_ladder(task):
    """The configs of the curriculum's levels from the lowest to the highest, as keyword arguments of the config class."""
    if task.curriculum_cls is None:
        return []
    curriculum = task.curriculum_cls()
    levels = max((len(attribute.levels) for attribute in curriculum.attributes.values()), default=0)
    rungs = []
    for level in range(levels):
        curriculum.set_global_level(level)
        config = curriculum.generate_configuration()
        rungs.append({field.name: getattr(config, field.name) for field in dataclasses.fields(config) if field.name not in ("seed", "size")})
    return rungs


def check_entry(entry):
    """Raises TypeError unless this is an item as the library's datasets make them."""
    if not isinstance(entry, dict):
        raise TypeError(f"__getitem__ must return a dict, not {type(entry).__name__}")
    if not isinstance(entry.get("question"), str):
        raise TypeError(f"the question must be a text, not {type(entry.get('question')).__name__}")
    if not isinstance(entry.get("answer"), (str, type(None))):
        raise TypeError(f"the answer must be a text, not {type(entry['answer']).__name__}")
    if not isinstance(entry.get("metadata"), dict):
        raise TypeError(f"the metadata must be a dict, not {type(entry.get('metadata')).__name__}")
    entry.setdefault("answer", None)


def list_syntax_errors(places):
    """The Python files of tasks that do not parse; nothing of them runs."""
    sources, _ = find_sources(places)
    for file in _list_files(*(path for source in sources for path in source.hashed)):
        try:
            if file.endswith(".py"):
                with open(file, "rb") as content:
                    compile(content.read(), file, "exec")
        except (OSError, SyntaxError, ValueError) as error:
            line = f", line {error.lineno}" if getattr(error, "lineno", None) else ""
            yield {"file": file, "detail": f"{type(error).__name__}: {getattr(error, 'msg', error)} ({os.path.basename(file)}{line})"}


if __name__ == "__main__":
    print(json.dumps(list(list_syntax_errors(sys.argv[1:]))))
