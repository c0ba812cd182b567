/** The groups of a run, one by one: those in dump files here, then those kept in Redis that are in no file. */
import { createReadStream } from 'node:fs'
import type { Items } from '../../items/items.ts'
import { linesOf } from '../../json-lines.ts'
import type { OpenRun } from '../../runs/open-run.ts'
import type { Groups } from '../../store/groups.ts'
import type { DumpFile } from '../../words/dump.ts'
import type { ExportAsk } from '../../words/export.ts'
import type { Dumps } from '../dumps.ts'
import { placeOfName } from '../file-name.ts'
import { type DumpedGroup, dumpedGroup } from '../record.ts'

const READ_AT_ONCE = 50

export interface SourceParts {
  dumps: Dumps
  groups: Groups
  items: Items
}

/** A group with a mark of where it was found, by which a second reading knows it again. */
export interface Sourced {
  mark: string
  group: DumpedGroup
}

/** The run's files of rollouts; failed groups have nothing to learn from. */
export async function filesOf(dumps: Dumps, run: OpenRun): Promise<{ here: DumpFile[]; elsewhere: DumpFile[] }> {
  const files = (await dumps.list(run.name)).filter(({ name, kind }) => {
    return kind === 'rollouts' && placeOfName(name)?.uuid === run.uuid
  })
  return { here: files.filter(({ here }) => here), elsewhere: files.filter(({ here }) => !here) }
}

export async function* sourceOf(
  parts: SourceParts,
  run: OpenRun,
  source: ExportAsk['source'],
  files: DumpFile[],
): AsyncGenerator<Sourced> {
  const seen = new Set<string>()
  if (source !== 'kept') {
    for (const { name } of files) {
      for await (const group of groupsInFile(parts.dumps, name)) {
        if (source === 'all') seen.add(group.group_id)
        yield { mark: `${name} ${group.group_id}`, group }
      }
    }
  }
  if (source === 'dumps') return
  for await (const group of keptGroups(parts, run, seen)) yield { mark: `kept ${group.group_id}`, group }
}

async function* groupsInFile(dumps: Dumps, name: string): AsyncGenerator<DumpedGroup> {
  const file = await dumps.folder.find(name)
  if (!file) return // deleted meanwhile
  for await (const line of linesOf(createReadStream(file.path))) {
    yield JSON.parse(line) as DumpedGroup // written by lineOf
  }
}

async function* keptGroups(
  { groups, items }: SourceParts,
  run: OpenRun,
  seen: Set<string>,
): AsyncGenerator<DumpedGroup> {
  const { name, epoch, settings } = run
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    const listed = await groups.recent(name, epoch, before, READ_AT_ONCE)
    const dumped = listed
      .filter(({ group }) => !seen.has(group))
      .map(async ({ group }): Promise<DumpedGroup | undefined> => {
        const place = { run: name, epoch, group }
        const [stored, texts] = await Promise.all([groups.find(place), groups.texts(place)])
        if (stored?.status !== 'scored' || !stored.about || !stored.result || !texts) return undefined
        const { about, result } = stored
        const recipe = await items.open(about.item_id)
        const prompt = await items.messages(recipe, settings)
        return dumpedGroup({ run: name, group, recipe, prompt, about, texts, result })
      })
    for (const one of dumped) {
      const group = await one
      if (group) yield group
    }
    const last = listed.at(-1)
    if (!last || listed.length < READ_AT_ONCE) return
    before = last.place
  }
}
