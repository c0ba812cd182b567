"""Atropos: its environment server and its `run-api`, and its example trainer, whose own calls take the batches."""

import atexit
import os
import signal
import subprocess
import sys
import threading
import types
import warnings
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from served import get_free_port
from testbed import *  # noqa: F403

os.environ["WANDB_MODE"] = "disabled"
warnings.simplefilter("ignore")

import numpy  # noqa: E402
import requests  # noqa: E402
from tokenizers import Tokenizer, decoders, models, pre_tokenizers  # noqa: E402
from transformers import PreTrainedTokenizerFast  # noqa: E402

BATCH_SIZE = 8
STORE = f"http://127.0.0.1:{get_free_port()}"
NAME = f"{run}-original"
RIGHT, CUT, UNSCORED = 0, 2, 3  # of the rollouts of a group


class Array:
    """The only tensor that reading batches needs: the example trainer's loop itself runs on a GPU."""

    def __init__(self, array):
        self.array = numpy.asarray(array)

    def view(self, *shape):
        return Array(self.array.reshape(shape))


stand_in("torch", tensor=Array, Tensor=Array, cuda=types.SimpleNamespace(is_available=lambda: False))
hollow("example_trainer")

from example_trainer.api import check_atropos_api, get_batch, register_trainer  # noqa: E402
from example_trainer.config import TrainingConfig  # noqa: E402
from example_trainer.data import get_data  # noqa: E402


def make_tokenizer():
    """One token for each byte."""
    alphabet = {token: k for k, token in enumerate([*sorted(pre_tokenizers.ByteLevel.alphabet()), "<eos>"])}
    bare = Tokenizer(models.BPE(vocab=alphabet, merges=[]))
    bare.pre_tokenizer, bare.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    made = PreTrainedTokenizerFast(tokenizer_object=bare, eos_token="<eos>")
    made.chat_template = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant: "
    made.save_pretrained(folder)
    return made


class VllmServer(BaseHTTPRequestHandler):
    """As much of vLLM as Atropos asks for: completions as tokens with log-probabilities."""

    def do_GET(self):
        self.send({})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        prompt = tokenizer.decode(asked["prompt"]["prompt_token_ids"], clean_up_tokenization_spaces=False)
        item = admin.find_item(prompt.split("\nuser: ", 1)[1].rsplit("\nassistant: ", 1)[0])
        last = unscored["completion"] if item["task"] == unscored["item"]["task"] else "I do not know."
        right = f"<answer>{item['answer']}</answer>"
        texts = [right, "<answer>no idea</answer>", right, last]
        tokens = [tokenizer.encode(text) for text in texts]
        logprobs = [[[{token: -0.5}] for token in one] for one in tokens]
        reasons = ["length" if k == CUT else "stop" for k in range(SIZE)]
        asks[item["id"]] += 1
        self.send({"logprobs": logprobs, "finish_reasons": reasons})

    def send(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def start(*command, output=sys.stderr):
    process = subprocess.Popen(command, stdout=output, stderr=output, cwd=folder)
    atexit.register(process.kill)
    return process


def start_environment():
    flags = {
        "env.group_size": SIZE, "env.max_token_length": 4000, "env.tokenizer_name": folder, "env.use_wandb": False, "env.seed": 7,
        "env.rollout_server_url": STORE, "env.total_steps": 1000, "env.mask_too_long_completions": True, "openai.server_type": "vllm",
        "openai.base_url": f"http://127.0.0.1:{model.server_port}/v1", "openai.model_name": folder, "openai.api_key": "x",
    }  # fmt: skip
    given = [part for name, value in flags.items() for part in (f"--{name}", str(value))]
    return start(sys.executable, "-m", "reasoning_gym_client.serve", "atropos", "--url", url, "--run", NAME, "serve", *given)


def take():
    batch = until(lambda: get_batch(STORE)["batch"], lambda batch: batch is not None or environment.poll() is not None, 120)
    assert batch is not None, f"the environment sent no groups, and ended with {environment.poll()}"
    return batch


tokenizer, asks = make_tokenizer(), Counter()
model = ThreadingHTTPServer(("127.0.0.1", 0), VllmServer)
threading.Thread(target=model.serve_forever, daemon=True).start()
start(command("run-api"), "--host", "127.0.0.1", "--port", STORE.rsplit(":", 1)[1], output=subprocess.DEVNULL)
check("Atropos's own run-api", check_atropos_api(STORE, timeout=60))
config = TrainingConfig(
    model_name="none", atropos_url=STORE, batch_size=BATCH_SIZE, gradient_accumulation_steps=1, seq_len=8000, training_steps=1000
)
register_trainer(config)
admin.run(NAME).put(preset="original", tasks=["leg_counting", unscored["item"]["task"]], seed=7)
environment = start_environment()
batches = [take() for _ in range(3)]
settings = admin.run(NAME).get()["settings"]
same("its configuration is the run's", (settings["group_size"], settings["max_token_length"], settings["seed"]), (SIZE, 4000, 7))
control("restart-server")
batches += [take() for _ in range(3)]
environment.send_signal(signal.SIGKILL)
environment.wait()
environment = start_environment()
batches += [take() for _ in range(4)]
control("stop-redis")
waking = meanwhile(3, "start-redis")
batches += [take() for _ in range(4)]
waking.join()

groups = [group for batch in batches for group in batch]
same("batches have batch_size sequences", {sum(len(group["tokens"]) for group in batch) for batch in batches}, {BATCH_SIZE})
hanging, clear = [], []
for group in groups:
    texts = [tokenizer.decode([token for token in masks if token != -100]) for masks in group["masks"]]
    (hanging if texts[UNSCORED] == unscored["completion"] else clear).append(group)
check("both kinds of groups", hanging and clear, f"{len(hanging)}, {len(clear)}")
zero = {"set_advantage_to_zero": True}
same("right, wrong, malformed", {tuple(group["scores"]) for group in clear}, {(1.0, 0.0, 1.0, 0.0)})
same("truncated", {json.dumps(group["overrides"]) for group in clear}, {json.dumps([{}, {}, zero, {}])})
same("unscored trains nothing", {json.dumps(group["overrides"]) for group in hanging}, {json.dumps([{}, {}, zero, zero])})
same("unscored has the mean", [round(group["scores"][UNSCORED], 6) for group in hanging], [round(2 / 3, 6)] * len(hanging))
same("tokens and masks", {len(group["tokens"][RIGHT]) - len(group["masks"][RIGHT]) for group in groups}, {0})
prompts = [tuple(group["tokens"][RIGHT]) for group in groups]
same("groups once, across restarts and an outage", len(set(prompts)), len(prompts))
check("the run has counted them", count_groups(NAME) >= len(groups), count_groups(NAME))
read, _ = get_data(SIZE, 8000, STORE)
tokens, labels, advantages, _temperatures, logprobs = read[0]
same("the example trainer reads tokens and labels", tokens[0].array.shape, labels[0].array.shape)
check("log-probabilities", -0.5 in logprobs[0].array, logprobs[0].array)
same("advantages: the override is obeyed", advantages[0].array.ravel()[CUT], 0.0)
