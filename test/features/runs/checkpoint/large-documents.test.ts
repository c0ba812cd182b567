import { expect, it } from 'vitest'
import { Checkpoint } from '../../../../src/features/runs/checkpoint/document.ts'
import { EMPTY_CHECKPOINT, parseCheckpoint } from '../../../../src/features/runs/checkpoint/parse-document.ts'
import { formatJsonPieces } from '../../../../src/http/streamed-responses.ts'
import { buildLargeCheckpoint } from '../../../../verification/scale/large-checkpoint.ts'

const LARGE = buildLargeCheckpoint(EMPTY_CHECKPOINT, 6000)

it('a large checkpoint is parsed as by its schema', async () => {
  expect(await parseCheckpoint(LARGE, {})).toEqual({ document: Checkpoint.parse(LARGE) })
})

it('an error in it has the same place and words', async () => {
  const { sequence, curriculum_history, step_sums } = LARGE
  for (const broken of [
    { ...LARGE, sequence: { ...sequence, leases: sequence.leases.with(4321, { ...EMPTY_CHECKPOINT } as never) } },
    { ...LARGE, curriculum_history: [...curriculum_history, 'x'], step_sums: step_sums.with(-1, {} as never) },
    { ...LARGE, sequence: { ...sequence, questions: { ...sequence.questions, wrong: 1 } } },
    { ...LARGE, sequence: { ...sequence, issued: null } },
    { ...LARGE, block_sums: Array.from({ length: 10_001 }, (_, k) => ({ first_group: k + 1, sums: {} })) },
    { ...LARGE, sequence: { ...sequence, leases: { ...sequence.leases }, questions: sequence.leases } },
    { ...LARGE, sequence: 'x', more: 1 },
    [LARGE],
    {},
  ]) {
    const expected = Checkpoint.safeParse(broken).error?.issues.map((issue) => JSON.stringify(issue))
    const parsed = await parseCheckpoint(broken, {})
    const issues = 'issues' in parsed ? parsed.issues.map((issue) => JSON.stringify(issue)) : []
    expect(issues.toSorted()).toEqual(expected?.toSorted())
  }
})

it('a document is sent in pieces as it would be in one', async () => {
  for (const value of [LARGE, { a: undefined, b: [], c: null, d: { e: 'é"' } }, [], 1]) {
    let text = ''
    for await (const piece of formatJsonPieces(value)) text += piece
    expect(text).toBe(JSON.stringify(value))
  }
})
