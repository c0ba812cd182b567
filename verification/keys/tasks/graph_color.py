"""graph_color: checks a JSON map of vertices to colors, and finds colorings by search."""

import json
import re


def parse(question):
    vertices = json.loads(re.search(r"Vertices: (\[.*\])", question)[1])
    edges = [(int(u), int(v)) for u, v in re.findall(r"\((\d+), (\d+)\)", question)]
    return vertices, edges, json.loads(re.search(r"Possible colors: (\[.*\])", question)[1])


def check(question, answer):
    vertices, edges, colors = parse(question)
    pairs = json.loads(answer, object_pairs_hook=list)
    coloring = dict(pairs)
    if sorted(key for key, _ in pairs) != sorted(map(str, vertices)):
        return False
    if any(type(color) is not int or color not in colors for color in coloring.values()):
        return False
    return all(coloring[str(u)] != coloring[str(v)] for u, v in edges)


def color(question):
    vertices, edges, colors = parse(question)
    near = {v: {a + b - v for a, b in edges if v in (a, b)} for v in vertices}
    found = {}

    def place():
        left = [v for v in vertices if v not in found]
        if not left:
            return True
        vertex = max(left, key=lambda v: (len({found[u] for u in near[v] if u in found}), len(near[v])))
        for choice in colors:
            if all(found.get(u) != choice for u in near[vertex]):
                found[vertex] = choice
                if place():
                    return True
                del found[vertex]
        return False

    return {v: found[v] for v in vertices} if place() else None


def solve(question):
    return None if color(question) is None else []


def others(question, key):
    coloring, colors = color(question), parse(question)[2]
    turned = {v: colors[(colors.index(c) + 1) % len(colors)] for v, c in coloring.items()}
    yield json.dumps(coloring)
    yield json.dumps(dict(reversed(turned.items())), separators=(",", ":"))
    yield json.dumps(turned, indent=2)


def wrong(question, key):
    vertices, edges, colors = parse(question)
    coloring = color(question)
    first, text = str(vertices[0]), {str(v): c for v, c in coloring.items()}
    if edges:
        u, v = map(str, edges[0])
        yield "neighbors have one color", json.dumps({**text, u: text[v]})
        yield "all have one color", json.dumps(dict.fromkeys(text, colors[0]))
    yield "a vertex has no color", json.dumps({v: c for v, c in text.items() if v != first})
    yield "a color that is not possible", json.dumps({**text, first: max(colors) + 1})
    yield "a vertex has the color null", json.dumps({**text, first: None})
    yield "a vertex has the color true", json.dumps({v: True if c == 1 else c for v, c in text.items()})
    yield "colors are texts", json.dumps({v: str(c) for v, c in text.items()})
    yield "a vertex that the graph has not", json.dumps({**text, str(max(vertices) + 1): colors[0]})
    twice = f'"{first}": {text[first] % len(colors) + 1}'
    yield "a vertex has two colors", "{" + twice + ", " + json.dumps(text)[1:]
    yield "not JSON", ", ".join(f"{v}: {c}" for v, c in text.items())
    yield "a list of colors", json.dumps(list(text.values()))
    yield "a list that begins with the vertices", json.dumps(list(range(max(vertices) + 1)))
    yield "colors mapped to vertices", json.dumps({str(c): [v for v in text if text[v] == c] for c in colors})
