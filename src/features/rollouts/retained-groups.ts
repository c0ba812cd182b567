/**
 * The retained groups of a run, newest, worst or best first, with filters, search, paging and examples of format faults. Their
 * texts are whole or shortened.
 */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type {
  FormatFaultExample,
  GroupFilter,
  GroupOrder,
  RetainedGroup,
  RetainedGroupPage,
} from '@reasoning-gym-server/contract/retained-group'
import pMap from 'p-map'
import { getFinalReasoning, getFinalText } from '../../grading/answer-extraction.ts'
import { splitList } from '../../platform/split-list.ts'
import type { Items } from '../items/items.ts'
import type { ResolvedRun } from '../runs/types.ts'
import type { GroupTexts } from './group-payload.ts'
import { type HardenedScores, hasPaidNotRight, type KeptGroup } from './hardened-scores.ts'
import type { GroupRef } from './records.ts'
import type { GroupRepository, StoredGroup } from './repository.ts'

const READ_CHUNK_SIZE = 50
/** Number of groups whose mean rewards are read at once. */
const SORT_CHUNK_SIZE = 1000
/** Number of groups that one call scans. A filter that matches few of them returns a cursor to continue from. */
const MAX_SCANNED_GROUPS = 1000
/** Text size at which a search ends. The answer has a cursor to continue from. */
const MAX_SEARCHED_BYTES = 32 * 1024 * 1024
/** Number of groups that a call grades to find those that are paid and not right. */
const MAX_GRADED_GROUPS = 200
/** Number of groups scanned for examples of format faults. */
const MAX_SCANNED_FOR_EXAMPLES = 300
const EXAMPLES_PER_FORMAT_FAULT = 3
/** Text size at which a page of whole texts ends. The group that exceeds it is the last one. */
const MAX_PAGE_TEXT_BYTES = 16 * 1024 * 1024
/** Number of groups whose texts are unpacked concurrently. */
const GROUPS_IN_MEMORY = 2

export interface RetainedGroupsQuery {
  filter: GroupFilter
  /** Text to find in completions and reasoning, in any case. */
  q?: string | undefined
  sort: GroupOrder
  cursor: string | undefined
  limit: number
  full: boolean
  /** Whether groups have their scores under hardened scoring, and whether the list has only those of which these reject right answers. */
  hardened: boolean
  paid_not_right: boolean
}

interface RetainedGroupsDeps {
  groups: GroupRepository
  items: Items
  hardenedScores: HardenedScores
}

/** `group` is undefined if it was deleted after it was listed. */
interface ScannedGroup {
  group: LoadedGroup | undefined
  cursor: string
}

export async function listRetainedGroups(
  { groups, hardenedScores }: RetainedGroupsDeps,
  run: ResolvedRun,
  { filter, q, sort, cursor, limit, full, hardened, paid_not_right }: RetainedGroupsQuery,
): Promise<RetainedGroupPage> {
  const page: LoadedGroup[] = []
  const counts = run.counters.format_faults
  const examplesByFault = new Map(Object.keys(counts).map((code) => [code, [] as ExampleRef[]]))
  const lowerCase = q?.toLowerCase()
  let last = cursor ?? ''
  let next: string | null = null
  let scanned = 0
  let searched = 0 // without those that are only scanned for examples
  let searchedBytes = 0
  let graded = 0
  let pageBytes = 0
  const listed: ListedGroups = {
    groups,
    run,
    sets: filter.destination === 'rewound' ? ['rewoundGroups', 'retainedGroups'] : ['retainedGroups'],
  }
  const scan = sort === 'newest' ? iterateNewestFirst(listed, cursor) : iterateByReward(listed, cursor, sort)
  for await (const { group, cursor: position } of scan) {
    const isFull = page.length === limit || (full && pageBytes > MAX_PAGE_TEXT_BYTES)
    const isFarEnough =
      scanned >= MAX_SCANNED_GROUPS || searchedBytes > MAX_SEARCHED_BYTES || graded >= MAX_GRADED_GROUPS
    if (isFull || isFarEnough) {
      next ??= last
      if (
        scanned >= MAX_SCANNED_FOR_EXAMPLES ||
        [...examplesByFault.values()].every((examples) => examples.length >= EXAMPLES_PER_FORMAT_FAULT)
      )
        break
    }
    scanned += 1
    searched += Number(next === null)
    last = position
    if (!group) continue
    collectExamples(group, examplesByFault)
    if (next !== null || !matchesFilter(group, filter)) continue
    if (lowerCase !== undefined) {
      searchedBytes += getTextBytes(group)
      group.matches = await findRollouts(groups, group.ref, lowerCase)
      if (group.matches.length === 0) continue
    }
    if (hardened || paid_not_right) group.hardened = await hardenedScores.get(run, group)
    graded += Number(paid_not_right && group.hardened !== undefined)
    if (paid_not_right && !hasPaidNotRight(group, group.hardened)) continue
    page.push(group)
    pageBytes += getTextBytes(group)
  }
  const atOnce = { concurrency: GROUPS_IN_MEMORY }
  const examples = await pMap(
    [...examplesByFault],
    async ([code, refs]) => [code, await pMap(refs, (ref) => loadExample(groups, ref, full), atOnce)] as const,
    { concurrency: 1 },
  )
  return {
    groups: await pMap(page, (group) => buildRetainedGroup(groups, group, full), atOnce),
    next_cursor: next,
    searched,
    kept: await groups.countRetained(run.name, run.epoch),
    faults: Object.fromEntries(
      examples.map(([code, loaded]) => [
        code,
        { count: counts[code] ?? 0, samples: loaded.filter((example) => example !== undefined) },
      ]),
    ),
  }
}

