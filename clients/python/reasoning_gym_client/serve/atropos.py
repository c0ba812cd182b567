"""An environment of Atropos: it takes items from a run, samples the model, and sends scored groups to Atropos's `run-api`.

    python -m reasoning_gym_client.serve atropos --run my-run serve --env.group_size 16 --openai.base_url http://127.0.0.1:9001/v1

What follows the run are the commands and flags of atroposlib. The configuration has the keys of the original environment; those
that are given become settings of the run. A rollout without a score gets the mean score of its group and the override
`set_advantage_to_zero`, so that it trains nothing; a group without any score is not sent.
"""

# mypy: disable-error-code="import-not-found,misc"
# pyright: reportMissingImports=false
# atroposlib may be missing where types are checked. Its classes are then Any.

import argparse
import logging
import sys
import uuid
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .. import AsyncClient

SUMMARY = "environment of Atropos"
#: Fields of Atropos's own configuration that are settings of a run as well.
SHARED = ("group_size", "max_token_length")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", required=True, help="run that gives the items and scores the groups; it is created if it is new")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="command and flags of atroposlib: serve, process or evaluate")


def main(arguments: argparse.Namespace) -> None:
    sys.argv = ["reasoning_gym_client.serve atropos", *arguments.command]  # which atroposlib reads
    environment(arguments.url, arguments.run).cli()


def environment(url: Optional[str], run_name: str) -> Any:
    """Returns the class of the environment."""
    from atroposlib.envs.base import APIServerConfig, BaseEnv, BaseEnvConfig, ScoredDataGroup
    from pydantic import Field

    class ReasoningGymEnvConfig(BaseEnvConfig):
        wandb_name: Optional[str] = Field(default="reasoning_gym", description="Name of the environment, which `run-api` needs")
        dump_rollouts: bool = Field(default=False, description="Dump groups with a high score")
        dump_failed_rollouts: bool = Field(default=False, description="Dump groups whose scores are all 0")
        rollout_save_score_threshold: float = Field(default=0.7, ge=0, le=1, description="Score above which a group is dumped")
        seed: int = Field(default=42, description="Seed of the items")
        debug_logging: bool = Field(default=False, description="Log how each completion was graded, on the server")
        suppress_base_env_logs: bool = Field(default=True, description="Hide what atroposlib logs")
        mask_too_long_completions: bool = Field(default=True, description="Whether a truncated completion trains nothing")
        num_eval_samples_per_task: int = Field(default=5, description="Items per task of an evaluation")
        eval_seed: int = Field(default=123, description="Seed of the items of an evaluation")
        complexity_mode: str = Field(default="none", description="none, random or curriculum, or a mode that is new here")
        curriculum_target_accuracy: float = Field(default=0.7, description="Accuracy at which the curriculum aims")

    class ReasoningGymEnv(BaseEnv):
        name = "reasoning_gym"
        env_config_cls = ReasoningGymEnvConfig

        @classmethod
        def config_init(cls) -> Tuple[Any, List[Any]]:
            return ReasoningGymEnvConfig(), [APIServerConfig(server_type="vllm", base_url="http://127.0.0.1:9001/v1", api_key="x")]

        async def setup(self) -> None:
            if self.config.suppress_base_env_logs:
                logging.getLogger("atroposlib.envs.base").setLevel(logging.WARNING)
            self.run = AsyncClient(url).run(run_name)
            own = ReasoningGymEnvConfig.model_fields.keys() - BaseEnvConfig.model_fields.keys()
            await self.run.put(**{key: getattr(self.config, key) for key in (*own, *SHARED)}, buffer=False)

        async def get_next_item(self) -> Any:
            items = await self.run.items(1, timeout_s=60)
            return items[0] if items else None

        async def collect_trajectories(self, item: Any) -> Tuple[Any, List[Any]]:
            async with self.server.managed_server(tokenizer=self.tokenizer) as model:
                answer = await model.chat_completion(
                    messages=item["messages"], n=self.config.group_size, max_tokens=self.config.max_token_length, temperature=1.0
                )
                nodes = model.get_state()["nodes"]
            rollouts = [
                {
                    "completion": choice.message.content or "",
                    "length_tokens": sum(mask != -100 for mask in node.masked_tokens),
                    "finish_reason": choice.finish_reason,
                }
                for choice, node in zip(answer.choices, nodes)
            ]
            group = await self.run.post(item["id"], rollouts, group_id=uuid.uuid4().hex, wait_s=300)
            verdicts: Sequence[Mapping[str, Any]] = group.get("verdicts") or []
            scores = fill_scores(verdicts)
            if scores is None or (self.config.ensure_scores_are_not_same and not group.get("signal")):
                return None, []
            return ScoredDataGroup(
                tokens=[node.tokens for node in nodes],
                masks=[node.masked_tokens for node in nodes],
                scores=scores,
                inference_logprobs=[node.logprobs for node in nodes],
                overrides=[override(verdict) for verdict in verdicts],
                messages=[[*item["messages"], {"role": "assistant", "content": one["completion"]}] for one in rollouts],
            ), []

        async def evaluate(self, *_: Any, **__: Any) -> None:
            model = self.server.servers[0].config
            endpoint = {"name": model.model_name, "base_url": model.base_url, "api_key": model.api_key}
            limit = 2 * self.config.max_token_length
            started = await self.run.client.start_eval("run", endpoint, run=run_name, temperature=0.1, max_tokens=limit)
            done = await self.run.client.follow_eval(started["id"], progress=False)
            await self.evaluate_log({"mean_score": (done["result"] or {}).get("mean_score")})

    return ReasoningGymEnv


def fill_scores(verdicts: Sequence[Mapping[str, Any]]) -> Optional[List[float]]:
    """Returns the rewards with the mean in place of those that are missing, which so do not move the mean. None: all are missing."""
    rewards = [verdict["reward"] for verdict in verdicts if verdict["reward"] is not None]
    if not rewards:
        return None
    mean = sum(rewards) / len(rewards)
    return [mean if verdict["reward"] is None else verdict["reward"] for verdict in verdicts]


def override(verdict: Mapping[str, Any]) -> Dict[str, bool]:
    trained = verdict["status"] == "scored" and not verdict.get("masked") and not verdict.get("skipped")
    return {} if trained else {"set_advantage_to_zero": True}
