/** Reasons of failures: equal causes collapse, different ones stay apart. */
import { expect, it } from 'vitest'
import { countFailures } from '../../../../src/features/evals/samples/failure-reasons.ts'

const causes = (...details: string[]) => details.map((detail) => ({ code: 'generation_failed' as const, detail }))

it('reasons that differ in request IDs and numbers of tokens are one', () => {
  const [first, ...others] = countFailures(
    causes(
      'HTTP 400 request req_01HZX7 asks for 5123 tokens',
      'HTTP 400 request req_99KLM2 asks for 6001 tokens',
      'HTTP 400 request 0b7c5d0e-93d1-4f6a-8f52-6f3a0d2c1b11 asks for 6001 tokens',
    ),
  )
  expect(first).toEqual({
    code: 'generation_failed',
    reason: 'HTTP 400 request … asks for 5123 tokens',
    count: 3,
  })
  expect(others).toEqual([])
})

it('statuses and addresses keep reasons apart, the most frequent first', () => {
  const failures = countFailures(
    causes('HTTP 500 busy', 'HTTP 503 busy', 'HTTP 503 busy', 'refused by 10.0.0.1:80', 'refused by 10.0.0.2:80'),
  )
  expect(failures.map(({ reason, count }) => [reason, count])).toEqual([
    ['HTTP 503 busy', 2],
    ['HTTP 500 busy', 1],
    ['refused by 10.0.0.1:80', 1],
    ['refused by 10.0.0.2:80', 1],
  ])
})

it('the rarest of many reasons are summed', () => {
  const words = Array.from({ length: 30 }, (_, k) => `reason ${String.fromCharCode(97 + (k % 26)).repeat(1 + k)}`)
  const failures = countFailures(causes(...words, 'frequent', 'frequent'))
  expect(failures).toHaveLength(21)
  expect(failures[0]).toMatchObject({ reason: 'frequent', count: 2 })
  expect(failures.at(-1)).toEqual({ code: 'other', reason: 'Other reasons.', count: 11 })
})

it('a reason that is cut within an emoji stays valid text, which Redis can read', () => {
  const [failure] = countFailures(causes(`${'x'.repeat(299)}😀`))
  expect(failure?.reason).toBe(`${'x'.repeat(299)}\uFFFD`)
})
