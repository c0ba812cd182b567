/** Describes how to use the files of the Python client that trainers load. They call the native API. */
import type { AdapterDescription, AdapterSnippet } from '@reasoning-gym-server/contract/adapter'
import type { ServerAddress } from './catalogue.ts'

const FOLDER = 'reasoning_gym_client/integrations'
const LIVE_PATHS = ['/items', '/rollouts', '/samples']

/** Setup for each shell that starts the trainer or one of its workers. */
function describeEnvironment({ urlWithKey }: ServerAddress, groupSize: string): AdapterSnippet {
  return {
    title: 'Install the client, and configure the run once',
    language: 'sh',
    code: `pip install ./clients/python
export REASONING_GYM_URL=${urlWithKey} REASONING_GYM_RUN=RUN
python -c "from reasoning_gym_client import Client; Client().run('RUN').put(preset='clean', group_size=8, buffer=False)"  # ${groupSize}`,
  }
}

export function describeTrl(address: ServerAddress): AdapterDescription {
  return {
    name: 'trl',
    title: 'TRL, Unsloth, Axolotl with TRL functions',
    summary:
      'A reward function that posts whole groups, and a data set that requests each batch of items from the run just before it is used.',
    paths: [...LIVE_PATHS, '/dataset.jsonl'],
    client_file: `${FOLDER}/rg_trl.py`,
    unscored:
      'None, which TRL masks since 1.6.0. Before 1.6.0 it is the mean of the group’s other rewards, so that the advantage is 0.',
    snippets: [
      describeEnvironment(address, 'group_size is num_generations'),
      {
        title: 'Train with live items',
        language: 'python',
        code: `from reasoning_gym_client.integrations.rg_trl import lazy_items, reward

trainer = GRPOTrainer(
    model=model,
    train_dataset=lazy_items("RUN", per_step=64),  # per_step: prompts of one training step
    reward_funcs=reward,
    args=GRPOConfig(num_generations=8, shuffle_dataset=False, dataloader_num_workers=0),
)`,
      },
      {
        title: 'Train on a file',
        language: 'python',
        code: `rows = load_dataset("json", data_files="${address.urlWithKey}/dataset.jsonl?format=trl&count=10000&seed=1", split="train")`,
      },
    ],
  }
}

export function describeVerl(address: ServerAddress): AdapterDescription {
  return {
    name: 'verl',
    title: 'verl',
    summary: 'A reward function, and a data set that requests items from the run as verl reads them.',
    paths: [...LIVE_PATHS, '/dataset.jsonl'],
    client_file: `${FOLDER}/rg_verl.py`,
    unscored: 'Score 0 with the metric unscored 1: verl has no mask, and an exception would stop the training.',
    snippets: [
      describeEnvironment(address, 'group_size is actor_rollout_ref.rollout.n'),
      {
        title: 'Train with live items',
        language: 'sh',
        code: `FILE=clients/python/${FOLDER}/rg_verl.py
python -m verl.trainer.main_ppo \\
  reward.custom_reward_function.path=$FILE reward.custom_reward_function.name=compute_score \\
  +reward.custom_reward_function.reward_kwargs.run=RUN \\
  data.custom_cls.path=$FILE data.custom_cls.name=LivePrompts \\
  data.train_files=RUN data.val_files=held-out data.dataloader_num_workers=0 data.shuffle=False  # and the options of your model`,
      },
      {
        title: 'Train on a file: leave data.custom_cls out',
        language: 'sh',
        code: `curl -o rows.jsonl '${address.urlWithKey}/dataset.jsonl?format=verl&count=10000&seed=1'  # data.train_files=rows.jsonl`,
      },
    ],
  }
}

export function describeVerifiers({ urlWithKey }: ServerAddress): AdapterDescription {
  return {
    name: 'verifiers',
    title: 'verifiers, prime-rl',
    summary: 'A taskset with the items of a run by position: endless, or the first `size` of them.',
    paths: LIVE_PATHS,
    client_file: 'reasoning_gym_remote.py',
    unscored: 'An error of the rollout instead of a reward; prime-rl leaves the rollout out.',
    snippets: [
      {
        title: 'Configure vf-eval; in prime-rl, the table is [orchestrator.train.source.env.taskset]',
        language: 'toml',
        code: `# pip install ./clients/python; export REASONING_GYM_URL=${urlWithKey}
[env.taskset]
id = "reasoning-gym-remote"
run = "RUN"`,
      },
    ],
  }
}

export function describeTinker(address: ServerAddress): AdapterDescription {
  return {
    name: 'tinker',
    title: 'Tinker cookbook',
    summary:
      'A data set whose batch k has the items of step k of the run. Groups are posted whole, with tokens and logprobs.',
    paths: LIVE_PATHS,
    client_file: `${FOLDER}/rg_tinker.py`,
    unscored: 'The mean of the group’s other rewards, so that the advantage is 0; the metric unscored is 1.',
    snippets: [
      describeEnvironment(address, 'the same group_size as below'),
      {
        title: 'Train',
        language: 'python',
        code: `from reasoning_gym_client.integrations.rg_tinker import ReasoningGymDatasetBuilder

config = train.Config(
    dataset_builder=ReasoningGymDatasetBuilder(
        run="RUN", groups_per_batch=64, group_size=8, renderer_name="qwen3", model_name_for_tokenizer="Qwen/Qwen3-8B"
    ),
)`,
      },
    ],
  }
}

