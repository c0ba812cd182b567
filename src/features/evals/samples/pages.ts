/** Selects the samples of an eval: filters, full-text search, order, pages, single samples and their expected answers. */

import type { Caller } from '@reasoning-gym-server/contract/caller'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { EvalSample, EvalSamplePage, SampleFilter, SampleOrder } from '@reasoning-gym-server/contract/eval-sample'
import { isActive } from '@reasoning-gym-server/contract/generation-job'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import { isCorrect } from '@reasoning-gym-server/contract/verdict'
import { isCutOff } from '../../../grading/finish-reason.ts'
import type { EvalParts } from '../job-items.ts'
import type { JobOfKind } from '../records.ts'
import type { SuiteItem } from '../suites.ts'
import { decodeSampleOutput, StoredSampleVerdict } from './output.ts'
import type { SampleRepository } from './repository.ts'
import { buildEvalSample } from './stream.ts'

const VERDICTS_PER_READ = 500
/** Number of samples that one call examines at most. */
const MAX_EXAMINED = 20_000
/** Number of samples that `worst` sorts. It reads all their verdicts for every page. */
const MAX_SORTED = 50_000
/** Size of the outputs after which a search ends. The answer has a cursor to continue from. */
const MAX_SEARCHED_BYTES = 32 * 1024 * 1024
const OUTPUTS_PER_READ = 25
/** Size of the outputs after which a page ends, however many samples it has. */
const MAX_PAGE_BYTES = 2 * 1024 * 1024

export interface SamplePageQuery extends SampleFilter {
  sort: SampleOrder
  cursor?: string | undefined
  limit: number
  expected: boolean
}

/** A sample with its verdict. The output is read later, for those that are needed. */
interface Candidate {
  sample: number
  verdict: StoredSampleVerdict | null
}

export async function listSamplePage(
  deps: EvalParts,
  job: JobOfKind<'eval'>,
  query: SamplePageQuery,
  caller: Caller,
): Promise<EvalSamplePage> {
  const { openItems, samples } = deps
  if (query.expected) assertMayExpect(job, caller)
  const items = openItems(job)
  const lowerCase = query.q?.toLowerCase()
  const found: EvalSample[] = []
  let last: string | null = null
  let examined = 0
  let searchedBytes = 0
  let pageBytes = 0
  for await (const chunk of iterateCandidates(samples, job, query)) {
    const chosen = await items.at(chunk.map(({ sample }) => sample))
    for (let from = 0; from < chunk.length; from += OUTPUTS_PER_READ) {
      const part = chunk.slice(from, from + OUTPUTS_PER_READ).map((candidate, k) => {
        const item = chosen[from + k]
        const isFitting = item !== undefined && matchesFilter(candidate, item, query)
        return { ...candidate, item: isFitting ? item : undefined }
      })
      const wanted = part.flatMap(({ sample, item }) => (item ? [sample] : []))
      const outputs = new Map<number, Buffer | null>()
      for (const [k, output] of (await samples.getOutputs(job.id, wanted)).entries())
        outputs.set(wanted[k] ?? -1, output)
      for (const { sample, verdict, item } of part) {
        const isFull = found.length === query.limit || pageBytes > MAX_PAGE_BYTES
        if (isFull || examined >= MAX_EXAMINED || searchedBytes > MAX_SEARCHED_BYTES)
          return { samples: found, next_cursor: last, searched: examined, total: job.total }
        examined += 1
        last = `s${sample}`
        if (!item) continue
        const { output, bytes = 0 } = decodeSampleOutput(outputs.get(sample)) ?? {}
        if (lowerCase !== undefined) searchedBytes += bytes
        const built = buildEvalSample(sample, item.id, verdict, output)
        if (lowerCase !== undefined && !containsText(built, lowerCase)) continue
        pageBytes += bytes
        found.push(query.expected ? { ...built, ...(await loadExpected(deps, job, item, verdict, caller)) } : built)
      }
    }
  }
  return { samples: found, next_cursor: null, searched: examined, total: job.total }
}

