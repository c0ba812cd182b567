"""verifiers' own nemo-gym taskset through vf-eval, against our resources server, with rows of GET /dataset.jsonl."""

import json
import os
import subprocess
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread

from sample_checks import count_groups
from trainer_checks import admin_key, api_key, control, fixture, folder, meanwhile, plain_url, run, same, server, until

SIZE = fixture["group_size"]
VF_EVAL = str(Path(sys.executable).with_name("vf-eval"))
RUN_URL = f"{plain_url}/nemo-gym/{run}"


class ToyModel:
    """An OpenAI-like model that knows the answers, and says what `speak(item, times)` makes of them."""

    def __init__(self, items, speak):
        asked, lock = {}, Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                question = request["messages"][-1]["content"]
                text = question if isinstance(question, str) else "".join(part["text"] for part in question)
                item = max((item for item in items if item["question"] in text), key=lambda item: len(item["question"]))
                with lock:
                    times = asked[item["id"]] = asked.get(item["id"], -1) + 1
                message = {"role": "assistant", "content": speak(item, times)}
                self.reply(message, request.get("stream"))

            def reply(self, message, streams):
                answer = {"id": "toy", "object": "chat.completion", "created": 0, "model": "toy"}
                usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
                if streams:
                    chunk = {**answer, "object": "chat.completion.chunk"}
                    parts = [
                        {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
                        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
                        {**chunk, "choices": [], "usage": usage},
                    ]
                    body = "".join(f"data: {json.dumps(part)}\n\n" for part in parts) + "data: [DONE]\n\n"
                else:
                    choice = {"index": 0, "message": message, "finish_reason": "stop"}
                    body = json.dumps({**answer, "choices": [choice], "usage": usage})
                self.send_response(200)
                self.send_header("content-type", "text/event-stream" if streams else "application/json")
                self.send_header("content-length", str(len(body.encode())))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_):
                pass

        listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        listener.daemon_threads = True
        Thread(target=listener.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{listener.server_port}/v1"


def evaluate(name, rows, model, resources_url=RUN_URL, rollouts=SIZE):
    """The traces of one vf-eval over these rows."""
    dataset = Path(folder, f"{name}.jsonl")
    dataset.write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = Path(folder, f"{name}.toml")
    config.write_text(f"""
[env.taskset]
id = "nemo-gym"
dataset = "{dataset}"

[env.taskset.task]
resources_url = "{resources_url}"
headers = {{ authorization = "Bearer {api_key}" }}
""")
    command = [VF_EVAL, "@", str(config), "-m", "toy", "-r", str(rollouts), "--no-push", "--no-rich"]
    command += ["--env.agent.harness.id", "null", "--env.agent.runtime.type", "subprocess"]
    command += ["--client.base-url", model.url, "--client.api-key-var", "TOY_KEY", "-o", folder, "--run.dir", name]
    done = subprocess.run(command, env={**os.environ, "TOY_KEY": "x"}, capture_output=True, text=True, timeout=200)
    traces = list(Path(folder, name).rglob("traces.jsonl"))
    if not traces:
        print(done.stdout[-3000:], done.stderr[-3000:])
        return []
    records = [json.loads(line) for line in traces[0].read_text().splitlines()]
    return [trace for record in records for trace in record.get("traces", [record])]


def read_rewards(traces):
    """By item; None: an error in place of a reward."""
    found = {}
    for trace in traces:
        reward = (trace["rewards"] or {}).get("nemo_gym")
        value = reward["score"] if isinstance(reward, dict) else reward
        found.setdefault(trace["task"]["data"]["row"]["item_id"], []).append(value)
    return {item: sorted(values, key=lambda value: (value is None, value)) for item, values in found.items()}


def row_of(item):
    return {"item_id": item["id"], "responses_create_params": {"input": item["messages"]}}


request = urllib.request.Request(
    f"{plain_url}/dataset.jsonl?format=nemo-gym&count=3&seed=5&run={run}", headers={"Authorization": f"Bearer {api_key}"}
)
with urllib.request.urlopen(request, timeout=60) as answer:
    rows = [json.loads(line) for line in answer.read().splitlines()]
items = [server("GET", f"/items/{row['item_id']}?reveal=true", key=admin_key) for row in rows]
partial, unscored = fixture["partial"], fixture["unscored"]
kinds = ["<answer>{}</answer>", "<answer>no idea</answer>", "I do not know.", "<answer>no"]


def speak(item, times):
    for special in (partial, unscored):
        if item["id"] == special["item"]["id"]:
            return special["completion"]
    return kinds[times % SIZE].format(item["answer"])


# Each vf-eval takes its time to start, so one tries all that needs no outage.
model = ToyModel([*items, partial["item"], unscored["item"]], speak)
before = count_groups(run)
traces = evaluate("all", [*rows, row_of(partial["item"]), row_of(unscored["item"])], model)
same("no errors", [trace["errors"] for trace in traces if trace["errors"]], [])
rewards = read_rewards(traces)
same("right, wrong, malformed", [rewards[item["id"]] for item in items], [[0.0, 0.0, 0.0, 1.0]] * 3)
same("partial", rewards[partial["item"]["id"]], [partial["score"]] * SIZE)
same("group", until(lambda: count_groups(run) - before, lambda groups: groups >= 4) >= 4, True)
masked = [trace for trace in traces if trace["metrics"]["mask_sample"] == 1.0]
same("unscored: masked", {trace["task"]["data"]["row"]["item_id"] for trace in masked}, {unscored["item"]["id"]})
failures = {trace["info"]["nemo_gym"]["failure_kind"] for trace in masked}
same("unscored says why", failures, {f"reasoning_gym:{unscored['code']}"})

# verifiers waits 60 s for an answer: the server holds it while Redis is away.
control("stop-redis")
waking = meanwhile(12, "start-redis")
traces = evaluate("redis", rows[:2], model, rollouts=1)
waking.join()
same("redis away: no errors", [trace["errors"] for trace in traces if trace["errors"]], [])
control("restart-server")
traces = evaluate("restarted", rows, ToyModel(items, lambda item, _: f"<answer>{item['answer']}</answer>"))
same("server restarted", list(read_rewards(traces).values()), [[1.0] * SIZE] * 3)
