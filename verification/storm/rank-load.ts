/** Four simulated ranks: they answer items, post groups (some of them twice), take their share of each step and acknowledge it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SeededRandom } from '../support/seeded-random.ts'
import { waitUntil } from '../support/wait.ts'
import { DumpLine, type Ledger, type RunProgress, type SettledGroup } from './ledger.ts'
import { type Load, retryFailedJobs, type StormContext } from './storm.ts'

export const RANK_RUN = 'chaos'
const RANK_COUNT = 4
const GROUP_SIZE = 8
const RUN_SETTINGS = {
  tasks: ['chain_sum', 'spell_backward', 'simple_integration'],
  complexity_mode: 'frontier',
  group_size: GROUP_SIZE,
  batch_size: 64,
  min_trained_tokens: 0,
  max_policy_lag: 5,
  keep_groups: 1_000_000,
  dump_rollouts: 'all',
}
const ITEMS_PER_REQUEST = 4
const DUMP_TIMEOUT_MS = 120_000
const STALE_STEPS = 20 // steps by which some groups come too late

export function createRankLoad(): Load {
  let latest = 0
  return {
    prepare: ({ client }) => client.request('PUT', `/runs/${RANK_RUN}`, RUN_SETTINGS),
    async work(context) {
      const ranks = Array.from({ length: RANK_COUNT }, (_, rank) => new SimulatedRank(rank, context))
      await Promise.all(
        ranks.map(async (rank) => {
          // All ranks end with the same step: the one after the latest that anybody began before the storm was over.
          for (let step = 0; !context.isOver() || step <= latest; step++) {
            if (!context.isOver()) latest = Math.max(latest, step)
            await rank.runStep(step)
          }
        }),
      )
    },
    async settle(context) {
      const { client, ledger } = context
      const rerun = await drainRun(context, latest + 1)
      const settled: SettledGroup[] = []
      for (const id of ledger.posted.keys()) {
        const { status, body } = await client.request('GET', `/rollouts/${id}?run=${RANK_RUN}`)
        if (status === 200) settled.push(body)
        else ledger.addViolation(`group ${id}: ${status} ${body.code ?? body.status}`)
      }
      const run = (await client.request('GET', `/runs/${RANK_RUN}`)).body as RunProgress // as the contract says
      const history = await client.request('GET', `/runs/${RANK_RUN}/history`)
      ledger.checkGroups(settled, run, history.body.points.length)
      await checkDumps(context, settled)
      ledger.entries.push(['failed jobs run again', rerun])
    },
  }
}

/** Each scored group must be in the dump files once, as it was posted, with the rewards that it has. */
async function checkDumps({ client, ledger, fleet }: StormContext, settled: SettledGroup[]): Promise<void> {
  const { dumps = '' } = fleet
  const isWritten = async () => {
    const { waiting, unwritten } = (await client.request('GET', `/runs/${RANK_RUN}`)).body.progress.dumps.rollouts
    return waiting + unwritten === 0
  }
  await waitUntil('all groups are in dump files', isWritten, { timeoutMs: DUMP_TIMEOUT_MS, pollMs: 200 })
  const files = readdirSync(dumps).filter((name) => name.endsWith('.jsonl'))
  const lines = files.flatMap((name) => readFileSync(join(dumps, name), 'utf8').trimEnd().split('\n'))
  ledger.checkDumps(
    settled,
    lines.map((line) => DumpLine.parse(JSON.parse(line))), // half a line throws
  )
}

/** Takes all that is left, in steps of its own, and has failed jobs tried again; gives how many. */
async function drainRun(context: StormContext, firstStep: number): Promise<number> {
  const { client } = context
  const rank = new SimulatedRank(0, context)
  let rerun = 0
  for (let step = firstStep; ; ) {
    step = await rank.drainBatches(step)
    const failed = await retryFailedJobs(client)
    // A group that goes into no batch is not waited for by those who take them, and its job may have been lost.
    const { progress } = (await client.request('GET', `/runs/${RANK_RUN}`)).body
    if (failed === 0 && progress.queued_groups === 0) return rerun
    rerun += failed
  }
}

class SimulatedRank {
  readonly #rank: number
  readonly #client: StormContext['client']
  readonly #ledger: Ledger
  readonly #random: SeededRandom
  #postCount = 0

  constructor(rank: number, { client, ledger, seed }: StormContext) {
    this.#rank = rank
    this.#client = client
    this.#ledger = ledger
    this.#random = new SeededRandom(seed + 100 + rank)
  }

