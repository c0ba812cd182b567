/** Describes how to configure the environments and trainers of Atropos for this server. */
import type { AdapterDescription } from '@reasoning-gym-server/contract/adapter'
import type { ServerAddress } from '../catalogue.ts'

export function describeAtropos({ urlWithKey }: ServerAddress): AdapterDescription {
  return {
    name: 'atropos',
    title: 'Atropos',
    summary:
      'The trajectory API of Atropos, with its queue in Redis: environments push groups and trainers take batches. A trainer can also take the batches of a run.',
    paths: [
      '/atropos/{register,batch,info,status,wandb_info,latest_example,reset_data}',
      '/atropos/{register-env,disconnect-env,status-env,scored_data,scored_data_list}',
      '/atropos/stores/{store}/…',
      '/atropos/{run}/{register,batch,info,status,wandb_info}',
    ],
    client_file: null,
    unscored:
      'In batches of a run: the mean score of its group, with the override set_advantage_to_zero. With the setting unscored_rollouts: omit, it is left out.',
    snippets: [
      {
        title: 'Run an environment; this server takes the place of run-api',
        language: 'sh',
        code: `python gsm8k_server.py serve --env.rollout_server_url ${urlWithKey}/atropos`,
      },
      {
        title: 'Train on the groups of environments with the example trainer',
        language: 'sh',
        code: `atropos-grpo --atropos-url ${urlWithKey}/atropos --batch-size 4 --gradient-accumulation-steps 32`,
      },
      {
        title: 'Train on the groups of a run with the example trainer',
        language: 'sh',
        code: `atropos-grpo --atropos-url ${urlWithKey}/atropos/RUN --batch-size 4 --gradient-accumulation-steps 32`,
      },
    ],
  }
}
