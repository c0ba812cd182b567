/** A trainer that sends one rollout a call, gives up when an answer takes too long, and sends it again. */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { SeededRandom } from '../chaos/seeded-random.ts'
import type { SampleClass, SampleLedger } from './sample-ledger.ts'

export const OPEN_GROUPS_RUN = 'open-groups'
export const GROUP_SIZE = 8

export interface SampledItem {
  id: string
  answer: string
}

type Wire = 'openrlhf' | 'slime' | 'named'

const ROLLOUT_TIMEOUT_MS = 600_000 // on a busy machine a node is long in coming back
const CALL_TIMEOUT_RANGE_MS = [700, 5000] as const
/** OpenRLHF waits for a second, slime longer with each try. */
const RETRY_PAUSE_RANGE_MS = [100, 1500] as const
const TWIN_CHANCE = 0.15

/** What calls of all trainers share. */
export interface SamplerContext {
  urls: string[]
  ledger: SampleLedger
  counters: { calls: number; retries: number; refused: number }
}

export class SimulatedSampler {
  readonly #context: SamplerContext
  readonly #random: SeededRandom
  readonly #name: string
  #count = 0

  constructor(name: string, context: SamplerContext, random: SeededRandom) {
    this.#name = name
    this.#context = context
    this.#random = random
  }

  /** Sends the rollouts of one item, each by itself. */
  async sampleItem(item: SampledItem): Promise<void> {
    const wire = this.#random.pick<Wire>(['openrlhf', 'slime', 'named'])
    const completions: string[] = []
    for (let k = 0; k < GROUP_SIZE; k++) {
      const previous = completions.at(-1)
      const isTwin = previous !== undefined && this.#random.chance(TWIN_CHANCE)
      const answer = this.#random.chance(0.5) ? item.answer : 'no idea'
      const fresh = `<think>${this.#name} ${this.#count++}</think><answer>${answer}</answer>`
      completions.push(isTwin ? previous : fresh)
    }
    await Promise.all(completions.map((completion) => this.#sendUntilAnswered(wire, item, completion)))
  }

  async #sendUntilAnswered(wire: Wire, item: SampledItem, completion: string): Promise<void> {
    const { ledger, counters } = this.#context
    const sample = ledger.getOrCreate(item.id, completion, wire === 'named')
    const name = `${this.#name}-${this.#count++}`
    for (const until = Date.now() + ROLLOUT_TIMEOUT_MS; Date.now() < until; counters.retries++) {
      await sleep(this.#random.between(0, 50))
      const node = this.#random.pick(this.#context.urls)
      const reward = await this.#call(node, wire, { item: item.id, completion, name }, sample)
      if (reward !== undefined) {
        sample.answers.push({ reward, node, at: Date.now() })
        return
      }
      await sleep(this.#random.between(...RETRY_PAUSE_RANGE_MS))
    }
    ledger.violations.push(`no answer to ${completion}`)
  }

  /** Undefined if there is no answer. */
  async #call(
    node: string,
    wire: Wire,
    rollout: { item: string; completion: string; name: string },
    sample: SampleClass,
  ): Promise<number | null | undefined> {
    const { ledger, counters } = this.#context
    counters.calls++
    const { path, body } = buildCall(wire, rollout)
    const patience = new AbortController()
    const timer = setTimeout(
      () => void giveUp(patience),
      this.#random.chance(0.3) ? this.#random.between(...CALL_TIMEOUT_RANGE_MS) : ROLLOUT_TIMEOUT_MS,
    )
    try {
      const response = await fetch(node + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: patience.signal,
      })
      const text = await response.text()
      if (response.status === 200) return readReward(wire, JSON.parse(text))
      counters.refused++
      if (response.status !== 503) ledger.violations.push(`${path}: ${response.status} ${text.slice(0, 300)}`)
    } catch {
      if (patience.signal.aborted) sample.abandoned++
      else ledger.deaths.push({ node, at: Date.now() })
    } finally {
      clearTimeout(timer)
    }
    return undefined
  }
}

/** Not before what has arrived is read: a trainer that waits for minutes does not give up in the very moment of the answer. */
async function giveUp(patience: AbortController): Promise<void> {
  await nextTurn()
  await nextTurn()
  patience.abort()
}

function buildCall(wire: Wire, { item, completion, name }: { item: string; completion: string; name: string }) {
  switch (wire) {
    case 'openrlhf':
      return {
        path: `/openrlhf/${OPEN_GROUPS_RUN}/get_reward`,
        body: { query: [`Q: ${completion}`], prompts: ['Q: '], labels: [item] },
      }
    case 'slime':
      return { path: `/slime/${OPEN_GROUPS_RUN}/rm`, body: { prompt: 'Q: ', response: completion, label: item } }
    case 'named':
      return {
        path: `/runs/${OPEN_GROUPS_RUN}/samples`,
        body: { adapter: 'verifiers', samples: [{ item_id: item, completion, rollout_id: name }] },
      }
  }
}

function readReward(wire: Wire, body: unknown): number | null {
  const reward = wire === 'slime' ? body : (body as { rewards: unknown[] }).rewards[0] // as the contract says
  return typeof reward === 'number' ? reward : null
}
