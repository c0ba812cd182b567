"""The client that openapi-python-client generates."""

import json
import sys

from client import Client
from client.api.items import create_items
from client.api.rollouts import submit_rollouts
from client.api.runs import get_run
from client.models import Group, ItemList, Problem, RecipeItemsRequest, Rollout, ScoredGroupVerdict, SingleGroupRequest
from client.types import Unset

client = Client(base_url=sys.argv[1])

created = create_items.sync(client=client, body=RecipeItemsRequest(task="leg_counting", seed=42))
assert isinstance(created, ItemList), created
item = created.items[0]

group = submit_rollouts.sync(
    client=client,
    prefer="wait=30",
    body=SingleGroupRequest(
        run="openapi-python-client",
        group_id="group-1",
        item_id=item.id,
        rollouts=[Rollout(completion="<think>…</think><answer>100</answer>"), Rollout(completion="no answer")],
    ),
)
assert isinstance(group, Group), group
assert not isinstance(group.verdicts, Unset) and group.verdicts is not None, group
rewards = [verdict.reward if isinstance(verdict, ScoredGroupVerdict) else verdict.code for verdict in group.verdicts]
assert len(rewards) == 2, group

missing = get_run.sync(run="no-such-run", client=client)
assert isinstance(missing, Problem) and missing.code == "unknown_run", missing
print(json.dumps({"item": item.id, "rewards": rewards, "code": missing.code}))
