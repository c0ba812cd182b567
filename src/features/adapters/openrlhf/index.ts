/** OpenRLHF: POST /openrlhf[/{run}]/get_reward, the reward URL of `--reward.remote_url`. */

import type { AdapterDescription } from '@reasoning-gym-server/contract/adapter'
import { OpenrlhfRequest, OpenrlhfResponse, parsePlainOpenrlhfRequest } from '@reasoning-gym-server/contract/openrlhf'
import { z } from 'zod'
import type { Submission } from '../../../grading/grader.ts'
import type { App } from '../../../http/app.ts'
import { withFastParser } from '../../../http/validation.ts'
import type { ServerAddress } from '../catalogue.ts'
import { observeDelivery } from '../delivery.ts'
import { formatFloat, formatFloats } from '../float-json.ts'
import type { AdaptersFeature } from '../index.ts'
import { MissingLabels } from '../missing-labels.ts'
import {
  REWARD_BODY_BYTES,
  rewardProblems,
  sendJsonText,
  sendUnscoredIfTooLarge,
  UnscoredRule,
  withoutQueryAtOnce,
} from '../reward-routes.ts'
import { getRun, listRunPaths } from '../run-paths.ts'
import type { SampleResult } from '../sample-scoring.ts'
import { readResponse } from './read-response.ts'

/** OpenRLHF waits 180 s per attempt and makes five attempts. */
const HOLD_MS = 150_000

const OpenrlhfBody = withFastParser(OpenrlhfRequest, parsePlainOpenrlhfRequest)

const OpenrlhfQuery = withoutQueryAtOnce(z.strictObject({ unscored: UnscoredRule }))

export function addOpenrlhfRoutes(app: App, { samples, siblingMeans }: AdaptersFeature): void {
  const labels = new MissingLabels('labels: no item IDs; set --data.label_key item_id')
  for (const { url, params, idSuffix, summarySuffix } of listRunPaths('openrlhf', 'get_reward')) {
    app.post(
      url,
      {
        bodyLimit: REWARD_BODY_BYTES,
        errorHandler: sendUnscoredIfTooLarge(samples, 'openrlhf', (results) => formatResponse(results, [0])),
        schema: {
          operationId: `scoreOpenrlhfSamples${idSuffix}`,
          tags: ['adapters'],
          summary: `Score completions for OpenRLHF${summarySuffix}`,
          params,
          querystring: OpenrlhfQuery,
          body: OpenrlhfBody,
          response: { 200: OpenrlhfResponse, ...rewardProblems(idSuffix) },
        },
      },
      async ({ body, params: path, query, caller }, reply) => {
        const run = getRun(path)
        const itemIds = labels.read(body.labels, caller.id, run)
        const results = await samples.score({
          adapter: 'openrlhf',
          run,
          samples: itemIds.map((itemId, k) => ({ itemId, submission: readSubmission(body.query[k], body.prompts[k]) })),
          holdMs: HOLD_MS,
          delivery: run === undefined ? undefined : observeDelivery(reply),
        })
        const rewards = await siblingMeans.getRewards(run, results, query.unscored)
        return sendJsonText(reply, formatResponse(results, rewards))
      },
    )
  }
}

function readSubmission(query: unknown, prompt: unknown): Submission {
  if (typeof query !== 'string' || typeof prompt !== 'string')
    return { kind: 'nothing', detail: 'query and prompts hold strings' }
  const completion = readResponse(query, prompt)
  return completion === undefined
    ? {
        kind: 'nothing',
        detail: 'The query does not start with its prompt, so the server cannot separate the response from it',
      }
    : { kind: 'completion', completion }
}

/** Sends text, because integer rewards would become integer tensors (float-json.ts). */
function formatResponse(results: SampleResult[], rewards: number[]): string {
  const scores: string[] = []
  const unscored: string[] = []
  const noAnswer: string[] = []
  const fault: string[] = []
  const errors: object[] = []
  results.forEach(({ verdict }, index) => {
    const isScored = verdict.status === 'scored'
    scores.push(formatFloat(verdict.score ?? rewards[index] ?? 0))
    unscored.push(formatFlag(!isScored))
    noAnswer.push(formatFlag(isScored && verdict.fault === 'no_answer'))
    fault.push(formatFlag(isScored && verdict.fault !== null))
    if (!isScored) errors.push({ index, code: verdict.code, detail: verdict.detail })
  })
  const extraLogs = `{"unscored": [${unscored.join(', ')}], "no_answer": [${noAnswer.join(', ')}], "fault": [${fault.join(', ')}]}`
  const details = errors.length > 0 ? `, "errors": ${JSON.stringify(errors)}` : ''
  return `{"rewards": ${formatFloats(rewards)}, "scores": [${scores.join(', ')}], "extra_logs": ${extraLogs}${details}}`
}

function formatFlag(holds: boolean): string {
  return holds ? '1.0' : '0.0'
}

export function describeOpenrlhf({ urlWithKey }: ServerAddress): AdapterDescription {
  return {
    name: 'openrlhf',
    title: 'OpenRLHF',
    summary: 'Rewards by URL, with nothing to install. The label of each prompt is its item ID.',
    paths: ['/openrlhf[/{run}]/get_reward', '/dataset.jsonl'],
    client_file: null,
    unscored:
      'Reward 0, or with ?unscored=mean the mean reward of its group so far; extra_logs.unscored is 1. OpenRLHF would stop the training if a reward were missing.',
    snippets: [
      {
        title: 'Download prompts and train',
        language: 'sh',
        code: `curl -o prompts.jsonl '${urlWithKey}/dataset.jsonl?format=openrlhf&count=10000&seed=1'

python3 -m openrlhf.cli.train_ppo_ray \\
  --data.prompt_dataset prompts.jsonl --data.input_key prompt --data.label_key item_id --data.apply_chat_template \\
  --reward.remote_url ${urlWithKey}/openrlhf/RUN/get_reward  # and the options of your model`,
      },
      {
        title: 'The same for OpenRLHF before 0.10',
        language: 'sh',
        code: `python3 -m openrlhf.cli.train_ppo_ray \\
  --prompt_data prompts.jsonl --input_key prompt --label_key item_id --apply_chat_template \\
  --remote_rm_url ${urlWithKey}/openrlhf/RUN/get_reward  # and the options of your model`,
      },
    ],
  }
}
