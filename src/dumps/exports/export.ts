/** A run's rollouts as data to train on. */
import { ENGINE_VERSION } from '../../engine/version.ts'
import type { OpenRun } from '../../runs/open-run.ts'
import { VERSION } from '../../version.ts'
import type { ExportAsk, ExportManifest } from '../../words/export.ts'
import { type Choice, choose } from './choice.ts'
import { dpoLine, sftLine } from './lines.ts'
import { filesOf, type SourceParts, sourceOf } from './sources.ts'

export class Exports {
  readonly #parts: SourceParts

  constructor(parts: SourceParts) {
    this.#parts = parts
  }

  async *lines(run: OpenRun, ask: ExportAsk): AsyncGenerator<string> {
    const { here } = await filesOf(this.#parts.dumps, run)
    const { picked } = await this.#choose(run, ask, here)
    for await (const { mark, group } of sourceOf(this.#parts, run, ask.source, here)) {
      for (const [place, against] of picked.get(mark) ?? []) {
        const [one, other] = [group.rollouts[place], against === undefined ? undefined : group.rollouts[against]]
        if (one && other) yield dpoLine(group, one, other)
        else if (one) yield sftLine(group, one)
      }
      picked.delete(mark) // a file that is read twice, or a group that was dumped meanwhile, is written once
    }
  }

  async manifest(run: OpenRun, ask: ExportAsk): Promise<ExportManifest> {
    const { here, elsewhere } = await filesOf(this.#parts.dumps, run)
    const files = ask.source === 'kept' ? { here: [], elsewhere: [] } : { here, elsewhere }
    const { lines, groups } = await this.#choose(run, ask, files.here)
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

  #choose(run: OpenRun, ask: ExportAsk, files: Parameters<typeof sourceOf>[3]): Promise<Choice> {
    return choose(sourceOf(this.#parts, run, ask.source, files), ask)
  }
}
