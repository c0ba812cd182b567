import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { encodeItemId } from '@reasoning-gym-server/contract/item-id'
import { expect, it } from 'vitest'
import { enqueueSlotJobs } from '../../../src/features/evals/concurrency.ts'
import type { EvalSpec } from '../../../src/features/evals/records.ts'
import { StoredSampleVerdict } from '../../../src/features/evals/samples/output.ts'
import { SampleRepository } from '../../../src/features/evals/samples/repository.ts'
import { hashQuestion } from '../../../src/features/items/eval-questions.ts'
import { extractAnswer } from '../../../src/grading/answer-extraction.ts'
import { openWorld, SHARED, until } from '../../world.ts'

const FILE = `${SHARED}data/responses.jsonl.gz`

interface Recorded {
  task: string
  config: Record<string, unknown>
  seed: number
  index: number
  completion: string
  model_answer: string | null
  score: number | null
}

it.skipIf(!existsSync(FILE))(
  'recorded responses come to their recorded scores, sampled like a model’s',
  async () => {
    const world = await openWorld({ worker: true, SCORE_DEADLINE_MS: 20_000 })
    const lines = gunzipSync(readFileSync(FILE)).toString().trimEnd().split('\n')
    const { items } = world.features.items
    const { generationJobs } = world.features.evals
    const samples = new SampleRepository(world.platform.redis, world.platform.keys)
    // The model knows its response by the question.
    const byQuestion = new Map<string, Recorded & { id: string }>()
    for (const line of lines) {
      const response = JSON.parse(line) as Recorded // the format of the file
      const { task, seed, index, config } = response
      const recipe = await items.resolveRecipe({ task, config: withoutSize(task, config), seed, index })
      const { question } = await items.getOrCreateOne(recipe)
      if (!byQuestion.has(question)) byQuestion.set(question, { ...response, id: encodeItemId(recipe) })
    }
    const recorded = [...byQuestion.values()]
    const ids = recorded.map(({ id }) => id)
    const server = createServer(async (request, response) => {
      const { messages } = (await json(request)) as { messages: { content: string }[] } // of the API
      const content = byQuestion.get(messages.at(-1)?.content ?? '')?.completion
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }] }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const params = { temperature: null, timeout_s: 30, retries: 0 }
    const egress_policy = { allow_loopback: true, allowed_hosts: [] }
    const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
    const spec: EvalSpec = {
      kind: 'eval',
      model: { name: 'recorded', base_url, egress_policy, params, concurrency: 8 },
      suite: { name: 'recorded', version: null, sha256: null, items: ids.length },
      samples_per_item: 1,
      temperature: null,
      run: null,
      step: null,
      labels: [],
      grading_rules: {
        extraction: 'last_tag',
        stop: null,
        opens_thinking: false,
        dual_format: false,
        scoring: 'upstream',
      },
      prompt: { system_prompt: null, system_prompt_role: 'system', clarify: false },
      engine: world.engine.version,
      server: 'test',
    }
    const id = 'eval-0123456789ab'
    await generationJobs.create({ id, spec, total: ids.length, items: ids, modelApiKey: undefined })
    await enqueueSlotJobs(world.platform.producer, { id, spec, total: ids.length })
    const status = () => generationJobs.getStatus(id)
    await until(status, (word) => word === 'done' || word === 'failed', 150_000)
    const verdicts = await samples.listVerdicts(StoredSampleVerdict, id, 0, ids.length)
    // Our rules read a few otherwise than the library: tags in any letter case, thinking taken out first, the nearest opening
    // tag. For those the recorded score is of another answer. Where the library raises, ours is 0 with the fault's name.
    const alike = [...recorded.keys()].filter((k) => {
      const { completion, model_answer } = recorded[k] ?? {}
      const reading = extractAnswer(completion ?? '', { extraction: 'last_tag' })
      return (reading.kind === 'answer' ? reading.answer : null) === model_answer
    })
    expect(recorded.length - alike.length).toBe(28)
    const wrong = alike.flatMap((k) => {
      const { score = null, model_answer = null, task = '' } = recorded[k] ?? {}
      const wanted = score === null || model_answer === null ? 0 : score
      const good = Math.abs((verdicts[k]?.score ?? Number.NaN) - wanted) < 1e-9
      return good ? [] : [{ task, wanted, verdict: verdicts[k] }]
    })
    expect(wrong).toEqual([])
    expect(verdicts[0]?.question_hash).toBe(
      hashQuestion((await items.make([await items.resolveItemId(ids[0] ?? '')]))[0]?.question ?? ''),
    )
    server.close()
    await world.close()
  },
  200_000,
)

/** Only where items depend on it is the size part of a config. */
function withoutSize(task: string, { size, ...config }: Record<string, unknown>): Record<string, unknown> {
  const sized = ['acre', 'word_ladder', 'gsm_symbolic', 'list_functions'].includes(task) && size !== undefined
  return sized ? { ...config, size } : config
}
