/** A simulated rank: answers items, posts groups (some of them twice), takes its share of each step, acknowledges. */
import type { Asker } from './ask.ts'
import type { Dice } from './dice.ts'
import type { Ledger, Posted } from './ledger.ts'

export const RUN = 'chaos'
export const RANKS = 4
export const SETTINGS = {
  tasks: ['chain_sum', 'spell_backward', 'simple_integration'],
  complexity_mode: 'curriculum',
  group_size: 8,
  batch_size: 64,
  min_trained_tokens: 0,
  max_policy_lag: 5,
  keep_groups: 1_000_000,
}
const GROUP = 8
const ITEMS_AT_ONCE = 4
const OLD = 20 // steps by which some groups come too late

interface Item {
  id: string
  task: string
}

export class Trainer {
  readonly #rank: number
  readonly #asker: Asker
  readonly #ledger: Ledger
  readonly #dice: Dice
  #posts = 0

  constructor(rank: number, asker: Asker, ledger: Ledger, dice: Dice) {
    this.#rank = rank
    this.#asker = asker
    this.#ledger = ledger
    this.#dice = dice
  }

  /** One step of training, from items to the acknowledgement. */
  async step(step: number): Promise<void> {
    await this.#post(step)
    const share = { rank: this.#rank, ranks: RANKS }
    const body = { step, ...share, policy_version: step, balance: step % 2 === 0 ? 'tokens' : 'sequences' }
    const ask = () => this.#asker.ask('POST', `/runs/${RUN}/batches`, body, { prefer: 'wait=1' })
    let answer = await ask()
    for (; answer.status !== 200; answer = await ask()) {
      if (answer.status === 204) await this.#post(step)
      else if (answer.body.code !== 'too_many_open_batches')
        throw new Error(`step ${step}: ${JSON.stringify(answer.body)}`)
    }
    if (this.#dice.happens(0.3)) {
      // A rank that died and came back: it must get what it had.
      const again = await (this.#dice.happens(0.5)
        ? ask()
        : this.#asker.ask('GET', `/runs/${RUN}/batches/${step}?rank=${share.rank}&ranks=${RANKS}`))
      if (JSON.stringify(again.body) !== JSON.stringify(answer.body))
        this.#ledger.violation(`step ${step}, rank ${this.#rank}: another share when asked again (${again.status})`)
    }
    this.#enter(step, answer.body)
    const { status, body: said } = await this.#asker.ask('POST', `/runs/${RUN}/batches/${step}/ack`, share)
    if (status !== 200) this.#ledger.violation(`step ${step}, rank ${this.#rank}: ack is ${status} ${said.code}`)
  }

  /** Takes all that is left, in steps of its own; gives the next free step. */
  async drain(first: number): Promise<number> {
    for (let step = first; ; ) {
      const body = { step, policy_version: step, final: true }
      const {
        status,
        headers,
        body: batch,
      } = await this.#asker.ask('POST', `/runs/${RUN}/batches`, body, { prefer: 'wait=1' })
      if (status === 204 && headers.get('x-batch-queued') === '0') return step
      if (status !== 200) continue
      this.#enter(step, batch)
      await this.#asker.ask('POST', `/runs/${RUN}/batches/${step}/ack`, {})
      step++
    }
  }

  async #post(step: number): Promise<void> {
    const { body } = await this.#asker.ask('POST', '/items', { run: RUN, count: ITEMS_AT_ONCE })
    await Promise.all(body.items.map((item: Item) => this.#answer(item, step)))
  }

  async #answer(item: Item, step: number): Promise<void> {
    const revealed = await this.#asker.ask('GET', `/items/${item.id}?reveal=true`)
    const id = `r${this.#rank}-${this.#posts++}`
    const { rollouts, expected } = this.#rollouts(revealed.body.answer)
    const group = {
      run: RUN,
      item_id: item.id,
      group_id: id,
      rollouts,
      policy_version: this.#dice.happens(0.05) ? Math.max(0, step - OLD) : step,
      ...(this.#dice.happens(0.1) && { buffer: false }),
    }
    const posted: Posted = { id, task: item.task, completions: rollouts.map(({ completion }) => completion), expected }
    this.#ledger.posted.set(id, posted)
    const twice = this.#dice.happens(0.2) ? 2 : 1
    const headers: Record<string, string> = this.#dice.happens(0.3) ? { prefer: 'wait=2' } : {}
    const answers = await Promise.all(
      Array.from({ length: twice }, () => this.#asker.ask('POST', '/rollouts', group, headers)),
    )
    for (const { status, body } of answers) {
      if (status !== 200 && status !== 202) throw new Error(`group ${id}: ${status} ${JSON.stringify(body)}`)
    }
  }

  /** Right, wrong and empty ones in any mixture; some groups all right, all wrong, or without a single completion. */
  #rollouts(answer: string) {
    const right = this.#dice.one([0, 1, 0.5, 0.5, 0.5])
    const lost = this.#dice.one([0, 0, 0, 0.2, 1])
    const drawn = Array.from({ length: GROUP }, (_, k) => {
      const sent = { tokens: [this.#rank, k], length_tokens: 10 + k }
      if (this.#dice.happens(lost))
        return { rollout: { completion: `lost ${k}`, finish_reason: 'error', ...sent }, expected: null }
      const isRight = this.#dice.happens(right)
      const completion = isRight ? `<think>${k}</think><answer>${answer}</answer>` : `I give up, ${k}`
      return { rollout: { completion, finish_reason: 'stop', ...sent }, expected: isRight ? 1 : 0 }
    })
    return { rollouts: drawn.map(({ rollout }) => rollout), expected: drawn.map(({ expected }) => expected) }
  }

  // biome-ignore lint/suspicious/noExplicitAny: a batch as it came
  #enter(step: number, batch: any): void {
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