export function describeSkyrl(address: ServerAddress): AdapterDescription {
  return {
    name: 'skyrl',
    title: 'SkyRL',
    summary: 'A SkyRL environment. Each row has an item ID, or a position in the run’s sequence.',
    paths: [...LIVE_PATHS, '/dataset.jsonl'],
    client_file: `${FOLDER}/rg_skyrl.py`,
    unscored: 'Reward 0 with the metric unscored 1: SkyRL has no mask.',
    snippets: [
      describeEnvironment(address, 'group_size is generator.n_samples_per_prompt'),
      {
        title: 'Register the environment in the entry script, also on the workers',
        language: 'python',
        code: `import skyrl_gym

skyrl_gym.register(id="reasoning_gym", entry_point="reasoning_gym_client.integrations.rg_skyrl:ReasoningGymEnv")`,
      },
      {
        title: 'Download rows to train on',
        language: 'sh',
        code: `curl -o rows.jsonl '${address.urlWithKey}/dataset.jsonl?format=skyrl&count=10000&seed=1'`,
      },
    ],
  }
}

export function describeAreal(address: ServerAddress): AdapterDescription {
  return {
    name: 'areal',
    title: 'AReaL',
    summary: 'A reward function, and a prompt function that fetches the item at the position of the row.',
    paths: [...LIVE_PATHS, '/dataset.jsonl'],
    client_file: `${FOLDER}/rg_areal.py`,
    unscored: 'Reward 0 and a warning in the log: AReaL has no mask.',
    snippets: [
      describeEnvironment(address, 'group_size is gconfig.n_samples'),
      {
        title: 'Configure the workflow; rows have the column item_id',
        language: 'python',
        code: `# curl -o rows.jsonl '${address.urlWithKey}/dataset.jsonl?format=hf&count=10000&seed=1'
RLVRWorkflow(reward_fn="reasoning_gym_client.integrations.rg_areal.reward", gconfig=gconfig, tokenizer=tokenizer)`,
      },
    ],
  }
}

export function describeSwift(address: ServerAddress): AdapterDescription {
  return {
    name: 'swift',
    title: 'ms-swift',
    summary: 'A reward function for GRPO.',
    paths: ['/rollouts', '/samples', '/dataset.jsonl'],
    client_file: `${FOLDER}/rg_swift.py`,
    unscored: 'The mean of the group’s other rewards, so that the advantage is 0: ms-swift would turn None into 0.',
    snippets: [
      describeEnvironment(address, 'group_size is num_generations'),
      {
        title: 'Train',
        language: 'sh',
        code: `curl -o rows.jsonl '${address.urlWithKey}/dataset.jsonl?format=swift&count=10000&seed=1'
swift rlhf --rlhf_type grpo --dataset rows.jsonl \\
  --external_plugins clients/python/${FOLDER}/rg_swift.py --reward_funcs reasoning_gym  # and the options of your model`,
      },
    ],
  }
}

export function describeInspect({ urlWithKey }: ServerAddress): AdapterDescription {
  return {
    name: 'inspect',
    title: 'Inspect',
    summary: 'An Inspect task with the items of a frozen suite or of tasks by name, scored by the server.',
    paths: ['/eval/suites/{suite}', '/items', '/score'],
    client_file: `${FOLDER}/rg_inspect.py`,
    unscored: 'An unscored sample (NaN), which Inspect leaves out of the mean.',
    snippets: [
      {
        title: 'Evaluate a model',
        language: 'sh',
        code: `pip install ./clients/python
export REASONING_GYM_URL=${urlWithKey}
inspect eval clients/python/${FOLDER}/rg_inspect.py@reasoning_gym -T suite=original --model openai/MODEL`,
      },
    ],
  }
}

export function describePython({ urlWithKey }: ServerAddress): AdapterDescription {
  return {
    name: 'python',
    title: 'Any Python trainer: rLLM, ART and your own',
    summary: 'One call of the client for each completion, in your own reward function.',
    paths: LIVE_PATHS,
    client_file: 'reasoning_gym_client/__init__.py',
    unscored: 'A verdict with the status unscored, a code, and the reward None.',
    snippets: [
      {
        title: 'Score one completion',
        language: 'python',
        code: `from reasoning_gym_client import Client  # pip install ./clients/python

client = Client("${urlWithKey}")
positions = client.run("RUN").positions(per_step=64)

item = positions[17]  # the same in every process and after a resume
verdict = client.sample(item["id"], completion, run="RUN", rollout_id=rollout_id)
reward = verdict["reward"]  # None if it could not be scored`,
      },
    ],
  }
}
