/** Describes how to configure trainers of Atropos for this server. */
import type { AdapterDescription } from '../../../contract/adapter.ts'
import type { ServerAddress } from '../catalogue.ts'

export function describeAtropos({ urlWithKey }: ServerAddress): AdapterDescription {
  return {
    name: 'atropos',
    title: 'Atropos',
    summary: 'A trainer of Atropos takes the batches of a run, step by step. The groups arrive by POST /rollouts.',
    paths: ['/atropos/{run}/{register,batch,info,status,wandb_info}'],
    client_file: null,
    unscored:
      'The mean score of its group, with the override set_advantage_to_zero. With the setting unscored_rollouts: omit, it is left out.',
    snippets: [
      {
        title: 'Train on the groups of a run with the example trainer',
        language: 'sh',
        code: `atropos-grpo --atropos-url ${urlWithKey}/atropos/RUN --batch-size 4 --gradient-accumulation-steps 32`,
      },
    ],
  }
}