/** Returns one group with whole texts, and with its expected answer if `reveal` is true. Throws `unknown_group`. */
export async function getRetainedGroup(
  { groups, items, hardenedScores }: RetainedGroupsDeps,
  run: ResolvedRun,
  { group, reveal }: { group: string; reveal: boolean },
): Promise<RetainedGroup> {
  const ref = { run: run.name, epoch: run.epoch, group }
  const loaded = toLoadedGroup(ref, 0, await groups.get(ref))
  if (!loaded) throw createUnknownGroupError(ref)
  loaded.hardened = await hardenedScores.get(run, loaded)
  const [view, expected] = await Promise.all([
    buildRetainedGroup(groups, loaded, true),
    reveal ? getExpected(items, loaded.stored.metadata.item_id) : {},
  ])
  return { ...view, ...expected }
}

export function createUnknownGroupError({ run, group }: Pick<GroupRef, 'run' | 'group'>): ServiceError {
  const detail = `The run ${run} has no group ${group}, or the server no longer keeps it (keep_groups). GET /runs/{run}/groups lists those that it keeps.`
  return new ServiceError('unknown_group', detail, { missing: { kind: 'group', name: group } })
}

/** The group can be read without it, so an item that cannot be made has none. */
async function getExpected(items: Items, itemId: string): Promise<{ expected?: string | null }> {
  try {
    return { expected: (await items.getOrCreateEntry(await items.resolveItemId(itemId))).answer ?? null }
  } catch {
    return {}
  }
}

/** The groups of a run that a call lists. Those that a rewind has voided come first. */
interface ListedGroups {
  groups: GroupRepository
  run: ResolvedRun
  sets: ('rewoundGroups' | 'retainedGroups')[]
}

async function* iterateNewestFirst(
  { groups, run: { name: run, epoch }, sets }: ListedGroups,
  cursor: string | undefined,
): AsyncGenerator<ScannedGroup> {
  if (cursor?.includes('~')) throw wrongCursorError()
  let before = cursor === undefined ? Number.POSITIVE_INFINITY : Number(cursor)
  for (const set of sets) {
    let listed: Awaited<ReturnType<GroupRepository['listRetained']>>
    do {
      listed = await groups.listRetained(run, epoch, before, READ_CHUNK_SIZE, set)
      const stored = await Promise.all(listed.map(({ group }) => groups.get({ run, epoch, group })))
      for (const [k, { group: groupId, position }] of listed.entries()) {
        const group = toLoadedGroup({ run, epoch, group: groupId }, position, stored[k])
        yield { group, cursor: String(position) }
        before = position
      }
    } while (listed.length === READ_CHUNK_SIZE)
  }
}

