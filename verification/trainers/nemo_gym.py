"""The wire of NeMo Gym: Gym itself against our URL and our folder."""

import asyncio
import importlib.util
import json
import os
import socket
from pathlib import Path
from unittest import mock
from urllib.parse import urlsplit

from testbed import *  # noqa: F403

PORT = urlsplit(plain_url).port
AGENT, MODEL, SERVER, PROXY = "agent", "policy_model", "reasoning_gym_server", "reasoning_gym_proxy"


def get_free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


async def nemo_gym():
    """Gym's conformance check, its simple agent against our URL, and our folder."""
    ports = {name: get_free_port() for name in (AGENT, MODEL, PROXY)}
    config = {
        # Gym's own configuration has a number for the port. Untyped, it carries the path, and the host the key.
        SERVER: {"resources_servers": {SERVER: {"host": f"trainer:{api_key}@127.0.0.1", "port": f"{PORT}/nemo-gym"}}},
        PROXY: {"resources_servers": {PROXY: {"host": "127.0.0.1", "port": ports[PROXY]}}},
        MODEL: {"responses_api_models": {"toy": {"host": "127.0.0.1", "port": ports[MODEL]}}},
        AGENT: {"responses_api_agents": {"simple_agent": {"host": "127.0.0.1", "port": ports[AGENT]}}},
    }
    from nemo_gym import global_config

    os.environ[global_config.NEMO_GYM_CONFIG_DICT_ENV_VAR_NAME] = json.dumps(config)

    import reasoning_gym_client
    import uvicorn
    from fastapi import FastAPI, Request
    from nemo_gym.config_types import BaseServerConfig, ModelServerRef, ResourcesServerRef
    from nemo_gym.failure_kinds import is_namespaced
    from nemo_gym.server_utils import ServerClient, get_response_json, request as gym_request
    from omegaconf import OmegaConf
    from responses_api_agents.simple_agent.app import SimpleAgent, SimpleAgentConfig

    place = Path(reasoning_gym_client.__file__).parent.parent / "nemo_gym/resources_servers/reasoning_gym_server"
    completions = {}  # what the model says, by the text that it is asked

    def load_proxy(name=None):
        spec = importlib.util.spec_from_file_location("reasoning_gym_server_app", place / "app.py")
        app = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(app)
        where = {"host": "127.0.0.1", "port": ports[PROXY], "entrypoint": "app.py", "name": PROXY}
        settings = app.ReasoningGymServerConfig(**where, url=plain_url, run=name, api_key=api_key)
        return app.ReasoningGymServer(config=settings, server_client=mock.MagicMock(spec=ServerClient))

    async def serve(app, port):
        server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error"))
        asyncio.get_running_loop().create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.05)

    model = FastAPI()

    @model.post("/v1/responses")
    async def respond(asked: Request):
        body = await asked.json()
        content = [{"type": "output_text", "text": completions[body["input"][-1]["content"]], "annotations": []}]
        message = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": content}
        details = {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5}
        usage = {**details, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 6}
        rest = {"parallel_tool_calls": False, "tool_choice": "auto", "tools": [], "usage": usage}
        return {"id": "r", "created_at": 0, "model": "toy", "object": "response", "output": [message], **rest}

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

    check_sessions(load_proxy(), FastAPI())
    await serve(model, ports[MODEL])
    head = BaseServerConfig(host="127.0.0.1", port=1)
    settings = SimpleAgentConfig(
        host="127.0.0.1",
        port=ports[AGENT],
        entrypoint="app.py",
        name=AGENT,
        resources_server=ResourcesServerRef(type="resources_servers", name=SERVER),
        model_server=ModelServerRef(type="responses_api_models", name=MODEL),
    )
    client = ServerClient(head_server_config=head, global_config_dict=OmegaConf.create(config))
    agent = SimpleAgent(config=settings, server_client=client)
    await serve(agent.setup_webserver(), ports[AGENT])
    item = items[0]
    found = await run_agent(item["id"], item["right"])
    same("the agent against the URL", (found["reward"], found["task_name"]), (1.0, item["task"]))
    await prove(score)

    await serve(load_proxy(run).setup_webserver(), ports[PROXY])
    agent.config.resources_server.name = PROXY
    await prove_group(score)
    # Longer than the server holds a call.
    await prove_outage("the folder waits for an outage", score, "stop-redis", 30, "start-redis")


def check_sessions(proxy, app):
    """Gym's contract of sessions, for the folder and for the URL."""
    import fastapi.testclient
    import httpx
    from nemo_gym.base_resources_server import ResourcesSeedSessionRequest
    from nemo_gym.testing.session_conformance import check_resources_session_contract

    def seed(session):
        return ResourcesSeedSessionRequest(
            resources_session_id=session,
            episode_id={"rollout_id": session, "attempt": 0},
            task_id={"taskset": "t", "task_id": "0"},
            task_data={"item_id": items[0]["id"]},
        )

    def connect(_app, **_):
        return httpx.Client(base_url=f"{plain_url}/nemo-gym", headers={"X-API-Key": api_key})

    check_resources_session_contract(proxy.setup_webserver(), seed("folder"), keeps_state=False)
    check("Gym's session contract: the folder", True)
    with mock.patch.object(fastapi.testclient, "TestClient", connect):
        check_resources_session_contract(app, seed("url"), keeps_state=False)
    check("Gym's session contract: the URL", True)


checked({"nemo-gym": nemo_gym})
