/** Exports a run's rollouts as training data. */

import type { ExportManifest, ExportParams } from '@reasoning-gym-server/contract/export'
import type { RunCondition } from '@reasoning-gym-server/contract/run'
import { ENGINE_VERSION } from '../../../engine/version.ts'
import { VERSION } from '../../../platform/installation.ts'
import { redisNow } from '../../../platform/redis/redis-clock.ts'
import type { ResolvedRun } from '../../runs/types.ts'
import { type ExportsDeps, listRolloutFiles, streamSourcedGroups } from './group-sources.ts'
import { encodeDpoLine, encodeSftLine } from './lines.ts'
import { type ExportSelection, selectRollouts } from './selection.ts'

export class Exports {
  readonly #deps: ExportsDeps

  constructor(parts: ExportsDeps) {
    this.#deps = parts
  }

  /** Throws `unknown_run` and `run_recreated` before the first line. */
  async openLines(runName: string, params: ExportParams, condition?: RunCondition): Promise<AsyncGenerator<string>> {
    return this.#streamLines(await this.#deps.runs.require(runName, condition), params)
  }

  async *#streamLines(run: ResolvedRun, params: ExportParams): AsyncGenerator<string> {
    const { here } = await listRolloutFiles(this.#deps.files, run)
    const { selections } = await this.#selectRollouts(run, params, here)
    for await (const { sourceKey, group } of streamSourcedGroups(this.#deps, run, params.source, here)) {
      for (const [index, rejectedIndex] of selections.get(sourceKey) ?? []) {
        const rollout = group.rollouts[index]
        const rejected = rejectedIndex === undefined ? undefined : group.rollouts[rejectedIndex]
        if (rollout && rejected) yield encodeDpoLine(group, rollout, rejected)
        else if (rollout) yield encodeSftLine(group, rollout)
      }
      selections.delete(sourceKey) // written once, even if a file is read twice or the group was dumped in the meantime
    }
  }

  /** Throws `unknown_run` and `run_recreated`. */
  async buildManifest(runName: string, params: ExportParams, condition?: RunCondition): Promise<ExportManifest> {
    const run = await this.#deps.runs.require(runName, condition)
    const { here, elsewhere } = await listRolloutFiles(this.#deps.files, run)
    const files = params.source === 'kept' ? { here: [], elsewhere: [] } : { here, elsewhere }
    const { lines, groups } = await this.#selectRollouts(run, params, files.here)
    const { system_prompt, system_prompt_role } = run.settings
    return {
      run: run.name,
      run_uuid: run.incarnation,
      created_at: new Date(redisNow()).toISOString(),
      server: VERSION,
      engine: { library: 'reasoning-gym', version: ENGINE_VERSION },
      ask: params,
      prompt: { system_prompt, system_prompt_role },
      settings: run.settings,
      groups_read: groups,
      lines,
      files: files.here.map(({ name }) => name),
      files_elsewhere: files.elsewhere.map(({ name, node }) => ({ name, node })),
    }
  }

  #selectRollouts(
    run: ResolvedRun,
    params: ExportParams,
    files: Parameters<typeof streamSourcedGroups>[3],
  ): Promise<ExportSelection> {
    return selectRollouts(streamSourcedGroups(this.#deps, run, params.source, files), params)
  }
}
