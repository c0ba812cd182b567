/** What clients sent and received, and what the server says of it in the end: nothing may be lost, doubled or changed. */
import type { RetainedGroup } from '@reasoning-gym-server/contract/retained-group'
import { z } from 'zod'

/** A group as it was sent; one without a single completion counts as failed. */
export interface PostedGroup {
  id: string
  completions: string[]
  /** Reward of each completion, if nothing of ours fails; null where it must be unscored. */
  expected: (number | null)[]
}

/** A group's part in a batch, as one rank got it. */
interface DeliveredGroup {
  step: number
  rank: number
  group: string
  indices: number[]
  completions: string[]
  rewards: (number | null)[]
}

/** Rollouts of one item with the same completion: usually one, or two if two outputs are equal. */
export interface SampleClass {
  item: string
  completion: string
  /** Responses with a reward that reached the trainer, one per rollout. */
  answers: { reward: number | null; node: string; at: number }[]
  /** Number of calls that the trainer gave up on and retried. */
  abandoned: number
  /** What became of each call, for the report of a violation. */
  calls: string[]
  /** Whether the trainer named its rollouts, so that the counts must match exactly. */
  isNamed: boolean
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

/** A group in a dump file, with the rollouts that have a reward. */
export const DumpLine = z.object({
  group_id: z.string(),
  rollouts: z.array(
    z.object({ conversation: z.array(z.object({ content: z.string() })), score: z.number(), advantage: z.number() }),
  ),
})
type DumpLine = z.infer<typeof DumpLine>

/** What GET /runs/{run} says in the end. */
export interface RunProgress {
  progress: Record<string, number> & { no_signal: Record<string, number> }
  tasks: Record<string, { groups: number; rollouts: number; mean_reward: number | null }>
}

const DESTINATIONS = new Set(['buffered', 'not_buffered', 'no_signal', 'stale', 'skipped'])
/** What killing a host may do to a verdict. */
const WORKER_ERROR_CODES = new Set(['scorer_crashed', 'scorer_timeout', 'scorer_out_of_memory', 'engine_unavailable'])
/** Time before its end in which a process may have sent a response without recording it in Redis. */
const UNSETTLED_MS = 3000
/** Share of the abandoned calls whose response may have been in transit. */
const RACED_SHARE = 0.02

export class Ledger {
  readonly posted = new Map<string, PostedGroup>()
  readonly delivered: DeliveredGroup[] = []
  readonly samples = new Map<string, SampleClass>()
  /** When a node was found dead. */
  readonly deaths: { node: string; at: number }[] = []
  /** For the report. */
  readonly entries: [string, string | number][] = []
  readonly violations: string[] = []

  addViolation(text: string): void {
    this.violations.push(text)
  }

  expectEqual(what: string, here: number | string, there: number | string | undefined): void {
    if (here !== there) this.addViolation(`${what}: ${here} and ${there}`)
  }

  /** Each of the wanted is there once, and nothing else is. */
  expectOnce(what: string, wanted: Iterable<string>, found: Iterable<string>): void {
    const missing = new Set(wanted)
    const seen = new Set<string>()
    for (const name of found) {
      if (seen.has(name)) this.addViolation(`${what} ${name} is there twice`)
      else if (!missing.delete(name)) this.addViolation(`${what} ${name} is there, and nobody sent it`)
      seen.add(name)
    }
    for (const name of missing) this.addViolation(`${what} ${name} is lost`)
  }

  getOrCreateSample(item: string, completion: string, isNamed: boolean): SampleClass {
    const key = JSON.stringify([item, completion])
    const sample = this.samples.get(key) ?? { item, completion, answers: [], abandoned: 0, calls: [], isNamed }
    this.samples.set(key, sample)
    return sample
  }

