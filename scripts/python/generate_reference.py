"""Writes docs/reference/python.md from the docstrings of the public classes and functions.

    python scripts/python/generate_reference.py [--check]

`--check` changes nothing and fails if the page is not up to date.
"""

import ast
import inspect
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "python" / "reasoning_gym_client"
SERVER = ROOT / "clients" / "python" / "server" / "reasoning_gym_server"
TARGET = ROOT / "docs" / "reference" / "python.md"
HEADER = """# Python reference

Generated from the docstrings of `reasoning_gym_client` and `reasoning_gym_server`. After reading it, you know every class and
method, and what they take and return. The [client's own page](../../clients/python/README.md) explains retries, errors and arrays.
Results are plain dicts; `reasoning_gym_client.types` types all of them.

`AsyncClient`, `AsyncRun` and `AsyncPositions` have the methods of `Client`, `Run` and `Positions` for asyncio: await those that call
the server, and iterate with `async for` where the method yields.
"""
NAMES = {"Args:": "Arguments:"}
#: The classes of asyncio repeat those of threads.
LEFT_OUT = {"AsyncClient", "AsyncRun", "AsyncPositions"}


def exported(package):
    """The names of `__all__`, in its order."""
    tree = ast.parse((package / "__init__.py").read_text("utf8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return [name for name in ast.literal_eval(node.value) if name not in LEFT_OUT]
    raise ValueError(f"{package} exports nothing")


def definitions(package):
    found = {}
    for file in sorted(package.glob("*.py")):
        if file.name != "types.py":
            for node in ast.parse(file.read_text("utf8")).body:
                if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                    found[node.name] = node
    return found


def signature(node, name):
    taken = ast.unparse(node.args)
    taken = re.sub(r"^self(, )?", "", taken)
    returned = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
    if isinstance(node.returns, ast.Constant) and isinstance(node.returns.value, str):
        returned = f" -> {node.returns.value}"
    return f"```text\n{name}({taken}){returned}\n```"


def text(node):
    """The docstring as Markdown: sections become lists, indented lines become code."""
    lines, section = [], False
    for line in inspect.cleandoc(ast.get_docstring(node) or "").split("\n"):
        if re.fullmatch(r"(Args|Returns|Raises):", line):
            section = True
            lines += [f"**{NAMES.get(line, line)}**", ""]
        elif section and (entry := re.match(r"    (\*{0,2}\w+): (.*)", line)):
            lines.append(f"- `{entry[1]}`: {entry[2]}")
        elif section and line.startswith("    "):
            at_entry = lines[-1].startswith(("- ", "  "))
            lines.append(("  " if at_entry else "") + line.strip())
        elif variable := re.match(r"([A-Z_]{5,}) {2,}(.*)", line):
            lines.append(f"- `{variable[1]}`: {variable[2]}")
        else:
            section = section and not line.strip()
            lines.append(line)
    return "\n".join(lines).strip()


def class_section(node):
    parts = [f"## {node.name}", text(node)]
    if any(ast.unparse(base) == "TypedDict" for base in node.bases):
        fields = [item for item in node.body if isinstance(item, ast.AnnAssign)]
        optional = any(keyword.arg == "total" for keyword in node.keywords)
        rows = []
        for field in fields:
            kind = ast.unparse(field.annotation)
            needed = re.fullmatch(r"NotRequired\[(.*)\]", kind)
            rows.append(f"| `{field.target.id}` | `{needed[1] if needed else kind}` | {'no' if needed or optional else 'yes'} |")
        parts.append("\n".join(["| Key | Type | Always there |", "| --- | --- | --- |", *rows]))
        return parts
    for item in node.body:
        if not isinstance(item, ast.FunctionDef) or ast.get_docstring(item) is None:
            if not (isinstance(item, ast.FunctionDef) and item.name == "__init__"):
                continue
        if item.name.startswith("_") and item.name not in ("__init__", "__getitem__"):
            continue
        if item.name == "__init__":
            parts.insert(1, signature(item, node.name).replace(" -> None", ""))
            continue
        parts += [f"### {node.name}.{item.name}"]
        is_property = any(ast.unparse(decorator) == "property" for decorator in item.decorator_list)
        parts += [] if is_property else [signature(item, item.name)]
        parts += [text(item)]
    return parts


def page():
    parts = [HEADER.strip()]
    written = set()
    for package in (CLIENT, SERVER):
        known = definitions(package)
        for name in exported(package):
            node = known.get(name)
            if node is None or name in written:
                continue
            written.add(name)
            if isinstance(node, ast.ClassDef):
                parts += class_section(node)
            else:
                parts += [f"## {name}", signature(node, name), text(node)]
    return "\n\n".join(part for part in parts if part) + "\n"


if __name__ == "__main__":
    wanted = page()
    if "--check" in sys.argv:
        if not TARGET.exists() or TARGET.read_text("utf8") != wanted:
            sys.exit(f"{TARGET.name} is out of date: run python scripts/python/generate_reference.py")
    else:
        TARGET.write_text(wanted, "utf8")
