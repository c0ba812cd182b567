/**
 * What is recorded of tasks: their validations as `GET /tasks/{task}/validation` shows them, from task cards and what
 * `npm run validation` measured, and what `npm run verify -- keys --record` found out about the answer keys of each.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { KeyCheck, KeyFaults } from '@reasoning-gym-server/contract/task'
import type { TaskValidation } from '@reasoning-gym-server/contract/validation'
import { CORRECTIONS } from '@reasoning-gym-server/scorers/corrections/corrections'
import type { Scoring, ValidatedRung } from '@reasoning-gym-server/task-tools/validation/checks'
import { MeasuredRung, MeasuredTask } from '@reasoning-gym-server/task-tools/validation/figures'
import { buildValidation } from '@reasoning-gym-server/task-tools/validation/report'
import { z } from 'zod'
import type { Engine } from '../../../engine/engine.ts'
import type { Ladders } from '../ladders.ts'
import { hashConfig, type TaskCards } from '../task-cards.ts'

export const VALIDATION_FILE = join(import.meta.dirname, 'validation.json')

/** A rung is a row of its fields, in this order: there are a thousand. */
export const RUNG_FIELDS = Object.keys(MeasuredRung.shape)
const RungRow = z
  .array(z.union([z.string(), z.number()]))
  .transform((row) => MeasuredRung.parse(Object.fromEntries(RUNG_FIELDS.map((field, k) => [field, row[k]]))))

export const RecordedValidations = z.strictObject({
  engine: z.string().describe('Version of the library'),
  tasks: z.record(z.string(), MeasuredTask.extend({ rungs: z.array(RungRow) })),
})
export type RecordedValidations = z.infer<typeof RecordedValidations>

let recorded: RecordedValidations | undefined

/** Read once in a process, and not before it is needed. */
export function getRecordedValidations(): RecordedValidations {
  recorded ??= RecordedValidations.parse(JSON.parse(readFileSync(VALIDATION_FILE, 'utf8')))
  return recorded
}

interface RecordedDeps {
  engine: Pick<Engine, 'versionOf'>
  ladders: Ladders
  cards: TaskCards
}

/** What is recorded of a task; a custom task, and a rung that changed since, have no figures. */
export function buildRecordedValidation(
  { engine, ladders, cards }: RecordedDeps,
  task: string,
  scoring: Scoring,
): TaskValidation {
  const measured = getRecordedValidations().tasks[task]
  const rungs = listRungs(ladders, task).map(({ difficulty, config }, k): ValidatedRung => {
    const figures = difficulty === null ? cards.defaults(task) : cards.rung(task, k - 1)
    const rung = measured?.rungs.find((each) => each.config === hashConfig(config))
    return { difficulty, config, ...(figures && { figures }), ...(rung && { measured: rung }) }
  })
  return buildValidation({ task, version: engine.versionOf(task), scoring, rungs, measured })
}

/** The defaults, and copies of the rungs of the ladder: a measurement adds to them. */
export function listRungs(ladders: Ladders, task: string): Pick<ValidatedRung, 'difficulty' | 'config'>[] {
  return [{ difficulty: null, config: {} }, ...ladders.rungs(task).map((rung) => ({ ...rung }))]
}

export const KEYS_FILE = join(import.meta.dirname, '..', 'keys.json')

const RecordedKeyCheck = z.strictObject({
  ...KeyCheck.omit({ correction: true }).shape,
  worst_rung: KeyFaults.describe('Of the library, each share where it is largest: on a rung or at the defaults'),
})

export const RecordedKeyChecks = z.strictObject({
  engine: z.string().describe('Version of the library'),
  tasks: z.record(z.string(), RecordedKeyCheck),
})
export type RecordedKeyChecks = z.infer<typeof RecordedKeyChecks>

export function readKeyChecks(): RecordedKeyChecks {
  return RecordedKeyChecks.parse(JSON.parse(readFileSync(KEYS_FILE, 'utf8')))
}

let keyChecks: RecordedKeyChecks | undefined

/** Null for a task that is not the library's. */
export function getKeyCheck(task: string): KeyCheck | null {
  keyChecks ??= readKeyChecks()
  const recordedCheck = keyChecks.tasks[task]
  if (recordedCheck === undefined) return null
  const { worst_rung: _, ...check } = recordedCheck
  return { ...check, correction: CORRECTIONS[task]?.reason ?? null }
}
