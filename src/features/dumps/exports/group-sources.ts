/** Streams the groups of a run: first those in the dump files of this server, then those that are only in Redis. */
import { createReadStream } from 'node:fs'
import { readLines } from '@reasoning-gym-server/codec/json-lines'
import { type DumpFile, parseDumpFileName } from '@reasoning-gym-server/contract/dump'
import type { ExportParams } from '@reasoning-gym-server/contract/export'
import { pMapIterable } from 'p-map'
import { ENGINE_VERSION } from '../../../engine/version.ts'
import type { Items } from '../../items/items.ts'
import type { GroupRepository } from '../../rollouts/repository.ts'
import type { Runs } from '../../runs/runs.ts'
import type { ResolvedRun } from '../../runs/types.ts'
import type { DumpFiles } from '../dump-files.ts'
import type { DumpFolder } from '../dump-folder.ts'
import { buildDumpedGroup, type DumpedGroup } from '../dump-record.ts'

const GROUPS_PER_PAGE = 50
/** Number of groups unpacked concurrently, since a group may have 64 MB of text. */
const GROUPS_IN_MEMORY = 2

export interface ExportsDeps {
  files: DumpFiles
  folder: DumpFolder
  runs: Runs
  groups: GroupRepository
  items: Items
}

/** A group with its source, which identifies it in a second pass. */
export interface SourcedGroup {
  sourceKey: string
  group: DumpedGroup
}

/** Lists the rollout files of the run, without those of failed groups. */
export async function listRolloutFiles(
  dumpFiles: DumpFiles,
  run: ResolvedRun,
): Promise<{ here: DumpFile[]; elsewhere: DumpFile[] }> {
  const files = (await dumpFiles.listFiles(run.name)).filter(({ name, kind }) => {
    return kind === 'rollouts' && parseDumpFileName(name)?.uuid === run.incarnation
  })
  return { here: files.filter(({ here }) => here), elsewhere: files.filter(({ here }) => !here) }
}

export async function* streamSourcedGroups(
  deps: ExportsDeps,
  run: ResolvedRun,
  source: ExportParams['source'],
  files: DumpFile[],
): AsyncGenerator<SourcedGroup> {
  const seen = new Set<string>()
  if (source !== 'kept') {
    for (const { name } of files) {
      for await (const group of streamGroupsFromFile(deps.folder, name)) {
        if (source === 'all') seen.add(group.group_id)
        yield { sourceKey: `${name} ${group.group_id}`, group }
      }
    }
  }
  if (source === 'dumps') return
  for await (const group of streamRetainedGroups(deps, run, seen)) yield { sourceKey: `kept ${group.group_id}`, group }
}

async function* streamGroupsFromFile(folder: DumpFolder, name: string): AsyncGenerator<DumpedGroup> {
  const file = await folder.getFile(name)
  if (!file) return // deleted in the meantime
  for await (const line of readLines(createReadStream(file.path))) {
    yield JSON.parse(line) as DumpedGroup // written by encodeDumpLine
  }
}

async function* streamRetainedGroups(
  { groups, items }: ExportsDeps,
  run: ResolvedRun,
  seen: Set<string>,
): AsyncGenerator<DumpedGroup> {
  const { name, epoch, settings } = run
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    const listed = await groups.listRetained(name, epoch, before, GROUPS_PER_PAGE)
    const unseen = listed.filter(({ group }) => !seen.has(group))
    const dumped = pMapIterable(
      unseen,
      async ({ group }): Promise<DumpedGroup | undefined> => {
        const ref = { run: name, epoch, group }
        const [stored, texts] = await Promise.all([groups.get(ref), groups.getTexts(ref)])
        if (stored?.status !== 'scored' || !stored.metadata || !stored.result || !texts) return undefined
        const { metadata, result } = stored
        // this engine cannot make the group's prompt again
        if (metadata.recipe.engine !== ENGINE_VERSION) return undefined
        const recipe = await items.resolveItemId(metadata.item_id)
        const prompt = await items.buildMessages(recipe, settings)
        return buildDumpedGroup({ run: name, group, prompt, metadata: { ...metadata, recipe }, texts, result })
      },
      { concurrency: GROUPS_IN_MEMORY },
    )
    for await (const group of dumped) if (group) yield group
    const last = listed.at(-1)
    if (!last || listed.length < GROUPS_PER_PAGE) return
    before = last.position
  }
}
