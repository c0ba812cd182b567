/** The validation of a task: the checks of OpenEnv's RFC 008, and the truth table of the verifier. */
import { z } from 'zod'
import { Count, JsonObject, NullableText, Share } from './common.ts'

export const RateInterval = z
  .strictObject({
    rate: Share.describe('Share of the answers that the verifier calls correct.'),
    low: Share.describe('Lower end of the 95% Wilson interval.'),
    high: Share.describe('Upper end of the interval.'),
    n: Count.describe('Number of answers.'),
  })
  .meta({ id: 'RateInterval', description: 'A measured share with its interval.' })
export type RateInterval = z.infer<typeof RateInterval>

export const TruthTable = z
  .strictObject({
    true_positive_rate: RateInterval.describe('Of correct answers.'),
    false_positive_rate: RateInterval.describe('Of wrong answers.'),
    youden_j: z
      .strictObject({
        value: z.number().min(-1).max(1).describe('True positive rate minus false positive rate.'),
        low: z.number().min(-1).max(1).describe('Lower end of the 95% Newcombe interval.'),
        high: z.number().min(-1).max(1).describe('Upper end of the interval.'),
      })
      .describe('Youden’s J. Rewards point the right way if it is above 0, and without noise if it is 1.'),
    by_kind: z
      .strictObject({
        reference: RateInterval.describe('The library’s own answers.'),
        reworded: RateInterval.describe('The same in other words, or other correct answers.'),
        mutated: RateInterval.describe('Near misses, wrong by construction.'),
        unsolved: RateInterval.describe('Blanks, constants and echoes of the question.'),
      })
      .describe('The same shares for each kind of answer.'),
  })
  .meta({ id: 'TruthTable', description: 'How a scoring mode scores answers whose label is known.' })
export type TruthTable = z.infer<typeof TruthTable>

export const CheckStatus = z
  .enum(['pass', 'fail', 'skip', 'error'])
  .meta({ id: 'CheckStatus', description: 'Outcome of one check.' })
export type CheckStatus = z.infer<typeof CheckStatus>

export const CheckResult = z
  .strictObject({
    check_id: z
      .string()
      .regex(/^[a-z_]+\.[a-z_]+$/)
      .describe('ID of the check in RFC 008, such as `semantic.oracle_max`.'),
    status: CheckStatus.describe('`skip`: does not apply or was not measured; `evidence` has the reason.'),
    measured: JsonObject.describe('Measured figures; `rungs` has those of the defaults and of each rung.'),
    evidence: z.array(z.string()).describe('Sentences that explain the status.'),
    remediation: NullableText.describe('What to change if the check failed; null otherwise.'),
    duration_s: z.number().min(0).describe('Seconds that the check took; 0 if its figures were recorded before.'),
  })
  .meta({ id: 'CheckResult', description: 'Result of one check.' })
export type CheckResult = z.infer<typeof CheckResult>

export const ValidationReport = z
  .strictObject({
    report_schema_version: z.literal('2').describe('Version of OpenEnv’s report schema.'),
    target: z.string().describe('Name of the task.'),
    source_digest: z.string().describe('Digest of what was validated: library version or code, and the configs.'),
    signature: z.literal('openenv.yaml').describe('Kind of package in OpenEnv’s terms.'),
    manifest: z.null().describe('Always null: a task has no manifest of its own.'),
    policy_version: z.literal('v2').describe('Version of the severity policy.'),
    lane: z.literal('hub').describe('The hub lane has all checks, those of operators included.'),
    levels_run: z.array(z.int()).describe('Levels of RFC 008 that have results.'),
    results: z.array(CheckResult).describe('One result for each check of the policy.'),
    verdict: z
      .enum(['pass', 'warn', 'fail'])
      .describe('`fail`: a check of severity fail failed; `warn`: another check failed or was skipped.'),
  })
  .meta({ id: 'ValidationReport', description: 'Validation report of OpenEnv’s RFC 008, version 2.' })
export type ValidationReport = z.infer<typeof ValidationReport>

export const TaskValidation = z
  .strictObject({
    task: z.string().describe('Name of the task.'),
    scoring: z.enum(['upstream', 'hardened']).describe('Scoring that the status of the checks is about.'),
    truth_table: z
      .strictObject({ upstream: TruthTable, hardened: TruthTable })
      .nullable()
      .describe('Truth table of the verifier for each scoring; null if the task was not measured.'),
    report: ValidationReport,
  })
  .meta({ id: 'TaskValidation', description: 'Validation of a task: checks and truth table.' })
export type TaskValidation = z.infer<typeof TaskValidation>
