"""OpenEnv's own client."""

from typing import Any

from openenv import GenericEnvClient


def connect(base_url: str, **options: Any) -> GenericEnvClient:
    """A client of the Space at `base_url`."""
    return GenericEnvClient(base_url=base_url, **options)
