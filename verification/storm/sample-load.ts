/** Trainers that send one rollout a call, give up when an answer takes too long, and send it again. */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { SeededRandom } from '../support/seeded-random.ts'
import type { SampleClass } from './ledger.ts'
import { type Load, listGroups, retryFailedJobs, type StormContext } from './storm.ts'

const RUN = 'open-groups'
const GROUP_SIZE = 8
const SETTINGS = {
  tasks: ['chain_sum', 'spell_backward'],
  group_size: GROUP_SIZE,
  batch_size: GROUP_SIZE,
  open_group_timeout_s: 5,
  length_penalty: false,
  keep_groups: 1_000_000,
}
const SAMPLERS = 4
const ITEMS = 200
const ROLLOUT_TIMEOUT_MS = 600_000 // on a busy machine a node is long in coming back
const CALL_TIMEOUT_RANGE_MS = [700, 5000] as const
/** OpenRLHF waits for a second, slime longer with each try. */
const RETRY_PAUSE_RANGE_MS = [100, 1500] as const
const TWIN_CHANCE = 0.15
/** Until the samples of the last dead process count. */
const DRAIN_TIMEOUT_MS = 300_000

interface SampledItem {
  id: string
  answer: string
}

interface SampledRollout {
  item: string
  completion: string
  name: string
}

interface Wire {
  path: string
  build: (rollout: SampledRollout) => object
  isNamed?: boolean
}

/** As the trainers send a rollout. */
const WIRES: readonly Wire[] = [
  {
    path: `/openrlhf/${RUN}/get_reward`,
    build: ({ item, completion }) => ({ query: [`Q: ${completion}`], prompts: ['Q: '], labels: [item] }),
  },
  {
    path: `/slime/${RUN}/rm`,
    build: ({ item, completion }) => ({ prompt: 'Q: ', response: completion, label: item }),
  },
  {
    path: `/runs/${RUN}/samples`,
    build: ({ item, completion, name }) => ({
      adapter: 'verifiers',
      samples: [{ item_id: item, completion, rollout_id: name }],
    }),
    isNamed: true,
  },
]

export function createSampleLoad(): Load {
  let items: SampledItem[] = []
  return {
    async prepare({ client }) {
      await client.request('PUT', `/runs/${RUN}`, SETTINGS)
      items = await makeItems(client)
    },
    async work(context) {
      const samplers = Array.from({ length: SAMPLERS }, async (_, k) => {
        const random = new SeededRandom(context.seed + 100 + k)
        const sampler = new SimulatedSampler(`s${k}`, context, random)
        while (!context.isOver()) await sampler.sampleItem(random.pick(items))
      })
      await Promise.all(samplers)
    },
    async settle({ client, ledger }) {
      const progress = await drain(client)
      ledger.checkSamples(await listGroups(client, RUN), GROUP_SIZE, progress)
    },
  }
}

async function makeItems(client: StormContext['client']): Promise<SampledItem[]> {
  const items: SampledItem[] = []
  for (let seed = 1; seed <= ITEMS; seed++) {
    const made = await client.request('POST', '/items', { task: SETTINGS.tasks[seed % SETTINGS.tasks.length], seed })
    const { id } = made.body.items[0]
    const { body } = await client.request('GET', `/items/${id}?reveal=true`)
    items.push({ id, answer: body.answer })
  }
  return items
}

/** Waits until nothing is open or queued; jobs that failed for good are tried again, as an operator would. */
async function drain(client: StormContext['client']): Promise<{ groups: number; rollouts: number }> {
  for (const until = Date.now() + DRAIN_TIMEOUT_MS; ; await sleep(1000)) {
    const { progress } = (await client.request('GET', `/runs/${RUN}`)).body
    const failed = await retryFailedJobs(client)
    if (progress.open_groups === 0 && progress.queued_groups === 0 && failed === 0) return progress
    if (Date.now() > until) throw new Error(`the run does not come to rest: ${JSON.stringify(progress)}`)
  }
}

class SimulatedSampler {
  readonly #context: StormContext
  readonly #random: SeededRandom
  readonly #name: string
  #count = 0

  constructor(name: string, context: StormContext, random: SeededRandom) {
    this.#name = name
    this.#context = context
    this.#random = random
  }

  /** Sends the rollouts of one item, each by itself. */
  async sampleItem(item: SampledItem): Promise<void> {
    const wire = this.#random.pick(WIRES)
    const completions: string[] = []
    for (let k = 0; k < GROUP_SIZE; k++) {
      const previous = completions.at(-1)
      const isTwin = previous !== undefined && this.#random.chance(TWIN_CHANCE)
      const answer = this.#random.chance(0.5) ? item.answer : 'no idea'
      const fresh = `<think>${this.#name} ${this.#count++}</think><answer>${answer}</answer>`
      completions.push(isTwin ? previous : fresh)
    }
    await Promise.all(completions.map((completion) => this.#sendUntilAnswered(wire, item.id, completion)))
  }

  async #sendUntilAnswered(wire: Wire, item: string, completion: string): Promise<void> {
    const { fleet, ledger, signal } = this.#context
    const sample = ledger.getOrCreateSample(item, completion, wire.isNamed === true)
    const rollout = { item, completion, name: `${this.#name}-${this.#count++}` }
    for (const until = Date.now() + ROLLOUT_TIMEOUT_MS; Date.now() < until && !signal.aborted; ) {
      await sleep(this.#random.between(0, 50))
      const node = this.#random.pick(fleet.urls)
      const reward = await this.#call(node, wire, rollout, sample)
      if (reward !== undefined) {
        sample.answers.push({ reward, node, at: Date.now() })
        return
      }
      await sleep(this.#random.between(...RETRY_PAUSE_RANGE_MS))
    }
    ledger.addViolation(`no answer to ${completion}`)
  }

  /** Undefined if there is no answer. */
  async #call(node: string, { path, build }: Wire, rollout: SampledRollout, sample: SampleClass) {
    const { ledger } = this.#context
    const patience = new AbortController()
    const sentAt = new Date().toISOString()
    const note = (outcome: string) => sample.calls.push(`${sentAt} to ${new Date().toISOString()} ${node}: ${outcome}`)
    const isImpatient = this.#random.chance(0.3)
    const patienceMs = isImpatient ? this.#random.between(...CALL_TIMEOUT_RANGE_MS) : ROLLOUT_TIMEOUT_MS
    const timer = setTimeout(() => void giveUp(patience), patienceMs)
    try {
      const response = await fetch(node + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(build(rollout)),
        signal: patience.signal,
      })
      const text = await response.text()
      note(`${response.status} ${text.slice(0, 200)}`)
      if (response.status === 200) return readReward(JSON.parse(text))
      if (response.status !== 503) ledger.addViolation(`${path}: ${response.status} ${text.slice(0, 300)}`)
    } catch (error) {
      note(error instanceof Error ? `${error.message} ${String(error.cause)}` : String(error))
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

/** slime gets the reward alone. */
function readReward(body: number | null | { rewards: (number | null)[] }): number | null {
  return typeof body === 'object' && body !== null ? (body.rewards[0] ?? null) : body
}