  /** Whole groups that ranks posted, and what became of them; `curriculumPoints`: groups that fed the curriculum. */
  checkGroups(settled: SettledGroup[], { progress, tasks }: RunProgress, curriculumPoints: number): void {
    const inBatches = this.#checkBatches()
    const destinations: Record<string, number> = {}
    for (const group of settled) {
      const destination = group.destination ?? group.status
      destinations[destination] = (destinations[destination] ?? 0) + 1
      this.#checkSettledGroup(group, inBatches)
    }
    const posted = [...this.posted.values()]
    const rollouts = sum(posted, ({ completions }) => completions.length)
    const rewards = settled.flatMap(({ verdicts = [] }) => verdicts.map(({ reward }) => reward))
    const scored = rewards.filter((reward) => reward !== null)
    const reward = sum(scored, (earned) => earned)
    const ofTasks = Object.values(tasks)
    const countedReward = sum(ofTasks, (task) => task.rollouts * (task.mean_reward ?? 0))
    const delivered = sum(this.delivered, ({ indices }) => indices.length)
    const scoredInBatches = sum(settled, ({ group_id, verdicts = [] }) =>
      inBatches.has(group_id) ? verdicts.filter(({ reward: earned }) => earned !== null).length : 0,
    )
    const withScore = settled.filter(({ verdicts = [] }) => verdicts.some(({ reward: earned }) => earned !== null))
    const counted = (name: string) => progress[name] ?? 0
    const unscored = rewards.length - scored.length
    if (posted.length === 0) this.addViolation('no group was posted')
    for (const [what, here, there] of [
      ['groups: posted, and counted by the run', posted.length, progress.groups],
      ['rollouts: posted, and counted by the run', rollouts, progress.rollouts],
      ['groups settled, and scored or failed', settled.length, counted('scored_groups') + counted('failed_groups')],
      ['groups buffered in the end, and in batches', destinations.buffered ?? 0, inBatches.size],
      ['groups without signal', destinations.no_signal ?? 0, sum(Object.values(progress.no_signal), (count) => count)],
      ['stale groups', destinations.stale ?? 0, progress.stale_groups],
      ['groups that wait', 0, counted('buffered_groups') + counted('queued_groups')],
      ['groups with a score, and those that fed the curriculum', withScore.length, curriculumPoints],
      ['unscored rollouts', unscored, progress.unscored],
      ['scored rollouts, and those of the tasks', scored.length, sum(ofTasks, (task) => task.rollouts)],
      [
        'groups, and those of the tasks',
        posted.length - (destinations.failed ?? 0),
        sum(ofTasks, (task) => task.groups),
      ],
      ['rollouts in batches: delivered, and scored', delivered, scoredInBatches],
    ] as const)
      this.expectEqual(what, here, there)
    if (Math.abs(reward - countedReward) > 1e-6)
      this.addViolation(`rewards: ${reward} in verdicts, ${countedReward} in the run's tasks`)
    this.entries.push(['groups accepted', posted.length], ['… in exactly one batch', inBatches.size])
    for (const [name, count] of Object.entries(destinations))
      if (name !== 'buffered') this.entries.push([`… ${name}`, count])
    this.entries.push(['rollouts accepted', rollouts], ['… delivered in batches', delivered], ['… unscored', unscored])
    this.entries.push(['sum of rewards', `${reward.toFixed(2)} posted, ${countedReward.toFixed(2)} counted`])
    this.entries.push(['steps', new Set(this.delivered.map(({ step }) => step)).size])
  }

