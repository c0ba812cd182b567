"""The server of ReasoningGym as a Python package: `reasoning-gym-server serve`, or `LocalServer` in a notebook or a test."""

from reasoning_gym_client import AsyncClient, Client, ReasoningGymError, Run

from .local_server import LocalServer, ServerFailed

__all__ = ["AsyncClient", "Client", "LocalServer", "ReasoningGymError", "Run", "ServerFailed"]
