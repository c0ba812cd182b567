import { ERROR_CODES, isTemporaryFailure, ServiceError } from '@reasoning-gym-server/contract/errors'
import { expect, it } from 'vitest'
import { buildProblemReply, ERROR_TABLE } from '../../../src/http/errors/error-table.ts'

it('every 429 and 503 says when to retry, and so do the two conflicts that a retry resolves', () => {
  const withRetryAfter = ERROR_CODES.filter((code) => ERROR_TABLE[code].retryAfter !== undefined)
  const busy = ERROR_CODES.filter((code) => [429, 503].includes(ERROR_TABLE[code].status))
  expect(withRetryAfter.toSorted()).toEqual([...busy, 'run_changed', 'idempotency_in_progress'].toSorted())
})

it('the failures that may pass are exactly those with status 503', () => {
  for (const code of ERROR_CODES)
    expect([code, isTemporaryFailure(new ServiceError(code, ''))]).toEqual([code, ERROR_TABLE[code].status === 503])
})

it('an error’s own Retry-After wins over the table’s', () => {
  expect(buildProblemReply(new ServiceError('rate_limited', 'later')).headers).toMatchObject({ 'retry-after': '1' })
  const error = new ServiceError('rate_limited', 'later', { retryAfter: 42 })
  expect(buildProblemReply(error).headers).toEqual({
    'content-type': 'application/problem+json',
    'retry-after': '42',
  })
})

it('a problem document has the code, its title and status, and the fields at fault only where there are any', () => {
  const errors = [{ path: 'seed', message: 'expected a number' }]
  expect(buildProblemReply(new ServiceError('invalid_request', 'seed: expected a number', { errors }))).toEqual({
    status: 400,
    headers: { 'content-type': 'application/problem+json' },
    document: {
      type: 'urn:reasoning-gym-server:invalid_request',
      title: ERROR_TABLE.invalid_request.title,
      status: 400,
      code: 'invalid_request',
      detail: 'seed: expected a number.',
      errors,
    },
  })
  expect(buildProblemReply(new ServiceError('run_changed', 'retry')).document).not.toHaveProperty('errors')
})
