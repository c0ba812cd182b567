/** Compares the responses that trainers received with what the run counted: each scored rollout must be in exactly one group. */
import type { RetainedGroup } from '@reasoning-gym-server/contract/retained-group'

/** Rollouts of one item with the same completion: usually one, or two if two outputs are equal. */
export interface SampleClass {
  item: string
  completion: string
  /** Number of responses with a reward that reached the trainer, one per rollout. */
  answers: { reward: number | null; node: string; at: number }[]
  /** Number of calls that the trainer gave up on and retried. */
  abandoned: number
  /** Whether the trainer named its rollouts, so that the counts must match exactly. */
  isNamed: boolean
}

export interface LedgerReport {
  entries: [string, string | number][]
  violations: string[]
}

/** Time before its end in which a process may have sent a response without recording it in Redis. */
const UNSETTLED_MS = 3000
/** Share of the abandoned calls whose response may have been in transit. */
const RACED_SHARE = 0.02

export class SampleLedger {
  readonly #classes = new Map<string, SampleClass>()
  /** Time at which a node was found dead. */
  readonly deaths: { node: string; at: number }[] = []
  readonly violations: string[] = []

  get classes(): SampleClass[] {
    return [...this.#classes.values()]
  }

  getOrCreate(item: string, completion: string, isNamed: boolean): SampleClass {
    const key = JSON.stringify([item, completion])
    const known = this.#classes.get(key)
    if (known) return known
    const created: SampleClass = { item, completion, answers: [], abandoned: 0, isNamed }
    this.#classes.set(key, created)
    return created
  }

  check(groups: RetainedGroup[], groupSize: number, counted: { groups: number; rollouts: number }): LedgerReport {
    const rewards = this.#collectRewards(groups, groupSize)
    const [raced, guessed] = [this.#checkClasses(rewards), this.#countGuessed(rewards)]
    for (const key of rewards.keys()) if (!this.#classes.has(key)) this.violations.push(`nobody sent ${key}`)
    if (guessed > this.deaths.length) this.violations.push(`${guessed} twins were taken for a retry`)
    const abandoned = this.classes.reduce((sum, one) => sum + one.abandoned, 0)
    if (raced > 2 + RACED_SHARE * abandoned)
      this.violations.push(`${raced} of ${abandoned} calls that were given up count beside their retries`)
    const inGroups = groups.reduce((sum, { verdicts = [] }) => sum + verdicts.length, 0)
    if (counted.groups !== groups.length || counted.rollouts !== inGroups)
      this.violations.push(
        `the run counts ${counted.groups} groups of ${counted.rollouts} rollouts; there are ${groups.length} of ${inGroups}`,
      )
    const answered = this.classes.reduce((sum, { answers }) => sum + answers.length, 0)
    const full = groups.filter(({ verdicts = [] }) => verdicts.length === groupSize).length
    return {
      entries: [
        ['rollouts answered', answered],
        ['… in a group of the run', inGroups],
        ['groups', groups.length],
        ['… of group_size', full],
        ['twins', this.classes.filter(({ answers }) => answers.length > 1).length],
        ['calls given up', abandoned],
        ['… while the answer left', raced],
        ['twins taken for a retry', guessed],
      ],
      violations: this.violations,
    }
  }

  #collectRewards(groups: RetainedGroup[], groupSize: number): Map<string, (number | null)[]> {
    const rewards = new Map<string, (number | null)[]>()
    for (const { group_id, item_id, verdicts = [], completions } of groups) {
      if (verdicts.length > groupSize) this.violations.push(`group ${group_id} has ${verdicts.length} rollouts`)
      if (!completions) this.violations.push(`group ${group_id} has lost its texts`)
      completions?.forEach(({ text }, k) => {
        const key = JSON.stringify([item_id, text])
        rewards.set(key, [...(rewards.get(key) ?? []), verdicts[k]?.reward ?? null])
      })
    }
    return rewards
  }

  /** Returns the number of rollouts that count twice because the server responded when the client gave up. */
  #checkClasses(rewards: Map<string, (number | null)[]>): number {
    let raced = 0
    for (const [key, { answers, abandoned, isNamed }] of this.#classes) {
      const counted = rewards.get(key) ?? []
      const more = counted.length - answers.length
      if (more > 0 && more <= abandoned && !isNamed) raced += more
      else if (more > 0 || (more < 0 && !this.#isAmbiguous(key)))
        this.violations.push(
          `${answers.length} answered, ${counted.length} counted: ${key} (${isNamed ? 'with' : 'without'} a rollout key, ${abandoned} given up)`,
        )
      const expected = answers[0]?.reward
      if (counted.some((reward) => reward !== expected && reward !== null && expected !== null))
        this.violations.push(`answered ${expected}, counted ${counted.join()}: ${key}`)
    }
    return raced
  }

  #countGuessed(rewards: Map<string, (number | null)[]>): number {
    return [...this.#classes].filter(
      ([key, { answers }]) => (rewards.get(key)?.length ?? 0) < answers.length && this.#isAmbiguous(key),
    ).length
  }

  /** Pairs of equal rollouts of which a dying node answered one. The other cannot be distinguished from its retry. */
  #isAmbiguous(key: string): boolean {
    const one = this.#classes.get(key)
    if (!one || one.isNamed || one.answers.length < 2) return false
    return one.answers.some(({ node, at }) =>
      this.deaths.some((death) => death.node === node && death.at >= at && death.at - at < UNSETTLED_MS),
    )
  }
}