/** Returns one sample, with its expected answer if the caller may see it. Throws `not_found`. */
export async function getSample(
  deps: EvalParts,
  job: JobOfKind<'eval'>,
  sampleId: string,
  caller: Caller,
): Promise<EvalSample> {
  const { openItems, samples } = deps
  const sample = Number(sampleId.slice(1))
  const [item] = sample < job.total ? await openItems(job).at([sample]) : []
  if (!item)
    throw new ServiceError(
      'not_found',
      `This eval has no sample ${sampleId}, or the server no longer keeps its samples. GET /eval/{id}/samples lists them.`,
    )
  const [[verdict = null], output] = await Promise.all([
    samples.listVerdictsOf(StoredSampleVerdict, job.id, [sample]),
    samples.getOutput(job.id, sample),
  ])
  const expected = mayExpect(job, caller, verdict) ? await loadExpected(deps, job, item, verdict, caller) : {}
  return { ...buildEvalSample(sample, item.id, verdict, decodeSampleOutput(output)?.output), ...expected }
}

/**
 * Whether a caller may see the expected answer of a sample: an admin always, others once the eval is over. A sample
 * without a score may be requested once more when the eval is resumed, so its answer stays hidden.
 */
function mayExpect(
  { status }: Pick<JobOfKind<'eval'>, 'status'>,
  { role }: Pick<Caller, 'role'>,
  verdict: StoredSampleVerdict | null,
): boolean {
  return role === 'admin' || (!isActive(status) && verdict !== null && verdict.score !== null)
}

function assertMayExpect({ status }: JobOfKind<'eval'>, { role }: Caller): void {
  if (role !== 'admin' && isActive(status))
    throw new ServiceError(
      'forbidden',
      'Expected answers are shown once the eval is over, or to the role admin. Leave out `expected` until then.',
    )
}

/** An item that cannot be made, or differs from the frozen one, has no expected answer. */
async function loadExpected(
  { suites }: EvalParts,
  job: JobOfKind<'eval'>,
  item: SuiteItem,
  verdict: StoredSampleVerdict | null,
  caller: Caller,
): Promise<{ expected?: string | null }> {
  if (!mayExpect(job, caller, verdict)) return {}
  try {
    return { expected: (await suites.getOrCreateItem(item)).entry.answer ?? null }
  } catch {
    return {}
  }
}

function matchesFilter({ verdict }: Candidate, { id }: SuiteItem, { task, show }: SampleFilter): boolean {
  return matchesShow(verdict, show) && (task === undefined || decodeItemId(id).task === task)
}

function matchesShow(verdict: StoredSampleVerdict | null, show: SampleFilter['show']): boolean {
  const score = verdict?.score ?? null
  switch (show) {
    case 'all':
      return true
    case 'right':
      return score !== null && isCorrect(score)
    case 'wrong':
      return score !== null && !isCorrect(score)
    case 'faults':
      return (verdict?.fault ?? null) !== null
    case 'truncated':
      return isCutOff(verdict?.finish_reason)
    case 'unscored':
      return score === null
  }
}

function containsText({ completion, reasoning, messages }: EvalSample, lowerCase: string): boolean {
  const texts = [completion, reasoning, completion === null && messages ? JSON.stringify(messages) : undefined]
  return texts.some((text) => text?.toLowerCase().includes(lowerCase))
}

async function* iterateCandidates(
  samples: SampleRepository,
  job: JobOfKind<'eval'>,
  { sort, cursor }: SamplePageQuery,
): AsyncGenerator<Candidate[]> {
  const after = cursor === undefined ? -1 : Number(cursor.slice(1))
  if (sort === 'suite') {
    yield* iterateVerdicts(samples, job, after + 1, job.total)
    return
  }
  const all: Candidate[] = []
  for await (const chunk of iterateVerdicts(samples, job, 0, Math.min(job.total, MAX_SORTED))) all.push(...chunk)
  all.sort((a, b) => rank(a) - rank(b) || a.sample - b.sample)
  const start = all.findIndex(({ sample }) => sample === after) + 1
  for (let from = start; from < all.length; from += VERDICTS_PER_READ) yield all.slice(from, from + VERDICTS_PER_READ)
}

/** Lowest score first, then samples without a score, then missing ones. */
function rank({ verdict }: Candidate): number {
  return verdict === null ? 1e9 : (verdict.score ?? 1e8)
}

async function* iterateVerdicts(
  samples: SampleRepository,
  { id }: JobOfKind<'eval'>,
  start: number,
  end: number,
): AsyncGenerator<Candidate[]> {
  for (let from = start; from < end; from += VERDICTS_PER_READ) {
    const verdicts = await samples.listVerdicts(StoredSampleVerdict, id, from, Math.min(end, from + VERDICTS_PER_READ))
    yield verdicts.map((verdict, k) => ({ sample: from + k, verdict }))
  }
}
