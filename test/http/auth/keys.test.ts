import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  assertKeysOrLoopback,
  hashApiKey,
  loadKeyRing,
  parseKeys,
  watchKeyFile,
} from '../../../src/http/auth/key-ring.ts'
import { isLoopback } from '../../../src/platform/loopback.ts'
import { until } from '../../world.ts'

const ringOf = (API_KEYS: string) => loadKeyRing({ API_KEYS, API_KEYS_FILE: undefined })

describe('keys as they are written', () => {
  it('are a role and a key, the hash of one, or a key with the runs it is bound to', () => {
    const hash = createHash('sha256').update('t0p').digest('hex')
    const ring = ringOf(`reader:look, admin:sha256:${hash},trainer@run-a+run.b:train:1`)
    expect(ring?.authenticate('look')).toMatchObject({ role: 'reader', runs: null })
    expect(ring?.authenticate('t0p')).toMatchObject({ role: 'admin', runs: null })
    expect(ring?.authenticate('train:1')).toMatchObject({ role: 'trainer', runs: new Set(['run-a', 'run.b']) })
    expect(Object.keys(ring?.authenticate('look') ?? {})).not.toContain('hash')
    for (const other of ['', 'loo', 'look ', 'LOOK', hash, `sha256:${hash}`, 'trainer@run-a+run.b:train:1']) {
      expect(ring?.authenticate(other)).toBeUndefined()
    }
  })

  it('stand in a file one a line, with remarks', () => {
    const keys = parseKeys('# who\nreader:a#1  # the dashboard\n\ntrainer:b,evaluator:c\n', 'keys')
    expect(keys.map(({ role }) => role)).toEqual(['reader', 'trainer', 'evaluator'])
    expect(keys[0]?.hash).toEqual(hashApiKey('a#1'))
  })

  it('only the right key opens', () => {
    const word = fc.stringMatching(/^[!-+\--~]{1,40}$/)
    fc.assert(
      fc.property(word, word, (key, other) => {
        fc.pre(!key.startsWith('#') && !key.startsWith('sha256:'))
        expect(ringOf(`admin:${key}`)?.authenticate(other) !== undefined).toBe(other === key)
      }),
    )
  })

  it.each([
    ['', 'API_KEYS contains no key'],
    [' , ', 'API_KEYS contains no key'],
    ['secret-word', 'API_KEYS, key 1: must be ROLE:KEY'],
    ['reader:a,boss:secret-word', 'API_KEYS, key 2: unknown role'],
    ['secret-word:trainer', 'unknown role'],
    ['trainer@Not A Run:secret-word', 'is not a run name'],
    ['trainer@:secret-word', 'is not a run name'],
    ['trainer@secret/word=:run-a', 'is not a run name; write trainer@run-a+run-b:KEY'],
    ['trainer@run-a@secret-word:run-a', 'is not a run name'],
    ['admin@run-a:secret-word', 'an admin key cannot be bound to runs'],
    ['reader:', 'visible ASCII'],
    ['reader:secret word', 'visible ASCII'],
    ['reader:sha256:secret-word', '64 hexadecimal digits'],
    ['reader:secret-word,admin:secret-word', 'key 2: duplicate key'],
  ])('%j stops the start, and the line does not tell the key', (text, why) => {
    const start = () => ringOf(text)
    expect(start).toThrow(why)
    expect(start).not.toThrow('secret')
  })

  it('a file that is not there stops the start', () => {
    expect(() => loadKeyRing({ API_KEYS: undefined, API_KEYS_FILE: '/none/keys' })).toThrow(
      'API_KEYS_FILE cannot be read',
    )
  })

  it('reloads a changed key file, and keeps the previous keys if the file is invalid', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rgs-keys-'))
    const places = { API_KEYS: 'admin:always', API_KEYS_FILE: join(folder, 'keys') }
    writeFileSync(places.API_KEYS_FILE, 'reader:old')
    const ring = loadKeyRing(places)
    if (!ring) throw new Error('there are keys')
    const lines: string[] = []
    const say = (line: string) => lines.push(line)
    const unfollow = watchKeyFile(ring, places, { info: say, error: say })
    try {
      writeFileSync(places.API_KEYS_FILE, 'trainer:newer')
      await until(
        async () => ring.authenticate('newer')?.role,
        (role) => role === 'trainer',
      )
      expect([ring.authenticate('old'), ring.authenticate('always')?.role]).toEqual([undefined, 'admin'])
      writeFileSync(places.API_KEYS_FILE, 'nonsense, and more of it')
      await until(
        async () => lines,
        (all) => all.some((line) => line.startsWith('Failed to reload API keys')),
      )
      expect(ring.authenticate('newer')?.role).toBe('trainer')
    } finally {
      unfollow()
      rmSync(folder, { recursive: true })
    }
  })
})

describe('without keys', () => {
  it.each(['127.0.0.1', '127.8.9.1', '::1', '[::1]', 'localhost', 'LocalHost', 'localhost.', '::ffff:127.0.0.1'])(
    '%s is this machine',
    (host) => {
      expect(isLoopback(host)).toBe(true)
      expect(() => assertKeysOrLoopback({ HOST: host }, undefined)).not.toThrow()
    },
  )

  it.each([
    '0.0.0.0',
    '::',
    '10.0.0.1',
    'example.org',
    'localhost.example.org',
    'localhost..',
    '127.0.0.1.example.org',
  ])('a server on %s does not start, and says what to set', (host) => {
    expect(() => assertKeysOrLoopback({ HOST: host }, undefined)).toThrow(/API_KEYS=admin:KEY.*API_KEYS_FILE.*HOST=127/)
    expect(() => assertKeysOrLoopback({ HOST: host }, ringOf('admin:a'))).not.toThrow()
  })
})
