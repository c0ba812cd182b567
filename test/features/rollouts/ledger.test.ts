import { randomUUID } from 'node:crypto'
import { encodeItemId } from '@reasoning-gym-server/contract/item-id'
import type { GroupVerdict } from '@reasoning-gym-server/contract/verdict'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { inject, it } from 'vitest'
import { BatchRepository } from '../../../src/features/batches/repository.ts'
import { RewindRepository } from '../../../src/features/rewinds/repository.ts'
import { CompletionRepository } from '../../../src/features/rollouts/completion-repository.ts'
import { buildGroupSummary } from '../../../src/features/rollouts/group-counters.ts'
import { packGroup, unpackMetadata } from '../../../src/features/rollouts/group-payload.ts'
import type { GroupRef } from '../../../src/features/rollouts/records.ts'
import { GroupRepository } from '../../../src/features/rollouts/repository.ts'
import { EpochRepository } from '../../../src/features/runs/epochs.ts'
import { createRunKeys } from '../../../src/features/runs/records.ts'
import { RunRepository } from '../../../src/features/runs/repository.ts'
import { resolveRun } from '../../../src/features/runs/types.ts'
import type { GroupResult } from '../../../src/grading/group-advantages.ts'
import { createRedisKeys } from '../../../src/platform/redis/keys.ts'
import { deleteKeys } from '../../world.ts'

/**
 * Random histories of a run, step by step beside a plain ledger. A step may be cut off: the connection is dropped with the
 * command on its way, and what was asked is asked again, as a client does that was restarted.
 */
type Step =
  | { kind: 'post'; group: number; rollouts: number; unscored: number; version: number | null; forBuffer: boolean }
  | { kind: 'complete'; group: number; fails: boolean }
  | { kind: 'reopen'; group: number }
  | { kind: 'compose'; step: number; least: number; version: number }
  | { kind: 'ack'; step: number; rank: number | null }
  | { kind: 'rewind'; step: number }
  | { kind: 'restore' }

const WANTED = 4
const MAX_LAG = 3
const MOST_GROUPS = 8
const RANKS = 2
const GROUPS = 60

const group = fc.nat({ max: GROUPS - 1 })
const number = fc.nat({ max: 5 })
const steps = fc.array(
  fc.record({
    cut: fc.boolean(),
    step: fc.oneof(
      {
        weight: 12,
        arbitrary: fc.record({
          kind: fc.constant('post' as const),
          group,
          rollouts: fc.integer({ min: 1, max: 3 }),
          unscored: fc.nat({ max: 2 }),
          version: fc.option(number),
          forBuffer: fc.boolean(),
        }),
      },
      {
        weight: 12,
        arbitrary: fc.record({
          kind: fc.constant('complete' as const),
          group,
          fails: fc.nat({ max: 4 }).map((x) => x === 0),
        }),
      },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('reopen' as const), group }) },
      {
        weight: 8,
        arbitrary: fc.record({
          kind: fc.constant('compose' as const),
          step: number,
          least: fc.integer({ min: 0, max: 4 }),
          version: number,
        }),
      },
      {
        weight: 10,
        arbitrary: fc.record({
          kind: fc.constant('ack' as const),
          step: number,
          rank: fc.constantFrom(null, 0, 1),
        }),
      },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('rewind' as const), step: number }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('restore' as const) }) },
    ),
  }),
  { minLength: 60, maxLength: 150, size: 'max' },
)

interface LedgerGroup {
  rollouts: number
  scored: number
  version: number | null
  forBuffer: boolean
  at: 'pending' | 'buffered' | 'open' | 'used' | 'stale' | 'not_buffered' | 'failed'
  /** In order of completion. */
  number?: number
}

/** What a run goes back to. */
interface State {
  label: number
  completed: number
  lastStep: number | undefined
}

/** The expected state of the run. */
class Ledger {
  groups = new Map<string, LedgerGroup>()
  buffer: string[] = []
  batches = new Map<number, { groups: string[]; ranks: Set<number> }>()
  acknowledged = new Set<number>()
  completed = 0
  lastStep: number | undefined
  /** Latest step, and whether batches or policy versions name it. */
  named: number | undefined
  namedBy: 'groups' | 'batches' | undefined
  states: State[] = []

  record(label: number): void {
    this.states.push({ label, completed: this.completed, lastStep: this.lastStep })
  }

  /** A group of this version was accepted. */
  begin(version: number): void {
    if (this.namedBy === 'batches' || version <= (this.named ?? -1)) return
    if (this.named !== undefined) this.record(this.named)
    this.named = version
    this.namedBy = 'groups'
  }

