"""GRPO with TRL on the items of a run: the curriculum reaches the trainer, rewards come from the server.

    pip install "trl>=1.6"                   # 1.6.0 is the first that masks completions without a reward
    npm start                                # in another terminal
    python examples/trl_grpo.py --model Qwen/Qwen3-0.6B --steps 200 --run my-training
    python examples/trl_grpo.py --steps 3    # a tiny random model, made on the spot: learns nothing, shows that all parts fit

`npm run verify -- trl` runs it. Items and rewards are those of rewards_only.py.
"""

import argparse
import os
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--url", default="http://127.0.0.1:8000")
parser.add_argument("--run", default=f"trl-{int(time.time())}")
parser.add_argument("--model", default="tiny")
parser.add_argument("--steps", type=int, default=3)
parser.add_argument("--output", default=os.path.join(tempfile.gettempdir(), "trl-grpo"))
args = parser.parse_args()
os.environ.setdefault("REASONING_GYM_RUN", args.run)  # the same for all processes of `accelerate launch`
os.environ.setdefault("REASONING_GYM_URL", args.url)

import rewards_only
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

GROUP_SIZE = 4


def tiny_model():
    """A Llama of two layers with random weights, and a tokenizer that is trained on a few questions: no download."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    questions = [item["question"] for task in ("leg_counting", "chain_sum") for item in rewards_only.client.make(task, count=20)]
    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    words.train_from_iterator(
        questions, trainers.BpeTrainer(vocab_size=400, special_tokens=["<pad>", "<eos>"], initial_alphabet=alphabet)
    )
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


def make_trainer():
    if args.model == "tiny":
        model, tokenizer = tiny_model()
    else:
        model, tokenizer = AutoModelForCausalLM.from_pretrained(args.model), AutoTokenizer.from_pretrained(args.model)
    rewards_only.STOP_TOKENS.add(tokenizer.eos_token_id)
    rewards_only.configure()
    config = GRPOConfig(
        output_dir=args.output,
        max_steps=args.steps,
        num_generations=GROUP_SIZE,
        per_device_train_batch_size=GROUP_SIZE * rewards_only.ITEMS_AT_ONCE,
        max_completion_length=24 if args.model == "tiny" else 1024,
        shuffle_dataset=False,  # positions in order: the items come when the trainer gets there
        dataloader_num_workers=0,
        logging_steps=1,
        report_to="none",
        use_cpu=args.model == "tiny",
        save_strategy="no" if args.model == "tiny" else "steps",
    )
    positions = range(max(1, args.steps) * rewards_only.ITEMS_AT_ONCE)
    return GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        args=config,
        reward_funcs=rewards_only.reward_func,
        train_dataset=Dataset.from_dict({"position": positions}).with_transform(rewards_only.fetch),
    )


if __name__ == "__main__":
    try:
        make_trainer().train()
    except rewards_only.ReasoningGymError as error:
        sys.exit(str(error))
