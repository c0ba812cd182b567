"""TRL: GRPOTrainer trains a tiny random model on a CPU, with the items and rewards of rg_trl.

A random model is always wrong, so `rollout_func` puts known completions in its place, through TRL's own hook for generation.
"""

import ast
import asyncio
import math
import random
import re
import shutil
import sys
from pathlib import Path

from page import NOTE_ITEMS, finish, has_reached, kill, read_items, read_program, with_replacements
from testbed import *  # noqa: F403

use_environment()
sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

import torch
from transformers import TrainerCallback
from trl import GRPOConfig, GRPOTrainer
from trl.experimental.sdpo import SDPOConfig, SDPOTrainer
from trl_grpo import GROUP_SIZE, ITEMS_PER_STEP, make_trainer, tiny_model

from reasoning_gym_client.integrations import rg_trl

STEPS = 4
TRAINING = {"use_cpu": True, "save_strategy": "no", "max_completion_length": 400, "learning_rate": 1e-3}


def tokenizer_and_model():
    return tiny_model([item["question"] for item in items])


def speak(trainer, complete):
    """Has the trainer's generation give what `complete(item)` returns, one completion for each rollout of the group."""
    spoken = {}

    def rollout_func(prompts, trainer):
        tokenizer = trainer.processing_class
        taken, completion_ids = {}, []
        for prompt in prompts:
            question = prompt[-1]["content"]
            if question not in spoken:
                spoken[question] = complete(admin.call("POST", "/items/find", {"text": question}))
            k = taken[question] = taken.get(question, -1) + 1
            completion_ids.append(tokenizer(spoken[question][k % GROUP_SIZE])["input_ids"] + [tokenizer.eos_token_id])
        prompt_ids = tokenizer.apply_chat_template(prompts, tokenize=True, return_dict=True)["input_ids"]
        return {"prompt_ids": prompt_ids, "completion_ids": completion_ids, "logprobs": [[0.0] * len(ids) for ids in completion_ids]}

    trainer.rollout_func = rollout_func
    return trainer


class Watch:
    """The advantages that TRL makes of the rewards."""

    def __init__(self, trainer):
        self.advantages, self.trainer = [], trainer
        score = trainer._generate_and_score_completions

        def score_seen(inputs):
            outputs = score(inputs)
            self.advantages += outputs["advantages"].tolist()
            return outputs

        trainer._generate_and_score_completions = score_seen

    def groups(self):
        return [self.advantages[k : k + GROUP_SIZE] for k in range(0, len(self.advantages), GROUP_SIZE)]

    def logged(self, name):
        return [entry[name] for entry in self.trainer.state.log_history if name in entry]


class At(TrainerCallback):
    """Does something once a step is over."""

    def __init__(self, step, act):
        self.step, self.act = step, act

    def on_step_end(self, args, state, control, **more):
        if state.global_step == self.step:
            self.act()


async def rewards_without_a_run():
    async def score(item_id, completion):
        (found,) = await asyncio.to_thread(rg_trl.reward, [None], [completion], item_id=[item_id])
        return Result(found)

    await prove(score, unscored_reward=None, damaged_reward=None, has_flags=False)
    chat = [{"role": "assistant", "content": items[0]["right"]}]
    same("messages", rg_trl.reward([None], [chat], item_id=[items[0]["id"]]), [1.0])
    integral, hangs = unscored["item"], unscored["completion"]
    found = rg_trl.reward([None] * 2, [integral["right"], hangs], item_id=[integral["id"]] * 2, trainer_state=None)
    same("SDPO: an unscored completion gets the mean of its group", found, [1.0, 1.0])


def training_with_a_curriculum():
    """One of four right, so that the difficulty falls; the server is restarted in the middle, and Redis is away for a while."""
    difficulties = []

    def complete(item):
        difficulties.append(item["difficulty"])
        right = f"<answer>{item['answer']}</answer>"
        return [right, "<answer>no idea</answer>", "I do not know.", "<answer>-1</answer>"]

    admin.run(run).put(complexity_mode="curriculum")
    model, tokenizer = tokenizer_and_model()
    trainer = speak(make_trainer(run, model, tokenizer, STEPS, folder, **TRAINING), complete)
    trainer.add_callback(At(2, lambda: control("restart-server")))
    watch = Watch(trainer)
    trainer.train()
    groups = watch.groups()
    same("server restarted in the middle: each group counts once", progress()["groups"], STEPS * ITEMS_PER_STEP)
    same("group: whole groups of the run", progress()["rollouts"], STEPS * ITEMS_PER_STEP * GROUP_SIZE)
    check("right completions gain", all(advantage > 0 for group in groups for advantage in group[:1]))
    check("wrong completions lose", all(advantage < 0 for group in groups for advantage in group[1:]))
    losses = watch.logged("loss")
    check("losses are finite", losses and all(math.isfinite(loss) for loss in losses), losses)
    check("difficulty follows", max(difficulties) > min(difficulties), sorted(set(difficulties)))
    same("metrics: score", {round(value, 6) for value in watch.logged("reasoning_gym/score")}, {0.25})
    same("metrics: unscored", set(watch.logged("reasoning_gym/unscored")), {0.0})


