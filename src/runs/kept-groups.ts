/** A run's last groups, newest first: filtered, paged, with samples of what was wrong with the format of answers. */
import { finalText } from '../scoring/messages.ts'
import type { GroupPlace, Groups, StoredGroup } from '../store/groups.ts'
import type { GroupTexts } from '../store/payload.ts'
import { decodeItemId } from '../words/item-id.ts'
import type { FaultSample, GroupFilter, KeptGroup, KeptGroups } from '../words/kept-group.ts'
import type { OpenRun } from './open-run.ts'

const CUT_CHARS = 300
const READ_AT_ONCE = 50
/** Groups that one call looks through; a filter that finds few gives a cursor to go on from. */
const LOOKED_AT_MAX = 1000
/** Groups that are looked through for samples of faults. */
const SAMPLED_MAX = 300
const SAMPLES = 3

export interface Page {
  filter: GroupFilter
  cursor: string | undefined
  limit: number
  full: boolean
}

interface Found {
  place: GroupPlace
  task: string
  stored: StoredGroup
}

export async function keptGroups(
  groups: Groups,
  run: OpenRun,
  { filter, cursor, limit, full }: Page,
): Promise<KeptGroups> {
  const page: Found[] = []
  const counts = faultCounts(run)
  const wanted = new Map(Object.keys(counts).map((fault) => [fault, [] as { found: Found; rollout: number }[]]))
  let before = cursor === undefined ? Number.POSITIVE_INFINITY : Number(cursor)
  let next: number | null = null
  let lookedAt = 0
  for await (const { found, place } of newestFirst(groups, run, before)) {
    if (page.length === limit || lookedAt === LOOKED_AT_MAX) {
      next ??= before
      if (lookedAt >= SAMPLED_MAX || [...wanted.values()].every((samples) => samples.length >= SAMPLES)) break
    }
    lookedAt += 1
    before = place
    if (!found) continue
    sample(found, wanted)
    if (next === null && matches(found, filter)) page.push(found)
  }
  const samples = await Promise.all(
    [...wanted].map(
      async ([fault, some]) => [fault, await Promise.all(some.map((one) => shown(groups, one, full)))] as const,
    ),
  )
  return {
    groups: await Promise.all(page.map((found) => view(groups, found, full))),
    next_cursor: next === null ? null : String(next),
    faults: Object.fromEntries(
      samples.map(([fault, some]) => [
        fault,
        { count: counts[fault] ?? 0, samples: some.filter((one) => one !== undefined) },
      ]),
    ),
  }
}

/** Groups that have vanished since they were listed have a place, but are not found. */
async function* newestFirst(
  groups: Groups,
  { name: run, epoch }: OpenRun,
  start: number,
): AsyncGenerator<{ found: Found | undefined; place: number }> {
  for (let before = start; ; ) {
    const listed = await groups.recent(run, epoch, before, READ_AT_ONCE)
    const stored = await Promise.all(listed.map(({ group }) => groups.find({ run, epoch, group })))
    for (const [k, { group, place }] of listed.entries()) {
      const one = stored[k]
      const id = one?.about?.item_id
      const found =
        one && id !== undefined ? { place: { run, epoch, group }, task: decodeItemId(id).task, stored: one } : undefined
      yield { found, place }
      before = place
    }
    if (listed.length < READ_AT_ONCE) return
  }
}

function matches({ task, stored: { result } }: Found, filter: GroupFilter): boolean {
  const verdicts = result?.verdicts ?? []
  return (
    (filter.task === undefined || filter.task === task) &&
    (filter.destination === undefined || filter.destination === result?.destination) &&
    (filter.fault === undefined || verdicts.some((v) => v.status === 'scored' && v.fault === filter.fault)) &&
    (filter.min_reward === undefined ||
      verdicts.some(({ reward }) => reward !== null && reward >= (filter.min_reward ?? 0)))
  )
}

function faultCounts({ counters }: OpenRun): Record<string, number> {
  const faults = Object.entries(counters).filter(([key]) => key.startsWith('fault:'))
  return Object.fromEntries(faults.map(([key, count]) => [key.slice('fault:'.length), count]))
}

/** One of each group, so that samples differ. */
function sample(found: Found, wanted: Map<string, { found: Found; rollout: number }[]>): void {
  const seen = new Set<string>()
  for (const [rollout, verdict] of (found.stored.result?.verdicts ?? []).entries()) {
    const fault = verdict.status === 'scored' ? verdict.fault : null
    const samples = fault === null || seen.has(fault) ? undefined : wanted.get(fault)
    if (fault === null || !samples || samples.length >= SAMPLES) continue
    seen.add(fault)
    samples.push({ found, rollout })
  }
}

async function shown(
  groups: Groups,
  { found: { place, task }, rollout }: { found: Found; rollout: number },
  full: boolean,
): Promise<FaultSample | undefined> {
  const texts = (await groups.texts(place))?.rollouts[rollout]
  return texts && { group_id: place.group, task, rollout, ...cut(textOf(texts), full) }
}

async function view(groups: Groups, { place, stored }: Found, full: boolean): Promise<KeptGroup> {
  const { about, result, status } = stored
  const itemId = about?.item_id ?? ''
  const { task, difficulty } = decodeItemId(itemId)
  const texts = await groups.texts(place)
  return {
    group_id: place.group,
    run: place.run,
    item_id: itemId,
    task,
    difficulty,
    ...(result
      ? { ...result, verdicts: full ? result.verdicts : result.verdicts.map(shortened) }
      : { status, destination: null }),
    policy_version: about?.policy_version ?? null,
    completions:
      texts?.rollouts.map((rollout, k) => ({
        ...cut(textOf(rollout), full),
        length_tokens: about?.rollouts[k]?.length ?? null,
        finish_reason: rollout.finish_reason ?? null,
      })) ?? null,
  }
}

/** The end of a long completion has the answer, so that its beginning and its end are shown. */
function cut(text: string, full: boolean): { text: string; cut: boolean } {
  if (full || text.length <= CUT_CHARS) return { text, cut: false }
  const half = CUT_CHARS / 2
  return { text: `${text.slice(0, half)} … ${text.slice(-half)}`.toWellFormed(), cut: true }
}

function textOf({ completion, messages }: GroupTexts['rollouts'][number]): string {
  return completion ?? finalText(messages ?? [])?.text ?? ''
}

type Verdict = NonNullable<KeptGroup['verdicts']>[number]

function shortened(verdict: Verdict): Verdict {
  if (verdict.status !== 'scored' || verdict.answer === null) return verdict
  return { ...verdict, answer: cut(verdict.answer, false).text }
}
