"""An agent loop for verl that scores each response itself and leaves unscored ones out of the loss. For verl 0.9.

Write `agent.yaml`, and set REASONING_GYM_URL and REASONING_GYM_RUN for every worker:

    - name: reasoning_gym
      _target_: reasoning_gym_client.integrations.rg_verl_agent.MaskedAgentLoop

    python -m verl.trainer.main_ppo … \\
        actor_rollout_ref.rollout.agent.agent_loop_config_path=agent.yaml \\
        actor_rollout_ref.rollout.agent.default_agent_loop=reasoning_gym

The items come from a file or from LivePrompts of `rg_verl.py`, as with its reward function. A response that could not be scored has
the mean reward of its item's other responses, so that their advantages do not change, and a response mask of zeros, which verl
leaves out of the loss.
"""

# mypy: disable-error-code="import-not-found,import-untyped,misc"
# The trainer's package may be missing where types are checked. Its classes and decorators are then Any.

from __future__ import annotations

from typing import Any, Dict

from verl.experimental.agent_loop.single_turn_agent_loop import SingleTurnAgentLoop

from reasoning_gym_client.integrations.rg_verl import score, to_result

__all__ = ["MaskedAgentLoop"]


class MaskedAgentLoop(SingleTurnAgentLoop):
    """One turn, like verl's `single_turn_agent`, and its reward."""

    async def run(self, sampling_params: Dict[str, Any], **row: Any) -> Any:
        output = await super().run(sampling_params, **row)
        response = self.tokenizer.decode(output.response_ids, skip_special_tokens=True)
        verdict = await score(response, row["extra_info"])
        result = to_result(verdict)
        output.reward_score = result["score"]
        output.extra_fields["reward_extra_info"] = result
        # without a sibling, the whole batch might be masked, and its loss would be 0 / 0
        if verdict["status"] == "unscored" and verdict["reward"] is not None:
            output.response_mask = [0] * len(output.response_mask)
        return output
