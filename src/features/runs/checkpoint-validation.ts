/** Validates what the schema of a checkpoint cannot express: its tasks exist and its positions are consistent. */
import { type FieldError, ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Checkpoint } from './checkpoint-document.ts'
import { listIssuedItemFaults, NOT_ISSUED } from './checkpoint-issued-items.ts'

/** Limit of errors that one response lists. */
const MAX_LISTED = 20

/** Throws `invalid_request` with the path of each value that no server with this engine can have written. */
export function validateCheckpoint(checkpoint: Checkpoint, isKnownTask: (name: string) => boolean): void {
  const errors = [
    ...listUnknownTasks(checkpoint, isKnownTask),
    ...listUnopenedPositions(checkpoint),
    ...listWrongIssuedItems(checkpoint),
  ]
  if (errors.length === 0) return
  throw new ServiceError('invalid_request', 'The checkpoint has invalid tasks or positions', {
    errors: errors.slice(0, MAX_LISTED),
  })
}

function* listUnknownTasks(checkpoint: Checkpoint, isKnownTask: (name: string) => boolean): Generator<FieldError> {
  for (const [path, task] of listTasks(checkpoint))
    if (task !== null && !isKnownTask(task)) yield { path, message: `there is no task named ${JSON.stringify(task)}` }
}

const STEP_SUMS_BY_TASK = [
  'task_scored',
  'task_reward',
  'task_score',
  'task_correct',
  'task_difficulty',
  'task_difficulty_count',
] as const

function* listTasks(checkpoint: Checkpoint): Generator<[path: string, task: string | null]> {
  const {
    curriculum,
    recent_accuracies,
    learnability = {},
    tasks,
    curriculum_history,
    sequence,
    step_sums,
    block_sums = [],
  } = checkpoint
  for (const [field, byTask] of Object.entries({ curriculum, recent_accuracies, learnability, tasks }))
    for (const task of Object.keys(byTask)) yield [`${field}.${task}`, task]
  for (const [k, { task }] of curriculum_history.entries()) yield [`curriculum_history.${k}.task`, task]
  for (const [k, { task }] of (sequence.drawn ?? []).entries()) yield [`sequence.drawn.${k}.task`, task]
  for (const [k, { task }] of sequence.leases.entries()) yield [`sequence.leases.${k}.task`, task]
  for (const [k, task] of sequence.issued.tasks.entries()) yield [`sequence.issued.tasks.${k}`, task]
  for (const [list, entries] of Object.entries({ step_sums, block_sums }))
    for (const [k, { sums }] of entries.entries())
      for (const field of STEP_SUMS_BY_TASK)
        for (const task of Object.keys(sums[field] ?? {})) yield [`${list}.${k}.sums.${field}.${task}`, task]
}

/** Lists positions that the run would open again, which would hand out their items twice. */
function* listUnopenedPositions({ sequence }: Checkpoint): Generator<FieldError> {
  const { position: end, open, drawn = [], questions = {}, leases, steps } = sequence
  const check = function* (path: string, position: number): Generator<FieldError> {
    if (position >= end) yield { path, message: `must be below sequence.position (${end})` }
  }
  for (const [k, position] of open.entries()) yield* check(`sequence.open.${k}`, position)
  for (const [k, { position }] of drawn.entries()) yield* check(`sequence.drawn.${k}.position`, position)
  for (const [hash, position] of Object.entries(questions)) yield* check(`sequence.questions.${hash}`, position)
  for (const [k, { position }] of leases.entries()) yield* check(`sequence.leases.${k}.position`, position)
  for (const [k, { positions }] of steps.entries())
    for (const [n, [first, count]] of positions.entries())
      yield* check(`sequence.steps.${k}.positions.${n}`, first + count - 1)
}

/** Lists positions that are both open and issued. The run would hand out their items twice. */
function* listWrongIssuedItems({ sequence: { issued, open, requested } }: Checkpoint): Generator<FieldError> {
  for (const [path, message] of listIssuedItemFaults(issued)) yield { path: `sequence.issued.${path}`, message }
  const waiting = new Map([
    ...requested.map((position, k) => [position, `requested.${k}`] as const),
    ...open.map((position, k) => [position, `open.${k}`] as const),
  ])
  for (const { first, tasks } of issued.chunks)
    for (const [n, task] of tasks.entries()) {
      const path = task === NOT_ISSUED ? undefined : waiting.get(first + n)
      if (path) yield { path: `sequence.${path}`, message: 'is issued' }
    }
}