  /** The batch of this step was composed. */
  end(step: number): void {
    if (step <= (this.lastStep ?? -1)) return
    this.lastStep = step
    if (this.namedBy !== 'batches') this.states = []
    this.namedBy = 'batches'
    if (step <= (this.states.at(-1)?.label ?? -1)) return
    this.named = step
    this.record(step)
  }

  rewind(step: number): string {
    if (this.named === undefined) return 'no_steps'
    if (step > this.named) return 'not_reached'
    if (this.namedBy === 'groups' && step === this.named) return 'repeated'
    const state = this.states.findLast(({ label }) => label <= step)
    if (!state) return 'not_kept'
    if (this.lastStep !== undefined) this.acknowledged = new Set(Array.from({ length: step + 1 }, (_, k) => k))
    for (const [id, { at, number = Number.POSITIVE_INFINITY }] of this.groups) {
      if (at === 'pending' || number > state.completed) this.groups.delete(id)
      else if (at === 'buffered' || at === 'open') this.move(id, 'used')
    }
    this.buffer = []
    this.batches.clear()
    this.states = this.states.slice(0, this.states.indexOf(state) + 1)
    this.completed = state.completed
    this.lastStep = state.lastStep
    this.named = state.label
    return 'rewound'
  }

  at(...places: LedgerGroup['at'][]): [string, LedgerGroup][] {
    return [...this.groups].filter(([, group]) => places.includes(group.at))
  }

  waitingForTrainer(): number {
    return this.at('pending', 'buffered', 'open').filter(([, group]) => group.forBuffer).length
  }

  post(id: string, group: LedgerGroup): string {
    if (this.groups.has(id)) return 'duplicate'
    if (group.forBuffer && this.waitingForTrainer() >= MOST_GROUPS) return 'buffer_full'
    if (group.version !== null) this.begin(group.version)
    this.groups.set(id, group)
    return 'new'
  }

  complete(id: string, fails: boolean): boolean {
    const group = this.groups.get(id)
    if (group?.at !== 'pending') return false
    group.at = fails ? 'failed' : group.forBuffer ? 'buffered' : 'not_buffered'
    group.number = ++this.completed
    if (group.at === 'buffered') this.buffer.push(id)
    return true
  }

  compose(step: number, least: number, version: number): string[] | string {
    const known = this.batches.get(step)
    if (known) return known.groups
    if (this.acknowledged.has(step)) return 'acknowledged'
    if (this.batches.size >= 8) return 'too_many_open'
    const chosen: string[] = []
    let scored = 0
    for (const id of Array.from(this.buffer)) {
      const group = this.groups.get(id)
      if (!group || scored >= WANTED) break
      if (group.version !== null && version - group.version > MAX_LAG) {
        group.at = 'stale'
        this.buffer.splice(this.buffer.indexOf(id), 1)
      } else {
        chosen.push(id)
        scored += group.scored
      }
    }
    if (scored < least) return 'insufficient'
    this.buffer = this.buffer.filter((id) => !chosen.includes(id))
    for (const id of chosen) this.move(id, 'open')
    this.batches.set(step, { groups: chosen, ranks: new Set() })
    this.end(step)
    return chosen
  }

  ack(step: number, rank: number | null): string {
    const batch = this.batches.get(step)
    if (!batch) return this.acknowledged.has(step) ? 'acknowledged' : 'unknown'
    if (rank !== null && batch.ranks.add(rank).size < RANKS) return 'waiting'
    for (const id of batch.groups) this.move(id, 'used')
    this.batches.delete(step)
    this.acknowledged.add(step)
    return 'acknowledged'
  }

  move(id: string, to: LedgerGroup['at']): void {
    const group = this.groups.get(id)
    if (group) group.at = to
  }
}

/** The actual state, in Redis. */
class Real {
  readonly prefix = `t${randomUUID().slice(0, 8)}`
  readonly keys = createRedisKeys(this.prefix)
  redis = this.connect()
  epoch = 1
  revision = 1
  resumes = 0

  connect(): Redis {
    const redis = new Redis(inject('redisUrl'), { maxRetriesPerRequest: 0, retryStrategy: () => null })
    redis.on('error', () => {})
    return redis
  }

  /** Asks; where it is cut off, once more on a new connection. */
  async ask<T>(cut: boolean, call: () => Promise<T>): Promise<T> {
    if (cut) {
      await this.redis.ping()
      const lost = call().catch(() => {})
      await new Promise((resolve) => setImmediate(resolve)) // written, not yet answered, or answered: each comes up
      this.redis.disconnect()
      await lost
      this.redis = this.connect()
    }
    return call()
  }

