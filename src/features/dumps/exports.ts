/**
 * Exports a run's rollouts as training data. Its groups come first from the dump files of this server, then from Redis if
 * they are only there. A first pass over all groups selects the rollouts; a second one writes them. Every line has the same
 * columns with the same types, and no value is null, so that Arrow and its users (datasets, pandas, polars) infer the same
 * schema from any first line.
 */

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { formatJsonLine, readLines } from '@reasoning-gym-server/codec/json-lines'
import { type DumpFile, parseDumpFileName } from '@reasoning-gym-server/contract/dump'
import { isTemporaryFailure, ServiceError } from '@reasoning-gym-server/contract/errors'
import type { ExportManifest, ExportParams } from '@reasoning-gym-server/contract/export'
import { encodeItemId } from '@reasoning-gym-server/contract/item-id'
import type { Message } from '@reasoning-gym-server/contract/rollout'
import type { RunCondition } from '@reasoning-gym-server/contract/run'
import { pMapIterable } from 'p-map'
import type { Logger } from 'pino'
import { ENGINE_VERSION } from '../../engine/version.ts'
import { VERSION } from '../../platform/installation.ts'
import { redisNow } from '../../platform/redis/redis-clock.ts'
import type { Items } from '../items/items.ts'
import type { GroupRepository } from '../rollouts/repository.ts'
import type { Runs } from '../runs/runs.ts'
import type { ResolvedRun } from '../runs/types.ts'
import type { DumpFiles } from './dump-files.ts'
import type { DumpFolder } from './dump-folder.ts'
import { buildDumpedGroup, type DumpedGroup, type DumpedRollout, toFloatJson } from './dump-record.ts'

export class Exports {
  readonly #deps: ExportsDeps

  constructor(parts: ExportsDeps) {
    this.#deps = parts
  }

  /** Throws `unknown_run` and `run_recreated` before the first line. The lines end with the reason of the signal once it aborts. */
  async openLines(runName: string, params: ExportParams, options: ExportOptions): Promise<AsyncGenerator<string>> {
    return this.#streamLines(await this.#deps.runs.require(runName, options.condition), params, options.signal)
  }

