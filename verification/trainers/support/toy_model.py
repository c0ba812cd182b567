"""A model behind an OpenAI-like address that says what a script decides, for each time that a question is asked. `heard` holds the
last message of each request."""

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from testbed import admin


class ToyModel:
    """`policy(item, times)`: of the revealed item, and how often its question was asked before. `url` is the base address."""

    def __init__(self, policy, read=lambda text: text):
        self.policy, self.read, self.asked, self.lock = policy, read, Counter(), threading.Lock()
        self.heard = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self.send("application/json", b'{"object": "list", "data": [{"id": "toy", "object": "model"}]}')

            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                answer = outer.complete(request["messages"])
                streams = request.get("stream")
                kind = "text/event-stream" if streams else "application/json"
                self.send(kind, as_stream(answer) if streams else json.dumps(answer).encode())

            def send(self, kind, body):
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_port}/v1"

    def complete(self, messages):
        content = next(message["content"] for message in messages if message["role"] == "user")
        text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
        item = admin.call("POST", "/items/find", {"text": self.read(text)})
        with self.lock:
            self.heard.append(str(messages[-1]["content"]))
            times = self.asked[item["id"]]
            self.asked[item["id"]] += 1
        message = {"role": "assistant", "content": self.policy(item, times)}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {"id": "toy", "object": "chat.completion", "created": 0, "model": "toy", "choices": [choice], "usage": usage}


def as_stream(answer):
    """The same as server-sent events: the message, its end, the usage."""
    (choice,) = answer["choices"]
    chunk = {**answer, "object": "chat.completion.chunk", "usage": None}
    parts = [
        {**chunk, "choices": [{"index": 0, "delta": choice["message"], "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]},
        {**chunk, "choices": [], "usage": answer["usage"]},
    ]
    return "".join(f"data: {json.dumps(part)}\n\n" for part in parts).encode() + b"data: [DONE]\n\n"