def training_with_unscored_rollouts():
    """One of four answers hangs the scorer: TRL must leave it out of the group, not take it for wrong."""
    name = f"{run}-unscored"
    admin.run(name).put(preset="clean", tasks=["simple_integration"], group_size=GROUP_SIZE, buffer=False)
    hangs = unscored["completion"]
    model, tokenizer = tokenizer_and_model()

    def complete(item):
        return [f"<answer>{item['answer']}</answer>", hangs, "<answer>x</answer>", "I do not know."]

    settings = {**TRAINING, "per_device_train_batch_size": 2 * GROUP_SIZE}
    trainer = speak(make_trainer(name, model, tokenizer, 1, folder, **settings), complete)
    watch = Watch(trainer)
    trainer.train()
    groups = watch.groups()
    same("unscored: advantage 0", [group[1] for group in groups], [0.0] * len(groups))
    check("unscored: it does not vote", all(group[0] > 0 and group[2] < 0 for group in groups), groups)
    same("unscored: metric", watch.logged("reasoning_gym/unscored"), [0.25])
    same("unscored: counted by the run", progress(name)["unscored"], len(groups))


def training_with_components():
    """GDPO: TRL normalizes each component alone, and the advantages are those of its formula."""
    name = f"{run}-components"
    limit = {"max_token_length": 20, "length_penalty": {"kind": "dapo", "buffer": 20, "factor": 0.5}}
    admin.run(name).put(preset="clean", tasks=["chain_sum"], group_size=GROUP_SIZE, buffer=False, mask_too_long_completions=False, **limit)
    model, tokenizer = tokenizer_and_model()

    def complete(item):
        right = f"<answer>{item['answer']}</answer>"
        return [right, f"So it is: {right}", "<answer>no idea</answer>", "I do not know."]

    weights = list(rg_trl.REWARD_COMPONENTS.values())
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        reward_funcs=rg_trl.component_rewards(),
        train_dataset=rg_trl.lazy_items(name),
        args=GRPOConfig(
            output_dir=folder,
            max_steps=1,
            num_generations=GROUP_SIZE,
            per_device_train_batch_size=2 * GROUP_SIZE,
            shuffle_dataset=False,
            report_to="none",
            reward_weights=weights,
            multi_objective_aggregation="normalize_then_sum",
            **TRAINING,
        ),
    )
    watch = Watch(speak(trainer, complete))
    trainer.train()
    components = rg_trl.reward.components
    groups = [components[k : k + GROUP_SIZE] for k in range(0, len(components), GROUP_SIZE)]
    for group in groups:
        same("components: correct", [parts["correct"] for parts in group], [1, 1, 0, 0])
        same("components: format", [parts["format"] for parts in group], [1, 1, 1, 0])
        check("components: length", group[1]["length_penalty"] < group[0]["length_penalty"] < 0, group)
    sums = [sum(weight * parts[name] for name, weight in rg_trl.REWARD_COMPONENTS.items()) for parts in components]
    rewards = [verdict["reward"] for group in admin.run(name).groups() for verdict in group["verdicts"]]
    check("components: their sum is the reward", all(math.isclose(a, b, abs_tol=1e-6) for a, b in zip(sorted(sums), sorted(rewards))), sums)
    wanted = normalize([total for group in groups for total in map(sum, zip(*(
        [weight * value for value in normalize([parts[name] for parts in group])] for name, weight in rg_trl.REWARD_COMPONENTS.items()
    )))])
    got = watch.advantages
    check("components: advantages", all(abs(a - b) < 1e-3 for a, b in zip(wanted, got)) and len(got) == len(wanted), [wanted, got])
    check("components: metrics by name", all(watch.logged(f"rewards/{name}/mean") for name in rg_trl.REWARD_COMPONENTS))


def normalize(values):
    mean = sum(values) / len(values)
    return [(value - mean) / (math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1)) + 1e-4) for value in values]


