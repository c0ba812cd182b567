"""verifiers' own vf-eval, and what is in the traces that it writes."""

import json
import os
import subprocess
from pathlib import Path

from testbed import SIZE, check, command, folder, same


def evaluate(model, name, *flags, config=None, rollouts=SIZE, actor="agent"):
    """The traces of one vf-eval, of a taskset by its name in `flags` or by a `config` in TOML."""
    if config is not None:
        path = Path(folder, f"{name}.toml")
        path.write_text(config)
        flags = ("@", str(path), *flags)
    arguments = [command("vf-eval"), *flags, "-m", "toy", "-r", str(rollouts), "--no-push", "--no-rich"]
    arguments += [f"--env.{actor}.harness.id", "null", f"--env.{actor}.runtime.type", "subprocess"]
    arguments += ["--client.base-url", model.url, "--client.api-key-var", "TOY_KEY", "-o", folder, "--run.dir", name]
    done = subprocess.run(arguments, env={**os.environ, "TOY_KEY": "x"}, capture_output=True, text=True, timeout=600)
    traces = list(Path(folder, name).rglob("traces.jsonl"))
    if not traces:
        print(done.stdout[-3000:], done.stderr[-3000:])
        return []
    records = [json.loads(line) for line in traces[0].read_text().splitlines()]
    return [trace for record in records for trace in record.get("traces", [record])]


def rewards_of(traces, name, item_of):
    """By item, sorted; None: an error in place of a reward."""
    found = {}
    for trace in traces:
        reward = (trace["rewards"] or {}).get(name)
        found.setdefault(item_of(trace), []).append(reward["score"] if isinstance(reward, dict) else reward)
    return {item: sorted(values, key=lambda value: (value is None, value)) for item, values in found.items()}


def no_errors(traces):
    same("no errors", [trace["errors"] for trace in traces if trace["errors"]], [])


def no_key(url):
    """The password of the URL is in no file that was written."""
    written = "".join(path.read_text() for path in Path(folder).rglob("*.json*"))
    check("the key is not written down", url.split("@")[0].rsplit(":", 1)[1] not in written)
