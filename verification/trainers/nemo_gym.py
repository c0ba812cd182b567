"""NeMo Gym itself: its conformance check, its simple agent against our URL, and our folder for checkouts of Gym."""

import asyncio
import importlib.util
import json
import os
import socket
from pathlib import Path
from unittest import mock
from urllib.parse import urlsplit

import fastapi.testclient
import httpx
import reasoning_gym_client
import uvicorn
from fastapi import FastAPI, Request
from sample_checks import OUTAGES, Result, prove, prove_group
from trainer_checks import api_key, check, control, fixture, meanwhile, plain_url, run, same

AGENT, MODEL, SERVER, PROXY = "agent", "policy_model", "reasoning_gym_server", "reasoning_gym_proxy"
PORT = urlsplit(plain_url).port


def get_free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


ports = {name: get_free_port() for name in (AGENT, MODEL, PROXY)}
config = {
    # Gym's own configuration has a number for the port. Untyped, it carries the path, and the host the key.
    SERVER: {"resources_servers": {SERVER: {"host": f"trainer:{api_key}@127.0.0.1", "port": f"{PORT}/nemo-gym"}}},
    PROXY: {"resources_servers": {PROXY: {"host": "127.0.0.1", "port": ports[PROXY]}}},
    MODEL: {"responses_api_models": {"toy": {"host": "127.0.0.1", "port": ports[MODEL]}}},
    AGENT: {"responses_api_agents": {"simple_agent": {"host": "127.0.0.1", "port": ports[AGENT]}}},
}

from nemo_gym import global_config  # noqa: E402

os.environ[global_config.NEMO_GYM_CONFIG_DICT_ENV_VAR_NAME] = json.dumps(config)

from nemo_gym.base_resources_server import ResourcesSeedSessionRequest  # noqa: E402
from nemo_gym.config_types import BaseServerConfig, ModelServerRef, ResourcesServerRef  # noqa: E402
from nemo_gym.failure_kinds import is_namespaced  # noqa: E402
from nemo_gym.server_utils import ServerClient, get_response_json, request as gym_request  # noqa: E402
from nemo_gym.testing.session_conformance import check_resources_session_contract  # noqa: E402
from omegaconf import OmegaConf  # noqa: E402
from responses_api_agents.simple_agent.app import SimpleAgent, SimpleAgentConfig  # noqa: E402

FOLDER = Path(reasoning_gym_client.__file__).parent.parent / "nemo_gym/resources_servers/reasoning_gym_server"


def load_proxy(url_of_server, name=None):
    spec = importlib.util.spec_from_file_location("reasoning_gym_server_app", FOLDER / "app.py")
    app = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(app)
    settings = app.ReasoningGymServerConfig(
        host="127.0.0.1", port=ports[PROXY], entrypoint="app.py", name=PROXY, url=url_of_server, run=name, api_key=api_key
    )
    return app.ReasoningGymServer(config=settings, server_client=mock.MagicMock(spec=ServerClient))


def seed(session):
    return ResourcesSeedSessionRequest(
        resources_session_id=session,
        episode_id={"rollout_id": session, "attempt": 0},
        task_id={"taskset": "t", "task_id": "0"},
        task_data={"item_id": fixture["items"][0]["id"]},
    )


def check_sessions(proxy):
    check_resources_session_contract(proxy.setup_webserver(), seed("folder"), keeps_state=False)
    check("Gym's session contract: the folder", True)

    def connect(_app, **_):
        return httpx.Client(base_url=f"{plain_url}/nemo-gym", headers={"X-API-Key": api_key})

    with mock.patch.object(fastapi.testclient, "TestClient", connect):
        check_resources_session_contract(FastAPI(), seed("url"), keeps_state=False)
    check("Gym's session contract: the URL", True)


completions = {}  # what the model says, by the text that it is asked


def create_model():
    app = FastAPI()

    @app.post("/v1/responses")
    async def respond(asked: Request):
        body = await asked.json()
        message = {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": completions[body["input"][-1]["content"]], "annotations": []}],
        }
        details = {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5}
        usage = {**details, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 6}
        rest = {"parallel_tool_calls": False, "tool_choice": "auto", "tools": [], "usage": usage}
        return {"id": "r", "created_at": 0, "model": "toy", "object": "response", "output": [message], **rest}

    return app


async def serve(app, port):
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error"))
    asyncio.get_running_loop().create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.05)


async def run_agent(item_id, completion):
    """One rollout, as Gym's collector asks the agent for it."""
    prompt = f"{item_id} {len(completions)}"
    completions[prompt] = completion
    row = {"item_id": item_id, "responses_create_params": {"input": [{"role": "user", "content": prompt}]}}
    answer = await gym_request("POST", f"http://127.0.0.1:{ports[AGENT]}/run", json=row)
    answer.raise_for_status()
    return await get_response_json(answer)


async def score(item_id, completion):
    found = await run_agent(item_id, completion)
    if found["mask_sample"]:
        assert is_namespaced(found["failure_kind"]) and found["failure_reason"], found
    return Result(found["reward"], found["mask_sample"], found.get("fault") == "no_answer")


async def main():
    check_sessions(load_proxy(plain_url))
    await serve(create_model(), ports[MODEL])
    client = ServerClient(
        head_server_config=BaseServerConfig(host="127.0.0.1", port=1), global_config_dict=OmegaConf.create(config)
    )
    agent = SimpleAgent(
        config=SimpleAgentConfig(
            host="127.0.0.1",
            port=ports[AGENT],
            entrypoint="app.py",
            name=AGENT,
            resources_server=ResourcesServerRef(type="resources_servers", name=SERVER),
            model_server=ModelServerRef(type="responses_api_models", name=MODEL),
        ),
        server_client=client,
    )
    await serve(agent.setup_webserver(), ports[AGENT])
    found = await run_agent(fixture["items"][0]["id"], fixture["items"][0]["right"])
    same("the agent against the URL", (found["reward"], found["task_name"]), (1.0, fixture["items"][0]["task"]))
    await prove(score)

    proxy = load_proxy(plain_url, run)
    await serve(proxy.setup_webserver(), ports[PROXY])
    agent.config.resources_server.name = PROXY
    await prove_group(score, run)
    await prove(score, outages=OUTAGES)
    control("stop-redis")
    waking = meanwhile(30, "start-redis")  # longer than the server holds a call
    item = fixture["items"][0]
    same("the folder waits for an outage", (await score(item["id"], item["right"])).reward, 1.0)
    waking.join()
    mode = await gym_request("GET", f"http://127.0.0.1:{ports[PROXY]}/reverify_mode")
    same("may be verified again", await get_response_json(mode), "stateless")
    answers = []
    for k, kind in enumerate(("right", "wrong")):  # as Gym's collector sends them on
        found = await run_agent(item["id"], item[kind])
        kept = {name: value for name, value in found.items() if name not in ("response", "responses_create_params")}
        answers.append({**kept, "_ng_task_index": 0, "_ng_rollout_index": k})
    for path in (f"http://127.0.0.1:{ports[PROXY]}", f"http://trainer:{api_key}@127.0.0.1:{PORT}/nemo-gym"):
        metrics = await gym_request("POST", f"{path}/aggregate_metrics", json={"verify_responses": answers})
        same("mean of rewards", (await get_response_json(metrics))["agent_metrics"]["mean/reward"], 0.5)


asyncio.run(main())
