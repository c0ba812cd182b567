"""Axolotl's own NeMo Gym module, from the wheel: discovery, the wait for the servers, and its reward function."""

import asyncio
import importlib.util
import logging
import os
import sys
import types
from pathlib import Path
from urllib.parse import urlsplit

from sample_checks import OUTAGES, Result, prove, prove_group
from trainer_checks import api_key, check, control, fixture, folder, meanwhile, plain_url, run, same

# Axolotl takes a port and nothing else. requests finds the key of a host in ~/.netrc.
netrc = Path(folder) / "netrc"
netrc.write_text(f"machine 127.0.0.1 login trainer password {api_key}\n")
os.environ["NETRC"] = str(netrc)

# The package's __init__ needs torch; the files of the integration do not. So the packages above them are empty here.
wheel = Path(importlib.util.find_spec("axolotl").submodule_search_locations[0])  # type: ignore[union-attr, index]
for name in ("axolotl", "axolotl.utils", "axolotl.integrations", "axolotl.integrations.nemo_gym"):
    package = types.ModuleType(name)
    package.__path__ = [str(wheel.joinpath(*name.split(".")[1:]))]
    sys.modules[name] = package
logs = types.ModuleType("axolotl.utils.logging")
logs.get_logger = logging.getLogger  # type: ignore[attr-defined]
sys.modules["axolotl.utils.logging"] = logs

from axolotl.integrations.nemo_gym import rewards, server  # noqa: E402

PORT = urlsplit(plain_url).port


def read_row(item):
    """A row of the dataset, as Axolotl's loader hands it to the reward function."""
    row = {"item_id": item["id"], "responses_create_params": {"input": [{"role": "user", "content": item["question"]}]}}
    return {"prompt": [{"role": "user", "content": item["question"]}], "verify_extra": {**row, "absent": None}}


def scorer(reward_function, server_name):
    items = {item["id"]: item for item in fixture["items"]}

    def reward(item_id, completion):
        row = read_row(items.get(item_id, {"id": item_id, "question": "?"}))
        (found,) = reward_function(
            [[{"role": "assistant", "content": completion}]],
            prompts=[row["prompt"]],
            resources_server_ref=[{"name": server_name}],
            verify_extra=[row["verify_extra"]],
        )
        return Result(float(found))

    async def score(item_id, completion):
        return await asyncio.to_thread(reward, item_id, completion)

    return score


async def main():
    config = server.get_server_configs(head_port=PORT)
    names = ["reasoning_gym_server", f"reasoning_gym_server/{run}"]
    check("discovery finds the server and the run", all(name in config for name in names), list(config))
    server.wait_for_resource_servers(config, timeout=10)
    endpoints = {name: server.get_verify_endpoint(config, name) for name in names}
    same("endpoints", endpoints[names[1]], f"{plain_url}/nemo-gym/{run}/verify")

    reward_function = rewards.create_nemo_gym_reward_fn(config, endpoints)
    # It asks once, and takes any error for a reward of 0: a server that is not there cannot help that.
    await prove(scorer(reward_function, names[0]), has_flags=False, outages=OUTAGES[1:])
    discovered = rewards._get_verify_urls(PORT)
    found = {name: discovered.get(name) for name in names}  # runs of other trainers may be there too
    same("the reward function of configurations finds it too", found, endpoints)
    found = await scorer(rewards.reward_nemo_gym_verify, names[0])(fixture["items"][0]["id"], fixture["items"][0]["right"])
    same("its reward", found.reward, 1.0)

    await prove_group(scorer(reward_function, names[1]), run)
    control("stop-redis")
    waking = meanwhile(5, "start-redis")
    held = await scorer(reward_function, names[1])(fixture["items"][0]["id"], fixture["items"][0]["right"])
    waking.join()
    same("one try: held while Redis is away", held.reward, 1.0)
    control("restart-server")
    again = await scorer(reward_function, names[1])(fixture["items"][0]["id"], fixture["items"][0]["right"])
    same("server restarted", again.reward, 1.0)


asyncio.run(main())
