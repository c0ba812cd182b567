"""The entry point by which NeMo Gym's launcher starts the resources server of the Python client."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3]))  # the client, if it is not installed: it needs no packages

from reasoning_gym_client.serve.nemo_gym import resources_server  # noqa: E402

ReasoningGymServerConfig, ReasoningGymServer = resources_server()

if __name__ == "__main__":
    ReasoningGymServer.run_webserver()
