"""NeMo Gym: its own agent, and its contract of sessions, against the resources server of the Python client."""

import asyncio
import importlib.util
import json
import os
from pathlib import Path
from unittest import mock
from urllib.parse import urlsplit

from served import Served, get_free_port
from testbed import *  # noqa: F403

AGENT, MODEL, SERVER = "agent", "policy_model", "reasoning_gym_server"


async def nemo_gym():
    alone, counted = Served("nemo-gym", "--mask-unscored"), Served("nemo-gym", "--run", run, "--mask-unscored")
    strict = Served("nemo-gym")
    ports = {name: get_free_port() for name in (AGENT, MODEL)}
    server = {"host": "127.0.0.1", "port": urlsplit(alone.url).port}
    config = {
        SERVER: {"resources_servers": {SERVER: server}},
        MODEL: {"responses_api_models": {"toy": {"host": "127.0.0.1", "port": ports[MODEL]}}},
        AGENT: {"responses_api_agents": {"simple_agent": {"host": "127.0.0.1", "port": ports[AGENT]}}},
    }
    from nemo_gym import global_config

    os.environ[global_config.NEMO_GYM_CONFIG_DICT_ENV_VAR_NAME] = json.dumps(config)

    import httpx
    import uvicorn
    from fastapi import FastAPI, Request
    from nemo_gym.config_types import BaseServerConfig, ModelServerRef, ResourcesServerRef
    from nemo_gym.failure_kinds import is_namespaced
    from nemo_gym.server_utils import ServerClient, get_response_json, request as gym_request
    from omegaconf import OmegaConf
    from responses_api_agents.simple_agent.app import SimpleAgent, SimpleAgentConfig

    completions = {}  # what the model says, by the text that it is asked

    async def serve(app, port):
        server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error"))
        asyncio.get_running_loop().create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.05)

    def respond(text, name):
        content = [{"type": "output_text", "text": text, "annotations": []}]
        message = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": content}
        details = {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5}
        usage = {**details, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 6}
        rest = {"parallel_tool_calls": False, "tool_choice": "auto", "tools": [], "usage": usage}
        return {"id": name, "created_at": 0, "model": "toy", "object": "response", "output": [message], **rest}

    model = FastAPI()

    @model.post("/v1/responses")
    async def generate(asked: Request):
        prompt = (await asked.json())["input"][-1]["content"]
        return respond(completions[prompt], prompt)

    def make_row(item_id):
        prompt = f"{item_id} {len(completions)}"
        return prompt, {"item_id": item_id, "responses_create_params": {"input": [{"role": "user", "content": prompt}]}}

    async def score(item_id, completion):
        """One rollout, as Gym's collector asks the agent for it."""
        prompt, row = make_row(item_id)
        completions[prompt] = completion
        answer = await gym_request("POST", f"http://127.0.0.1:{ports[AGENT]}/run", json=row)
        answer.raise_for_status()
        found = await get_response_json(answer)
        if found["mask_sample"]:
            assert is_namespaced(found["failure_kind"]) and found["failure_reason"], found
            assert found["instance_config"]["mask_sample"], found
        return Result(found["reward"], found["mask_sample"], found.get("fault") == "no_answer")

    def verify(module, item_id, output, name):
        body = {**make_row(item_id)[1], "response": {**respond("", name), "output": output}}
        return httpx.post(f"{module.url}/verify", json=body, timeout=120)

    def say(text):
        return respond(text, "")["output"]

    check_sessions()
    await serve(model, ports[MODEL])
    settings = SimpleAgentConfig(
        host="127.0.0.1",
        port=ports[AGENT],
        entrypoint="app.py",
        name=AGENT,
        resources_server=ResourcesServerRef(type="resources_servers", name=SERVER),
        model_server=ModelServerRef(type="responses_api_models", name=MODEL),
    )
    head = BaseServerConfig(host="127.0.0.1", port=1)
    client = ServerClient(head_server_config=head, global_config_dict=OmegaConf.create(config))
    await serve(SimpleAgent(config=settings, server_client=client).setup_webserver(), ports[AGENT])
    await prove(score, unscored_reward=0.0, damaged_reward=0.0)

    client.global_config_dict[SERVER]["resources_servers"][SERVER]["port"] = urlsplit(counted.url).port
    client._server_base_urls.clear()
    await prove_group(score)
    await prove_means(score)
    await prove_outage("the module waits for an outage", score, "stop-redis", 30, "start-redis")

    before = progress()["rollouts"]
    (item,) = admin.run(run).items(timeout_s=60)
    right = say(reference(item["id"]))
    first = verify(counted, item["id"], right, "response 0").json()["reward"]
    counted.restart()
    control("restart-server")
    again = verify(counted, item["id"], right, "response 0").json()["reward"]
    rest = [verify(counted, item["id"], right, f"response {k}").json()["reward"] for k in range(1, SIZE)]
    same("sent again after restarts of module and server", [first, again, *rest], [1.0] * (SIZE + 1))
    same("counts once", until(lambda: progress()["rollouts"] - before, lambda more: more >= SIZE), SIZE)

    item = items[0]
    thinking = [{"id": "r", "type": "reasoning", "summary": [{"type": "summary_text", "text": item["wrong"]}]}, *say(item["right"])]
    same("reasoning is not the answer", verify(alone, item["id"], thinking, "thinking").json()["reward"], 1.0)
    called = [*say(item["right"]), {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}]
    same("text before a tool call is not the answer", verify(alone, item["id"], called, "call").json()["reward"], 0.0)
    answer = verify(strict, unscored["item"]["id"], say(unscored["completion"]), "unscored")
    check("without a mask, unscored is an error", answer.status_code == 500 and unscored["code"] in answer.text, answer.text)
    same("a row without item ID is an error", verify(strict, None, say("?"), "none").status_code, 422)

    trying = f"{run}-tries"
    admin.run(trying).put(tasks=["leg_counting"], group_size=1, tries=3, try_discount=0.5, buffer=False)
    (item,) = admin.run(trying).items(timeout_s=60)
    again = {"type": "message", "role": "user", "content": "Again."}
    turns = [*say("<answer>no</answer>"), again, *say(reference(item["id"]))]
    answer = verify(Served("nemo-gym", "--run", trying), item["id"], turns, "tries")
    same("tries: discounted reward", (answer.json()["reward"], answer.json()["score"]), (0.5, 1.0))


