/** Starts and reads rescores: the kept groups of a run, scored again under other rules. They change nothing in the run. */
import type { Caller } from '@reasoning-gym-server/contract/caller'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { Rescore, type RescoreInput } from '@reasoning-gym-server/contract/rescore'
import type { RunCondition } from '@reasoning-gym-server/contract/run'
import { z } from 'zod'
import type { JobDefinition } from '../../platform/queue/job-definition.ts'
import type { Producer } from '../../platform/queue/queues.ts'
import { createCallToken, type Idempotency } from '../../platform/redis/idempotency.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import type { EpochRef } from '../runs/epochs.ts'
import { runRestoredError } from '../runs/errors.ts'
import type { Runs } from '../runs/runs.ts'
import { mergeSettings, type SettingsRules } from '../runs/settings.ts'
import type { TaskCatalog } from '../tasks/task-catalog.ts'
import type { RescoreRepository } from './repository.ts'

const RescoreJobData = z.strictObject({ run: z.string(), epoch: z.int(), id: z.string() })
export type RescoreJobData = z.infer<typeof RescoreJobData>

/** Scores the kept groups of a run again. A job that starts over gives the same result. */
export const rescoreJob: JobDefinition<RescoreJobData> = {
  name: 'rescore',
  data: RescoreJobData,
  attempts: 3,
  backoffMs: 500,
  discardFailures: true,
}

interface RescoresDeps {
  runs: Runs
  rules: SettingsRules
  tasks: TaskCatalog
  repository: RescoreRepository
  producer: Producer
  idempotency: Idempotency
}

interface RescoreRequest {
  caller: Caller
  idempotencyKey: string | undefined
  condition: RunCondition | undefined
}

export class Rescores {
  readonly #deps: RescoresDeps

  constructor(deps: RescoresDeps) {
    this.#deps = deps
  }

  /** Throws `unknown_run`, `run_recreated`, `unknown_task` and `invalid_request`. */
  async start(
    runName: string,
    input: RescoreInput,
    { caller, idempotencyKey: key, condition }: RescoreRequest,
  ): Promise<Rescore> {
    const { runs, rules, tasks, idempotency } = this.#deps
    const run = await runs.require(runName, condition)
    rules.validate(mergeSettings(run.explicitSettings, input.settings))
    for (const [k, task] of (input.tasks ?? []).entries())
      tasks.assertKnown(task, { path: `tasks.${k}`, message: 'must be a task or `category:NAME`' })
    const perform = async (token = createCallToken()) => {
      const rescore: Rescore = {
        id: `rescore-${token}`,
        run: runName,
        status: 'queued',
        created_at: new Date(redisNow()).toISOString(),
        settings: input.settings,
        tasks: input.tasks ?? null,
        sample: input.sample ?? null,
        progress: { total: 0, done: 0 },
        detail: null,
        result: null,
      }
      if (!(await this.#deps.repository.store(run, rescore))) throw runRestoredError(runName)
      await this.#enqueue(run, rescore.id)
      return { decision: rescore, answer: rescore }
    }
    const request = { callerId: caller.id, scope: `rescore ${runName}`, key, body: input }
    return idempotency.runOnce(request, { decision: Rescore, perform, replay: (rescore) => Promise.resolve(rescore) })
  }

  /** Throws `unknown_run`, `run_recreated` and `unknown_rescore`. Adds the job again in case it was lost. */
  async get(runName: string, id: string, condition?: RunCondition): Promise<Rescore> {
    const run = await this.#deps.runs.require(runName, condition)
    const rescore = await this.#deps.repository.get(run, id)
    if (!rescore)
      throw new ServiceError(
        'unknown_rescore',
        `The run ${runName} has no rescore ${id}, or it is older than the last 20. GET /runs/{run}/rescore lists them.`,
        { missing: { kind: 'rescore', name: id } },
      )
    if (rescore.status === 'queued' || rescore.status === 'running') await this.#enqueue(run, id)
    return rescore
  }

  /** Newest first. Throws `unknown_run` and `run_recreated`. */
  async list(runName: string, condition?: RunCondition): Promise<Rescore[]> {
    return this.#deps.repository.list(await this.#deps.runs.require(runName, condition))
  }

  /** Does nothing while the job is in the queue or in progress. */
  async #enqueue({ name, epoch }: EpochRef, id: string): Promise<void> {
    await this.#deps.producer.add(rescoreJob, [{ id: `${name}~${epoch}~${id}`, data: { run: name, epoch, id } }])
  }
}