def training_that_resumes():
    """A trainer that has lost two steps and goes on from its checkpoint gets their items again; nothing counts twice."""
    name = f"{run}-resumed"
    admin.run(name).put(preset="clean", tasks=["chain_sum"], group_size=GROUP_SIZE, buffer=False)
    model, tokenizer = tokenizer_and_model()
    settings = {**TRAINING, "save_strategy": "steps", "save_steps": 2, "num_iterations": 2, "per_device_train_batch_size": 2 * GROUP_SIZE}
    asked = []

    def complete(item):
        asked.append(item["id"])
        return [f"<answer>{item['answer']}</answer>", "<answer>no idea</answer>"] * (GROUP_SIZE // 2)

    speak(make_trainer(name, model, tokenizer, 4, f"{folder}/resumed", **settings), complete).train()
    same("resume: two prompts for two steps", len(asked), 4)
    same("resume: the steps of TRL", (progress(name)["step"], [row["step"] for row in admin.run(name).metrics()]), (4, [1, 3]))
    shutil.rmtree(f"{folder}/resumed/checkpoint-4")
    speak(make_trainer(name, model, tokenizer, 4, f"{folder}/resumed", **settings), complete).train(resume_from_checkpoint=True)
    same("resume: the same items again", asked[4:], asked[2:4])
    same("resume: counted once", (progress(name)["groups"], progress(name)["step"]), (4, 4))


def training_with_an_environment():
    """Items come through `environment_factory`; the members of a group must get the same one."""
    name = f"{run}-environment"
    admin.run(name).put(preset="clean", tasks=["chain_sum"], group_size=GROUP_SIZE, buffer=False)
    model, tokenizer = tokenizer_and_model()
    tokenizer.chat_template = TEMPLATE_WITH_TOOLS
    asked = []

    def reward(prompts, completions, environments, **columns):
        asked.extend(puzzle.item["id"] for puzzle in environments)
        return rg_trl.reward(prompts, completions, environments=environments, **columns)

    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        reward_funcs=reward,
        environment_factory=rg_trl.environment(name),
        train_dataset=rg_trl.positions(),
        args=GRPOConfig(
            output_dir=folder,
            max_steps=2,
            num_generations=GROUP_SIZE,
            per_device_train_batch_size=4 * GROUP_SIZE,
            shuffle_dataset=False,
            report_to="none",
            **{**TRAINING, "max_completion_length": 16},
        ),
    )
    trainer.train()
    ids = [asked[k : k + GROUP_SIZE] for k in range(0, len(asked), GROUP_SIZE)]
    check("environment: one item for each group", all(len(set(group)) == 1 for group in ids) and len(ids) == 8)
    in_order = admin.run(name).positions(per_step=4).take(range(8))
    same("environment: the items of the run, in order", [group[0] for group in ids], [item["id"] for item in in_order])
    same("environment: groups of the run", progress(name)["groups"], 8)


def training_with_feedback():
    """SDPO: the prompts of its teacher hold what the server says about each completion."""
    name = f"{run}-feedback"
    admin.run(name).put(tasks=["gcd"], group_size=GROUP_SIZE, buffer=False, feedback="rule")
    model, tokenizer = tokenizer_and_model()
    model.save_pretrained(f"{folder}/student")  # SDPOTrainer loads it twice, for its teacher
    questions, prompts = [], []

    class Watcher(TrainerCallback):
        def on_generation_prompts_selected(self, generation_prompts, **more):
            questions.extend(prompt[-1]["content"] for prompt in generation_prompts)

        def on_teacher_context_built(self, teacher_input_ids, **more):
            prompts.extend(tokenizer.batch_decode(teacher_input_ids))

    trainer = SDPOTrainer(
        model=f"{folder}/student",
        processing_class=tokenizer,
        reward_funcs=rg_trl.reward,
        callbacks=[rg_trl.rewind_callback(name), Watcher()],
        train_dataset=rg_trl.lazy_items(name),
        args=SDPOConfig(
            output_dir=folder,
            max_steps=1,
            num_generations=GROUP_SIZE,
            per_device_train_batch_size=2 * GROUP_SIZE,
            shuffle_dataset=False,
            report_to="none",
            **TRAINING,
        ),
    )
    rg_trl.use_feedback(trainer)

    def generate(prompt_ids):
        item = admin.call("POST", "/items/find", {"text": questions[0]})
        texts = [f"<answer>{item['answer']}</answer>", "<answer>1000003</answer>", "<answer>no idea</answer>", "I do not know."]
        said = [texts[k % GROUP_SIZE] for k in range(len(prompt_ids))]
        return prompt_ids, [[*tokenizer(text)["input_ids"], tokenizer.eos_token_id] for text in said]

    trainer._generate = generate
    trainer.train()
    right, *wrong = rg_trl.reward.feedback[:GROUP_SIZE]
    same("SDPO: no feedback on a right completion", right, None)
    for text, part in zip(wrong, ["1000003 does not divide", "An integer alone is needed", "<answer>"]):
        check(f"SDPO: {part}", part in text, text)
    shown = [text in prompt for text, prompt in zip(rg_trl.reward.feedback, prompts) if text]
    check("SDPO: feedback is in the prompt of the teacher", len(shown) >= GROUP_SIZE - 1 and all(shown), prompts[1])
    (used,) = [entry["self_distillation/feedback_used_fraction"] for entry in trainer.state.log_history[:1]]
    check("SDPO: feedback is used", used >= 0.75, used)
    check("SDPO: the model changes", any((old != new).any() for old, new in zip(model.cpu().parameters(), trainer.model.cpu().parameters())))
    same("SDPO: groups of the run", progress(name)["groups"], 2)


