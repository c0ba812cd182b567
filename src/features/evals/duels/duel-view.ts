/** Converts duels to their representation in the API. */
import { DuelResult, type DuelView } from '@reasoning-gym-server/contract/duel'
import { buildProgress, buildTimes } from '../eval-view.ts'
import type { JobOfKind } from '../generation-job-record.ts'
import { listFailures } from '../sample-failures.ts'

export function buildDuelView(job: JobOfKind<'duel'>): DuelView {
  const { model, opponent, tasks, max_items, alpha, smallest_difference, run, labels } = job.spec
  return {
    id: job.id,
    status: job.status,
    a: { name: model.name, base_url: model.base_url },
    b: { name: opponent.name, base_url: opponent.base_url },
    ...{ tasks, max_items, alpha, smallest_difference, run, labels },
    ...buildTimes(job),
    progress: buildProgress(job),
    failures: listFailures(job.failures),
    detail: job.detail,
    result: job.result === null ? null : DuelResult.parse(job.result),
  }
}
