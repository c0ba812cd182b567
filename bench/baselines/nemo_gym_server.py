"""NeMo Gym's resources server for reasoning-gym, as its package has it, without NeMo Gym's launcher. `python nemo_gym_server.py PORT`"""

import os
import sys

os.environ.setdefault("NEMO_GYM_CONFIG_DICT", "{}")

import uvicorn
from nemo_gym.config_types import BaseServerConfig
from nemo_gym.server_utils import ServerClient
from omegaconf import OmegaConf
from resources_servers.reasoning_gym.app import ReasoningGymResourcesServer, ReasoningGymResourcesServerConfig

place = {"host": "127.0.0.1", "port": int(sys.argv[1])}
config = ReasoningGymResourcesServerConfig(name="reasoning_gym", entrypoint="app.py", **place)
client = ServerClient(head_server_config=BaseServerConfig(**place), global_config_dict=OmegaConf.create({}))
app = ReasoningGymResourcesServer(config=config, server_client=client).setup_webserver()
sys.stdout = open(os.devnull, "w")  # it prints a line for each call
uvicorn.run(app, **place, log_level="warning")
