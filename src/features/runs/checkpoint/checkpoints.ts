/** Creates and restores checkpoints of runs. A checkpoint can be restored on another server and under another name. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Caller } from '@reasoning-gym-server/contract/caller'
import { type FieldError, ServiceError } from '@reasoning-gym-server/contract/errors'
import type { RunCondition } from '@reasoning-gym-server/contract/run'
import { resolveSettings, type SettingsChange } from '@reasoning-gym-server/contract/run-settings'
import type { Producer } from '../../../platform/queue/queues.ts'
import { redisNow } from '../../../platform/redis/redis-clock.ts'
import type { TaskCatalog } from '../../tasks/task-catalog.ts'
import type { FrontierCurriculum } from '../curriculum/frontier-curriculum.ts'
import type { StoredFrontier } from '../curriculum/frontier-store.ts'
import { formatWeights } from '../curriculum/posterior.ts'
import type { EpochRemoval } from '../epochs.ts'
import { assertRunCondition, runContendedError, runExistsError } from '../errors.ts'
import { schedulePrefetch } from '../jobs.ts'
import type { Runs } from '../runs.ts'
import { parseVariant } from '../sequence/issued-items.ts'
import { isDeepEqual, mergeSettings, type SettingsRules, withMix } from '../settings.ts'
import type { ResolvedRun } from '../types.ts'
import { CHECKPOINT_VERSION, type Checkpoint, type DiscardedCounts } from './document.ts'
import { listIssuedItemFaults, NOT_ISSUED } from './issued-item-columns.ts'
import type { CheckpointRepository } from './repository.ts'

const RETRY_LIMIT = 5

interface CheckpointsDeps {
  runs: Runs
  repository: CheckpointRepository
  removal: EpochRemoval
  rules: SettingsRules
  frontier: Pick<FrontierCurriculum, 'fold' | 'foldInto'>
  tasks: TaskCatalog
  producer: Producer
  engineVersion: string
}

export class Checkpoints {
  readonly #deps: CheckpointsDeps

  constructor(deps: CheckpointsDeps) {
    this.#deps = deps
  }

  /** Throws `unknown_run`. */
  create(name: string, condition?: RunCondition): Promise<Checkpoint> {
    return this.#create(name, undefined, condition)
  }

  /** Of a step: the state that was recorded after it. Throws `unknown_run` and `step_unavailable`. */
  async #create(name: string, step: number | undefined, condition?: RunCondition): Promise<Checkpoint> {
    const { runs, repository, frontier, engineVersion } = this.#deps
    for (let k = 0; k < RETRY_LIMIT; k++) {
      const run = await runs.require(name, condition)
      await frontier.fold(run)
      const latest = run.counters.named_step ?? -1
      const then = step === undefined ? undefined : await repository.readStepState(run, step)
      const isPresent = step === undefined || (step === latest && then?.step !== step) // nothing of a later step has come
      if (!isPresent && (!then || step > latest)) throw stepNotKeptError(name, step)
      const stored = await repository.read(run, isPresent ? undefined : then)
      if (!stored) continue // its settings were changed, or it was restored or rewound
      const { frontiers, evidence, ...rest } = stored
      // Folds newer evidence into the checkpoint only. The list still holds it for the run.
      const { tasks, points } = frontier.foldInto(run, evidence, frontiers)
      const folded = [...frontiers, ...tasks].map(([task, state]) => [task, formatFrontier(state)])
      return {
        version: CHECKPOINT_VERSION,
        engine: engineVersion,
        run: name,
        created_at: new Date(redisNow()).toISOString(),
        settings: run.explicitSettings,
        ...rest,
        curriculum: Object.fromEntries(folded),
        curriculum_history: [...rest.curriculum_history, ...points],
      }
    }
    throw runContendedError(name)
  }

  /**
   * Starts a new epoch of the run and creates the run if necessary. Throws `engine_version_mismatch`, `invalid_request`,
   * and `forbidden` if the run gets a `curriculum_start` that `caller` must not read.
   */
  async restore(
    name: string,
    checkpoint: Checkpoint,
    caller: Caller,
    condition?: RunCondition,
  ): Promise<{ run: ResolvedRun; forgotten: DiscardedCounts }> {
    const { runs, repository, removal, rules, producer, engineVersion } = this.#deps
    if (checkpoint.engine !== engineVersion) {
      throw new ServiceError(
        'engine_version_mismatch',
        `The checkpoint was created with reasoning-gym ${checkpoint.engine}, but this server runs ${engineVersion}, which makes other items. Restore it on a server with the same version.`,
      )
    }
    const known = new Set(this.#deps.tasks.list().map(({ name: task }) => task))
    await validateCheckpoint(checkpoint, (task) => known.has(task))
    const settings = mergeSettings({}, checkpoint.settings)
    const resolved = rules.validate(settings)
    await rules.validateTaskConfigs(resolved)
    for (let k = 0; k < RETRY_LIMIT; k++) {
      const before = await runs.get(name)
      assertRunCondition(name, before, condition)
      if (resolved.curriculum_start?.eval !== before?.settings.curriculum_start?.eval)
        await runs
          .computeStart({ settings: resolved, explicitSettings: settings }, ['curriculum_start'], caller)
          .catch(throwForbidden) // the eval may be on another server, or gone
      const forgotten = await repository.countDiscardedState(before)
      if (!(await repository.restore(name, before, { ...checkpoint, settings }))) continue
      if (before) await removal.schedule(before)
      const run = await runs.require(name)
      void schedulePrefetch(producer, run)
      return { run, forgotten }
    }
    throw runContendedError(name)
  }

  /**
   * Creates a run with the state that another one has or had after a step. A repeated call finds the run. Throws
   * `unknown_run`, `run_exists`, `step_unavailable`, `would_restart` and what invalid settings throw. `caller` must have
   * access to the eval of `curriculum_start`.
   */
  async fork(
    parentName: string,
    { name, step, change }: { name: string; step: number | undefined; change: SettingsChange },
    caller: Caller,
    condition?: RunCondition,
  ): Promise<{ run: ResolvedRun; created: boolean }> {
    const { runs, repository, rules, producer } = this.#deps
    const parent = await runs.require(parentName, condition)
    const mix = step === undefined ? undefined : await repository.readMix(parent, step)
    const settingsThen = mix ? withMix(parent, mix) : parent.explicitSettings
    const explicitSettings = mergeSettings(settingsThen, change)
    const settings = rules.validate(explicitSettings)
    const { changed } = rules.compare(resolveSettings(settingsThen), settings)
    if (changed.includes('seed')) throw forkSeedError()
    if (changed.includes('tasks')) await rules.validateTaskConfigs(settings)
    const origin = { run: parentName, step: step ?? parent.counters.named_step ?? null }
    const findFork = async () => {
      const existing = await runs.get(name)
      if (!existing) return undefined
      const isRepeated =
        existing.forkedFrom?.run === parentName && (step === undefined || existing.forkedFrom.step === step)
      if (isRepeated && isDeepEqual(existing.explicitSettings, explicitSettings))
        return { run: existing, created: false }
      throw runExistsError(name)
    }
    const known = await findFork()
    if (known) return known
    const start = await runs.computeStart({ settings, explicitSettings }, changed, caller)
    const checkpoint = await this.#create(parentName, step, condition)
    if (start) startTasks(checkpoint, start)
    if (changed.includes('tasks') || changed.includes('exclude')) delete checkpoint.sequence.drawn
    await repository.addFork(parent, name)
    if (!(await repository.restore(name, undefined, { ...checkpoint, settings: explicitSettings }, origin))) {
      const other = await findFork() // of an equal call at the same time, as from another rank
      if (other) return other
      throw runContendedError(name)
    }
    const run = await runs.require(name)
    void schedulePrefetch(producer, run)
    return { run, created: true }
  }
}

