"""Writes clients/python/reasoning_gym_client/_async_client.py, the classes of _client.py for asyncio.

    python scripts/python/generate_async_client.py [--check]

A method becomes a coroutine if it calls the server, or another method that does. Lists stay lists and iterators become
asynchronous iterators, under the same names. `Positions`, which depends on threads, has a hand-written twin in _async_positions.py.
`--check` changes nothing and fails if the file is not up to date.
"""

import ast
import pathlib
import re
import sys

PACKAGE = pathlib.Path(__file__).parents[2] / "clients" / "python" / "reasoning_gym_client"
SOURCE, TARGET = PACKAGE / "_client.py", PACKAGE / "_async_client.py"
HEADER = '"""The client for asyncio. Generated from _client.py by scripts/python/generate_async_client.py: change that file instead."""'
#: What is awaited of the wire. A stream is iterated.
AWAITED = {"call", "is_ready", "close"}
STREAMED = {"stream"}
#: `log_to` has a thread of its own, for trainers that block.
LEFT_OUT = {"Positions", "log_to"}


def methods_of(tree):
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from (item for item in node.body if isinstance(item, ast.FunctionDef))


def owner_and_name(call):
    """("_wire", "call") for `self.client._wire.call(…)`; the owner is "self", "client" or "run" for methods of the classes."""
    if not isinstance(call.func, ast.Attribute):
        return None, None
    value = call.func.value
    owner = value.id if isinstance(value, ast.Name) else value.attr if isinstance(value, ast.Attribute) else None
    return owner, call.func.attr


def listed_call(call):
    """The call in `list(self.rows(…))`, or None."""
    inner = call.args[0] if len(call.args) == 1 else None
    named_list = isinstance(call.func, ast.Name) and call.func.id == "list"
    return inner if named_list and isinstance(inner, ast.Call) and owner_and_name(inner)[0] == "self" else None


def is_generator(method):
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in ast.walk(method))


def without_lambdas(node):
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.Lambda):
            yield child
            yield from without_lambdas(child)


def find_coroutines(tree):
    """The names of the methods that become coroutines, that become asynchronous generators, and that return a stream."""
    coroutines, generators = set(), set()
    streams = {
        method.name
        for method in methods_of(tree)
        for call in ast.walk(method)
        if isinstance(call, ast.Call) and owner_and_name(call)[0] == "_wire" and owner_and_name(call)[1] in STREAMED
    }
    while True:
        known = len(coroutines) + len(generators)
        for method in methods_of(tree):
            for call in (node for node in without_lambdas(method) if isinstance(node, ast.Call)):
                owner, name = owner_and_name(call)
                awaits = (owner == "_wire" and name in AWAITED) or (owner in ("self", "client", "run") and name in coroutines)
                inner = listed_call(call)
                lists = inner is not None and owner_and_name(inner)[1] in generators | streams
                if awaits or lists or (owner == "time" and name == "sleep"):
                    (generators if is_generator(method) else coroutines).add(method.name)
        if len(coroutines) + len(generators) == known:
            return coroutines, generators, streams


class Edits:
    def __init__(self, text):
        self.lines = [line.encode() for line in text.splitlines(keepends=True)]
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        self.text = b"".join(self.lines)
        self.found = []

    def at(self, line, column):
        return self.starts[line - 1] + column

    def wrap(self, node, before, after):
        self.found.append((self.at(node.lineno, node.col_offset), before))
        self.found.append((self.at(node.end_lineno, node.end_col_offset), after))

    def replace(self, name, call):
        """`list(argument)` by a comprehension."""
        self.found.append((self.at(name.lineno, name.col_offset), "[row async for row in ", len("list(")))
        self.found.append((self.at(call.end_lineno, call.end_col_offset) - 1, "]", 1))

    def apply(self):
        text = self.text
        for position, inserted, *removed in sorted(self.found, key=lambda edit: edit[0], reverse=True):
            text = text[:position] + inserted.encode() + text[position + sum(removed) :]
        return text.decode()


