/** Builds the validation of a task: its truth table and the report of RFC 008, from measured figures. */
import type { CheckResult, TaskValidation, ValidationReport } from '@reasoning-gym-server/contract/validation'
import { RUNG_CHECKS, type Scoring, SKIPPED_CHECKS, TASK_CHECKS, type ValidatedRung, WARNING_CHECKS } from './checks.ts'
import type { MeasuredTask } from './figures.ts'
import { buildTruthTable } from './truth-table.ts'

export interface ValidationInput {
  task: string
  /** Version of the library, or of the code of a custom task. */
  version: string
  scoring: Scoring
  /** The defaults first. */
  rungs: readonly ValidatedRung[]
  measured: MeasuredTask | undefined
  /** Digests that another machine found, by the hash of the config. */
  digestsElsewhere?: ReadonlyMap<string, string>
  /** Seconds that all of it took. */
  seconds?: number
}

const NOT_MEASURED = 'Not measured: `reasoning-gym-server validate --path FOLDER` measures custom tasks.'

export function buildValidation(input: ValidationInput): TaskValidation {
  const { task, scoring, measured } = input
  const results = [
    ...Object.entries(SKIPPED_CHECKS).map(([id, reason]) => skip(id, reason)),
    pinDistribution(input),
    compareHosts(input),
    ...Object.keys(RUNG_CHECKS).map((id) => checkRungs(id, input)),
    ...Object.keys(TASK_CHECKS).map((id) => checkTask(id, input)),
  ].map((result) => ({ ...result, duration_s: result.status === 'skip' ? 0 : (input.seconds ?? 0) }))
  return {
    task,
    scoring,
    truth_table: measured
      ? { upstream: buildTruthTable(measured.truth, 'upstream'), hardened: buildTruthTable(measured.truth, 'hardened') }
      : null,
    report: {
      report_schema_version: '2',
      target: task,
      source_digest: `${input.version}:${input.rungs.map(({ measured }) => measured?.digest ?? '-').join(',')}`,
      signature: 'openenv.yaml',
      manifest: null,
      policy_version: 'v2',
      lane: 'hub',
      levels_run: [1, 2, 3, 4],
      results: results.toSorted((a, b) => (a.check_id < b.check_id ? -1 : 1)),
      verdict: applyPolicy(results),
    },
  }
}

/** As OpenEnv's policy does. */
function applyPolicy(results: readonly CheckResult[]): ValidationReport['verdict'] {
  const isFailure = ({ status, check_id }: CheckResult) =>
    status === 'error' || (status === 'fail' && !WARNING_CHECKS.has(check_id))
  if (results.some(isFailure)) return 'fail'
  return results.every(({ status }) => status === 'pass') ? 'pass' : 'warn'
}

function checkRungs(id: string, { rungs, scoring }: ValidationInput): CheckResult {
  const { what, min, max, value, remediation } = RUNG_CHECKS[id] as (typeof RUNG_CHECKS)[string] // the caller lists them
  const figures = rungs.flatMap((rung) => {
    const figure = value(rung, scoring)
    return figure === undefined || Number.isNaN(figure) ? [] : [{ difficulty: rung.difficulty, value: round(figure) }]
  })
  if (figures.length === 0) return skip(id, NOT_MEASURED)
  const bad = figures.filter((figure) => !isWithin(figure.value, { min, max }))
  const measured = { ...(min !== undefined && { min }), ...(max !== undefined && { max }), rungs: figures }
  const places = bad.map(
    ({ difficulty, value }) => `${value} at ${difficulty === null ? 'the defaults' : difficulty.toFixed(2)}`,
  )
  const found = bad.length === 0 ? `within the bound on all ${figures.length}` : `${places.slice(0, 5).join(', ')}`
  return assess(id, bad.length === 0, measured, `${what}: ${found}.`, remediation)
}

function checkTask(id: string, { task, measured, scoring, rungs }: ValidationInput): CheckResult {
  const { what, min, max, values, remediation } = TASK_CHECKS[id] as (typeof TASK_CHECKS)[string] // the caller lists them
  if (!measured) return skip(id, NOT_MEASURED)
  const figures = values(measured, scoring, { task, rungs })
  if (typeof figures === 'string') return skip(id, figures)
  const rounded = Object.fromEntries(Object.entries(figures).map(([name, figure]) => [name, round(figure)]))
  const [first = 0] = Object.values(rounded)
  const bound = { ...(min !== undefined && { min }), ...(max !== undefined && { max }) }
  return assess(id, isWithin(first, bound), { ...bound, ...rounded }, `${what}: ${first}.`, remediation)
}

/** The digest of each rung is what a later measurement is compared with. */
function pinDistribution({ rungs, version }: ValidationInput): CheckResult {
  const id = 'static.task_distribution_pinning'
  if (rungs.every(({ measured }) => !measured)) return skip(id, NOT_MEASURED)
  const pinned = rungs.map(({ difficulty, measured }) => ({ difficulty, digest: measured?.digest ?? null }))
  const evidence = `The items follow from seed, config and version ${version}; the digests are of the first items of each rung.`
  return assess(id, true, { version, rungs: pinned }, evidence, '')
}

function compareHosts({ rungs, digestsElsewhere }: ValidationInput): CheckResult {
  const id = 'hub.cross_host_determinism'
  const compared = rungs.flatMap(({ measured, difficulty }) => {
    const other = measured && digestsElsewhere?.get(measured.config)
    return measured && other ? [{ difficulty, value: Number(measured.digest !== other) }] : []
  })
  if (compared.length === 0)
    return skip(
      id,
      'The digests are of one machine: `reasoning-gym-server validate --task TASK --measure` compares them with yours.',
    )
  const different = compared.filter(({ value }) => value > 0).length
  const evidence = `Rungs whose items differ from those of the machine that recorded the figures: ${different}.`
  return assess(
    id,
    different === 0,
    { max: 0, rungs: compared },
    evidence,
    'Make items without the state of the machine.',
  )
}

function isWithin(value: number, { min, max }: { min?: number | undefined; max?: number | undefined }): boolean {
  return value >= (min ?? Number.NEGATIVE_INFINITY) && value <= (max ?? Number.POSITIVE_INFINITY)
}

function assess(
  check_id: string,
  isPassed: boolean,
  measured: CheckResult['measured'],
  evidence: string,
  remediation: string,
): CheckResult {
  const status = isPassed ? 'pass' : 'fail'
  return { check_id, status, measured, evidence: [evidence], remediation: isPassed ? null : remediation, duration_s: 0 }
}

function skip(check_id: string, reason: string): CheckResult {
  return { check_id, status: 'skip', measured: {}, evidence: [reason], remediation: null, duration_s: 0 }
}

const round = (value: number) => Number(value.toFixed(4))
