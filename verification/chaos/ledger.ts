/** What was posted and what came out: every accepted group in exactly one batch or one named destination, sums agreeing. */

/** A group as it was sent; one without a single completion counts as failed. */
export interface PostedGroup {
  id: string
  task: string
  completions: string[]
  /** Reward of each completion, if nothing of ours fails; null where it must be unscored. */
  expected: (number | null)[]
}

/** A group's part in a batch, as one rank got it. */
export interface DeliveredGroup {
  step: number
  rank: number
  group: string
  indices: number[]
  completions: string[]
  rewards: (number | null)[]
}

/** A group as GET /rollouts shows it in the end. */
export interface SettledGroup {
  group_id: string
  status: string
  destination: string | null
  verdicts?: { status: string; reward: number | null; code?: string }[]
  code?: string
  detail?: string
}

/** What GET /runs/{run} says in the end. */
export interface RunProgress {
  progress: Record<string, number> & { no_signal: Record<string, number> }
  tasks: Record<string, { groups: number; rollouts: number; mean_reward: number | null }>
}

const DESTINATIONS = new Set(['buffered', 'not_buffered', 'no_signal', 'stale', 'skipped'])
/** What killing a host may do to a verdict. */
const WORKER_ERROR_CODES = new Set(['scorer_crashed', 'scorer_timeout', 'scorer_out_of_memory', 'engine_unavailable'])

export class Ledger {
  readonly posted = new Map<string, PostedGroup>()
  readonly delivered: DeliveredGroup[] = []
  readonly #violations: string[] = []

  addViolation(text: string): void {
    this.#violations.push(text)
  }

