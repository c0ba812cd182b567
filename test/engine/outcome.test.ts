import { expect, it } from 'vitest'
import { parseOutcome, unwrapOutcome } from '../../src/engine/engine.ts'

it('an item that takes more memory than a worker has is the server’s failure, not the client’s', () => {
  expect(() => unwrapOutcome(parseOutcome({ out_of_memory: true }))).toThrow(
    expect.objectContaining({ code: 'make_out_of_memory' }),
  )
})

it('an item that uses up its deadline or ends its worker is make_failed; one that got no processor is make_timeout', () => {
  for (const [reason, code] of [
    ['timeout', 'make_failed'],
    ['crashed', 'make_failed'],
    ['starved', 'make_timeout'],
  ] as const)
    expect(() => unwrapOutcome({ kind: 'lost', reason, detail: 'gone' })).toThrow(expect.objectContaining({ code }))
})

it('a config that the library rejects names the field at fault', () => {
  const outcome = parseOutcome({ error: 'invalid_config', detail: 'too small', path: 'config.size' })
  expect(() => unwrapOutcome(outcome)).toThrow(
    expect.objectContaining({ code: 'invalid_config', errors: [{ path: 'config.size', message: 'too small' }] }),
  )
})

it('a seed at which the library raises is not the config’s fault, and no unknown fault is the client’s', () => {
  for (const [error, code] of [
    ['make_failed', 'make_failed'],
    ['something_new', 'internal'],
  ] as const)
    expect(() => unwrapOutcome(parseOutcome({ error, detail: 'no maze', path: 'seed' }))).toThrow(
      expect.objectContaining({ code }),
    )
})