def check_sessions():
    """Gym's contract of sessions, for the class that its launcher starts."""
    import reasoning_gym_client
    from nemo_gym.base_resources_server import ResourcesSeedSessionRequest
    from nemo_gym.server_utils import ServerClient
    from nemo_gym.testing.session_conformance import check_resources_session_contract

    place = Path(reasoning_gym_client.__file__).parent.parent / "nemo_gym/resources_servers/reasoning_gym_server"
    spec = importlib.util.spec_from_file_location("reasoning_gym_server_app", place / "app.py")
    app = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(app)
    where = {"host": "127.0.0.1", "port": get_free_port(), "entrypoint": "app.py", "name": "folder"}
    settings = app.ReasoningGymServerConfig(**where, url=plain_url, run=None, api_key=api_key)
    server = app.ReasoningGymServer(config=settings, server_client=mock.MagicMock(spec=ServerClient))
    seed = ResourcesSeedSessionRequest(
        resources_session_id="folder",
        episode_id={"rollout_id": "folder", "attempt": 0},
        task_id={"taskset": "t", "task_id": "0"},
        task_data={"item_id": items[0]["id"]},
    )
    check_resources_session_contract(server.setup_webserver(), seed, keeps_state=False)
    check("Gym's session contract: the folder", True)


checked({"nemo-gym": nemo_gym})
