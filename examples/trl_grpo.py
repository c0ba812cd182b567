"""Trains a model with GRPO in TRL 1.6 or newer on a run of the server, with reasoning_gym_client.integrations.rg_trl.

    npm start                                # in another terminal
    python examples/trl_grpo.py --model Qwen/Qwen3-0.6B --steps 200 --run my-training
    python examples/trl_grpo.py --steps 3    # a tiny random model, which shows that the setup works

`npm run trainers -- trl` tests this program with a server of its own.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "clients" / "python"))

from reasoning_gym_client import Client, ReasoningGymError
from reasoning_gym_client.integrations.rg_trl import lazy_items, make_reward, rewind_callback

GROUP_SIZE = 4
ITEMS_PER_STEP = 8  # the difficulty can change after as many


def tiny_model(texts):
    """Creates a Llama with two layers and random weights, and trains a tokenizer on the texts. Downloads nothing."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    words.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=400, special_tokens=["<pad>", "<eos>"], initial_alphabet=alphabet))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<eos>")
    tokenizer.chat_template = "{% for message in messages %}{{ message['content'] }}\n{% endfor %}"
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    return LlamaForCausalLM(config), tokenizer


def make_trainer(run, model, tokenizer, steps, output, **settings):
    """Creates a trainer that gets its prompts and rewards from the run."""
    from trl import GRPOConfig, GRPOTrainer

    config = GRPOConfig(
        output_dir=output,
        max_steps=steps,
        num_generations=GROUP_SIZE,
        shuffle_dataset=False,  # keep the order of the positions; items are requested as training reaches them
        dataloader_num_workers=0,
        logging_steps=1,
        report_to="none",
        **{"per_device_train_batch_size": GROUP_SIZE * ITEMS_PER_STEP, **settings},
    )
    return GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        args=config,
        reward_funcs=make_reward(stop_tokens=[tokenizer.eos_token_id]),
        callbacks=[rewind_callback(run)],
        train_dataset=lazy_items(run),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", help="default: REASONING_GYM_URL, else http://127.0.0.1:8000")
    parser.add_argument("--run", default=f"trl-{int(time.time())}")
    parser.add_argument("--model", default="tiny")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--output", default=os.path.join(tempfile.gettempdir(), "trl-grpo"))
    args = parser.parse_args()
    try:
        import trl  # noqa: F401  before the run is created
    except ImportError:
        sys.exit("This example needs TRL: pip install trl")
    if args.url:
        os.environ["REASONING_GYM_URL"] = args.url  # read by rg_trl, also in the processes that `accelerate launch` starts
    client = Client()
    # The items get harder as the model learns. Every process may send this, because equal settings change nothing.
    client.run(args.run).put(preset="clean", tasks=["leg_counting", "chain_sum"], group_size=GROUP_SIZE, buffer=False)
    if args.model == "tiny":
        questions = [item["question"] for task in ("leg_counting", "chain_sum") for item in client.make(task, count=20)]
        model, tokenizer = tiny_model(questions)
        settings = {"max_completion_length": 24, "use_cpu": True, "save_strategy": "no"}
    else:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        model, tokenizer = AutoModelForCausalLM.from_pretrained(args.model), AutoTokenizer.from_pretrained(args.model)
        settings = {"max_completion_length": 1024}
    make_trainer(args.run, model, tokenizer, args.steps, args.output, **settings).train()


if __name__ == "__main__":
    try:
        main()
    except ReasoningGymError as error:
        sys.exit(str(error))
