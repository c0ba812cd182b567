/** Lists the retained groups of a run, newest first, with filters, paging and examples of format errors. */

import pMap from 'p-map'
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
/** Number of groups that one call scans. A filter that matches few of them returns a cursor to continue from. */
const MAX_SCANNED_GROUPS = 1000
/** Number of groups scanned for examples of format errors. */
const MAX_SCANNED_FOR_EXAMPLES = 300
const EXAMPLES_PER_FORMAT_ERROR = 3
/** Text size at which a page of whole texts ends. The group that exceeds it is the last one. */
const MAX_PAGE_TEXT_BYTES = 16 * 1024 * 1024
/** Size above which examples are cut even if whole texts are requested, because a page has dozens of them. */
const MAX_FULL_EXAMPLE_BYTES = 1024 * 1024
/** Number of groups whose texts are unpacked concurrently. */
const GROUPS_IN_MEMORY = 2

export interface RetainedGroupsQuery {
  filter: GroupFilter
  cursor: string | undefined
  limit: number
  full: boolean
}

interface LoadedGroup {
  ref: GroupRef
  task: string
  stored: StoredGroup
}

/** A rollout that shows a format error. */
interface ExampleRef {
  group: LoadedGroup
  rollout: number
}

export async function listRetainedGroups(
  groups: GroupRepository,
  run: ResolvedRun,
  { filter, cursor, limit, full }: RetainedGroupsQuery,
): Promise<RetainedGroupPage> {
  const page: LoadedGroup[] = []
  const counts = run.counters.format_errors
  const examplesByError = new Map(Object.keys(counts).map((code) => [code, [] as ExampleRef[]]))
  let before = cursor === undefined ? Number.POSITIVE_INFINITY : Number(cursor)
  let next: number | null = null
  let scanned = 0
  let pageBytes = 0
  for await (const { group, position } of iterateNewestFirst(groups, run, before)) {
    if (page.length === limit || scanned === MAX_SCANNED_GROUPS || (full && pageBytes > MAX_PAGE_TEXT_BYTES)) {
      next ??= before
      if (
        scanned >= MAX_SCANNED_FOR_EXAMPLES ||
        [...examplesByError.values()].every((examples) => examples.length >= EXAMPLES_PER_FORMAT_ERROR)
      )
        break
    }
    scanned += 1
    before = position
    if (!group) continue
    collectExamples(group, examplesByError)
    if (next !== null || !matchesFilter(group, filter)) continue
    page.push(group)
    pageBytes += textBytes(group)
  }
  const atOnce = { concurrency: GROUPS_IN_MEMORY }
  const examples = await pMap(
    [...examplesByError],
    async ([code, refs]) => [code, await pMap(refs, (ref) => loadExample(groups, ref, full), atOnce)] as const,
    { concurrency: 1 },
  )
  return {
    groups: await pMap(page, (group) => buildRetainedGroup(groups, group, full), atOnce),
    next_cursor: next === null ? null : String(next),
    faults: Object.fromEntries(
      examples.map(([code, loaded]) => [
        code,
        { count: counts[code] ?? 0, samples: loaded.filter((example) => example !== undefined) },
      ]),
    ),
  }
}

/** A group deleted after it was listed has a position, but `group` is undefined. */
async function* iterateNewestFirst(
  groups: GroupRepository,
  { name: run, epoch }: ResolvedRun,
  start: number,
): AsyncGenerator<{ group: LoadedGroup | undefined; position: number }> {
  for (let before = start; ; ) {
    const listed = await groups.listRecent(run, epoch, before, READ_CHUNK_SIZE)
    const stored = await Promise.all(listed.map(({ group }) => groups.get({ run, epoch, group })))
    for (const [k, { group: groupId, place: position }] of listed.entries()) {
      const storedGroup = stored[k]
      const itemId = storedGroup?.metadata?.item_id
      const group =
        storedGroup && itemId !== undefined
          ? { ref: { run, epoch, group: groupId }, task: decodeItemId(itemId).task, stored: storedGroup }
          : undefined
      yield { group, position }
      before = position
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

/** Takes at most one example of each format error from a group, so that the examples differ. */
function collectExamples(group: LoadedGroup, examplesByError: Map<string, ExampleRef[]>): void {
  const seen = new Set<string>()
  for (const [rollout, verdict] of (group.stored.result?.verdicts ?? []).entries()) {
    const fault = verdict.status === 'scored' ? verdict.fault : null
    const examples = fault === null || seen.has(fault) ? undefined : examplesByError.get(fault)
    if (fault === null || !examples || examples.length >= EXAMPLES_PER_FORMAT_ERROR) continue
    seen.add(fault)
    examples.push({ group, rollout })
  }
}

async function loadExample(
  groups: GroupRepository,
  { group, rollout }: ExampleRef,
  full: boolean,
): Promise<FormatErrorExample | undefined> {
  const { ref, task } = group
  const isWhole = full && textBytes(group) <= MAX_FULL_EXAMPLE_BYTES
  const texts = (await groups.getTexts(ref))?.rollouts[rollout]
  return texts && { group_id: ref.group, task, rollout, ...createExcerpt(completionText(texts), isWhole) }
}

async function buildRetainedGroup(
  groups: GroupRepository,
  { ref, stored }: LoadedGroup,
  full: boolean,
): Promise<RetainedGroup> {
  const { metadata, result, status } = stored
  const itemId = metadata?.item_id ?? ''
  const { task, difficulty } = decodeItemId(itemId)
  const texts = await groups.getTexts(ref)
  return {
    group_id: ref.group,
    run: ref.run,
    item_id: itemId,
    task,
    difficulty,
    ...(result
      ? { ...result, verdicts: full ? result.verdicts : result.verdicts.map(shortenVerdict) }
      : { status, destination: null }),
    policy_version: metadata?.policy_version ?? null,
    completions:
      texts?.rollouts.map((rollout, k) => ({
        ...createExcerpt(completionText(rollout), full),
        length_tokens: metadata?.rollouts[k]?.length ?? null,
        finish_reason: rollout.finish_reason ?? null,
      })) ?? null,
  }
}

/** Keeps the start and the end of a long text, because the answer is at the end. */
function createExcerpt(text: string, full: boolean): { text: string; cut: boolean } {
  if (full || text.length <= EXCERPT_CHARS) return { text, cut: false }
  const half = EXCERPT_CHARS / 2
  return { text: `${text.slice(0, half)} … ${text.slice(-half)}`.toWellFormed(), cut: true }
}

function completionText({ completion, messages }: GroupTexts['rollouts'][number]): string {
  return completion ?? getFinalText(messages ?? [])?.text ?? ''
}

function textBytes({ stored: { metadata } }: LoadedGroup): number {
  return metadata?.text_bytes ?? 0
}

type RetainedVerdict = NonNullable<RetainedGroup['verdicts']>[number]

function shortenVerdict(verdict: RetainedVerdict): RetainedVerdict {
  if (verdict.status !== 'scored' || verdict.answer === null) return verdict
  return { ...verdict, answer: createExcerpt(verdict.answer, false).text }
}
