/** Streams the samples of an eval in order: item, output, verdict. */
import type { EvalSample } from '@reasoning-gym-server/contract/eval'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import type { JobOfKind } from './generation-job-record.ts'
import { itemIndexOfSample } from './generation-job-spec.ts'
import { buildAssistantMessage, decodeSampleOutput, type SampleOutput, SampleVerdict } from './sample-output.ts'
import type { SampleRepository } from './sample-repository.ts'
import { parseSuiteItem } from './suites.ts'

const SAMPLES_PER_PAGE = 100

export async function* streamEvalSamples(
  samples: SampleRepository,
  { id, spec, total }: JobOfKind<'eval' | 'duel'>,
): AsyncGenerator<EvalSample> {
  const isFrontier = spec.kind === 'eval' && spec.frontier !== undefined
  const items = isFrontier ? [] : (await samples.listItems(id)).map((line) => parseSuiteItem(line).id)
  for (let from = 0; from < total; from += SAMPLES_PER_PAGE) {
    const page = Array.from({ length: Math.min(SAMPLES_PER_PAGE, total - from) }, (_, k) => from + k)
    const [verdicts, outputs, chosen] = await Promise.all([
      samples.listVerdicts(SampleVerdict, id, from, from + page.length),
      samples.getOutputs(id, page),
      isFrontier ? samples.listChosenItems(id, page) : [],
    ])
    for (const [k, sample] of page.entries()) {
      const item = isFrontier ? chosen[k] : items[itemIndexOfSample(spec, sample)]
      const encoded = outputs[k]
      if (item === null) continue // not chosen yet
      if (item === undefined) return // the samples have expired
      yield buildEvalSample(sample, item, verdicts[k] ?? null, loadSampleOutput(encoded))
    }
  }
}

export function loadSampleOutput(encoded: Buffer | null | undefined): SampleOutput | undefined {
  return encoded ? decodeSampleOutput(encoded) : undefined
}

export function buildEvalSample(
  sample: number,
  item_id: string,
  verdict: SampleVerdict | null,
  output: SampleOutput | undefined,
): EvalSample {
  const { task, difficulty } = decodeItemId(item_id)
  const identity = { sample_id: `s${sample}`, item_id, task, difficulty }
  const completion = buildOutputFields(output)
  if (!verdict) {
    const noVerdict = { score: null, answer: null, fault: null, finish_reason: null, length_tokens: null }
    return { ...identity, status: 'missing', ...noVerdict, ...completion }
  }
  const { question_hash: _hash, ...rest } = verdict
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
    case 'external':
      return { completion: output.completion ?? null, ...(output.messages && { messages: output.messages }) }
    default:
      return { completion: null }
  }
}
