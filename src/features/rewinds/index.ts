/** Rewinds: a run goes back to what it was after a step, for a trainer that resumes from its weights of that step. */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { RunCondition } from '@reasoning-gym-server/contract/run'
import type { Platform } from '../../platform/platform.ts'
import { runContendedError } from '../runs/errors.ts'
import type { RunsFeature } from '../runs/index.ts'
import type { ResolvedRun } from '../runs/types.ts'
import { type RewindOutcome, RewindRepository } from './repository.ts'

/** Ranks that call at the same time lose one attempt each. */
const MAX_RETRIES = 100

export type RewindsFeature = ReturnType<typeof createRewinds>

interface Rewound {
  run: ResolvedRun
  /** Undefined if the run was there already. */
  voided: Extract<RewindOutcome, { kind: 'rewound' }>['voided'] | undefined
}

export function createRewinds(
  platform: Platform,
  { runs: { runs, marks, epochs, itemQueue, repository: storedRuns } }: { runs: RunsFeature },
) {
  const repository = new RewindRepository({ ...platform, epochs, runs: storedRuns })
  return {
    /**
     * Makes the run what it was after the step. A repeated call for the same resume does nothing. Throws `unknown_run`,
     * `run_recreated` and `step_unavailable`.
     */
    async rewind(
      name: string,
      {
        step,
        resumeId,
        condition,
      }: { step: number; resumeId: string | undefined; condition?: RunCondition | undefined },
    ): Promise<Rewound> {
      const rewind = async () => {
        const before = await runs.require(name, condition)
        return { before, outcome: await repository.rewind(before, step, resumeId) }
      }
      let { before, outcome } = await rewind()
      // Another rank has rewound the run, or its settings were changed.
      for (let k = 0; k < MAX_RETRIES && outcome.kind === 'run_changed'; k++) ({ before, outcome } = await rewind())
      if (outcome.kind === 'run_changed') throw runContendedError(name)
      if (outcome.kind !== 'rewound' && outcome.kind !== 'repeated') throw stepUnavailableError(name, step, outcome)
      const run = await runs.require(name, [before.incarnation])
      if (outcome.kind === 'repeated') return { run, voided: undefined }
      await marks.recordRewind(before, step).catch(() => {}) // the run is rewound all the same
      void itemQueue.schedulePrefetch(run)
      return { run, voided: outcome.voided }
    },
  }
}

type Unavailable = Extract<RewindOutcome, { kind: 'no_steps' | 'not_reached' | 'not_kept' }>

function stepUnavailableError(run: string, step: number, outcome: Unavailable): ServiceError {
  return new ServiceError('step_unavailable', `The run ${run} cannot go back to step ${step}: ${explain(outcome)}`)
}

function explain(outcome: Unavailable): string {
  switch (outcome.kind) {
    case 'no_steps':
      return 'nothing has named a step of it. Compose batches, name a step with items or a policy version with groups, or end steps with POST /runs/{run}/steps.'
    case 'not_reached':
      return `its latest step is ${outcome.step}.`
    case 'not_kept':
      return `the oldest step that it can go back to is ${outcome.step}. Restore a checkpoint.`
  }
}
