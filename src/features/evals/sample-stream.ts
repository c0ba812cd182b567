/** The samples of an eval, one after another: what was asked, what came, what it was worth. */

import type { EvalSample } from '../../contract/eval.ts'
import { decodeItemId } from '../../contract/item-id.ts'
import type { StoredEval } from './eval-view.ts'
import { itemIndexOfSample } from './generation-job-spec.ts'
import { buildAssistantMessage, decodeSampleOutput, type SampleOutput, type SampleVerdict } from './sample-output.ts'
import type { SampleRepository } from './sample-repository.ts'
import { parseSuiteItem } from './suites.ts'

const SAMPLES_PER_PAGE = 100

export async function* streamEvalSamples(
  samples: SampleRepository,
  { id, spec, total }: StoredEval,
): AsyncGenerator<EvalSample> {
  const items = (await samples.listItems(id)).map((line) => parseSuiteItem(line).id)
  for (let from = 0; from < total; from += SAMPLES_PER_PAGE) {
    const page = Array.from({ length: Math.min(SAMPLES_PER_PAGE, total - from) }, (_, k) => from + k)
    const [verdicts, texts] = await Promise.all([
      samples.listVerdicts(id, from, from + page.length),
      samples.getCompletions(id, page),
    ])
    for (const [k, sample] of page.entries()) {
      const item = items[itemIndexOfSample(spec, sample)]
      const packed = texts[k]
      if (item === undefined) return // no longer kept
      yield buildEvalSample(
        sample,
        item,
        verdicts[k] as SampleVerdict | null,
        packed ? decodeSampleOutput(packed) : undefined,
      ) // as recorded
    }
  }
}

function buildEvalSample(
  sample: number,
  item_id: string,
  verdict: SampleVerdict | null,
  text: SampleOutput | undefined,
): EvalSample {
  const { task, difficulty } = decodeItemId(item_id)
  const identity = { sample_id: `s${sample}`, item_id, task, difficulty }
  const said = buildOutputFields(text)
  if (!verdict) {
    const nothing = { score: null, answer: null, fault: null, finish_reason: null, length_tokens: null }
    return { ...identity, status: 'missing', ...nothing, ...said }
  }
  const { question: _question, ...rest } = verdict
  return { ...identity, status: verdict.score === null ? 'unscored' : 'scored', ...rest, ...said }
}

function buildOutputFields(text: SampleOutput | undefined): Pick<EvalSample, 'completion' | 'reasoning' | 'messages'> {
  switch (text?.kind) {
    case 'reply': {
      const { content, reasoning, tool_calls } = text.reply
      return {
        completion: content,
        ...(reasoning !== undefined && { reasoning }),
        ...(tool_calls && { messages: [buildAssistantMessage(text.reply)] }),
      }
    }
    case 'brought':
      return { completion: text.completion ?? null, ...(text.messages && { messages: text.messages }) }
    default:
      return { completion: null }
  }
}