  async *#streamLines(run: ResolvedRun, params: ExportParams, signal: AbortSignal): AsyncGenerator<string> {
    const { here } = await listRolloutFiles(this.#deps.files, run)
    const source = { run, kind: params.source, files: here, signal }
    const { selections } = await selectRollouts(streamSourcedGroups(this.#deps, source), params)
    for await (const { sourceKey, group } of streamSourcedGroups(this.#deps, source)) {
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
  async buildManifest(runName: string, params: ExportParams, options: ExportOptions): Promise<ExportManifest> {
    const run = await this.#deps.runs.require(runName, options.condition)
    const { here, elsewhere } = await listRolloutFiles(this.#deps.files, run)
    const files = params.source === 'kept' ? { here: [], elsewhere: [] } : { here, elsewhere }
    const source = { run, kind: params.source, files: files.here, signal: options.signal }
    const { lines, groups } = await selectRollouts(streamSourcedGroups(this.#deps, source), params)
    const { system_prompt, system_prompt_role, clarify } = run.settings
    return {
      run: run.name,
      run_uuid: run.incarnation,
      created_at: new Date(redisNow()).toISOString(),
      server: VERSION,
      engine: { library: 'reasoning-gym', version: ENGINE_VERSION },
      ask: params,
      prompt: { system_prompt, system_prompt_role, clarify },
      settings: run.settings,
      groups_read: groups,
      lines,
      files: files.here.map(({ name }) => name),
      files_elsewhere: files.elsewhere.map(({ name, node }) => ({ name, node })),
    }
  }
}

const GROUPS_PER_PAGE = 50
/** Number of groups unpacked concurrently, since a group may have 64 MB of text. */
const GROUPS_IN_MEMORY = 2

interface ExportOptions {
  condition?: RunCondition | undefined
  /** Aborts when the client has left: a pass over all dump files may take minutes. */
  signal: AbortSignal
}

interface ExportsDeps {
  files: DumpFiles
  folder: DumpFolder
  runs: Runs
  groups: GroupRepository
  items: Items
  log: Logger
}

/** A group with its source, which identifies it in a second pass. */
interface SourcedGroup {
  sourceKey: string
  group: DumpedGroup
}

/** Lists the rollout files of the run, without those of failed groups. */
async function listRolloutFiles(
  dumpFiles: DumpFiles,
  run: ResolvedRun,
): Promise<{ here: DumpFile[]; elsewhere: DumpFile[] }> {
  const files = (await dumpFiles.listFiles(run.name)).filter(({ name, kind }) => {
    return kind === 'rollouts' && parseDumpFileName(name)?.uuid === run.incarnation
  })
  return { here: files.filter(({ here }) => here), elsewhere: files.filter(({ here }) => !here) }
}

interface ExportSource {
  run: ResolvedRun
  kind: ExportParams['source']
  files: DumpFile[]
  signal: AbortSignal
}

async function* streamSourcedGroups(deps: ExportsDeps, source: ExportSource): AsyncGenerator<SourcedGroup> {
  const { run, kind, files, signal } = source
  const seen = new Set<string>()
  if (kind !== 'kept') {
    for (const { name } of files) {
      for await (const { line, group } of streamGroupsFromFile(deps, name)) {
        signal.throwIfAborted()
        if (kind === 'all') seen.add(identify(group))
        yield { sourceKey: `${name} ${line}`, group }
      }
    }
  }
  if (kind === 'dumps') return
  for await (const group of streamRetainedGroups(deps, run)) {
    signal.throwIfAborted()
    if (!seen.has(identify(group))) yield { sourceKey: `kept ${group.group_id}`, group }
  }
}

/** Tells a group from another one of its ID: a rewind frees the IDs of groups whose lines stay in dump files. */
function identify(group: DumpedGroup): string {
  const contents = group.rollouts.map(({ conversation }) => conversation.at(-1)?.content)
  return shortHash(JSON.stringify([group.group_id, buildSharedColumns(group).item_id, contents]))
}

/** Leaves out a line that something has damaged. Its group comes from Redis if it is still there. */
async function* streamGroupsFromFile(
  { folder, log }: ExportsDeps,
  name: string,
): AsyncGenerator<{ line: number; group: DumpedGroup }> {
  const file = await folder.getFile(name)
  if (!file) return // deleted in the meantime
  let line = 0
  for await (const text of readLines(createReadStream(file.path))) {
    line += 1
    const group = parseDumpLine(text)
    if (group) yield { line, group }
    else log.warn({ file: file.path, line }, 'An export left out a damaged line of a dump file')
  }
}

function parseDumpLine(line: string): DumpedGroup | undefined {
  try {
    const group = JSON.parse(line) as DumpedGroup // written by encodeDumpLine
    return typeof group.group_id === 'string' && Array.isArray(group.rollouts) ? group : undefined
  } catch {
    return undefined
  }
}

async function* streamRetainedGroups({ groups, items }: ExportsDeps, run: ResolvedRun): AsyncGenerator<DumpedGroup> {
  const { name, epoch, settings } = run
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    const listed = await groups.listRetained(name, epoch, before, GROUPS_PER_PAGE)
    const dumped = pMapIterable(
      listed,
      async ({ group }): Promise<DumpedGroup | undefined> => {
        const ref = { run: name, epoch, group }
        const [stored, texts] = await Promise.all([groups.get(ref), groups.getTexts(ref)])
        if (stored?.status !== 'scored' || !stored.metadata || !stored.result || !texts) return undefined
        const { metadata, result } = stored
        const recipe = await items.resolveItemId(metadata.item_id).catch(ignoreUnknownItem)
        if (!recipe) return undefined
        const prompt = await items.buildMessages(recipe, settings)
        return buildDumpedGroup(
          { ref, metadata: { ...metadata, recipe }, texts, result },
          prompt,
          settings.retry_prompt,
        )
      },
      { concurrency: GROUPS_IN_MEMORY },
    )
    for await (const group of dumped) if (group) yield group
    const last = listed.at(-1)
    if (!last || listed.length < GROUPS_PER_PAGE) return
    before = last.position
  }
}

/** Of another version of the library, or of a custom task that is gone or has other code: its prompt cannot be made again. */
function ignoreUnknownItem(error: unknown): undefined {
  if (!(error instanceof ServiceError) || isTemporaryFailure(error)) throw error
}

/** Indexes of rollouts in their group: a single one for a chat line, or chosen and rejected ones for a pair. */
type RolloutSelection = [index: number] | [chosen: number, rejected: number]

interface Candidate {
  sourceKey: string
  selection: RolloutSelection
  reward: number
  /** Reward of the chosen rollout minus that of the rejected one, for a pair. */
  margin: number
  /** Hash of the conversations, to find duplicates. */
  contentHash: string
}

interface ExportSelection {
  /** Selections, keyed by the source key of the group. */
  selections: Map<string, RolloutSelection[]>
  lines: number
  groups: number
}

/** Selects rollouts. Holds up to `max_per_item` candidates per item in memory, but no texts. */
async function selectRollouts(source: AsyncIterable<SourcedGroup>, params: ExportParams): Promise<ExportSelection> {
  const items = new Map<string, Candidate[]>()
  let groups = 0
  for await (const { sourceKey, group } of source) {
    groups += 1
    const candidates = listCandidates(sourceKey, group, params)
    if (candidates.length === 0) continue
    const { task, config, seed, index } = group.recipe
    const item = shortHash(JSON.stringify([task, config, seed, index]))
    items.set(item, selectTopCandidates([...(items.get(item) ?? []), ...candidates], params))
  }
  const selections = new Map<string, RolloutSelection[]>()
  const seen = new Set<string>()
  let lines = 0
  for (const candidate of [...items.values()].flat()) {
    if (params.dedupe && seen.has(candidate.contentHash)) continue
    seen.add(candidate.contentHash)
    selections.set(candidate.sourceKey, [...(selections.get(candidate.sourceKey) ?? []), candidate.selection])
    lines += 1
  }
  return { selections, lines, groups }
}

function listCandidates(
  sourceKey: string,
  { rollouts }: DumpedGroup,
  { format, min_reward }: ExportParams,
): Candidate[] {
  if (format === 'dpo') {
    const pair = selectBestAndWorst(rollouts)
    if (!pair) return []
    const [chosen, rejected] = pair.map((index) => rollouts[index])
    if (!chosen || !rejected || chosen.score < min_reward) return []
    return [
      {
        sourceKey,
        selection: pair,
        reward: chosen.score,
        margin: chosen.score - rejected.score,
        contentHash: shortHash(JSON.stringify([chosen.conversation, rejected.conversation])),
      },
    ]
  }
  return rollouts.flatMap(({ score, conversation }, index): Candidate[] => {
    if (score < min_reward) return []
    return [
      {
        sourceKey,
        selection: [index],
        reward: score,
        margin: 0,
        contentHash: shortHash(JSON.stringify(conversation)),
      },
    ]
  })
}

/**
 * Returns undefined if all rewards are equal. Among the highest rewards it selects the shortest rollout, among the
 * lowest the first one.
 */
function selectBestAndWorst(rollouts: DumpedRollout[]): [number, number] | undefined {
  const indexes = [...rollouts.keys()].filter((k) => splitConversation(rollouts[k]?.conversation ?? [])[1].length > 0)
  const reward = (k: number) => rollouts[k]?.score ?? 0
  const length = (k: number) => rollouts[k]?.length_tokens ?? Number.POSITIVE_INFINITY
  const [best] = indexes.toSorted((a, b) => reward(b) - reward(a) || compareNumbers(length(a), length(b)) || a - b)
  const [worst] = indexes.toSorted((a, b) => reward(a) - reward(b) || a - b)
  if (best === undefined || worst === undefined || reward(best) <= reward(worst)) return undefined
  return haveSamePrompt(rollouts[best], rollouts[worst]) ? [best, worst] : undefined
}

/**
 * Whether two rollouts have the same prompt. Submitted conversations may differ in it; such a pair compares nothing.
 */
function haveSamePrompt(a: DumpedRollout | undefined, b: DumpedRollout | undefined): boolean {
  return (
    JSON.stringify(splitConversation(a?.conversation ?? [])[0]) ===
    JSON.stringify(splitConversation(b?.conversation ?? [])[0])
  )
}

function selectTopCandidates(candidates: Candidate[], { max_per_item, dedupe }: ExportParams): Candidate[] {
  const sorted = candidates.toSorted((a, b) => b.reward - a.reward || b.margin - a.margin)
  const seen = new Set<string>()
  const distinct = dedupe
    ? sorted.filter(({ contentHash }) => {
        const isNew = !seen.has(contentHash)
        seen.add(contentHash)
        return isNew
      })
    : sorted
  return distinct.slice(0, max_per_item)
}

function compareNumbers(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('base64').slice(0, 22)
}

/** Encodes the conversational form that trainers read: `messages`. */
function encodeSftLine(group: DumpedGroup, rollout: DumpedRollout): string {
  const { conversation, score, raw_score } = rollout
  return formatJsonLine({
    messages: conversation,
    reward: toFloatJson(score),
    score: toFloatJson(raw_score),
    ...buildSharedColumns(group),
  })
}

/** Encodes the conversational form of preferences: `prompt`, `chosen`, `rejected`. */
function encodeDpoLine(group: DumpedGroup, chosen: DumpedRollout, rejected: DumpedRollout): string {
  const [prompt, better] = splitConversation(chosen.conversation)
  const [, worse] = splitConversation(rejected.conversation)
  return formatJsonLine({
    prompt,
    chosen: better,
    rejected: worse,
    chosen_reward: toFloatJson(chosen.score),
    rejected_reward: toFloatJson(rejected.score),
    ...buildSharedColumns(group),
  })
}

/** Splits a conversation into the prompt and the response, which starts with the first message of the assistant. */
function splitConversation(conversation: Message[]): [prompt: Message[], response: Message[]] {
  const at = conversation.findIndex(({ role }) => role === 'assistant')
  return at < 0 ? [conversation, []] : [conversation.slice(0, at), conversation.slice(at)]
}

/** The recipe is stored as text, because the fields of its config differ between tasks. */
function buildSharedColumns({ item_id, group_id, run, recipe }: DumpedGroup) {
  const id = encodeItemId({ ...recipe, difficulty: recipe.difficulty ?? null })
  return { task: item_id, item_id: id, group_id, run, recipe: JSON.stringify(recipe) }
}
