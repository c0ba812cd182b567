/** A run's rollouts as data to train on. */

import type { ExportManifest, ExportParams } from '../../../contract/export.ts'
import { ENGINE_VERSION } from '../../../engine/version.ts'
import { VERSION } from '../../../platform/version.ts'
import type { ResolvedRun } from '../../runs/resolved-run.ts'
import { type ExportSelection, selectRollouts } from './choice.ts'
import { encodeDpoLine, encodeSftLine } from './lines.ts'
import { type ExportsDeps, listRolloutFiles, streamSourcedGroups } from './sources.ts'

export class Exports {
  readonly #deps: ExportsDeps

  constructor(parts: ExportsDeps) {
    this.#deps = parts
  }

  /** Throws `unknown_run`, before the first line. */
  async openLines(runName: string, ask: ExportParams): Promise<AsyncGenerator<string>> {
    return this.#streamLines(await this.#deps.runs.require(runName), ask)
  }

  async *#streamLines(run: ResolvedRun, ask: ExportParams): AsyncGenerator<string> {
    const { here } = await listRolloutFiles(this.#deps.dumps, run)
    const { selections: picked } = await this.#selectRollouts(run, ask, here)
    for await (const { sourceKey: mark, group } of streamSourcedGroups(this.#deps, run, ask.source, here)) {
      for (const [place, against] of picked.get(mark) ?? []) {
        const [one, other] = [group.rollouts[place], against === undefined ? undefined : group.rollouts[against]]
        if (one && other) yield encodeDpoLine(group, one, other)
        else if (one) yield encodeSftLine(group, one)
      }
      picked.delete(mark) // a file that is read twice, or a group that was dumped meanwhile, is written once
    }
  }

  /** Throws `unknown_run`. */
  async buildManifest(runName: string, ask: ExportParams): Promise<ExportManifest> {
    const run = await this.#deps.runs.require(runName)
    const { here, elsewhere } = await listRolloutFiles(this.#deps.dumps, run)
    const files = ask.source === 'kept' ? { here: [], elsewhere: [] } : { here, elsewhere }
    const { lines, groups } = await this.#selectRollouts(run, ask, files.here)
    const { system_prompt, system_prompt_role } = run.settings
    return {
      run: run.name,
      run_uuid: run.uuid,
      created_at: new Date().toISOString(),
      server: VERSION,
      engine: { library: 'reasoning-gym', version: ENGINE_VERSION },
      ask,
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
    ask: ExportParams,
    files: Parameters<typeof streamSourcedGroups>[3],
  ): Promise<ExportSelection> {
    return selectRollouts(streamSourcedGroups(this.#deps, run, ask.source, files), ask)
  }
}
