"""Types of requests and results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired


#: A chat message: `role`, `content`, and optional further keys such as tool calls and names.
Message = Dict[str, Any]

#: A list, `array.array`, numpy array or CPU tensor of numbers. Batches always hold arrays, with NaN for each None that was sent.
Numbers = Any


class Item(TypedDict):
    """A concrete puzzle with its prompt. `id` encodes the recipe. The reference answer stays on the server."""

    id: str
    task: str
    category: str
    difficulty: Optional[float]
    recipe: Dict[str, Any]
    question: str
    messages: List[Message]
    propensity: NotRequired[float]
    again: NotRequired[bool]


class Rollout(TypedDict, total=False):
    """One completion with its tokens, masks and logprobs. `completion` or `messages` is required; all other fields are optional."""

    completion: str
    messages: List[Message]
    tokens: Numbers
    masks: Numbers
    logprobs: Numbers
    policy_version: int
    finish_reason: Optional[str]
    length_tokens: int
    arrays: Dict[str, Any]
    extra: Any


class PostedGroup(TypedDict):
    """The rollouts of one item, as an argument of `Run.post_many`."""

    item_id: str
    group_id: NotRequired[str]
    policy_version: NotRequired[int]
    buffer: NotRequired[bool]
    extra: NotRequired[Any]
    rollouts: Sequence[Rollout]


class Verdict(TypedDict):
    """The result for one completion. `status` is `scored` or `unscored`.

    `fault` names an error of the model, such as `no_answer`. `code` names an error of the server. The reward and score of an
    unscored verdict are None. `turns` has what was found of each turn, and `retry_prompt` the message after a wrong turn with another try.
    """

    status: str
    reward: Optional[float]
    score: Optional[float]
    answer: NotRequired[Optional[str]]
    fault: NotRequired[Optional[str]]
    components: NotRequired[Dict[str, float]]
    feedback: NotRequired[Dict[str, Any]]
    turns: NotRequired[List[Dict[str, Any]]]
    retry_prompt: NotRequired[str]
    code: NotRequired[str]
    detail: NotRequired[str]
    advantage: NotRequired[Optional[float]]
    skipped: NotRequired[str]
    masked: NotRequired[bool]


class Group(TypedDict):
    """The state of a posted group. `status` is `queued`, `scored` or `failed`.

    `rewards` holds the rewards of `verdicts`, in the order of the rollouts, and the server stores it longer. If `conflict` is
    True, the result belongs to other rollouts that were posted first under this ID (see `Run.post`).
    """

    group_id: str
    run: str
    item_id: str
    task: NotRequired[str]
    difficulty: NotRequired[Optional[float]]
    status: str
    verdicts: NotRequired[List[Verdict]]
    rewards: NotRequired[List[Optional[float]]]
    conflict: NotRequired[bool]
    mean_score: NotRequired[Optional[float]]
    mean_reward: NotRequired[Optional[float]]
    std_reward: NotRequired[Optional[float]]
    percent_correct: NotRequired[Optional[float]]
    voters: NotRequired[int]
    lengths: NotRequired[str]
    length_penalty: NotRequired[bool]
    signal: NotRequired[bool]
    destination: NotRequired[Optional[str]]
    code: NotRequired[str]
    detail: NotRequired[str]


class BatchGroup(TypedDict):
    """A group in a batch: rollouts and their verdicts in the same order.

    `indices` holds the positions of these rollouts in the posted group. The others belong to another rank or were not scored.
    """

    group_id: str
    item_id: str
    task: str
    difficulty: Optional[float]
    indices: List[int]
    rollouts: List[Rollout]
    verdicts: List[Verdict]
    mean_score: Optional[float]
    mean_reward: Optional[float]
    std_reward: Optional[float]
    percent_correct: Optional[float]
    voters: int
    signal: bool
    policy_version: Optional[int]
    extra: NotRequired[Any]


class Batch(TypedDict):
    """The groups of one training step, or one rank's share of them. `totals` describes the whole batch."""

    run: str
    step: int
    rollouts: int
    totals: Dict[str, int]
    lag: Dict[str, Optional[float]]
    metrics: Dict[str, Any]
    groups: List[BatchGroup]


class Scores(TypedDict):
    """Rewards in the order of the request. A reward is None if the server could not score the completion.

    `Client.score` with `detail="rewards"` omits the verdicts.
    """

    rewards: List[Optional[float]]
    verdicts: List[Verdict]


class SampleFailure(TypedDict):
    """Samples of an eval or a collection that have no score for the same reason."""

    code: str
    reason: str
    count: int


class Eval(TypedDict):
    """The evaluation of one model on one suite. `status` is `queued`, `running`, `done`, `failed` or `cancelled`."""

    id: str
    status: str
    progress: Dict[str, int]
    failures: List[SampleFailure]
    detail: Optional[str]
    result: Optional[Dict[str, Any]]


class Collection(TypedDict):
    """A job in which a model behind an OpenAI-compatible API completes items of a run."""

    id: str
    status: str
    failures: List[SampleFailure]
    detail: Optional[str]