def convert(source):
    tree = ast.parse(source)
    named = [node for node in ast.walk(tree) if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name in LEFT_OUT]
    for node in sorted(named, key=lambda node: -node.lineno):  # from the end of the file up, so that line numbers stay right
        lines = source.splitlines(keepends=True)
        source = "".join(lines[: node.lineno - 1] + lines[node.end_lineno :])
    source = source.replace("\n\n\n    def", "\n\n    def")
    tree = ast.parse(source)
    coroutines, generators, streams = find_coroutines(tree)
    edits = Edits(source)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for method in methods_of(tree):
        if method.name in coroutines | generators:
            edits.found.append((edits.at(method.lineno, method.col_offset), "async "))
        for call in (node for node in without_lambdas(method) if isinstance(node, ast.Call)):
            owner, name = owner_and_name(call)
            awaited = (
                (owner == "_wire" and name in AWAITED)
                or (owner in ("self", "client", "run") and name in coroutines)
                or (owner == "time" and name == "sleep")
                or (isinstance(call.func, ast.Name) and call.func.id == "look")
            )
            inner = listed_call(call)
            if inner is not None and owner_and_name(inner)[1] in generators | streams:
                edits.replace(call.func, call)
            elif awaited:
                inner = isinstance(parents[call], (ast.Attribute, ast.Subscript))
                edits.wrap(call, "(await " if inner else "await ", ")" if inner else "")
            elif isinstance(call.func, ast.Name) and call.func.id == "generate":
                edits.wrap(call, "await _result_of(", ")")
    text = edits.apply()
    for pattern, replacement in [
        (r"\btime\.sleep\(", "asyncio.sleep("),
        (r"for line in lines if", "async for line in lines if"),
        (r"( +)yield from (page\[[^\]]+\])", r"\1for one in \2:\n\1    yield one"),
        (r"\bIterator\b", "AsyncIterator"),
        (r"\b_Wire\b", "_AsyncWire"),
        (r"from \._wire import", "from ._async_wire import"),
        (r"class (Client|Run)\b", r"class Async\1"),
        (r'"(Client|Run)"', r'"Async\1"'),
        (r"\bclient: Client\b", "client: AsyncClient"),
        (r"return Run\(", "return AsyncRun("),
        (r'f"(Client|Run)\(', r'f"Async\1('),
        (r'"Positions"', '"AsyncPositions"'),
        (r"return Positions\(", "return AsyncPositions("),
        (r"def __enter__", "async def __aenter__"),
        (r"(async )*def __exit__", "async def __aexit__"),
        (r"look: Callable\[\[\], Any\]", "look: Callable[[], Awaitable[Any]]"),
        (r"generate: Callable\[(.*)\],$", r"generate: Callable[\1],"),
        (r'"""A connection to one server\. Threads can share it\.', '"""A client of one server for asyncio, with the methods of `Client`. Belongs to one event loop.'),
        (r"        connect_for_s: float = 10\.0,\n", "        connect_for_s: float = 10.0,\n        connections: int = 256,\n"),
        (r"ssl_context, connect_for_s\n        \)", "ssl_context, connect_for_s,\n            connections=connections,\n        )"),
        (r"(            address then fails soon.*\n)", r"\1        connections: Maximum number of connections. Further calls wait for their turn.\n"),
        (r'"""Closes the connection of this thread\. The client remains usable\."""', '"""Closes the idle connections. The client remains usable."""'),
        (r"run = client\.run\(", "run = client.run("),
    ]:
        text = re.sub(pattern, replacement, text, flags=re.M)
    text = re.sub(r'^""".*?"""', HEADER, text, count=1, flags=re.S)
    text = text.replace("import http.client\n", "").replace("import os\n", "").replace("import threading\n", "")
    text = text.replace("from types import ModuleType\n", "").replace("from ._metrics_log import MetricsLog, Sink\n", "")
    text = text.replace("from collections import OrderedDict\n", "").replace("    Iterable,\n", "")
    text = text.replace("import json\n", "import asyncio\nimport inspect\nimport json\n", 1)
    text = text.replace("    Any,\n", "    Any,\n    AsyncIterator,\n    Awaitable,\n", 1).replace("    AsyncIterator,\n    List,", "    List,")
    text = text.replace("from ._codec import", "from ._async_positions import AsyncPositions\nfrom ._async_wire import _AsyncWire\nfrom ._codec import", 1)
    text = re.sub(r"(?m)^from \._async_wire import _AsyncWire\n(?=\nif TYPE_CHECKING)", "", text)
    return text.rstrip() + '''


async def _result_of(value: Any) -> Any:
    """The value, or what a coroutine function returns in its place."""
    return await value if inspect.isawaitable(value) else value
'''


def main():
    wanted = convert(SOURCE.read_text())
    ast.parse(wanted)
    if TARGET.exists() and TARGET.read_text() == wanted:
        return
    if "--check" in sys.argv:
        sys.exit(f"{TARGET.name} is not up to date: run python scripts/python/generate_async_client.py")
    TARGET.write_text(wanted)


main()