function throwForbidden(error: unknown): void {
  if (!(error instanceof ServiceError) || error.code === 'forbidden') throw error
}

function stepNotKeptError(run: string, step: number): ServiceError {
  return new ServiceError(
    'step_unavailable',
    `The run ${run} has no state of step ${step}. Fork it at another step, or as it is.`,
  )
}

/** The seed decides the items of all positions, also of those that the run has used. */
function forkSeedError(): ServiceError {
  return new ServiceError('would_restart', 'A fork keeps the seed of its run. For items of another seed, create a run.')
}

/** Tasks that a group has moved keep their level. */
function startTasks({ curriculum }: Checkpoint, start: ReadonlyMap<string, StoredFrontier>): void {
  for (const [task, { scores }] of Object.entries(curriculum)) if (scores.length === 0) delete curriculum[task]
  for (const [task, frontier] of start) curriculum[task] ??= formatFrontier(frontier)
}

function formatFrontier({ state, weights }: StoredFrontier): Checkpoint['curriculum'][string] {
  const { frontier, ...level } = state
  return { ...level, ...(frontier && weights && { frontier: { ...frontier, weights: formatWeights(weights) } }) }
}

/** Limit of errors that one response lists. */
const MAX_LISTED = 20

/** Throws `invalid_request` with the path of each value that no server with this engine can have written. */
async function validateCheckpoint(checkpoint: Checkpoint, isKnownTask: (name: string) => boolean): Promise<void> {
  const errors: FieldError[] = []
  for (const list of [listUnknownTasks, listUnopenedPositions, listWrongIssuedItems]) {
    for (const error of list(checkpoint, isKnownTask)) {
      if (errors.length === MAX_LISTED) break
      if (error === undefined) await nextTurn()
      else errors.push(error)
    }
    await nextTurn()
  }
  if (errors.length === 0) return
  throw new ServiceError(
    'invalid_request',
    'The checkpoint has invalid tasks or positions. Restore it as the server wrote it.',
    {
      errors,
    },
  )
}

