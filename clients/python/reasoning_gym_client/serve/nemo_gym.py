"""A resources server of NeMo Gym, for NeMo Gym itself and for what takes its address, such as verifiers and prime-rl.

The rows come from `GET /dataset.jsonl?format=nemo-gym`. A sample that cannot be scored is an error, or with `--mask-unscored` a
response with `mask_sample`, which NeMo Gym and NeMo RL leave out. Its reward is then the mean of its complete group, or else of its
task in the run, because NeMo RL's baseline reads the rewards of masked samples, too. Without a run it is 0.
"""

# mypy: disable-error-code="import-not-found,misc,no-any-return"
# pyright: reportMissingImports=false
# NeMo Gym may be missing where types are checked. Its classes are then Any.

import argparse
import hashlib
import json
import os
from typing import Any, ClassVar, Dict, List, Mapping, Optional

from .. import AsyncClient, Problem, ReasoningGymError
from ._rollouts import add_server_arguments

SUMMARY = "resources server of NeMo Gym, which verifiers and prime-rl call as well"
#: Names outside Gym's vocabulary of failures have the environment's prefix.
FAILURE_PREFIX = "reasoning_gym:"
#: Fields in which rows keep what their verifier needs.
ROW_FIELDS = ("task_data", "task_input", "verifier_metadata", "metadata")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_server_arguments(parser, port=8003)
    parser.add_argument("--mask-unscored", action="store_true", help="mask unscored samples, for agents of NeMo Gym")


def main(arguments: argparse.Namespace) -> None:
    import uvicorn

    os.environ.setdefault("NEMO_GYM_CONFIG_DICT", "{}")  # without NeMo Gym's launcher, there is no configuration
    from nemo_gym.config_types import BaseServerConfig
    from nemo_gym.server_utils import ServerClient
    from omegaconf import OmegaConf

    Config, Server = resources_server()
    place = {"name": "reasoning_gym_server", "entrypoint": "", "host": arguments.host, "port": arguments.port}
    head = BaseServerConfig(host=arguments.host, port=arguments.port)
    client = ServerClient(head_server_config=head, global_config_dict=OmegaConf.create({}))
    config = Config(**place, url=arguments.url, run=arguments.run, mask_unscored=arguments.mask_unscored)
    app = Server(config=config, server_client=client).setup_webserver()
    uvicorn.run(app, host=arguments.host, port=arguments.port, log_level="warning")


def resources_server() -> Any:
    """Returns the classes of the configuration and of the server."""
    from fastapi import HTTPException
    from nemo_gym.base_resources_server import (
        BaseResourcesServerConfig,
        BaseVerifyRequest,
        BaseVerifyResponse,
        ReverifyMode,
        SimpleResourcesServer,
    )
    from pydantic import ConfigDict, PrivateAttr

    class Config(BaseResourcesServerConfig):
        REVERIFY_MODE: ClassVar[Any] = ReverifyMode.STATELESS
        url: Optional[str] = None
        run: Optional[str] = None
        api_key: Optional[str] = None
        mask_unscored: bool = True

    class Request(BaseVerifyRequest):
        model_config = ConfigDict(extra="allow")

    class Response(BaseVerifyResponse):
        model_config = ConfigDict(extra="allow")

    class Server(SimpleResourcesServer):
        ray_enabled = False
        config: Config
        _client: Optional[AsyncClient] = PrivateAttr(None)

        async def verify(self, body: Request) -> Response:
            row = body.model_dump(mode="json")
            sample = read_sample({**row, "_ng_rollout_id": body.capture_rollout_id})
            if sample["item_id"] is None:
                raise HTTPException(422, "the row has no item_id: make rows by GET /dataset.jsonl?format=nemo-gym")
            if self._client is None:
                self._client = AsyncClient(self.config.url, api_key=self.config.api_key, connect_for_s=300)
            mode = "mean" if self.config.mask_unscored and self.config.run else "null"
            try:
                scores = await self._client.samples([sample], run=self.config.run, adapter="nemo-gym", unscored=mode)
            except ReasoningGymError as error:
                raise HTTPException(error.status if isinstance(error, Problem) else 503, str(error)) from error
            verdict = scores["verdicts"][0]
            if verdict["status"] != "scored" and not self.config.mask_unscored:
                raise HTTPException(500, f"unscored: {verdict.get('code')}: {verdict.get('detail')}")
            return Response.model_validate({**row, **describe(verdict), "instance_config": masked(row, verdict)})

    return Config, Server


