/** Streams the samples of an eval in order, and the stored verdicts of any job. */

import type { EvalSample } from '@reasoning-gym-server/contract/eval-sample'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import type { z } from 'zod'
import type { EvalParts } from '../job-items.ts'
import { type GenerationJob, isOfKind, type JobOfKind } from '../records.ts'
import { buildAssistantMessage, decodeSampleOutput, type SampleOutput, StoredSampleVerdict } from './output.ts'
import type { SampleRepository } from './repository.ts'

/** Outputs have up to 4 MiB each. */
const SAMPLES_PER_PAGE = 25
const VERDICTS_PER_PAGE = 1000

type VerdictReader = Pick<SampleRepository, 'listVerdicts'>

/** Streams the samples whose item is known: item, output, verdict. There are none once the samples have expired. */
export async function* streamEvalSamples(
  { openItems, samples }: EvalParts,
  job: JobOfKind<'eval'>,
): AsyncGenerator<EvalSample> {
  const { id, total } = job
  const jobItems = openItems(job)
  if ((await jobItems.list()).items.length === 0) return
  for (let from = 0; from < total; from += SAMPLES_PER_PAGE) {
    const page = Array.from({ length: Math.min(SAMPLES_PER_PAGE, total - from) }, (_, k) => from + k)
    const [verdicts, outputs, items] = await Promise.all([
      samples.listVerdicts(StoredSampleVerdict, id, from, from + page.length),
      samples.getOutputs(id, page),
      jobItems.at(page),
    ])
    for (const [k, sample] of page.entries()) {
      const item = items[k]
      if (item) yield buildEvalSample(sample, item.id, verdicts[k] ?? null, decodeSampleOutput(outputs[k])?.output)
    }
  }
}

/** Streams the verdicts of an eval with the numbers of their samples, null where there is none yet. */
export function streamVerdicts(
  samples: VerdictReader,
  job: Pick<GenerationJob, 'id' | 'total'>,
): AsyncGenerator<[sample: number, verdict: StoredSampleVerdict | null]> {
  return streamVerdictsOf(StoredSampleVerdict, samples, job)
}

export async function* streamVerdictsOf<T>(
  schema: z.ZodType<T>,
  samples: VerdictReader,
  { id, total }: Pick<GenerationJob, 'id' | 'total'>,
): AsyncGenerator<[sample: number, verdict: T | null]> {
  for (let from = 0; from < total; from += VERDICTS_PER_PAGE) {
    const page = await samples.listVerdicts(schema, id, from, Math.min(from + VERDICTS_PER_PAGE, total))
    for (const [k, verdict] of page.entries()) yield [from + k, verdict]
  }
}

/** Lists the samples of a job that have no score. A collection has none because its groups are recorded once. */
export async function listFailedSamples(samples: VerdictReader, job: GenerationJob): Promise<number[]> {
  const failed: number[] = []
  if (isOfKind(job, 'collection')) return failed
  for await (const [sample, verdict] of streamVerdicts(samples, job)) if (verdict?.score === null) failed.push(sample)
  return failed
}

export function buildEvalSample(
  sample: number,
  item_id: string,
  verdict: StoredSampleVerdict | null,
  output: SampleOutput | undefined,
): EvalSample {
  const { task, difficulty } = decodeItemId(item_id)
  const identity = { sample_id: `s${sample}`, item_id, task, difficulty }
  const completion = buildOutputFields(output)
  if (!verdict) {
    const noVerdict = { score: null, answer: null, fault: null, finish_reason: null, length_tokens: null }
    return { ...identity, status: 'missing', ...noVerdict, ...completion }
  }
  const { question_hash: _hash, first_score: _first, ...rest } = verdict
  return { ...identity, status: verdict.score === null ? 'unscored' : 'scored', ...rest, ...completion }
}

function buildOutputFields(
  output: SampleOutput | undefined,
): Pick<EvalSample, 'completion' | 'reasoning' | 'messages'> {
  switch (output?.kind) {
    case 'response': {
      const { content, reasoning, tool_calls } = output.response
      return {
        completion: content,
        ...(reasoning !== undefined && { reasoning }),
        ...(tool_calls && { messages: [buildAssistantMessage(output.response)] }),
      }
    }
    case 'tries':
      return {
        completion: output.responses.at(-1)?.content ?? null,
        messages: output.responses.map(buildAssistantMessage),
      }
    case 'external':
      return { completion: output.completion ?? null, ...(output.messages && { messages: output.messages }) }
    default:
      return { completion: null }
  }
}
