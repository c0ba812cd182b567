"""Uses the installed wheel as a new user would. It prints one line per finding, and fails at the first thing that is wrong."""

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

from kill_local_server import kill_everything
from reasoning_gym_server import LocalServer, ServerFailed


def is_listening(url):
    try:
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url + "/livez", timeout=2).close()
        return True
    except OSError:
        return False


def wait_until_gone(url):
    for _ in range(300):
        if not is_listening(url):
            return
        time.sleep(0.1)
    raise SystemExit(f"{url} still answers 30 s after its owner ended")


def try_local_server():
    began = time.monotonic()
    server = LocalServer()
    with server as client:
        url = server.url
        print(f"LocalServer is ready after {time.monotonic() - began:.1f} s")
        item = client.make("leg_counting", seed=42)[0]
        rewards = client.score([{"item_id": item["id"], "answer": answer} for answer in ("100", "99")])["rewards"]
        assert rewards == [1, 0], rewards
        run = client.run("packages")
        run.put(preset="clean", tasks=["gcd"], group_size=2)
        for item in run.items(2):
            group = run.post(item["id"], [{"completion": "<answer>1</answer>"}, {"completion": "?"}], wait_s=30)
            assert len(group["verdicts"]) == 2, group
        print("it scores answers and groups")
    wait_until_gone(url)
    print("it ends with its block")


def try_failure():
    try:
        LocalServer(settings={"API_PROCESSES": "many"}).start()
    except ServerFailed as error:
        assert "API_PROCESSES" in str(error), error
        print("a server that cannot start says why")
    else:
        raise SystemExit("a server with invalid settings has started")


def try_killed_owner():
    program = "from reasoning_gym_server import LocalServer; import time; print(LocalServer().start().url, flush=True); time.sleep(600)"
    owner = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    url = owner.stdout.readline().strip()
    assert is_listening(url), url
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    wait_until_gone(url)
    print("it ends when its owner is killed")


def try_command_line():
    command = [os.path.join(os.path.dirname(sys.executable), "reasoning-gym-server")]
    subprocess.run([*command, "--help"], check=True, stdout=subprocess.DEVNULL)
    found = subprocess.run([*command, "doctor"], check=True, capture_output=True, text=True, env={**os.environ, "PORT": "18763"})
    print(found.stdout.strip().splitlines()[-1])
    version = subprocess.run([sys.executable, "-m", "reasoning_gym_server", "--version"], check=True, capture_output=True, text=True)
    print(f"python -m reasoning_gym_server --version: {version.stdout.strip()}")


assert shutil.which("node") is None, "there must be no Node on the PATH"
try_command_line()
try_failure()
try_local_server()
try_killed_owner()
kill_everything()
