"""OpenEnv's own client, at the path where the server speaks OpenEnv."""

from typing import Any, Optional

from openenv import GenericEnvClient


def connect(base_url: str, run: Optional[str] = None, **options: Any) -> GenericEnvClient:
    """A client of the server at `base_url`, whose episodes count in the run, if you name one. The URL may hold a key as its password."""
    path = "/openenv" if run is None else f"/openenv/{run}"
    return GenericEnvClient(base_url=base_url.rstrip("/") + path, **options)