def read_sample(body: Mapping[str, Any]) -> Dict[str, Any]:
    """Returns the sample of a request to verify. Calls that repeat a rollout have the same ID, and count once."""
    response = body["response"]
    usage, details = response.get("usage") or {}, response.get("incomplete_details") or {}
    rows = [body, *(body[name] for name in ROW_FIELDS if isinstance(body.get(name), dict))]
    sample = {"item_id": next((row["item_id"] for row in rows if row.get("item_id")), None), **read_turns(response["output"])}
    # The response is part of the name: Gym numbers the rollouts of each collection from 0, and models give each response an ID.
    given = [body.get(name) for name in ("episode_id", "_ng_rollout_id", "_ng_task_index", "_ng_rollout_index")]
    name = [*given, sample["item_id"], response]
    sample["rollout_id"] = hashlib.sha256(json.dumps(name, sort_keys=True).encode()).hexdigest()[:32]
    if isinstance(usage.get("output_tokens"), int):
        sample["length_tokens"] = usage["output_tokens"]
    if details.get("reason") == "max_output_tokens":
        sample["finish_reason"] = "length"
    return sample


def read_turns(output: List[Any]) -> Dict[str, Any]:
    """Returns the completion. Text before a tool call is not an answer, and messages of the user separate several tries."""
    calls = [k for k, part in enumerate(output) if str(part.get("type")).endswith(("_call", "_call_output"))]
    turns: List[List[Any]] = [[]]
    for part in output[calls[-1] + 1 if calls else 0 :]:
        turns.append([]) if part.get("role") == "user" else turns[-1].append(part)
    if len(turns) > 1:
        return {"turns": [read_turn(turn)["content"] for turn in turns]}
    message = read_turn(turns[0])
    return {"messages": [message]} if "reasoning_content" in message else {"completion": message["content"]}


def read_turn(turn: List[Any]) -> Dict[str, str]:
    text = "".join(join(part.get("content"), "output_text") for part in turn if part.get("type") == "message")
    thoughts = (part for part in turn if part.get("type") == "reasoning")
    reasoning = "".join(join(one.get("content"), "reasoning_text") or join(one.get("summary"), "summary_text") for one in thoughts)
    return {"role": "assistant", "content": text, **({"reasoning_content": reasoning} if reasoning else {})}


def join(content: Any, kind: str) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text") or "" for part in content or [] if part.get("type") == kind)


def describe(verdict: Any) -> Dict[str, Any]:
    """Returns the fields of NeMo Gym and those of the verdict."""
    if verdict["status"] != "scored":
        failure = {"failure_kind": FAILURE_PREFIX + verdict["code"], "failure_reason": verdict["detail"]}
        reward = 0.0 if verdict["reward"] is None else verdict["reward"]  # Gym has no null: the mask says that it is no reward
        return {"reward": reward, "score": None, "mask_sample": True, **failure}
    fields = {name: verdict.get(name) for name in ("reward", "score", "fault", "feedback")}
    components = {"reward_components": verdict["components"], **verdict["components"]}  # Gym averages only top-level numbers
    return {**fields, **components, "extracted_answer": verdict["answer"], "mask_sample": False}


def masked(row: Mapping[str, Any], verdict: Any) -> Dict[str, Any]:
    """Returns the field in which older releases of NeMo RL look for the mask."""
    return {**(row.get("instance_config") or {}), "mask_sample": verdict["status"] != "scored"}
