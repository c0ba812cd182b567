/** The keys in force. A file of keys is read again when it changes; one that cannot be read leaves the old keys in force. */
import { timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Caller } from '../../contract/caller.ts'
import { ConfigError, type ServerConfig } from '../../platform/config.ts'
import { type ApiKey, hashApiKey, parseKeys } from './parse-keys.ts'

const POLL_INTERVAL_MS = 2000

export class KeyRing {
  #keys: ApiKey[]

  constructor(keys: ApiKey[]) {
    this.#keys = keys
  }

  /** Compares with every key, so that the time it takes tells nothing. */
  authenticate(key: string): Caller | undefined {
    const given = hashApiKey(key)
    let caller: Caller | undefined
    for (const known of this.#keys) if (timingSafeEqual(known.hash, given)) caller = known
    return caller
  }

  replace(keys: ApiKey[]): void {
    this.#keys = keys
  }
}

type KeySources = Pick<ServerConfig, 'API_KEYS' | 'API_KEYS_FILE'>

/** The keys that the settings name; undefined where they name none. Throws a ConfigError. */
export function loadKeyRing(places: KeySources): KeyRing | undefined {
  return places.API_KEYS === undefined && places.API_KEYS_FILE === undefined ? undefined : new KeyRing(loadKeys(places))
}

interface KeyFileLog {
  info(line: string): void
  error(line: string): void
}

/**
 * Follows the file until the returned function is called. By reading it: mounted secrets change behind a symbolic link,
 * of which a watcher hears nothing.
 */
export function watchKeyFile(ring: KeyRing, places: KeySources, log: KeyFileLog): () => void {
  const { API_KEYS_FILE: file } = places
  if (file === undefined) return () => {}
  let last: unknown
  const look = () => {
    try {
      const keys = loadKeys(places)
      const now = keys.map(({ id, role, runs }) => [id, role, ...(runs ?? [])].join()).join(' ')
      if (last !== undefined && last !== now) log.info(`${file} was read again`)
      if (last !== now) ring.replace(keys)
      last = now
    } catch (error) {
      const now = error instanceof Error ? error.message : String(error)
      if (last !== now) log.error(`The keys stay as they were: ${now}`)
      last = now
    }
  }
  look()
  const timer = setInterval(look, POLL_INTERVAL_MS).unref()
  return () => clearInterval(timer)
}

function loadKeys({ API_KEYS, API_KEYS_FILE }: KeySources): ApiKey[] {
  const keys = API_KEYS === undefined ? [] : parseKeys(API_KEYS, 'API_KEYS')
  if (API_KEYS_FILE !== undefined) keys.push(...parseKeys(readKeyFile(API_KEYS_FILE), API_KEYS_FILE))
  if (new Set(keys.map(({ id }) => id)).size < keys.length) {
    throw new ConfigError(`A key stands both in API_KEYS and in ${API_KEYS_FILE}`)
  }
  return keys
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new ConfigError(`API_KEYS_FILE cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}