  ref(id: string): GroupRef {
    return { run: 'run', epoch: this.epoch, group: id }
  }
}

/** Another item for each group. */
const itemIdOf = (id: string) =>
  encodeItemId({ task: 'chain_sum', seed: Number(id.slice(1)), index: 0, engine: '1', difficulty: null, config: {} })

const packed = ({ rollouts, version }: LedgerGroup, id: string) =>
  packGroup(
    {
      item_id: itemIdOf(id),
      ...(version !== null && { policy_version: version }),
      rollouts: Array.from({ length: rollouts }, (_, k) => ({ completion: `${k}`, tokens: [k] })),
    },
    true,
  )

function resultOf({ rollouts, scored, at }: LedgerGroup): GroupResult {
  const verdicts = Array.from({ length: rollouts }, (_, k): GroupVerdict => {
    if (k >= scored) {
      return { status: 'unscored', reward: null, score: null, code: 'scorer_timeout', detail: '', advantage: null }
    }
    return {
      status: 'scored',
      reward: 1,
      score: 1,
      answer: '',
      fault: null,
      components: { correct: 1, format: 1, length_penalty: 0, try_discount: 0 },
      advantage: 0,
    }
  })
  if (at === 'failed')
    return { status: 'failed', verdicts: [], destination: null, code: 'engine_unavailable', detail: '' }
  return { status: 'scored', verdicts, destination: at === 'buffered' ? 'buffered' : 'not_buffered' }
}

async function play(history: { cut: boolean; step: Step }[]): Promise<void> {
  const real = new Real()
  let ledger = new Ledger()
  try {
    const runs = new RunRepository(real.redis, real.keys)
    await runs.updateSettings('run', undefined, {}, { restart: false, remake: false })
    real.epoch = (await runs.get('run'))?.epoch ?? 0
    for (const { cut, step } of history) {
      const [actual, expected] = await applyStep(real, ledger, cut, step)
      const repeated = cut && expected === 'new' && actual === 'duplicate'
      if (!repeated && JSON.stringify(actual) !== JSON.stringify(expected))
        throw new Error(
          `${JSON.stringify(step)} gave ${JSON.stringify(actual)}, the ledger ${JSON.stringify(expected)}`,
        )
      if (step.kind === 'restore') {
        const { named, namedBy, lastStep } = ledger // stay with the run, of which only the epoch is another one
        ledger = Object.assign(new Ledger(), { named, namedBy, lastStep, completed: ledger.completed })
      }
      await compare(real, ledger)
    }
  } finally {
    await deleteKeys(real.redis, real.prefix)
    real.redis.disconnect()
  }
}

