/** The state of a run, such as `idle` or `no_signal`, with one sentence that explains why a run stalls. */
import type { RunState, RunWarning } from '@reasoning-gym-server/contract/run'
import type { EngineHealth } from '../../engine/engine.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import { explainMissingSignal } from './diagnosis/diagnosis.ts'
import type { GroupOutcome } from './diagnosis/group-outcome.ts'
import { countBatchableRollouts, countBufferOccupancy, type RunBacklog } from './repository.ts'
import type { ResolvedRun, StoredRun } from './types.ts'

/** Reports a run as inactive after this time without rollouts or without a request from a trainer. */
const INACTIVITY_MS = 60_000
/** Time after a request for a batch in which its trainer counts as waiting: requests wait for up to a minute each. */
const TRAINER_WAIT_MS = 90_000
/** Reports missing signal after this many consecutive groups. */
const NO_SIGNAL_THRESHOLD = 8
/** Reports a lost run that was created again for this long, unless it is configured earlier. */
const RECREATED_MS = 24 * 60 * 60 * 1000

type TimeField = Extract<keyof ResolvedRun['counters'], `last_${string}_at`>

interface RunStateInputs {
  backlog: RunBacklog
  engine: EngineHealth
  /** The last groups of each task, oldest first. */
  outcomes: Readonly<Record<string, GroupOutcome[]>>
  warnings: readonly RunWarning[]
}

/** Returns the first state that applies. Problems of the whole server come before problems of one side. */
export function computeRunState(run: ResolvedRun, inputs: RunStateInputs, now = redisNow()): RunState {
  const { settings, counters, created, recreatedAt } = run
  const { backlog, engine } = inputs
  const timeOf = (name: TimeField) => counters[name] ?? created
  const bufferedGroups = countBufferOccupancy(backlog)
  const readyRollouts = countBatchableRollouts(backlog, settings)
  const lastRequestAt = Math.max(timeOf('last_batch_request_at'), timeOf('last_batch_at'))
  if (run.lifecycle !== 'active')
    return state('finished', run.lifecycleAt ?? created, `The run was ${EXPLANATIONS[run.lifecycle]}.`)
  if (!engine.ok) return state('engine_down', now, `The engine is down: ${engine.detail ?? 'it is not responding'}.`)
  if (recreatedAt !== undefined && now - recreatedAt < RECREATED_MS) {
    return state(
      'recreated',
      recreatedAt,
      'Redis lost this run, and a call that used it recreated it with the default settings: restore a checkpoint, or PUT its settings with ?restart=true.',
    )
  }
  if (bufferedGroups >= settings.buffer_max_groups) {
    const isStuck =
      readyRollouts < settings.batch_size && backlog.queuedForBuffer === 0 && backlog.openBatchGroups === 0
    return state(
      'buffer_full',
      timeOf('last_accepted_at'),
      `${bufferedGroups} groups wait for a trainer, as many as buffer_max_groups allows${isStuck ? explainStuckBuffer(readyRollouts, settings.batch_size) : ''}.`,
    )
  }
  const why = explainMissingRollouts(run)
  if (isIdle(run, backlog, now)) {
    const ready = readyRollouts > 0 ? ` ${readyRollouts} rollouts are ready for a batch.` : ''
    const since = Math.max(timeOf('last_accepted_at'), counters.last_batch_request_at ?? 0)
    return state(
      'idle',
      since,
      `${why}${hasWaitingTrainer(run, now) ? '' : ', and no trainer waits for a batch'}.${ready}`,
    )
  }
  if (readyRollouts >= settings.batch_size && now - lastRequestAt > INACTIVITY_MS) {
    return state(
      'trainer_silent',
      lastRequestAt,
      `${readyRollouts} rollouts are ready, but no trainer has requested a batch recently.`,
    )
  }
  if ((counters.last_request_stale_groups ?? 0) > 0 && readyRollouts < settings.batch_size) {
    const lag = `older than max_policy_lag (${settings.max_policy_lag})`
    return state(
      'all_stale',
      timeOf('last_batch_request_at'),
      `The last batch request dropped ${counters.last_request_stale_groups} groups that were ${lag}; the rest were too few for a batch.`,
    )
  }
  return computeSignalState(run, inputs, now)
}

/** Whether the state depends on the last groups of the tasks. That of an idle, finished or blocked run does not. */
export function dependsOnOutcomes(run: ResolvedRun, inputs: Pick<RunStateInputs, 'backlog' | 'engine'>): boolean {
  const { is } = computeRunState(run, { ...inputs, outcomes: {}, warnings: [] })
  return is === 'no_signal' || is === 'flowing'
}

/** The state of a run whose groups and batches move: what they are worth. */
function computeSignalState(run: ResolvedRun, { backlog, outcomes, warnings }: RunStateInputs, now: number): RunState {
  const { counters, created } = run
  const timeOf = (name: TimeField) => counters[name] ?? created
  const failed = counters.groups_since_scored ?? 0
  if (failed >= NO_SIGNAL_THRESHOLD || (failed > 0 && counters.scored_groups === undefined)) {
    return state(
      'no_signal',
      timeOf('last_scored_at'),
      `The last ${failed} groups failed: none of their rollouts could be scored; GET /runs/{run}/groups shows why.`,
    )
  }
  const groupsWithoutSignal = counters.groups_since_signal ?? 0
  if (groupsWithoutSignal >= NO_SIGNAL_THRESHOLD) {
    return state(
      'no_signal',
      timeOf('last_signal_at'),
      `The last ${groupsWithoutSignal} groups carry no signal: ${explainMissingSignal(outcomes, groupsWithoutSignal)}.`,
    )
  }
  if (isWithoutRollouts(run, backlog, now)) {
    const why = `A trainer waits for a batch. ${explainMissingRollouts(run)}.`
    return state('starved_of_rollouts', timeOf('last_accepted_at'), why)
  }
  const [warning] = warnings
  if (warning) return state('suspicious', timeOf('last_scored_at'), warning.why)
  return state('flowing', timeOf('last_batch_at'), 'Rollouts come in and are scored.')
}

function state(is: RunState['is'], since: number, why: string): RunState {
  return { is, since: new Date(since).toISOString(), why }
}

function explainMissingRollouts({ counters }: ResolvedRun): string {
  return counters.last_accepted_at === undefined ? 'No rollouts have arrived yet' : 'No rollouts have arrived recently'
}

const EXPLANATIONS = { finished: 'marked finished', archived: 'archived' } as const

/** Whether no client waits for the run: no rollouts arrive, and no trainer asks for a batch. A new run is idle as well. */
export function isIdle(run: StoredRun, backlog: RunBacklog, now = redisNow()): boolean {
  const isNew = now - (run.counters.last_accepted_at ?? run.created) <= INACTIVITY_MS
  return isWithoutRollouts(run, backlog, now) && (!hasWaitingTrainer(run, now) || isNew)
}

function isWithoutRollouts({ counters }: StoredRun, { queuedGroups }: RunBacklog, now: number): boolean {
  return queuedGroups === 0 && now - (counters.last_accepted_at ?? 0) > INACTIVITY_MS
}

function hasWaitingTrainer({ counters }: StoredRun, now: number): boolean {
  return now - (counters.last_batch_request_at ?? 0) <= TRAINER_WAIT_MS
}

/** Explains a full buffer whose rollouts are too few for a batch. */
function explainStuckBuffer(rollouts: number, batchSize: number): string {
  return `, but their ${rollouts} rollouts are fewer than batch_size (${batchSize}): lower batch_size, request with min_rollouts, or raise buffer_max_groups`
}
