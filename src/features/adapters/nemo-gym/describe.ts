/** Describes how to configure NeMo Gym, and the trainers that call its resources servers, for this server. */
import type { AdapterDescription } from '@reasoning-gym-server/contract/adapter'
import type { ServerAddress } from '../catalogue.ts'
import { SERVER_NAME } from './discovery.ts'

export function describeNemoGym(address: ServerAddress): AdapterDescription {
  return {
    name: 'nemo-gym',
    title: 'NeMo Gym, NeMo RL, verifiers, prime-rl, Axolotl',
    summary:
      'A resources server in the protocol of NeMo Gym. verifiers, prime-rl and Axolotl call it with nothing to install; for NeMo Gym, copy one folder into its checkout.',
    paths: [
      '/nemo-gym[/{run}]/verify',
      '/nemo-gym[/{run}]/seed_session',
      '/nemo-gym[/{run}]/close_session',
      '/nemo-gym[/{run}]/aggregate_metrics',
      '/nemo-gym[/{run}]/reverify_mode',
      '/global_config_dict_yaml',
      '/dataset.jsonl',
    ],
    client_file: 'nemo_gym/resources_servers/reasoning_gym_server',
    unscored:
      'Reward 0 with mask_sample true, also in instance_config for NeMo RL, and a failure_kind such as reasoning_gym:scorer_timeout. Axolotl reads only the reward.',
    snippets: [describeVerifiers(address), describeGym(address), describeAxolotl(address)],
  }
}

function describeVerifiers({ url, urlWithKey }: ServerAddress) {
  return {
    title: 'verifiers and prime-rl',
    language: 'toml' as const,
    code: `# curl -o rows.jsonl '${urlWithKey}/dataset.jsonl?format=nemo-gym&count=10000&seed=1'
[env.taskset]
id = "nemo-gym"
dataset = "rows.jsonl"

[env.taskset.task]
resources_url = "${url}/nemo-gym/RUN"
headers = { authorization = "Bearer API_KEY" }`,
  }
}

function describeGym({ url, urlWithKey }: ServerAddress) {
  return {
    title: 'NeMo Gym and NeMo RL, in a checkout of Gym',
    language: 'sh' as const,
    code: `cp -r clients/python/nemo_gym/resources_servers/reasoning_gym_server resources_servers/
curl -o resources_servers/reasoning_gym_server/data/train.jsonl '${urlWithKey}/dataset.jsonl?format=nemo-gym&count=10000&seed=1'
export REASONING_GYM_URL=${url} REASONING_GYM_RUN=RUN REASONING_GYM_API_KEY=API_KEY
gym env start --resources-server reasoning_gym_server --model-type vllm_model`,
  }
}

function describeAxolotl({ urlWithKey, host }: ServerAddress) {
  const port = /:(\d+)$/.exec(host)?.[1] ?? '80'
  return {
    title:
      'Axolotl on the same machine as the server; put the key into ~/.netrc: machine 127.0.0.1 login trainer password API_KEY',
    language: 'yaml' as const,
    code: `# curl -o /data/rows.jsonl '${urlWithKey}/dataset.jsonl?format=nemo-gym&prompt=user&count=10000&seed=1'
plugins: [axolotl.integrations.nemo_gym.NemoGymPlugin]
nemo_gym_enabled: true
nemo_gym_auto_start: false
nemo_gym_auto_clone: false
nemo_gym_dir: /data
nemo_gym_head_port: ${port}
nemo_gym_datasets:
  - path: /data/rows.jsonl
    server_name: ${SERVER_NAME}/RUN`,
  }
}