function* listUnknownTasks(checkpoint: Checkpoint, isKnownTask: (name: string) => boolean): Generator<FieldError> {
  for (const [path, task] of listTasks(checkpoint))
    if (task !== null && !isKnownTask(task)) yield { path, message: `there is no task named ${JSON.stringify(task)}` }
}

const STEP_SUMS_BY_TASK = [
  'task_scored',
  'task_reward',
  'task_score',
  'task_correct',
  'task_length_count',
  'task_length',
  'task_groups',
  'task_reward_squares',
  'task_difficulty',
  'task_difficulty_count',
] as const

function* listTasks(checkpoint: Checkpoint): Generator<[path: string, task: string | null]> {
  const { curriculum, recent_accuracies, learnability = {}, tasks, curriculum_history, sequence } = checkpoint
  const { step_sums, block_sums = [] } = checkpoint
  for (const [field, byTask] of Object.entries({ curriculum, recent_accuracies, learnability, tasks }))
    for (const task of Object.keys(byTask)) yield [`${field}.${task}`, task]
  for (const [k, { task }] of curriculum_history.entries()) yield [`curriculum_history.${k}.task`, task]
  for (const [k, { task }] of (sequence.drawn ?? []).entries()) yield [`sequence.drawn.${k}.task`, task]
  for (const [k, { task }] of sequence.leases.entries()) yield [`sequence.leases.${k}.task`, task]
  for (const [k, text] of sequence.issued.tasks.entries()) yield [`sequence.issued.tasks.${k}`, parseVariant(text).task]
  for (const [list, entries] of Object.entries({ step_sums, block_sums }))
    for (const [k, { sums }] of entries.entries())
      for (const field of STEP_SUMS_BY_TASK)
        for (const task of Object.keys(sums[field] ?? {})) yield [`${list}.${k}.sums.${field}.${task}`, task]
}

/** Lists positions that the run would open again, which would hand out their items twice. */
function* listUnopenedPositions({ sequence }: Checkpoint): Generator<FieldError> {
  const { position: end, open, drawn = [], questions = {}, leases, steps } = sequence
  const check = function* (path: string, position: number): Generator<FieldError> {
    if (position >= end) yield { path, message: `must be below sequence.position (${end})` }
  }
  for (const [k, position] of open.entries()) yield* check(`sequence.open.${k}`, position)
  for (const [k, { position }] of drawn.entries()) yield* check(`sequence.drawn.${k}.position`, position)
  for (const [hash, position] of Object.entries(questions)) yield* check(`sequence.questions.${hash}`, position)
  for (const [k, { position }] of leases.entries()) yield* check(`sequence.leases.${k}.position`, position)
  for (const [k, { positions }] of steps.entries())
    for (const [n, [first, count]] of positions.entries())
      yield* check(`sequence.steps.${k}.positions.${n}`, first + count - 1)
}

/** Lists positions that are both open and issued. The run would hand out their items twice. */
function* listWrongIssuedItems({
  sequence: { issued, open, requested },
}: Checkpoint): Generator<FieldError | undefined> {
  for (const fault of listIssuedItemFaults(issued))
    yield fault && { path: `sequence.issued.${fault[0]}`, message: fault[1] }
  const waiting = new Map([
    ...requested.map((position, k) => [position, `requested.${k}`] as const),
    ...open.map((position, k) => [position, `open.${k}`] as const),
  ])
  for (const [k, { first, tasks }] of issued.chunks.entries()) {
    if (k % 64 === 0) yield undefined // others have a turn
    for (const [n, task] of tasks.entries()) {
      const path = task === NOT_ISSUED ? undefined : waiting.get(first + n)
      if (path) yield { path: `sequence.${path}`, message: 'is issued' }
    }
  }
}
