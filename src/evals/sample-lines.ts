/** The samples of an eval, one after another: what was asked, what came, what it was worth. */
import type { Samples } from '../store/samples.ts'
import type { EvalSample } from '../words/eval.ts'
import { decodeItemId } from '../words/item-id.ts'
import { assistantMessage, type SampleVerdict, type Text, unpackText } from './sample.ts'
import { itemOfSample } from './spec.ts'
import { readItem } from './suites.ts'
import type { OpenEval } from './view.ts'

const PAGE = 100

export async function* sampleLines(samples: Samples, { id, spec, total }: OpenEval): AsyncGenerator<EvalSample> {
  const items = (await samples.items(id)).map((line) => readItem(line).id)
  for (let from = 0; from < total; from += PAGE) {
    const page = Array.from({ length: Math.min(PAGE, total - from) }, (_, k) => from + k)
    const [verdicts, texts] = await Promise.all([
      samples.verdicts(id, from, from + page.length),
      samples.texts(id, page),
    ])
    for (const [k, sample] of page.entries()) {
      const item = items[itemOfSample(spec, sample)]
      const packed = texts[k]
      if (item === undefined) return // no longer kept
      yield sampleLine(sample, item, verdicts[k] as SampleVerdict | null, packed ? unpackText(packed) : undefined) // as recorded
    }
  }
}

function sampleLine(
  sample: number,
  item_id: string,
  verdict: SampleVerdict | null,
  text: Text | undefined,
): EvalSample {
  const { task, difficulty } = decodeItemId(item_id)
  const identity = { sample_id: `s${sample}`, item_id, task, difficulty }
  const said = saidIn(text)
  if (!verdict) {
    const nothing = { score: null, answer: null, fault: null, finish_reason: null, length_tokens: null }
    return { ...identity, status: 'missing', ...nothing, ...said }
  }
  const { question: _question, ...rest } = verdict
  return { ...identity, status: verdict.score === null ? 'unscored' : 'scored', ...rest, ...said }
}

function saidIn(text: Text | undefined): Pick<EvalSample, 'completion' | 'reasoning' | 'messages'> {
  switch (text?.kind) {
    case 'reply': {
      const { content, reasoning, tool_calls } = text.reply
      return {
        completion: content,
        ...(reasoning !== undefined && { reasoning }),
        ...(tool_calls && { messages: [assistantMessage(text.reply)] }),
      }
    }
    case 'brought':
      return { completion: text.completion ?? null, ...(text.messages && { messages: text.messages }) }
    default:
      return { completion: null }
  }
}
