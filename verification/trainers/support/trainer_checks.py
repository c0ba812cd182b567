"""What the scripts of the trainers share: the fixture, the server's address and key, and checks that the harness reads.

    from trainer_checks import check, control, fixture, same, url

    check("right", reward == 1.0, f"reward {reward}")

A script prints one line for each check and ends with 0; one that raises has failed as a whole. Names that all families use where
they apply: `right`, `wrong`, `malformed`, `partial`, `unscored`, `key in the URL`, `server restarted`, `redis away`, `retries`,
`concurrent`, `group`.
"""

import json
import os
import threading
import time
import urllib.request

url = os.environ["RGS_URL"]  # the key is its password
plain_url = os.environ["RGS_PLAIN_URL"]
api_key = os.environ["RGS_API_KEY"]
admin_key = os.environ["RGS_ADMIN_KEY"]
ors_url = os.environ["RGS_ORS_URL"]
run = os.environ["RGS_RUN"]  # a run of this family alone; `clean`, groups of fixture["group_size"]
folder = os.environ["RGS_FOLDER"]  # empty, deleted afterwards
sources = json.loads(os.environ["RGS_SOURCES"])  # git sources by name
with open(os.environ["RGS_FIXTURE"]) as file:
    fixture = json.load(file)


def check(name, ok, detail=""):
    """One fact that was looked at."""
    print(json.dumps({"check": name, "ok": bool(ok), "detail": str(detail)[:500]}), flush=True)
    return bool(ok)


def same(name, found, wanted):
    """The check that two values are equal."""
    return check(name, found == wanted, "" if found == wanted else f"{found!r}, not {wanted!r}")


def control(action):
    """`stop-server`, `start-server`, `restart-server`, `stop-redis`, `start-redis`: answers when it is done, and ready."""
    request = urllib.request.Request(f"{os.environ['RGS_CONTROL']}/{action}", method="POST")
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def meanwhile(*actions):
    """Does these in the background, while the caller talks to the server; a number is a pause in seconds."""

    def act():
        for action in actions:
            time.sleep(action) if isinstance(action, (int, float)) else control(action)

    thread = threading.Thread(target=act)
    thread.start()
    return thread


def server(method, path, body=None, key=admin_key):
    """A call of the server's own API."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(plain_url + path, data, headers if data else {"Authorization": f"Bearer {key}"}, method=method)
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def progress(name=run):
    """How far a run is: `groups`, `rollouts`, `scored_groups`, …"""
    return server("GET", f"/runs/{name}")["progress"]


def until(ask, right, timeout_s=30):
    """Asks until the answer is right; the last answer if it never is."""
    end = time.monotonic() + timeout_s
    while True:
        answer = ask()
        if right(answer) or time.monotonic() > end:
            return answer
        time.sleep(0.1)