/** Returns undefined for a group that was deleted after it was listed. */
function toLoadedGroup(ref: GroupRef, position: number, stored: StoredGroup | undefined): LoadedGroup | undefined {
  const metadata = stored?.metadata
  return stored && metadata && { ref, position, stored: { ...stored, metadata } }
}

/**
 * All groups by their mean reward; those without one come last. The cursor names the mean, negative for the best first, and the
 * position, so that the next page begins after them whatever was completed or deleted since.
 */
async function* iterateByReward(
  { groups, run: { name: run, epoch }, sets }: ListedGroups,
  cursor: string | undefined,
  sort: 'worst' | 'best',
): AsyncGenerator<ScannedGroup> {
  const last = cursor === undefined ? undefined : parseRewardCursor(cursor)
  const sign = sort === 'worst' ? 1 : -1
  const keyed: { id: string; position: number; mean: number }[] = []
  for (const set of sets) {
    for (let before = Number.POSITIVE_INFINITY; ; ) {
      const listed = await groups.listRetained(run, epoch, before, SORT_CHUNK_SIZE, set)
      const ids = listed.map(({ group }) => group)
      const means = await groups.readMeanRewards(run, epoch, ids)
      for (const [k, { group: id, position }] of listed.entries()) {
        const mean = sign * (means[k] ?? sign * Number.POSITIVE_INFINITY)
        if (!last || mean > last.mean || (mean === last.mean && position < last.position))
          keyed.push({ id, position, mean })
        before = position
      }
      if (listed.length < SORT_CHUNK_SIZE) break
    }
  }
  keyed.sort((a, b) => (a.mean === b.mean ? b.position - a.position : a.mean < b.mean ? -1 : 1))
  for (const chunk of splitList(keyed, READ_CHUNK_SIZE)) {
    const stored = await Promise.all(chunk.map(({ id }) => groups.get({ run, epoch, group: id })))
    for (const [j, { id, position, mean }] of chunk.entries())
      yield { group: toLoadedGroup({ run, epoch, group: id }, position, stored[j]), cursor: `${mean}~${position}` }
  }
}

function parseRewardCursor(cursor: string): { mean: number; position: number } {
  const [mean, position] = cursor.split('~')
  if (position === undefined) throw wrongCursorError()
  return { mean: Number(mean), position: Number(position) }
}

function wrongCursorError(): ServiceError {
  return new ServiceError('invalid_request', 'The cursor belongs to another order. Start again without a cursor.')
}

function matchesFilter({ stored: { result, metadata } }: LoadedGroup, filter: GroupFilter): boolean {
  const verdicts = result?.verdicts ?? []
  return (
    (filter.task === undefined || filter.task === metadata.recipe.task) &&
    isInRange(metadata.policy_version, filter) &&
    (filter.destination === undefined || filter.destination === result?.destination) &&
    (filter.fault === undefined || verdicts.some((v) => v.status === 'scored' && v.fault === filter.fault)) &&
    (filter.min_reward === undefined ||
      verdicts.some(({ reward }) => reward !== null && reward >= (filter.min_reward ?? 0)))
  )
}

function isInRange(version: number | null, { step, last_step: last = step }: GroupFilter): boolean {
  return step === undefined || (version !== null && version >= step && version <= (last ?? step))
}

/** Takes at most one example of each format fault from a group, so that the examples differ. */
function collectExamples(group: LoadedGroup, examplesByFault: Map<string, ExampleRef[]>): void {
  const seen = new Set<string>()
  for (const [rollout, verdict] of (group.stored.result?.verdicts ?? []).entries()) {
    const fault = verdict.status === 'scored' ? verdict.fault : null
    const examples = fault === null || seen.has(fault) ? undefined : examplesByFault.get(fault)
    if (fault === null || !examples || examples.length >= EXAMPLES_PER_FORMAT_FAULT) continue
    seen.add(fault)
    examples.push({ group, rollout })
  }
}

const EXCERPT_CHARS = 300
/** Size above which examples are cut even if whole texts are requested, because a page has dozens of them. */
const MAX_FULL_EXAMPLE_BYTES = 1024 * 1024

interface LoadedGroup extends KeptGroup {
  /** Number of the group in order of completion. */
  position: number
  matches?: number[]
  hardened?: (number | null)[] | undefined
}

