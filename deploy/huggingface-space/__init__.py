"""The client of a Space that runs reasoning-gym-server."""

from .client import connect

__all__ = ["connect"]
