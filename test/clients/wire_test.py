"""How the client meets a server that is busy, away, or odd: a small HTTP server that answers as it is told."""

import argparse
import array
import contextlib
import gzip
import json
import socket
import socketserver
import threading
import time
import unittest
import unittest.mock
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import world  # noqa: F401  makes the client importable

import reasoning_gym_client
from reasoning_gym_client import Client, NotReady, Problem, Unreachable
from reasoning_gym_client.serve import mcp

try:
    import numpy
except ImportError:
    numpy = None


class Scripted(BaseHTTPRequestHandler):
    """Gives the answers of `script` one after the other: (status, headers, body), or None to hang up."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.seen.append((self.command, self.path, dict(self.headers.items()), body, time.monotonic()))
        answer = self.server.script.pop(0) if self.server.script else (200, {}, {"items": []})
        if answer is None:
            self.close_connection = True
            return
        status, headers, told = answer
        held = self.headers.get("prefer", "").partition("wait=")[2]
        if held and status == 204:
            time.sleep(float(held))
        data = told if isinstance(told, bytes) else b"" if status == 204 else json.dumps(told).encode()
        self.send_response(status)
        for name, value in {"content-length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_PUT = do_DELETE = do_POST

    def log_message(self, *_: object) -> None:
        pass


class NoHttp(socketserver.BaseRequestHandler):
    """Greets like an SSH server, whatever is said to it."""

    def handle(self) -> None:
        self.server.seen += 1
        self.request.recv(1000)
        self.request.sendall(b"SSH-2.0-OpenSSH_9.6\r\n")


class Held(list):
    """One answer for ever."""

    def __init__(self, answer: tuple) -> None:
        super().__init__([answer])

    def pop(self, _: int = 0) -> tuple:
        return self[0]


class LikeTensor:
    """What a torch tensor on the CPU does when it is made an array."""

    def __init__(self, dtype: str, values: list, requires_grad: bool = False) -> None:
        self.dtype, self.values, self.requires_grad = dtype, values, requires_grad

    def detach(self) -> "LikeTensor":
        return LikeTensor(self.dtype, self.values)

    def float(self) -> "LikeTensor":
        return LikeTensor("torch.float32", self.values, self.requires_grad)

    def __array__(self, dtype: object = None, copy: object = None) -> object:
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        if self.dtype != "torch.float32":
            raise TypeError(f"Got unsupported ScalarType {self.dtype}")
        return numpy.array(self.values, dtype="float32")


class Wire(unittest.TestCase):
    def setUp(self) -> None:
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
        self.server.daemon_threads = True
        self.server.script, self.server.seen = [], []
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def problem(self, status: int, code: str, **headers: str) -> tuple:
        return status, {name.replace("_", "-"): value for name, value in headers.items()}, {"code": code, "detail": "…"}

    def test_busy_and_away_are_tried_again_no_sooner_than_retry_after_says(self) -> None:
        slow = self.problem(408, "request_timeout", connection="close")
        self.server.script = [self.problem(429, "buffer_full", retry_after="1"), self.problem(503, "redis_full"), slow, None]
        self.assertEqual(Client(self.url).run("r").items(), [])
        times = [seen[4] for seen in self.server.seen]
        self.assertGreaterEqual(times[1] - times[0], 1)
        self.assertEqual(len(times), 5)

    def test_the_server_continues_the_trace_of_a_program_that_has_loaded_opentelemetry(self) -> None:
        propagate = unittest.mock.Mock(inject=lambda carrier: carrier.update(traceparent="00-4bf9-00f0-01"))
        with unittest.mock.patch.dict("sys.modules", {"opentelemetry.sdk.trace": propagate, "opentelemetry.propagate": propagate}):
            Client(self.url).run("r").items()
        Client(self.url).run("r").items()
        traces = [{name.lower(): value for name, value in seen[2].items()}.get("traceparent") for seen in self.server.seen]
        self.assertEqual(traces, ["00-4bf9-00f0-01", None])

    def test_a_conflict_that_names_a_retry_after_is_tried_again(self) -> None:
        self.server.script = [self.problem(409, "run_changed", retry_after="0"), (200, {}, {"items": []})]
        self.assertEqual(Client(self.url).run("r").items(), [])
        self.assertEqual(len(self.server.seen), 2)

    def test_a_repeated_call_bears_the_same_idempotency_key_and_another_call_another(self) -> None:
        self.server.script = [None, self.problem(503, "items_not_ready"), (200, {}, {"items": []})]
        run = Client(self.url).run("r")
        run.items()
        run.items()
        keys = [headers["Idempotency-Key"] for _, _, headers, _, _ in self.server.seen]
        self.assertEqual(len(set(keys[:3])), 1)
        self.assertNotEqual(keys[0], keys[-1])

    def test_a_refusal_is_not_repeated(self) -> None:
        for status in (400, 401, 403, 404, 409, 413, 500):
            self.server.seen.clear()
            self.server.script = [self.problem(status, "some_code")]
            with self.assertRaises(Problem) as caught:
                Client(self.url).tasks()
            self.assertEqual((caught.exception.code, len(self.server.seen)), ("some_code", 1))

    def test_the_last_refusal_is_raised_when_the_time_for_retries_is_over(self) -> None:
        self.server.script = [self.problem(429, "buffer_full", retry_after="60")]
        with self.assertRaises(Problem) as caught:
            Client(self.url, retry_for_s=5).tasks()
        self.assertEqual((caught.exception.code, caught.exception.retry_after), ("buffer_full", 60))
        self.server.script = [None] * 50
        with self.assertRaises(Unreachable):
            Client(self.url, retry_for_s=0.3).tasks()

    def test_a_kept_connection_that_the_server_has_closed_is_opened_again_at_once(self) -> None:
        client = Client(self.url, retry_for_s=0)
        self.server.script = [(200, {}, {"tasks": []}), None, (200, {}, {"tasks": []})]
        client.tasks()
        client.tasks()
        self.assertEqual(len(self.server.seen), 3)

    def test_a_first_connection_fails_soon_and_a_later_one_is_waited_for(self) -> None:
        with unittest.mock.patch.object(reasoning_gym_client._wire.log, "info") as told:
            with self.assertRaisesRegex(Unreachable, r"Is http://127\.0\.0\.1:9 the address of the server, and is it running\?"):
                Client("http://127.0.0.1:9", connect_for_s=0.5).tasks()
        retries = [call for call in told.call_args_list if "retrying in" in call.args[0]]
        self.assertLess(len(retries), 4)  # in the 10 s of the default there are five
        client = Client(self.url, connect_for_s=0.05)
        self.server.script = [(200, {}, {"tasks": []}), None, None, None, None, (200, {}, {"tasks": []})]
        client.tasks()
        self.assertEqual(client.tasks(), [])
        self.assertEqual(len(self.server.seen), 6)

    def test_an_answer_that_is_no_problem_document_is_one_all_the_same(self) -> None:
        self.server.script = [(404, {}, "not here")]
        with self.assertRaises(Problem) as caught:
            Client(self.url).tasks()
        self.assertEqual(caught.exception.code, "http_404")

    def test_what_is_no_json_is_told_in_one_line(self) -> None:
        for told in (b"<html>\n<h1>Hello</h1>\n</html>", b'{"tasks":'):
            self.server.script = [(200, {}, told)]
            with self.assertRaisesRegex(Unreachable, r"^GET http://.*/tasks: the response is not JSON; check that the URL is .*$"):
                Client(self.url).tasks()
        self.server.script = [(500, {}, b"<html>\n<h1>Hello</h1>\n</html>")]
        with self.assertRaisesRegex(Problem, r"^500 http_500: <html> <h1>Hello</h1> </html>$"):
            Client(self.url).tasks()

    def test_a_redirect_is_a_refusal_that_says_where_to(self) -> None:
        self.server.script = [(301, {"location": "https://elsewhere/tasks"}, b"")]
        with self.assertRaisesRegex(Problem, "redirects to https://elsewhere/tasks") as caught:
            Client(self.url).tasks()
        self.assertEqual((caught.exception.code, len(self.server.seen)), ("http_301", 1))

    def test_what_speaks_no_http_or_no_tls_is_not_asked_again(self) -> None:
        with self.assertRaisesRegex(Unreachable, "WRONG_VERSION_NUMBER"):
            Client(self.url.replace("http", "https")).tasks()
        with socketserver.TCPServer(("127.0.0.1", 0), NoHttp) as other:
            other.seen = 0
            threading.Thread(target=other.serve_forever, daemon=True).start()
            with self.assertRaisesRegex(Unreachable, "BadStatusLine"):
                Client(f"http://127.0.0.1:{other.server_address[1]}").tasks()
            self.assertEqual(other.seen, 1)
            other.shutdown()

    def test_tools_for_agents_retry_the_first_call_for_as_long_as_a_later_one(self) -> None:
        names = ("mcp", "mcp.server", "mcp.server.mcpserver", "mcp.server.mcpserver.exceptions", "pydantic")
        absent = {name: unittest.mock.MagicMock() for name in names}
        with unittest.mock.patch.dict("sys.modules", absent), unittest.mock.patch.object(mcp, "AsyncClient") as client:
            mcp.main(argparse.Namespace(url=self.url, stdio=True))
        self.assertEqual(client.call_args, unittest.mock.call(self.url, deadline_s=50, connect_for_s=50))

    def test_a_wait_for_a_server_that_is_away_is_told_once(self) -> None:
        self.server.script = [None] * 4
        with unittest.mock.patch.object(reasoning_gym_client._retry, "_WARN_AFTER_S", 0.1):
            with self.assertLogs("reasoning_gym_client", "WARNING") as logs:
                Client(self.url).run("r").items()
        self.assertEqual(len(logs.output), 1)
        self.assertRegex(logs.output[0], r"RemoteDisconnected.*retrying for another \d+ s")

    def test_a_stream_that_falls_silent_is_given_up(self) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        over = threading.Event()
        self.addCleanup(over.set)

        def begin() -> None:
            connection, _ = listener.accept()
            connection.recv(10000)
            connection.sendall(b'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\n{"a": 1}\n\r\n9\r\n{"a":')
            over.wait(30)
            connection.close()

        threading.Thread(target=begin, daemon=True).start()
        rows = Client(f"http://127.0.0.1:{listener.getsockname()[1]}", timeout_s=5).dump("any")
        self.assertEqual(next(iter(rows)), {"a": 1})
        with self.assertRaisesRegex(Unreachable, "GET http://.*/dumps/any: TimeoutError: timed out"):
            next(iter(rows))

    def test_a_short_page_of_an_eval_is_not_its_end(self) -> None:
        pages = [[{"sample_id": f"s{k}"} for k in numbers] for numbers in (range(1, 500), range(500, 900), range(1000, 1100))]
        self.server.script += [(200, {}, {"progress": {"total": 2 * 1100}})]
        self.server.script += [(200, {}, {"items": page}) for page in pages]
        items = Client(self.url).eval_items("eval-1", rank=1, ranks=2)
        self.assertEqual(items, sum(pages, []))
        asked = [path for _, path, *_ in self.server.seen[1:]]
        self.assertEqual([path.partition("from=")[2].partition("&")[0] for path in asked], ["0", "500", "1000"])

    def test_key_path_prefix_and_waiting_are_sent(self) -> None:
        self.server.script = [(200, {}, {"group_id": "a/b", "status": "scored"})]
        Client(f"{self.url}/gym/", api_key="secret").run("r").post("item", [{"completion": "x"}], wait_s=120)
        method, path, headers, _, _ = self.server.seen[0]
        self.assertEqual((method, path), ("POST", "/gym/rollouts?run=r"))
        self.assertEqual((headers["Authorization"], headers["Prefer"]), ("Bearer secret", "wait=60"))

    def test_the_key_may_stand_in_the_address_and_is_never_told(self) -> None:
        for address, key in (
            (self.url.replace("//", "//trainer:a%2Fkey@"), "a/key"),
            (self.url, "from the environment"),
        ):
            with unittest.mock.patch.dict("os.environ", REASONING_GYM_API_KEY="from the environment"):
                Client(address).run("r").items()
            self.assertEqual(self.server.seen[-1][2]["Authorization"], f"Bearer {key}")
        with self.assertRaises(Unreachable) as caught:
            Client("http://trainer:secret@127.0.0.1:9", retry_for_s=0).tasks()
        self.assertNotIn("secret", str(caught.exception))
        with unittest.mock.patch.dict("os.environ", REASONING_GYM_URL=self.url + "/gym"):
            Client().run("r").items()
        self.assertEqual(self.server.seen[-1][1], "/gym/items")
        self.assertIn("'http://host:8000/'", repr(Client("http://trainer:from-a-file\n@host:8000/")))
        user = "http://trainer:"
        for wrong in (user + "sec/ret=@a", user + "1/secret=@a", user + "secret", "secret@a", "ftp://a:secret@b", user + "#secret@a"):
            with self.assertRaisesRegex(ValueError, "cannot be read") as raised:
                Client(wrong)
            self.assertNotIn("sec", str(raised.exception) + str(raised.exception.__cause__))

    def test_a_deadline_bounds_a_call_with_all_its_tries(self) -> None:
        self.server.script = Held(self.problem(503, "redis_full", retry_after="5"))
        with self.assertRaises(Problem):
            Client(self.url, deadline_s=8).tasks()
        self.assertIn(len(self.server.seen), (1, 2))  # on a busy machine, the first may take too long for a second

    def test_large_bodies_are_compressed_and_small_ones_are_not(self) -> None:
        client = Client(self.url, gzip_above=1000)
        for text in ("x" * 10, "x" * 10_000):
            self.server.script = [(200, {}, {"rewards": [0], "verdicts": [{}]})]
            client.rewards(["item"], [text])
        (_, _, small, plain, _), (_, _, large, packed, _) = self.server.seen
        self.assertNotIn("Content-Encoding", small)
        self.assertEqual(large["Content-Encoding"], "gzip")
        self.assertEqual(json.loads(gzip.decompress(packed))["rollouts"][0]["completion"], "x" * 10_000)

    def sent(self, value: object) -> object:
        self.server.seen.clear()
        self.server.script = [(200, {}, {"group_id": "g", "status": "queued"})]
        Client(self.url).run("r").post("item", [{"completion": "x", "arrays": {"a": value}}])
        return json.loads(self.server.seen[0][3])["rollouts"][0]["arrays"]["a"]

    def test_arrays_of_the_standard_library_travel_as_bytes(self) -> None:
        self.assertEqual(self.sent(array.array("h", [1, -2])), {"dtype": "int16", "data": "AQD+/w=="})
        self.assertEqual(self.sent(array.array("d", [0.5])), {"dtype": "float64", "data": "AAAAAAAA4D8="})
        self.assertEqual(self.sent(array.array("q", [2**40])), [2**40])

    @unittest.skipIf(numpy is None, "numpy is not there")
    def test_numpy_arrays_travel_as_bytes_where_that_loses_nothing(self) -> None:
        for dtype, name in (("int64", "int32"), ("int32", "int32"), ("float32", "float32"), ("float16", "float32"), ("float64", "float64"), ("uint8", "uint8"), ("bool", "uint8"), (">i4", "int32")):
            values = numpy.array([0, 1, 1], dtype=dtype)
            sent = self.sent(values)
            self.assertEqual(sent["dtype"], name)
            back = reasoning_gym_client._codec._numbers(sent)
            self.assertTrue((back == values).all())
        self.assertEqual(self.sent(numpy.array([2**40])), [2**40])
        self.assertEqual(self.sent(numpy.array([[1, 2], [3, 4]])), [[1, 2], [3, 4]])
        self.assertEqual(self.sent(numpy.float32(0.5)), 0.5)
        self.assertEqual(self.sent(numpy.int64(7)), 7)
        self.assertEqual(self.sent(numpy.array([], dtype="int64")), {"dtype": "int32", "data": ""})

    def test_integers_that_json_would_round_are_refused_before_they_are_sent(self) -> None:
        most = 2**53 - 1
        self.assertEqual(self.sent(array.array("q", [most, -most])), [most, -most])
        arrays = [array.array("q", [2**60]), array.array("Q", [1, 2**64 - 1])]
        if numpy is not None:
            self.assertEqual(self.sent(numpy.array([most, -most])), [most, -most])
            arrays += [numpy.array([1, -(2**60)]), numpy.array([[1], [2**53]]), numpy.array([2**64 - 1], dtype="uint64"), numpy.int64(2**53)]
        self.server.seen.clear()
        for values in arrays:
            with self.assertRaisesRegex(ValueError, "as strings"):
                self.sent(values)
        self.assertEqual(self.server.seen, [])

    @unittest.skipIf(numpy is None, "numpy is not there")
    def test_tensors_of_a_type_that_numpy_lacks_travel_as_float32(self) -> None:
        for dtype in ("torch.bfloat16", "torch.float8_e4m3fn"):
            sent = self.sent(LikeTensor(dtype, [0.5, -2.0], requires_grad=True))
            self.assertEqual(sent["dtype"], "float32")
            self.assertEqual(reasoning_gym_client._codec._numbers(sent).tolist(), [0.5, -2.0])

    def test_the_whole_time_is_waited_for_not_its_whole_seconds(self) -> None:
        queued = {"group_id": "g", "status": "queued"}
        run = Client(self.url).run("r")
        for timeout_s, ask, answer, after in (
            (1.9, lambda s: run.batch(0, timeout_s=s), (204, {}, None), NotReady),
            (0.6, lambda s: run.batch(0, timeout_s=s), (204, {}, None), NotReady),
            (0.6, lambda s: run.group("g", wait_s=s), (200, {}, queued), None),
            (0.6, lambda s: run.items(timeout_s=s), (200, {"retry-after": "1"}, {"items": []}), None),
        ):
            self.server.seen.clear()
            self.server.script = Held(answer)
            begun = time.monotonic()
            if after is None:
                ask(timeout_s)
            else:
                self.assertRaises(after, ask, timeout_s)
            took = time.monotonic() - begun
            self.assertGreater(took, timeout_s - 0.1)
            self.assertLess(took, timeout_s + 20)  # on a busy machine
            self.assertLess(len(self.server.seen), 50)

    def test_what_comes_in_the_last_second_of_a_wait_is_taken(self) -> None:
        batch = {"step": 0, "groups": []}
        found = None
        for _ in range(5):  # on a busy machine, three calls may take longer
            self.server.script = [(204, {}, None), (204, {}, None), (200, {}, batch)]
            with contextlib.suppress(NotReady):
                found = found or Client(self.url).run("r").batch(0, timeout_s=0.8)
        self.assertEqual(found, batch)

    def test_without_time_it_is_asked_once(self) -> None:
        self.server.script = [(204, {}, None)]
        self.assertRaises(NotReady, Client(self.url).run("r").batch, 0, timeout_s=0)
        self.assertEqual(len(self.server.seen), 1)

    def test_nan_is_refused_before_it_is_sent(self) -> None:
        with self.assertRaises(ValueError):
            self.sent(float("nan"))
        self.assertEqual(self.server.seen, [])


if __name__ == "__main__":
    unittest.main()