  /** One step of training, from items to the acknowledgement. */
  async runStep(step: number): Promise<void> {
    await this.#postGroups(step)
    const share = { rank: this.#rank, ranks: RANK_COUNT }
    const path = `/runs/${RANK_RUN}/batches`
    const body = { step, ...share, policy_version: step, balance: step % 2 === 0 ? 'tokens' : 'rollouts' }
    const ask = () => this.#client.request('POST', path, body, { prefer: 'wait=1' })
    let answer = await ask()
    for (; answer.status !== 200; answer = await ask()) {
      if (answer.status === 204) await this.#postGroups(step)
      else if (answer.body.code !== 'too_many_open_batches') throw new Error(`step ${step}: ${answer.text}`)
    }
    if (this.#random.chance(0.3)) {
      // A rank that died and came back: it must get what it had.
      const again = await (this.#random.chance(0.5)
        ? ask()
        : this.#client.request('GET', `${path}/${step}?rank=${share.rank}&ranks=${RANK_COUNT}`))
      if (again.text !== answer.text)
        this.#ledger.addViolation(`step ${step}, rank ${this.#rank}: another share when asked again (${again.status})`)
    }
    this.#recordBatch(step, answer.body)
    const { status, body: said } = await this.#client.request('POST', `${path}/${step}/ack`, share)
    if (status !== 200) this.#ledger.addViolation(`step ${step}, rank ${this.#rank}: ack is ${status} ${said.code}`)
  }

  /** Takes all that is left; gives the next free step. */
  async drainBatches(first: number): Promise<number> {
    for (let step = first; ; ) {
      const body = { step, policy_version: step, final: true }
      const path = `/runs/${RANK_RUN}/batches`
      const { status, body: batch } = await this.#client.request('POST', path, body, { prefer: 'wait=1' })
      if (status !== 200) continue
      this.#recordBatch(step, batch)
      await this.#client.request('POST', `${path}/${step}/ack`, {})
      step++
      if (batch.totals.groups > 0) continue
      const { body: run } = await this.#client.request('GET', `/runs/${RANK_RUN}`)
      if (run.batch.queued === 0 && run.batch.buffered === 0) return step
    }
  }

  async #postGroups(step: number): Promise<void> {
    const { body } = await this.#client.request('POST', '/items', { run: RANK_RUN, count: ITEMS_PER_REQUEST })
    await Promise.all(body.items.map(({ id }: { id: string }) => this.#answerItem(id, step)))
  }

  async #answerItem(item: string, step: number): Promise<void> {
    const revealed = await this.#client.request('GET', `/items/${item}?reveal=true`)
    const id = `r${this.#rank}-${this.#postCount++}`
    const { rollouts, expected } = this.#generateRollouts(revealed.body.answer)
    const group = {
      run: RANK_RUN,
      item_id: item,
      group_id: id,
      rollouts,
      policy_version: this.#random.chance(0.05) ? Math.max(0, step - STALE_STEPS) : step,
      ...(this.#random.chance(0.1) && { buffer: false }),
    }
    this.#ledger.posted.set(id, { id, completions: rollouts.map(({ completion }) => completion), expected })
    const twice = this.#random.chance(0.2) ? 2 : 1
    const headers: Record<string, string> = this.#random.chance(0.3) ? { prefer: 'wait=2' } : {}
    const answers = await Promise.all(
      Array.from({ length: twice }, () => this.#client.request('POST', '/rollouts', group, headers)),
    )
    for (const { status, text } of answers)
      if (status !== 200 && status !== 202) throw new Error(`group ${id}: ${status} ${text}`)
  }

  /** Right, wrong and empty ones in any mixture; some groups all right, all wrong, or without a single completion. */
  #generateRollouts(answer: string) {
    const right = this.#random.pick([0, 1, 0.5, 0.5, 0.5])
    const lost = this.#random.pick([0, 0, 0, 0.2, 1])
    const drawn = Array.from({ length: GROUP_SIZE }, (_, k) => {
      const sent = { tokens: [this.#rank, k], length_tokens: 10 + k }
      if (this.#random.chance(lost))
        return { rollout: { completion: `lost ${k}`, finish_reason: 'error', ...sent }, expected: null }
      const isRight = this.#random.chance(right)
      const completion = isRight ? `<think>${k}</think><answer>${answer}</answer>` : `I give up, ${k}`
      return { rollout: { completion, finish_reason: 'stop', ...sent }, expected: isRight ? 1 : 0 }
    })
    return { rollouts: drawn.map(({ rollout }) => rollout), expected: drawn.map(({ expected }) => expected) }
  }

  // biome-ignore lint/suspicious/noExplicitAny: a batch as it came
  #recordBatch(step: number, batch: any): void {
    for (const group of batch.groups) {
      this.#ledger.delivered.push({
        step,
        rank: this.#rank,
        group: group.group_id,
        indices: group.indices,
        completions: group.rollouts.map(({ completion }: { completion: string }) => completion),
        rewards: group.verdicts.map(({ reward }: { reward: number | null }) => reward),
      })
    }
  }
}