  /** Each rollout once, in one step, as it was posted; gives the groups that are in batches. */
  #checkBatches(): Set<string> {
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
        const rollout = `rollout ${group}/${index}`
        if (seen.has(rollout)) this.addViolation(`${rollout} is there twice (step ${step}, rank ${rank})`)
        seen.add(rollout)
        if (completions[n] !== posted.completions[index]) this.addViolation(`${rollout} is not what was posted`)
        if (rewards[n] !== posted.expected[index])
          this.addViolation(`${rollout}: reward ${rewards[n]} for ${posted.expected[index]}`)
      }
    }
    return new Set(stepOf.keys())
  }

  #checkSettledGroup(group: SettledGroup, inBatches: Set<string>): void {
    const { group_id, status, destination, code, detail, verdicts = [] } = group
    const posted = this.posted.get(group_id)
    if (!posted) {
      this.addViolation(`group ${group_id} is settled, and nobody posted it`)
      return
    }
    const isLost = status === 'failed' && posted.expected.every((reward) => reward === null)
    if (status !== 'scored' && !isLost) {
      this.addViolation(`group ${group_id} is ${status}: ${code} ${detail}`)
      return
    }
    if (!isLost && !DESTINATIONS.has(destination ?? '')) this.addViolation(`group ${group_id} has no destination`)
    if ((destination === 'buffered') !== inBatches.has(group_id))
      this.addViolation(`group ${group_id} is ${destination} and ${inBatches.has(group_id) ? '' : 'not '}in a batch`)
    this.expectEqual(`verdicts of ${group_id}`, posted.expected.length, verdicts.length)
    for (const [k, verdict] of verdicts.entries()) {
      const hasCrashed = verdict.reward === null && WORKER_ERROR_CODES.has(verdict.code ?? '')
      if (verdict.reward !== posted.expected[k] && !hasCrashed)
        this.addViolation(`rollout ${group_id}/${k}: reward ${verdict.reward} for ${posted.expected[k]}`)
    }
  }

  /** Each scored group once, with the rollouts that have a reward: their texts as posted, and the same rewards. */
  checkDumps(settled: SettledGroup[], lines: DumpLine[]): void {
    const scored = new Map(settled.flatMap((group) => (group.status === 'scored' ? [[group.group_id, group]] : [])))
    this.expectOnce(
      'dumped group',
      scored.keys(),
      lines.map(({ group_id }) => group_id),
    )
    const format = (completion: string | undefined, reward: number) => JSON.stringify([completion, reward])
    for (const { group_id, rollouts } of lines) {
      const completions = this.posted.get(group_id)?.completions ?? []
      const wanted = (scored.get(group_id)?.verdicts ?? []).flatMap(({ reward }, k) =>
        reward === null ? [] : [format(completions[k], reward)],
      )
      const found = rollouts.map(({ conversation, score }) => format(conversation.at(-1)?.content, score))
      this.expectEqual(`rollouts of the dumped group ${group_id}`, wanted.join(), found.join())
    }
    this.entries.push(['groups in dump files', lines.length])
    this.entries.push(['… rollouts, with text and reward', sum(lines, ({ rollouts }) => rollouts.length)])
  }

  /** Single samples: each scored rollout must be in exactly one group of the run. */
  checkSamples(groups: RetainedGroup[], groupSize: number, counted: { groups: number; rollouts: number }): void {
    const rewards = this.#collectRewards(groups, groupSize)
    let [raced, guessed] = [0, 0]
    for (const [key, sample] of this.samples) {
      const { answers, abandoned, isNamed } = sample
      const found = rewards.get(key) ?? []
      const more = found.length - answers.length
      if (more > 0 && more <= abandoned && !isNamed) raced += more
      else if (more < 0 && this.#isAmbiguous(sample)) guessed++
      else if (more !== 0)
        this.addViolation(
          `${answers.length} answered, ${found.length} counted: ${key} (${isNamed ? 'with' : 'without'} a rollout key, ${abandoned} given up): ${sample.calls.join('; ')}`,
        )
      const expected = answers[0]?.reward
      if (found.some((reward) => reward !== expected && reward !== null && expected !== null))
        this.addViolation(`answered ${expected}, counted ${found.join()}: ${key}`)
    }
    for (const key of rewards.keys()) if (!this.samples.has(key)) this.addViolation(`nobody sent ${key}`)
    if (guessed > this.deaths.length) this.addViolation(`${guessed} twins were taken for a retry`)
    const samples = [...this.samples.values()]
    if (samples.length === 0) this.addViolation('no rollout was sent')
    const abandoned = sum(samples, (sample) => sample.abandoned)
    if (raced > 2 + RACED_SHARE * abandoned)
      this.addViolation(`${raced} of ${abandoned} calls that were given up count beside their retries`)
    const inGroups = sum(groups, ({ verdicts = [] }) => verdicts.length)
    this.expectEqual('groups: kept, and counted by the run', groups.length, counted.groups)
    this.expectEqual('rollouts: in groups, and counted by the run', inGroups, counted.rollouts)
    this.entries.push(
      ['rollouts answered', sum(samples, ({ answers }) => answers.length)],
      ['… in a group of the run', inGroups],
      ['groups', groups.length],
      ['… of group_size', groups.filter(({ verdicts = [] }) => verdicts.length === groupSize).length],
      ['twins', samples.filter(({ answers }) => answers.length > 1).length],
      ['calls given up', abandoned],
      ['… while the answer left', raced],
      ['twins taken for a retry', guessed],
    )
  }

  #collectRewards(groups: RetainedGroup[], groupSize: number): Map<string, (number | null)[]> {
    const rewards = new Map<string, (number | null)[]>()
    for (const { group_id, item_id, verdicts = [], completions } of groups) {
      if (verdicts.length > groupSize) this.addViolation(`group ${group_id} has ${verdicts.length} rollouts`)
      if (!completions) this.addViolation(`group ${group_id} has lost its texts`)
      completions?.forEach(({ text }, k) => {
        const key = JSON.stringify([item_id, text])
        rewards.set(key, [...(rewards.get(key) ?? []), verdicts[k]?.reward ?? null])
      })
    }
    return rewards
  }

  /** Pairs of equal rollouts of which a dying node answered one. The other cannot be distinguished from its retry. */
  #isAmbiguous({ isNamed, answers }: SampleClass): boolean {
    if (isNamed || answers.length < 2) return false
    return answers.some(({ node, at }) =>
      this.deaths.some((death) => death.node === node && death.at >= at && death.at - at < UNSETTLED_MS),
    )
  }
}

function sum<T>(values: readonly T[], amount: (value: T) => number): number {
  return values.reduce((total, value) => total + amount(value), 0)
}
