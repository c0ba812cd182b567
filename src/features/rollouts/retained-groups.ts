/** A run's last groups, newest first: filtered, paged, with samples of what was wrong with the format of answers. */

import { decodeItemId } from '../../contract/item-id.ts'
import type {
  FormatErrorExample,
  GroupFilter,
  RetainedGroup,
  RetainedGroupPage,
} from '../../contract/retained-group.ts'
import { getFinalText } from '../../grading/final-message.ts'
import type { ResolvedRun } from '../runs/resolved-run.ts'
import type { GroupTexts } from './group-payload.ts'
import type { GroupRef, GroupRepository, StoredGroup } from './repository.ts'

const EXCERPT_CHARS = 300
const READ_CHUNK_SIZE = 50
/** Groups that one call looks through; a filter that finds few gives a cursor to go on from. */
const MAX_SCANNED_GROUPS = 1000
/** Groups that are looked through for samples of faults. */
const MAX_SCANNED_FOR_EXAMPLES = 300
const EXAMPLES_PER_FORMAT_ERROR = 3

export interface RetainedGroupsQuery {
  filter: GroupFilter
  cursor: string | undefined
  limit: number
  full: boolean
}

interface LoadedGroup {
  place: GroupRef
  task: string
  stored: StoredGroup
}

export async function listRetainedGroups(
  groups: GroupRepository,
  run: ResolvedRun,
  { filter, cursor, limit, full }: RetainedGroupsQuery,
): Promise<RetainedGroupPage> {
  const page: LoadedGroup[] = []
  const counts = run.counters.format_errors
  const wanted = new Map(Object.keys(counts).map((fault) => [fault, [] as { found: LoadedGroup; rollout: number }[]]))
  let before = cursor === undefined ? Number.POSITIVE_INFINITY : Number(cursor)
  let next: number | null = null
  let lookedAt = 0
  for await (const { found, place } of iterateNewestFirst(groups, run, before)) {
    if (page.length === limit || lookedAt === MAX_SCANNED_GROUPS) {
      next ??= before
      if (
        lookedAt >= MAX_SCANNED_FOR_EXAMPLES ||
        [...wanted.values()].every((samples) => samples.length >= EXAMPLES_PER_FORMAT_ERROR)
      )
        break
    }
    lookedAt += 1
    before = place
    if (!found) continue
    collectExamples(found, wanted)
    if (next === null && matchesFilter(found, filter)) page.push(found)
  }
  const samples = await Promise.all(
    [...wanted].map(
      async ([fault, some]) => [fault, await Promise.all(some.map((one) => loadExample(groups, one, full)))] as const,
    ),
  )
  return {
    groups: await Promise.all(page.map((found) => buildRetainedGroup(groups, found, full))),
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
async function* iterateNewestFirst(
  groups: GroupRepository,
  { name: run, epoch }: ResolvedRun,
  start: number,
): AsyncGenerator<{ found: LoadedGroup | undefined; place: number }> {
  for (let before = start; ; ) {
    const listed = await groups.listRecent(run, epoch, before, READ_CHUNK_SIZE)
    const stored = await Promise.all(listed.map(({ group }) => groups.get({ run, epoch, group })))
    for (const [k, { group, place }] of listed.entries()) {
      const one = stored[k]
      const id = one?.metadata?.item_id
      const found =
        one && id !== undefined ? { place: { run, epoch, group }, task: decodeItemId(id).task, stored: one } : undefined
      yield { found, place }
      before = place
    }
    if (listed.length < READ_CHUNK_SIZE) return
  }
}

function matchesFilter({ task, stored: { result } }: LoadedGroup, filter: GroupFilter): boolean {
  const verdicts = result?.verdicts ?? []
  return (
    (filter.task === undefined || filter.task === task) &&
    (filter.destination === undefined || filter.destination === result?.destination) &&
    (filter.fault === undefined || verdicts.some((v) => v.status === 'scored' && v.fault === filter.fault)) &&
    (filter.min_reward === undefined ||
      verdicts.some(({ reward }) => reward !== null && reward >= (filter.min_reward ?? 0)))
  )
}

/** One of each group, so that samples differ. */
function collectExamples(found: LoadedGroup, wanted: Map<string, { found: LoadedGroup; rollout: number }[]>): void {
  const seen = new Set<string>()
  for (const [rollout, verdict] of (found.stored.result?.verdicts ?? []).entries()) {
    const fault = verdict.status === 'scored' ? verdict.fault : null
    const samples = fault === null || seen.has(fault) ? undefined : wanted.get(fault)
    if (fault === null || !samples || samples.length >= EXAMPLES_PER_FORMAT_ERROR) continue
    seen.add(fault)
    samples.push({ found, rollout })
  }
}

async function loadExample(
  groups: GroupRepository,
  { found: { place, task }, rollout }: { found: LoadedGroup; rollout: number },
  full: boolean,
): Promise<FormatErrorExample | undefined> {
  const texts = (await groups.getTexts(place))?.rollouts[rollout]
  return texts && { group_id: place.group, task, rollout, ...excerptOf(completionText(texts), full) }
}

async function buildRetainedGroup(
  groups: GroupRepository,
  { place, stored }: LoadedGroup,
  full: boolean,
): Promise<RetainedGroup> {
  const { metadata: about, result, status } = stored
  const itemId = about?.item_id ?? ''
  const { task, difficulty } = decodeItemId(itemId)
  const texts = await groups.getTexts(place)
  return {
    group_id: place.group,
    run: place.run,
    item_id: itemId,
    task,
    difficulty,
    ...(result
      ? { ...result, verdicts: full ? result.verdicts : result.verdicts.map(shortenVerdict) }
      : { status, destination: null }),
    policy_version: about?.policy_version ?? null,
    completions:
      texts?.rollouts.map((rollout, k) => ({
        ...excerptOf(completionText(rollout), full),
        length_tokens: about?.rollouts[k]?.length ?? null,
        finish_reason: rollout.finish_reason ?? null,
      })) ?? null,
  }
}

/** The end of a long completion has the answer, so that its beginning and its end are shown. */
function excerptOf(text: string, full: boolean): { text: string; cut: boolean } {
  if (full || text.length <= EXCERPT_CHARS) return { text, cut: false }
  const half = EXCERPT_CHARS / 2
  return { text: `${text.slice(0, half)} … ${text.slice(-half)}`.toWellFormed(), cut: true }
}

function completionText({ completion, messages }: GroupTexts['rollouts'][number]): string {
  return completion ?? getFinalText(messages ?? [])?.text ?? ''
}

type RetainedVerdict = NonNullable<RetainedGroup['verdicts']>[number]

function shortenVerdict(verdict: RetainedVerdict): RetainedVerdict {
  if (verdict.status !== 'scored' || verdict.answer === null) return verdict
  return { ...verdict, answer: excerptOf(verdict.answer, false).text }
}
