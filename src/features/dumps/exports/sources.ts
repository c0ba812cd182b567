/** The groups of a run, one by one: those in dump files here, then those kept in Redis that are in no file. */
import { createReadStream } from 'node:fs'
import { readLines } from '../../../codec/json-lines.ts'
import type { DumpFile } from '../../../contract/dump.ts'
import type { ExportParams } from '../../../contract/export.ts'
import type { Items } from '../../items/items.ts'
import type { GroupRepository } from '../../rollouts/repository.ts'
import type { ResolvedRun } from '../../runs/resolved-run.ts'
import type { Runs } from '../../runs/runs.ts'
import { buildDumpedGroup, type DumpedGroup } from '../dump-record.ts'
import type { Dumps } from '../dumps.ts'
import { parseDumpFileName } from '../file-name.ts'

const GROUPS_PER_PAGE = 50

export interface ExportsDeps {
  dumps: Dumps
  runs: Runs
  groups: GroupRepository
  items: Items
}

/** A group with a mark of where it was found, by which a second reading knows it again. */
export interface SourcedGroup {
  sourceKey: string
  group: DumpedGroup
}

/** The run's files of rollouts; failed groups have nothing to learn from. */
export async function listRolloutFiles(
  dumps: Dumps,
  run: ResolvedRun,
): Promise<{ here: DumpFile[]; elsewhere: DumpFile[] }> {
  const files = (await dumps.listFiles(run.name)).filter(({ name, kind }) => {
    return kind === 'rollouts' && parseDumpFileName(name)?.uuid === run.uuid
  })
  return { here: files.filter(({ here }) => here), elsewhere: files.filter(({ here }) => !here) }
}

export async function* streamSourcedGroups(
  parts: ExportsDeps,
  run: ResolvedRun,
  source: ExportParams['source'],
  files: DumpFile[],
): AsyncGenerator<SourcedGroup> {
  const seen = new Set<string>()
  if (source !== 'kept') {
    for (const { name } of files) {
      for await (const group of streamGroupsFromFile(parts.dumps, name)) {
        if (source === 'all') seen.add(group.group_id)
        yield { sourceKey: `${name} ${group.group_id}`, group }
      }
    }
  }
  if (source === 'dumps') return
  for await (const group of streamRetainedGroups(parts, run, seen)) yield { sourceKey: `kept ${group.group_id}`, group }
}

async function* streamGroupsFromFile(dumps: Dumps, name: string): AsyncGenerator<DumpedGroup> {
  const file = await dumps.folder.getFile(name)
  if (!file) return // deleted meanwhile
  for await (const line of readLines(createReadStream(file.path))) {
    yield JSON.parse(line) as DumpedGroup // written by lineOf
  }
}

async function* streamRetainedGroups(
  { groups, items }: ExportsDeps,
  run: ResolvedRun,
  seen: Set<string>,
): AsyncGenerator<DumpedGroup> {
  const { name, epoch, settings } = run
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    const listed = await groups.listRecent(name, epoch, before, GROUPS_PER_PAGE)
    const dumped = listed
      .filter(({ group }) => !seen.has(group))
      .map(async ({ group }): Promise<DumpedGroup | undefined> => {
        const place = { run: name, epoch, group }
        const [stored, texts] = await Promise.all([groups.get(place), groups.getTexts(place)])
        if (stored?.status !== 'scored' || !stored.metadata || !stored.result || !texts) return undefined
        const { metadata: about, result } = stored
        const recipe = await items.resolveItemId(about.item_id)
        const prompt = await items.buildMessages(recipe, settings)
        return buildDumpedGroup({ run: name, group, recipe, prompt, about, texts, result })
      })
    for (const one of dumped) {
      const group = await one
      if (group) yield group
    }
    const last = listed.at(-1)
    if (!last || listed.length < GROUPS_PER_PAGE) return
    before = last.place
  }
}
