/** slime and miles: POST /slime[/{run}]/rm, the reward URL of `--rm-type remote_rm --rm-url`. */

import type { AdapterDescription } from '@reasoning-gym-server/contract/adapter'
import {
  parsePlainSlimeRequest,
  SlimeRequest,
  SlimeResponse,
  type SlimeSample,
} from '@reasoning-gym-server/contract/slime'
import { z } from 'zod'
import type { Submission } from '../../grading/grader.ts'
import type { App } from '../../http/app.ts'
import { withFastParser } from '../../http/validation.ts'
import type { ServerAddress } from './catalogue.ts'
import { observeDelivery } from './delivery.ts'
import { formatFloat } from './float-json.ts'
import type { AdaptersFeature } from './index.ts'
import { MissingLabels } from './missing-labels.ts'
import {
  REWARD_BODY_BYTES,
  rewardProblems,
  sendJsonText,
  sendUnscoredIfTooLarge,
  UnscoredRule,
  withoutQueryAtOnce,
} from './reward-routes.ts'
import { getRun, listRunPaths } from './run-paths.ts'
import type { SampleResult } from './sample-scoring.ts'
import { stripTrailingTokens } from './special-tokens.ts'

/** slime waits 120 s in each of ten attempts; miles waits 300 s once. */
const HOLD_MS = 100_000
/** Same limit as in evals. */
const RIGHT_SCORE = 0.99

const SlimeBody = withFastParser(SlimeRequest, parsePlainSlimeRequest)
const SlimeQuery = withoutQueryAtOnce(
  z.strictObject({
    unscored: UnscoredRule,
    shape: z
      .enum(['number', 'object'])
      .default('number')
      .describe(
        '`object`: return an object, for --reward-key. Only this form distinguishes an unscored sample from a reward of 0.',
      ),
  }),
)

export function addSlimeRoutes(app: App, { samples, siblingMeans }: AdaptersFeature): void {
  const labels = new MissingLabels('label: no item ID; set --label-key item_id')
  for (const { url, params, idSuffix, summarySuffix } of listRunPaths('slime', 'rm')) {
    app.post(
      url,
      {
        bodyLimit: REWARD_BODY_BYTES,
        errorHandler: sendUnscoredIfTooLarge(samples, 'slime', formatSingle),
        schema: {
          operationId: `scoreSlimeSamples${idSuffix}`,
          tags: ['adapters'],
          summary: `Score completions for slime and miles${summarySuffix}`,
          params,
          querystring: SlimeQuery,
          body: SlimeBody,
          response: { 200: SlimeResponse, ...rewardProblems(idSuffix) },
        },
      },
      async ({ body, params: path, query, caller }, reply) => {
        const run = getRun(path)
        const given = Array.isArray(body) ? body : [body]
        const itemIds = labels.read(
          given.map(({ label }) => label),
          caller.id,
          run,
        )
        const results = await samples.score({
          adapter: 'slime',
          run,
          samples: given.map((sample, k) => ({ itemId: itemIds[k], submission: readSubmission(sample) })),
          holdMs: HOLD_MS,
          delivery: run === undefined ? undefined : observeDelivery(reply),
        })
        const rewards = await siblingMeans.getRewards(run, results, query.unscored)
        const format = query.shape === 'object' ? formatObject : formatNumber
        const texts = results.map((result, k) => format(result, rewards[k] ?? 0))
        return sendJsonText(reply, Array.isArray(body) ? `[${texts.join(', ')}]` : (texts[0] ?? ''))
      },
    )
  }
}

function readSubmission({ response }: SlimeSample): Submission {
  return typeof response === 'string'
    ? { kind: 'completion', completion: stripTrailingTokens(response) }
    : { kind: 'nothing', detail: 'response is no string' }
}

/** Runs before the query is validated. */
function formatSingle([result]: SampleResult[], query: unknown): string {
  const { data } = SlimeQuery.safeParse(query)
  return result && data?.shape === 'object' ? formatObject(result, 0) : formatFloat(0)
}

/** Sends rewards as text, because integers would become integer tensors (float-json.ts). */
function formatNumber(_result: SampleResult, reward: number): string {
  return formatFloat(reward)
}

function formatObject({ verdict }: SampleResult, reward: number): string {
  const scored = verdict.status === 'scored'
  const score = verdict.score ?? reward
  const rest = scored
    ? { unscored: false, fault: verdict.fault, pred: verdict.answer }
    : { unscored: true, fault: null, pred: null, code: verdict.code, detail: verdict.detail }
  const acc = scored && verdict.score >= RIGHT_SCORE ? 1 : 0
  const numbers = `"score": ${formatFloat(score)}, "reward": ${formatFloat(reward)}, "acc": ${formatFloat(acc)}`
  return `{${numbers}, ${JSON.stringify(rest).slice(1)}`
}

export function describeSlime({ urlWithKey }: ServerAddress): AdapterDescription {
  return {
    name: 'slime',
    title: 'slime, miles',
    summary: 'Rewards by URL, with nothing to install. The label of each prompt is its item ID.',
    paths: ['/slime[/{run}]/rm', '/dataset.jsonl'],
    client_file: null,
    unscored:
      'Reward 0, or with ?unscored=mean the mean reward of its group so far. ?shape=object adds the flag unscored.',
    snippets: [
      {
        title: 'Download prompts and train',
        language: 'sh',
        code: `curl -o prompts.jsonl '${urlWithKey}/dataset.jsonl?format=slime&count=10000&seed=1'

python3 train.py \\
  --prompt-data prompts.jsonl --input-key prompt --label-key item_id --apply-chat-template \\
  --rm-type remote_rm --rm-url ${urlWithKey}/slime/RUN/rm  # and the options of your model`,
      },
      {
        title: 'Rewards as objects with score, fault and unscored',
        language: 'sh',
        code: `--rm-url '${urlWithKey}/slime/RUN/rm?shape=object' --reward-key reward --eval-reward-key score`,
      },
    ],
  }
}
