"""The address of the server and the key, as the environment has them."""

from __future__ import annotations

import os
from typing import Optional

VERSION = "0.1.0"
DEFAULT_URL = "http://127.0.0.1:8000"


def environment_url() -> str:
    """Returns REASONING_GYM_URL, or the address that a server has by default."""
    return os.environ.get("REASONING_GYM_URL") or DEFAULT_URL


def environment_key() -> Optional[str]:
    """Returns REASONING_GYM_API_KEY, or None."""
    return os.environ.get("REASONING_GYM_API_KEY") or None
