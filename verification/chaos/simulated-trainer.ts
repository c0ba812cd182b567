/** A simulated rank: answers items, posts groups (some of them twice), takes its share of each step, acknowledges. */

import type { Ledger, PostedGroup } from './ledger.ts'
import type { RetryingClient } from './retrying-client.ts'
import type { SeededRandom } from './seeded-random.ts'

export const CHAOS_RUN = 'chaos'
export const RANK_COUNT = 4
export const CHAOS_RUN_SETTINGS = {
  tasks: ['chain_sum', 'spell_backward', 'simple_integration'],
  complexity_mode: 'frontier',
  group_size: 8,
  batch_size: 64,
  min_trained_tokens: 0,
  max_policy_lag: 5,
  keep_groups: 1_000_000,
}
const GROUP_SIZE = 8
const ITEMS_PER_REQUEST = 4
const STALE_STEPS = 20 // steps by which some groups come too late

interface ServedItem {
  id: string
  task: string
}

export class SimulatedTrainer {
  readonly #rank: number
  readonly #client: RetryingClient
  readonly #ledger: Ledger
  readonly #random: SeededRandom
  #postCount = 0

  constructor(rank: number, asker: RetryingClient, ledger: Ledger, dice: SeededRandom) {
    this.#rank = rank
    this.#client = asker
    this.#ledger = ledger
    this.#random = dice
  }

  /** One step of training, from items to the acknowledgement. */
  async runStep(step: number): Promise<void> {
    await this.#postGroups(step)
    const share = { rank: this.#rank, ranks: RANK_COUNT }
    const body = { step, ...share, policy_version: step, balance: step % 2 === 0 ? 'tokens' : 'sequences' }
    const ask = () => this.#client.request('POST', `/runs/${CHAOS_RUN}/batches`, body, { prefer: 'wait=1' })
    let answer = await ask()
    for (; answer.status !== 200; answer = await ask()) {
      if (answer.status === 204) await this.#postGroups(step)
      else if (answer.body.code !== 'too_many_open_batches')
        throw new Error(`step ${step}: ${JSON.stringify(answer.body)}`)
    }
    if (this.#random.chance(0.3)) {
      // A rank that died and came back: it must get what it had.
      const again = await (this.#random.chance(0.5)
        ? ask()
        : this.#client.request('GET', `/runs/${CHAOS_RUN}/batches/${step}?rank=${share.rank}&ranks=${RANK_COUNT}`))
      if (JSON.stringify(again.body) !== JSON.stringify(answer.body))
        this.#ledger.addViolation(`step ${step}, rank ${this.#rank}: another share when asked again (${again.status})`)
    }
    this.#recordBatch(step, answer.body)
    const { status, body: said } = await this.#client.request('POST', `/runs/${CHAOS_RUN}/batches/${step}/ack`, share)
    if (status !== 200) this.#ledger.addViolation(`step ${step}, rank ${this.#rank}: ack is ${status} ${said.code}`)
  }

  /** Takes all that is left, in steps of its own; gives the next free step. */
  async drainBatches(first: number): Promise<number> {
    for (let step = first; ; ) {
      const body = { step, policy_version: step, final: true }
      const path = `/runs/${CHAOS_RUN}/batches`
      const { status, body: batch } = await this.#client.request('POST', path, body, { prefer: 'wait=1' })
      if (status !== 200) continue
      this.#recordBatch(step, batch)
      await this.#client.request('POST', `${path}/${step}/ack`, {})
      step++
      if (batch.totals.groups > 0) continue
      const { body: run } = await this.#client.request('GET', `/runs/${CHAOS_RUN}`)
      if (run.batch.queued === 0 && run.batch.buffered === 0) return step
    }
  }

  async #postGroups(step: number): Promise<void> {
    const { body } = await this.#client.request('POST', '/items', { run: CHAOS_RUN, count: ITEMS_PER_REQUEST })
    await Promise.all(body.items.map((item: ServedItem) => this.#answerItem(item, step)))
  }

  async #answerItem(item: ServedItem, step: number): Promise<void> {
    const revealed = await this.#client.request('GET', `/items/${item.id}?reveal=true`)
    const id = `r${this.#rank}-${this.#postCount++}`
    const { rollouts, expected } = this.#generateRollouts(revealed.body.answer)
    const group = {
      run: CHAOS_RUN,
      item_id: item.id,
      group_id: id,
      rollouts,
      policy_version: this.#random.chance(0.05) ? Math.max(0, step - STALE_STEPS) : step,
      ...(this.#random.chance(0.1) && { buffer: false }),
    }
    const posted: PostedGroup = {
      id,
      task: item.task,
      completions: rollouts.map(({ completion }) => completion),
      expected,
    }
    this.#ledger.posted.set(id, posted)
    const twice = this.#random.chance(0.2) ? 2 : 1
    const headers: Record<string, string> = this.#random.chance(0.3) ? { prefer: 'wait=2' } : {}
    const answers = await Promise.all(
      Array.from({ length: twice }, () => this.#client.request('POST', '/rollouts', group, headers)),
    )
    for (const { status, body } of answers) {
      if (status !== 200 && status !== 202) throw new Error(`group ${id}: ${status} ${JSON.stringify(body)}`)
    }
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