def training_as_the_readme_says():
    """The program of the README, with a tiny model, two steps and short completions."""
    root = Path(__file__).parents[2]
    (program,) = re.findall(r"^```py\n(.*?)^```$", (root / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    here = {
        "Qwen/Qwen2.5-0.5B-Instruct": "tiny",
        'GRPOConfig("first"': 'GRPOConfig("first", use_cpu=True, report_to="none", save_strategy="no"',
        "max_steps=200": "max_steps=2",
        "max_completion_length=512": "max_completion_length=16",
    }
    exec(with_replacements(program, here), {})
    same("README: two steps of 8 groups", progress("first")["groups"], 16)


def training_as_the_page_says():
    """The page's program, killed after step 7 and started again: 20 steps of a tiny model that answers with a digit."""
    here = {
        "RUN": run_of_page,
        "Qwen/Qwen2.5-0.5B-Instruct": "tiny",
        "max_steps=200": 'max_steps=20, use_cpu=True, report_to="none", disable_tqdm=True',
        "max_completion_length=512": "max_completion_length=8",
        "learning_rate=1e-6": "learning_rate=1e-2",
    }
    program = with_replacements(read_program("trl"), here)
    Path("page.py").write_text(NOTE_ITEMS + program)
    kill(["page.py"], lambda: has_reached(run_of_page, 7))
    before = read_items()
    log = finish(["page.py"])
    rewards = read_rewards(Path("killed.log").read_text())[:5] + read_rewards(log)
    same("page: resumed from step 5", len(rewards), 20)
    after = read_items()
    again = before.keys() & after.keys()
    check("page: the same items again", len(again) >= 16 and all(before[k] == after[k] for k in again), sorted(again))
    so_far, steps = progress(run_of_page), admin.run(run_of_page).metrics()
    same("page: nothing counts twice", (so_far["step"], so_far["groups"], so_far["rollouts"]), (20, 160, 1280))
    same("page: the steps of TRL", [(row["step"], row["groups"]) for row in steps], [(k, 8) for k in range(1, 21)])
    check("page: rewards", all(0 <= reward < 1 for reward in rewards) and max(rewards) > 0, rewards)


def read_rewards(log):
    """Of TRL's log, by step."""
    return [float(ast.literal_eval(line)["reward"]) for line in log.splitlines() if line.startswith("{'loss'")]


run_of_page = "trl-page"


def save_tiny_model():
    """For programs that load it by its name: random weights, which have learned to answer with any digit."""
    model, tokenizer = tokenizer_and_model()
    answers = [f"<answer>{k}</answer>" for k in range(10)]
    tokenizer.add_tokens(answers)
    model.resize_token_embeddings(len(tokenizer))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    texts = [f"{item['question']}\n{answer}<eos>" for item in items for answer in answers]
    for _ in range(30):
        tokens = [tokenizer(text)["input_ids"][-24:] for text in random.sample(texts, 32)]
        logits = model(torch.tensor(tokens)).logits[:, -3:-1]
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), torch.tensor(tokens)[:, -2:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for part in (model, tokenizer):
        part.save_pretrained("tiny")


TEMPLATE_WITH_TOOLS = (
    "{% if tools %}{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}{% endif %}"
    "{% for message in messages %}{{ message['role'] }}: {{ message['content'] or '' }}"
    "{% for call in message.get('tool_calls') or [] %}{{ call['function'] | tojson }}{% endfor %}\n{% endfor %}"
)


if __name__ == "__main__":
    asyncio.run(rewards_without_a_run())
    training_with_a_curriculum()
    training_with_unscored_rollouts()
    training_with_components()
    training_that_resumes()
    training_with_an_environment()
    training_with_feedback()
    save_tiny_model()
    training_as_the_readme_says()
    training_as_the_page_says()