interface ExampleRef {
  group: LoadedGroup
  rollout: number
}

async function buildRetainedGroup(
  groups: GroupRepository,
  { ref, stored, matches, hardened }: LoadedGroup,
  full: boolean,
): Promise<RetainedGroup> {
  const { metadata, result, status } = stored
  const { task, difficulty } = metadata.recipe
  const texts = await groups.getTexts(ref)
  return {
    group_id: ref.group,
    run: ref.run,
    item_id: metadata.item_id,
    task,
    difficulty,
    ...(result
      ? { ...result, verdicts: full ? result.verdicts : result.verdicts.map(shortenVerdict) }
      : { status, destination: null }),
    policy_version: metadata.policy_version,
    completions:
      texts?.rollouts.map((rollout, k) => {
        const reasoning = full ? getReasoning(rollout) : undefined
        return {
          ...createExcerpt(getCompletionText(rollout), full),
          length_tokens: metadata.rollouts[k]?.length ?? null,
          finish_reason: rollout.finish_reason ?? null,
          ...(reasoning !== undefined && { reasoning }),
        }
      }) ?? null,
    common_answer: findCommonAnswer(result?.verdicts ?? []),
    ...(matches && { matches }),
    ...(hardened && { hardened_scores: hardened }),
  }
}

/** Counts the whole answers, because those that are shortened may look alike. */
function findCommonAnswer(verdicts: readonly RetainedVerdict[]): RetainedGroup['common_answer'] {
  const answers = verdicts.flatMap((verdict) => (verdict.status === 'scored' ? (verdict.answer?.trim() ?? []) : []))
  const counts = Map.groupBy(answers, (answer) => answer)
  const [top] = [...counts].toSorted(([, a], [, b]) => b.length - a.length)
  return top ? { text: createExcerpt(top[0], false).text, count: top[1].length } : null
}

async function loadExample(
  groups: GroupRepository,
  { group, rollout }: ExampleRef,
  full: boolean,
): Promise<FormatFaultExample | undefined> {
  const { ref, stored } = group
  const isWhole = full && getTextBytes(group) <= MAX_FULL_EXAMPLE_BYTES
  const texts = (await groups.getTexts(ref))?.rollouts[rollout]
  return (
    texts && {
      group_id: ref.group,
      task: stored.metadata.recipe.task,
      rollout,
      ...createExcerpt(getCompletionText(texts), isWhole),
    }
  )
}

/** Positions of the rollouts whose completion or reasoning contains `lowerCase`. */
async function findRollouts(groups: GroupRepository, ref: GroupRef, lowerCase: string): Promise<number[]> {
  const rollouts = (await groups.getTexts(ref))?.rollouts ?? []
  const contains = (text: string | undefined) => text?.toLowerCase().includes(lowerCase) === true
  return rollouts.flatMap((rollout, k) =>
    contains(getCompletionText(rollout)) || contains(getReasoning(rollout)) ? [k] : [],
  )
}

function getTextBytes({ stored: { metadata } }: LoadedGroup): number {
  return metadata.text_bytes
}

/** Keeps the start and the end of a long text, because the answer is at the end. */
function createExcerpt(text: string, full: boolean): { text: string; cut: boolean } {
  if (full || text.length <= EXCERPT_CHARS) return { text, cut: false }
  const half = EXCERPT_CHARS / 2
  return { text: `${text.slice(0, half)} … ${text.slice(-half)}`.toWellFormed(), cut: true }
}

function getCompletionText({ completion, messages, turns }: GroupTexts['rollouts'][number]): string {
  return completion ?? turns?.at(-1) ?? getFinalText(messages ?? [])?.text ?? ''
}

function getReasoning({ messages }: GroupTexts['rollouts'][number]): string | undefined {
  return messages && getFinalReasoning(messages)
}

type RetainedVerdict = NonNullable<RetainedGroup['verdicts']>[number]

function shortenVerdict(verdict: RetainedVerdict): RetainedVerdict {
  if (verdict.status !== 'scored' || verdict.answer === null) return verdict
  return { ...verdict, answer: createExcerpt(verdict.answer, false).text }
}
