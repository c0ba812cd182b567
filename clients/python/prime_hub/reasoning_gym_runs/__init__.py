"""The client's taskset under the name that Prime's hub installs, because verifiers imports a hub ID as the module of that name."""

from reasoning_gym_remote import ReasoningGymEnv, ReasoningGymTaskset

__all__ = ["ReasoningGymEnv", "ReasoningGymTaskset"]