  /** Holds the ledger against what the server says in the end; gives the entries to print, and what is violated. */
  check(
    settled: SettledGroup[],
    run: RunProgress,
    curriculumPoints: number,
  ): { entries: [string, string | number][]; violations: string[] } {
    const inBatches = this.#checkDeliveredBatches()
    const destinations: Record<string, number> = {}
    let unscored = 0
    let reward = 0
    let scored = 0
    for (const group of settled) {
      const destination = group.destination ?? group.status
      destinations[destination] = (destinations[destination] ?? 0) + 1
      this.#checkSettledGroup(group, inBatches)
      for (const verdict of group.verdicts ?? []) {
        if (verdict.reward === null) unscored++
        else {
          scored++
          reward += verdict.reward
        }
      }
    }
    const posted = [...this.posted.values()]
    const rollouts = posted.reduce((sum, { completions }) => sum + completions.length, 0)
    const { progress, tasks } = run
    const told = Object.values(tasks)
    const toldReward = told.reduce((sum, task) => sum + task.rollouts * (task.mean_reward ?? 0), 0)
    const noSignal = Object.values(progress.no_signal).reduce((sum, count) => sum + count, 0)
    const deliveredRollouts = this.delivered.reduce((sum, { indices }) => sum + indices.length, 0)
    const scoredInBatches = settled
      .filter(({ group_id }) => inBatches.has(group_id))
      .reduce((sum, { verdicts = [] }) => sum + verdicts.filter(({ reward }) => reward !== null).length, 0)
    this.#expectEqual('groups: posted, and counted by the run', posted.length, progress.groups)
    this.#expectEqual('rollouts: posted, and counted by the run', rollouts, progress.rollouts)
    this.#expectEqual(
      'groups settled, and scored or failed by the run',
      settled.length,
      (progress.scored_groups ?? 0) + (progress.failed_groups ?? 0),
    )
    this.#expectEqual('groups buffered in the end, and in batches', destinations.buffered ?? 0, inBatches.size)
    this.#expectEqual('groups without signal', destinations.no_signal ?? 0, noSignal)
    this.#expectEqual('stale groups', destinations.stale ?? 0, progress.stale_groups)
    this.#expectEqual('groups that wait', 0, (progress.buffered_groups ?? 0) + (progress.queued_groups ?? 0))
    const withScore = settled.filter(({ verdicts = [] }) => verdicts.some(({ reward: earned }) => earned !== null))
    this.#expectEqual('groups with a score, and those that fed the curriculum', withScore.length, curriculumPoints)
    this.#expectEqual('unscored rollouts', unscored, progress.unscored)
    this.#expectEqual(
      'scored rollouts, and those of the tasks',
      scored,
      told.reduce((sum, task) => sum + task.rollouts, 0),
    )
    this.#expectEqual(
      'groups, and those of the tasks',
      posted.length - (destinations.failed ?? 0),
      told.reduce((sum, task) => sum + task.groups, 0),
    )
    this.#expectEqual('rollouts in batches: delivered, and scored', deliveredRollouts, scoredInBatches)
    if (Math.abs(reward - toldReward) > 1e-6)
      this.addViolation(`rewards: ${reward} in verdicts, ${toldReward} in the run's tasks`)
    return {
      entries: [
        ['groups accepted', posted.length],
        ['… in exactly one batch', inBatches.size],
        ...Object.entries(destinations)
          .filter(([name]) => name !== 'buffered')
          .map(([name, count]): [string, number] => [`… ${name}`, count]),
        ['rollouts accepted', rollouts],
        ['… delivered in batches', deliveredRollouts],
        ['… unscored', unscored],
        ['sum of rewards', `${reward.toFixed(2)} posted, ${toldReward.toFixed(2)} counted`],
        ['steps', new Set(this.delivered.map(({ step }) => step)).size],
      ],
      violations: this.#violations,
    }
  }

  /** Each rollout once, in one step, as it was posted; gives the groups that are in batches. */
  #checkDeliveredBatches(): Set<string> {
    const stepOf = new Map<string, number>()
    const seen = new Set<string>()
    for (const { step, rank, group, indices, completions, rewards } of this.delivered) {
      const posted = this.posted.get(group)
      if (!posted) {
        this.addViolation(`step ${step} has group ${group}, which nobody posted`)
        continue
      }
      const before = stepOf.get(group)
      if (before !== undefined && before !== step) this.addViolation(`group ${group} is in steps ${before} and ${step}`)
      stepOf.set(group, step)
      for (const [n, index] of indices.entries()) {
        if (seen.has(`${group}/${index}`))
          this.addViolation(`rollout ${group}/${index} is there twice (step ${step}, rank ${rank})`)
        seen.add(`${group}/${index}`)
        if (completions[n] !== posted.completions[index])
          this.addViolation(`rollout ${group}/${index} is not what was posted`)
        if (rewards[n] !== posted.expected[index])
          this.addViolation(`rollout ${group}/${index}: reward ${rewards[n]} for ${posted.expected[index]}`)
      }
    }
    return new Set(stepOf.keys())
  }

  #checkSettledGroup(
    { group_id, status, destination, code, detail, verdicts = [] }: SettledGroup,
    inBatches: Set<string>,
  ): void {
    const posted = this.posted.get(group_id)
    const lost = status === 'failed' && posted?.expected.every((reward) => reward === null)
    if (!posted || (status !== 'scored' && !lost)) {
      this.addViolation(
        posted
          ? `group ${group_id} is ${status}: ${code} ${detail}`
          : `group ${group_id} is settled, and nobody posted it`,
      )
      return
    }
    if (!lost && !DESTINATIONS.has(destination ?? '')) this.addViolation(`group ${group_id} has no destination`)
    if ((destination === 'buffered') !== inBatches.has(group_id))
      this.addViolation(`group ${group_id} is ${destination} and ${inBatches.has(group_id) ? '' : 'not '}in a batch`)
    this.#expectEqual(`verdicts of ${group_id}`, posted.expected.length, verdicts.length)
    for (const [k, verdict] of verdicts.entries()) {
      const crashed = verdict.reward === null && WORKER_ERROR_CODES.has(verdict.code ?? '')
      if (verdict.reward !== posted.expected[k] && !crashed)
        this.addViolation(`rollout ${group_id}/${k}: reward ${verdict.reward} for ${posted.expected[k]}`)
    }
  }

  #expectEqual(what: string, here: number, there: number | undefined): void {
    if (here !== there) this.addViolation(`${what}: ${here} and ${there}`)
  }
}
