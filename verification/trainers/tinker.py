"""Tinker cookbook: its rollout loop runs the data set of rg_tinker; known answers stand in for a sampling client."""

import asyncio
import pickle
from pathlib import Path

from page import NOTE_ITEMS, finish, has_reached, kill, read_items, read_program, with_replacements
from testbed import *  # noqa: F403

use_environment()

from tinker_cookbook import renderers
from tinker_cookbook.completers import TokenCompleter, TokensWithLogprobs
from tinker_cookbook.rl.rollouts import do_group_rollout
from tinker_cookbook.tokenizer_utils import get_tokenizer
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from reasoning_gym_client.integrations.rg_tinker import PuzzleGroupBuilder, ReasoningGymDatasetBuilder

MODEL = f"{folder}/tokenizer"


def make_tokenizer():
    """Of bytes, saved where the cookbook's get_tokenizer finds it."""
    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    words.train_from_iterator([], trainers.BpeTrainer(special_tokens=["<pad>", "<eos>"], initial_alphabet=alphabet))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<eos>")
    tokenizer.save_pretrained(MODEL)
    return get_tokenizer(MODEL)


tokenizer = make_tokenizer()
renderer = renderers.get_renderer("role_colon", tokenizer, model_name=MODEL)


class Speaker(TokenCompleter):
    """Gives these texts, one after the other, as tokens with logprobs."""

    def __init__(self, texts):
        self.texts = list(texts)

    async def __call__(self, model_input, stop, *, max_tokens=None):
        tokens = tokenizer.encode(f" {self.texts.pop(0)}\n\nUser:", add_special_tokens=False)
        return TokensWithLogprobs(tokens=tokens, maybe_logprobs=[-0.5] * len(tokens), stop_reason="stop")


async def rollout(builder, texts):
    """A group by the cookbook's own loop, from a builder that was pickled as its executors do."""
    return await do_group_rollout(pickle.loads(pickle.dumps(builder)), Speaker(texts))


async def kinds():
    async def score(item_id, completion):
        group = await rollout(PuzzleGroupBuilder(admin.item(item_id), renderer, 1, None), [completion])
        return Result(group.get_total_rewards()[0], group.metrics_G[0]["unscored"] == 1.0)

    await prove(score, unscored_reward=0.0, has_no_answer=False, is_lenient=False)  # without a run, as in tests
    item = admin.item(unscored["item"]["id"])
    texts = [reference(item["id"]), unscored["completion"], "<answer>x</answer>"]
    group = await rollout(PuzzleGroupBuilder(item, renderer, 3, None), texts)
    same("unscored: the mean of the others", group.get_total_rewards(), [1.0, 0.5, 0.0])
    same("unscored: metric", [metrics["unscored"] for metrics in group.metrics_G], [0.0, 1.0, 0.0])


async def groups():
    builder = ReasoningGymDatasetBuilder(
        run=run,
        groups_per_batch=4,
        group_size=SIZE,
        renderer_name="role_colon",
        model_name_for_tokenizer=MODEL,
        test_suite="original",
    )
    dataset, test = await builder()
    batch = dataset.get_batch(2)
    wanted = [item["id"] for item in admin.run(run).positions(4).take(range(8, 12))]
    same("live items: a batch is a step of the run", [group.item["id"] for group in batch], wanted)
    again, _ = await builder()
    same("live items: the same after a resume", [group.item["id"] for group in again.get_batch(2)], wanted)
    texts = [[reference(group.item["id"])] + ["<answer>no idea</answer>"] * (SIZE - 1) for group in batch]
    done = await asyncio.gather(*(rollout(group, spoken) for group, spoken in zip(batch, texts)))
    same("rewards", [group.get_total_rewards() for group in done], [[1.0] + [0.0] * (SIZE - 1)] * 4)
    so_far = until(progress, lambda found: found["groups"] >= 4)
    same("group: each counts once", (so_far["groups"], so_far["rollouts"]), (4, 4 * SIZE))
    (first, *_) = test.get_batch(0)
    group = await rollout(first, ["I do not know."])
    same("test suite: scored", group.get_total_rewards(), [0.0])
    same("test suite: not counted", progress()["groups"], 4)
    item = admin.item(unscored["item"]["id"])
    group = PuzzleGroupBuilder(item, renderer, SIZE, run, None)
    await rollout(group, [reference(item["id"]), *["<answer>x</answer>"] * (SIZE - 1)])
    done = await rollout(group, [unscored["completion"]] * SIZE)
    same("all hang: the mean of the task", done.get_total_rewards(), [0.25] * SIZE)
    same("all hang: no score", ["score" in metrics for metrics in done.metrics_G], [False] * SIZE)


async def tries():
    name = f"{run}-tries"
    admin.run(name).put(tasks=["leg_counting"], group_size=2, tries=2, try_discount=0.5, feedback="rule", buffer=False)
    (item,) = admin.run(name).positions(1).take([0])
    right = reference(item["id"])
    builder = PuzzleGroupBuilder(item, renderer, 1, name, None)
    group = await rollout(builder, ["<answer>-1</answer>", right])
    (trajectory,) = group.trajectories_G
    same("tries: discounted reward", group.get_total_rewards(), [0.5])
    same("tries: a transition for each", len(trajectory.transitions), 2)
    heard = tokenizer.decode(trajectory.transitions[1].ob.to_ints())
    check("tries: feedback is observed", "a count is not negative" in heard and "-1</answer>" in heard, heard)


def training_as_the_page_says():
    """The page's program with the cookbook's own loop, killed after step 6 and started again; the service is a stand-in."""
    name = f"{run}-page"
    here = {
        '"RUN"': repr(name),
        '"Qwen/Qwen3-8B", "qwen3"': f'{MODEL!r}, "role_colon"',
        "groups_per_batch=64": "groups_per_batch=4",
        "batches=200": "batches=12",
    }
    program = with_replacements(read_program("tinker"), here)
    Path("page.py").write_text(f"import tinker_service\ntinker_service.start({MODEL!r})\n{NOTE_ITEMS}{program}")
    kill(["page.py"], lambda: has_reached(name, 6))
    before = read_items()
    log = finish(["page.py"])
    check("page: resumes from its checkpoint of batch 5", "resumed from tinker://run/weights/000005" in log, log[-1500:])
    after = read_items()
    again = before.keys() & after.keys()
    check("page: the same items again", len(again) >= 8 and all(before[k] == after[k] for k in again), sorted(again))
    counted = until(lambda: progress(name), lambda so_far: so_far["scored_groups"] >= 48)
    same("page: nothing counts twice", (counted["groups"], counted["rollouts"]), (48, 48 * 8))
    (metrics,) = Path().rglob("metrics.jsonl")
    rows = [json.loads(line) for line in metrics.read_text().splitlines()]
    rewards = [row["env/all/reward/total"] for row in rows if "env/all/reward/total" in row]
    check("page: rewards by batch", rewards == [0.5] * 12, [rewards, sorted(rows[0])])


async def main():
    await kinds()
    await groups()
    await tries()


if __name__ == "__main__":
    asyncio.run(main())
    training_as_the_page_says()