/** Returns what Redis answered and what the ledger expects. */
async function applyStep(real: Real, ledger: Ledger, cut: boolean, step: Step): Promise<[unknown, unknown]> {
  const groups = () => new GroupRepository(real)
  const completions = () => new CompletionRepository(real)
  const batches = () => new BatchRepository(real)
  const run = { name: 'run', epoch: real.epoch }
  switch (step.kind) {
    case 'post': {
      const { rollouts, unscored, version, forBuffer } = step
      const id = `g${step.group}`
      const known = ledger.groups.get(id)
      const posted = known ?? { rollouts, scored: Math.max(1, rollouts - unscored), version, forBuffer, at: 'pending' }
      const bounds = {
        revision: real.revision,
        rollouts: posted.rollouts,
        forBuffer: posted.forBuffer,
        maxGroups: MOST_GROUPS,
        serverFull: false,
        lease: undefined,
      }
      const actual = await real.ask(cut, () => groups().accept(real.ref(id), packed(posted, id), bounds))
      return [actual, ledger.post(id, posted)]
    }
    case 'complete': {
      const pending = ledger.at('pending').map(([id]) => id)
      const id = pending[step.group] ?? pending[step.group % (pending.length + 1)] ?? `g${step.group}`
      const before = ledger.groups.get(id)
      if (!before) return [undefined, undefined]
      const expected = ledger.complete(id, step.fails)
      const result = resultOf(before)
      const about = unpackMetadata(packed(before, id).metadata)
      const facts = buildGroupSummary(id, { task: 'task', difficulty: null }, about, result)
      const completion = {
        revision: real.revision,
        task: 'task',
        result,
        summary: facts,
        retriable: before.at === 'failed',
        maxRetainedGroups: 1000,
        curriculumInput: undefined,
        dump: undefined,
        outcome: undefined,
      }
      const done = await real.ask(cut, () => completions().complete(real.ref(id), completion))
      // Asked again it is done already; a second delivery to a group that is done changes nothing.
      return [cut || Boolean(done), cut || expected]
    }
    case 'reopen': {
      const failures = ledger.at('failed').map(([id]) => id)
      const id = failures[step.group % (failures.length + 1)] ?? `g${step.group}`
      const failed = ledger.groups.get(id)?.at === 'failed'
      if (failed) ledger.move(id, 'pending')
      const actual = await real.ask(cut, () => groups().reopen(real.ref(id)))
      return [cut || actual, cut || failed]
    }
    case 'compose': {
      const stored = await new RunRepository(real.redis, real.keys).get('run')
      const composition = {
        step: step.step,
        rewinds: stored?.counters.rewinds ?? 0,
        targetRollouts: WANTED,
        minRollouts: step.least,
        policyVersion: step.version,
        maxLag: MAX_LAG,
        awaitQueued: false,
        balance: 'tokens',
        unscored: 'omit',
        maxRetainedGroups: 1000,
      } as const
      const actual = await real.ask(cut, () => batches().compose(run, composition))
      const expected = ledger.compose(step.step, step.least, step.version)
      return [actual.kind === 'batch' ? actual.batch.groups.map(({ id }) => id) : actual.kind, expected]
    }
    case 'ack': {
      const share = step.rank === null ? undefined : { rank: step.rank, ranks: RANKS }
      const actual = await real.ask(cut, () => batches().acknowledge(run, step.step, share, 1000))
      return [actual, ledger.ack(step.step, step.rank)]
    }
    case 'rewind': {
      const stored = await new RunRepository(real.redis, real.keys).get('run')
      if (!stored) throw new Error('the run is gone')
      const rewinds = () =>
        new RewindRepository({
          ...real,
          epochs: new EpochRepository(real.redis, real.keys, []),
          runs: new RunRepository(real.redis, real.keys),
        })
      const resume = `${real.resumes++}`
      const { kind } = await real.ask(cut, () => rewinds().rewind(resolveRun(stored), step.step, resume))
      const expected = ledger.rewind(step.step)
      real.revision = (await new RunRepository(real.redis, real.keys).get('run'))?.revision ?? 0
      return [cut && expected === 'rewound' && kind === 'repeated' ? expected : kind, expected]
    }
    case 'restore': {
      real.epoch = await real.redis.hincrby(createRunKeys(real.keys).run('run'), 'epoch', 1)
      const late = await batches().acknowledge(run, 0, undefined, 1000)
      return [late, 'epoch_changed']
    }
  }
}

/** Every figure that Redis keeps is what the ledger adds up to. */
async function compare(real: Real, ledger: Ledger): Promise<void> {
  const stored = await new RunRepository(real.redis, real.keys).get('run')
  if (!stored) throw new Error('the run is gone')
  const { bytes, groupSizes: _, ...waiting } = await new RunRepository(real.redis, real.keys).readBacklog(stored)
  const pending = ledger.at('pending')
  const buffered = ledger.at('buffered')
  const sum = (of: [string, LedgerGroup][], field: 'rollouts' | 'scored') =>
    of.reduce((total, [, each]) => total + each[field], 0)
  const wanted = pending.filter(([, each]) => each.forBuffer)
  const expected = {
    queuedGroups: pending.length,
    bufferedGroups: buffered.length,
    openGroups: 0, // nothing comes in single samples here
    openBatchGroups: ledger.at('open').length,
    queuedForBuffer: wanted.length,
    queuedRollouts: sum(wanted, 'rollouts'),
    bufferedRollouts: sum(buffered, 'rollouts'),
    bufferedScoredRollouts: sum(buffered, 'scored'),
  }
  const held = ledger.at('pending', 'buffered', 'open', 'failed')
  const size = held.reduce((total, [id, each]) => {
    const { texts, arrays } = packed(each, id)
    return total + texts.length + arrays.length
  }, 0)
  if (JSON.stringify({ ...expected, bytes: size }) !== JSON.stringify({ ...waiting, bytes }))
    throw new Error(
      `Redis counts ${JSON.stringify({ ...waiting, bytes })}, the ledger ${JSON.stringify({ ...expected, bytes: size })}`,
    )
  for (const [step, { groups }] of ledger.batches) {
    const batch = await new BatchRepository(real).get({ name: 'run', epoch: real.epoch }, step)
    if (JSON.stringify(batch?.groups.map(({ id }) => id)) !== JSON.stringify(groups))
      throw new Error(`batch ${step} is not what it was`)
  }
}

it('post, score, fail, retry, compose, acknowledge, rewind and restore in any order, cut off anywhere: every group is in one place', async () => {
  await fc.assert(fc.asyncProperty(steps, play), { numRuns: 15, endOnFailure: true })
}, 300_000)
