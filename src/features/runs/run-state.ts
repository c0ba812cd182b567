/** Why a run stalls, or that it does not: one sentence for whoever looks. */

import type { RunState } from '../../contract/run.ts'
import type { EngineHealth } from '../../engine/engine.ts'
import { countBatchableRollouts, countBufferOccupancy, type RunBacklog } from './repository.ts'
import type { ResolvedRun } from './resolved-run.ts'

/** After this long without rollouts, or without a trainer that asks, somebody should look. */
const INACTIVITY_MS = 60_000
/** So many groups in a row without signal are no accident. */
const NO_SIGNAL_THRESHOLD = 8

type TimeField = Extract<keyof ResolvedRun['counters'], `last_${string}_at`>

/** The first that applies, from what stops everything to what stops one side. */
export function computeRunState(
  run: ResolvedRun,
  waiting: RunBacklog,
  engine: EngineHealth,
  now = Date.now(),
): RunState {
  const { settings, counters, created } = run
  const at = (name: TimeField) => counters[name] ?? created
  const state = (is: RunState['is'], since: number, why: string): RunState => ({
    is,
    since: new Date(since).toISOString(),
    why,
  })
  const held = countBufferOccupancy(waiting)
  const full = countBatchableRollouts(waiting, settings)
  const lastAsked = Math.max(at('last_batch_request_at'), at('last_batch_at'))
  if (!engine.ok) return state('engine_down', now, `The engine is down: ${engine.detail ?? 'it does not answer'}.`)
  if (held >= settings.buffer_max_groups) {
    const stuck = full < settings.batch_size && waiting.queuedForBuffer === 0 && waiting.openBatchGroups === 0
    return state(
      'buffer_full',
      at('last_accepted_at'),
      `${held} groups wait for a trainer, as many as buffer_max_groups allows${stuck ? explainStuckBuffer(full, settings.batch_size) : ''}.`,
    )
  }
  if (full >= settings.batch_size && now - lastAsked > INACTIVITY_MS) {
    return state(
      'trainer_silent',
      lastAsked,
      `${full} rollouts are ready, but no trainer has asked for a batch of late.`,
    )
  }
  if ((counters.last_request_stale_groups ?? 0) > 0 && full < settings.batch_size) {
    const lag = `older than max_policy_lag (${settings.max_policy_lag})`
    return state(
      'all_stale',
      at('last_batch_request_at'),
      `At the last call ${counters.last_request_stale_groups} groups were ${lag} and dropped; too few were left for a batch.`,
    )
  }
  const failed = counters.groups_since_scored ?? 0
  if (failed >= NO_SIGNAL_THRESHOLD || (failed > 0 && counters.scored_groups === undefined)) {
    return state(
      'no_signal',
      at('last_scored_at'),
      `The last ${failed} groups failed: nothing in them could be scored; GET /runs/{run}/groups shows why.`,
    )
  }
  const dull = counters.groups_since_signal ?? 0
  if (dull >= NO_SIGNAL_THRESHOLD) {
    return state(
      'no_signal',
      at('last_signal_at'),
      `The last ${dull} groups carry no signal: ${explainMissingSignal(counters)}.`,
    )
  }
  if (
    waiting.queuedGroups === 0 &&
    (counters.last_accepted_at === undefined || now - counters.last_accepted_at > INACTIVITY_MS)
  ) {
    const why =
      counters.last_accepted_at === undefined ? 'No rollouts have come yet.' : 'No rollouts have come of late.'
    return state('starved_of_rollouts', at('last_accepted_at'), why)
  }
  return state('flowing', at('last_batch_at'), 'Rollouts come in and are scored.')
}

/** The buffer is as full as it may be, and yet no trainer would be given a batch. */
function explainStuckBuffer(rollouts: number, batchSize: number): string {
  return `, but their ${rollouts} rollouts are fewer than batch_size (${batchSize}): lower it, ask with min_sequences, or raise buffer_max_groups`
}

/** What most of a run's groups without signal are. */
function explainMissingSignal(counters: ResolvedRun['counters']): string {
  const { no_signal_easy = 0, no_signal_hard = 0, skipped_groups = 0, masked_groups = 0 } = counters
  const most = Math.max(no_signal_easy, no_signal_hard, skipped_groups, masked_groups)
  if (most === 0) return 'their rewards are equal throughout' // they are kept (drop_equal_scores), and not counted by kind
  if (most === skipped_groups) return 'mostly every rollout is shorter than min_trained_tokens, and skipped'
  if (most === masked_groups) return 'mostly every rollout is cut off at its length, and masked'
  if (most === no_signal_easy) return 'mostly all right: too easy'
  return 'mostly all wrong: too hard, or the format is missed'
}
