"""Axolotl: its own validation of the documented YAML, its loader of data sets and of reward functions, and its trainer on a CPU."""

import asyncio
import re
import sys
from pathlib import Path

from testbed import *  # noqa: F403

use_environment(run)
ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "examples"))

import yaml
from axolotl.core.trainers.grpo import GRPOStrategy
from axolotl.loaders import load_tokenizer
from axolotl.utils.config import normalize_config, validate_config
from axolotl.utils.data.rl import prepare_preference_datasets
from axolotl.utils.dict import DictDefault
from trl_grpo import tiny_model

ROWS = 8


def read_config():
    """The YAML of the documentation, with a tiny model and few rows."""
    text = (ROOT / "src/features/adapters/texts/trl.md").read_text()
    documented = yaml.safe_load(re.search(r"```yaml\n(.*?)```", text, re.S)[1])
    rows = Path(folder, "rows.jsonl")
    rows.write_bytes(download(f"/dataset.jsonl?format=trl&tasks=leg_counting&seed=1&count={ROWS}"))
    model, tokenizer = tiny_model([item["question"] for item in items])
    model.save_pretrained(f"{folder}/model")
    tokenizer.save_pretrained(f"{folder}/model")
    documented["datasets"][0]["path"] = str(rows)
    batch = {"sequence_len": 512, "micro_batch_size": 8, "gradient_accumulation_steps": 1, "num_epochs": 1, "learning_rate": 1e-5}
    places = {"base_model": f"{folder}/model", "dataset_prepared_path": f"{folder}/prepared", "output_dir": f"{folder}/out"}
    config = validate_config(DictDefault({**documented, **batch, **places}))
    normalize_config(config)
    return config


async def prove_rewards():
    config = read_config()
    dataset, _ = prepare_preference_datasets(config, load_tokenizer(config))
    same("rows", len(dataset), ROWS)
    check("the columns stay", {"prompt", "item_id"} <= set(dataset.column_names), dataset.column_names)
    ((reward,),) = GRPOStrategy.set_trainer_args(config)

    async def score(item_id, completion):
        (found,) = await asyncio.to_thread(reward, [None], [completion], item_id=[item_id])
        return Result(found)

    await prove(score, unscored_reward=None, has_flags=False, is_lenient=False)
    rows = dataset.to_list()
    completions = [reference(row["item_id"]) for row in rows]
    found = await asyncio.to_thread(reward, [row["prompt"] for row in rows], completions, item_id=[row["item_id"] for row in rows])
    same("rows of the file", found, [1.0] * ROWS)


if __name__ == "__main__":  # the processes of its data loader import this file
    asyncio.run(prove_rewards())
