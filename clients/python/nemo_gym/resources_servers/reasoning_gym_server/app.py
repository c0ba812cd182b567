"""A NeMo Gym resources server that forwards every sample to a reasoning-gym-server, which masks samples that it cannot score."""

import asyncio
from typing import ClassVar, Dict, Optional

from nemo_gym.base_resources_server import (
    BaseResourcesServerConfig,
    BaseVerifyRequest,
    BaseVerifyResponse,
    ReverifyMode,
    SimpleResourcesServer,
)
from nemo_gym.server_utils import get_response_json, raise_for_status, request
from pydantic import ConfigDict


class ReasoningGymServerConfig(BaseResourcesServerConfig):
    REVERIFY_MODE: ClassVar[ReverifyMode] = ReverifyMode.STATELESS
    url: str
    run: Optional[str] = None  # run whose settings apply and that counts the rollouts
    api_key: Optional[str] = None
    max_retries: int = 10  # the server answers 503 after 25 s while it cannot score


class ReasoningGymVerifyRequest(BaseVerifyRequest):
    model_config = ConfigDict(extra="allow")


class ReasoningGymVerifyResponse(BaseVerifyResponse):
    model_config = ConfigDict(extra="allow")


class ReasoningGymServer(SimpleResourcesServer):
    ray_enabled = False
    config: ReasoningGymServerConfig

    async def verify(self, body: ReasoningGymVerifyRequest) -> ReasoningGymVerifyResponse:
        url = "/".join(filter(None, [self.config.url.rstrip("/"), "nemo-gym", self.config.run, "verify"]))
        headers: Dict[str, str] = {"X-API-Key": self.config.api_key} if self.config.api_key else {}
        sample = body.model_dump(mode="json")
        for _ in range(self.config.max_retries):
            answer = await request("POST", url, json=sample, headers=headers)
            if answer.status not in (429, 503):
                break
            await asyncio.sleep(float(answer.headers.get("Retry-After", 1)))
        await raise_for_status(answer)
        return ReasoningGymVerifyResponse.model_validate(await get_response_json(answer))


if __name__ == "__main__":
    ReasoningGymServer.run_webserver()
