/** Holds the API keys. Reloads the key file when it changes; if the file is invalid, the previous keys stay active. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ApiKeyRole, type Caller } from '@reasoning-gym-server/contract/caller'
import { ConfigError } from '@reasoning-gym-server/contract/dot-env'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import type { ServerConfig } from '../../platform/environment.ts'
import { isLoopback } from '../../platform/loopback.ts'
import { errorMessage } from '../../platform/throttled-log.ts'

const POLL_INTERVAL_MS = 2000

export class KeyRing {
  #keys: ApiKey[]
  readonly #listeners = new Set<() => void>()

  constructor(keys: ApiKey[]) {
    this.#keys = keys
  }

  get size(): number {
    return this.#keys.length
  }

  /** Compares with every key, so that the duration reveals nothing. */
  authenticate(key: string): Caller | undefined {
    const hash = hashApiKey(key)
    let found: ApiKey | undefined
    for (const known of this.#keys) if (timingSafeEqual(known.hash, hash)) found = known
    return found && { id: found.id, role: found.role, runs: found.runs, keyHint: formatKeyHint(key) }
  }

  /** Whether the caller's key still gives it the same rights. */
  isCurrent(caller: Caller): boolean {
    return caller.role === null || this.#keys.some((key) => key.id === caller.id && hasSameRights(key, caller))
  }

  replace(keys: ApiKey[]): void {
    this.#keys = keys
    for (const listener of this.#listeners) listener()
  }

  /** Calls the listener after each change of keys, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

function hasSameRights(one: Caller, other: Caller): boolean {
  if (one.role !== other.role || one.runs?.size !== other.runs?.size) return false
  return one.runs === other.runs || [...(one.runs ?? [])].every((run) => other.runs?.has(run))
}

/** At most a third of the key, so that the hint of a short key does not reveal it. */
function formatKeyHint(key: string): string {
  return key.slice(key.length - Math.min(4, Math.floor(key.length / 3)))
}

type KeySources = Pick<ServerConfig, 'API_KEYS' | 'API_KEYS_FILE'>

/** Loads the configured keys; undefined if none are configured. Throws a ConfigError. */
export function loadKeyRing(sources: KeySources): KeyRing | undefined {
  return sources.API_KEYS === undefined && sources.API_KEYS_FILE === undefined
    ? undefined
    : new KeyRing(loadKeys(sources))
}

/** Requires a loopback HOST if no keys are configured, because every caller is then an admin. */
export function assertKeysOrLoopback({ HOST }: Pick<ServerConfig, 'HOST'>, keyRing: KeyRing | undefined): void {
  if (keyRing || isLoopback(HOST)) return
  throw new ConfigError(
    `HOST=${HOST} is reachable from other machines, but no keys are configured: set API_KEYS=admin:KEY (a long random KEY; ` +
      'more roles in docs/operations/access.md) or API_KEYS_FILE, or HOST=127.0.0.1',
  )
}

interface KeyFileLog {
  info(message: string): void
  error(message: string): void
}

/**
 * Reloads the file when it changes, until the returned function is called. It polls the content, because mounted secrets
 * change behind a symbolic link, which a file watcher does not notice.
 */
export function watchKeyFile(keyRing: KeyRing, sources: KeySources, log: KeyFileLog): () => void {
  const { API_KEYS_FILE: file } = sources
  if (file === undefined) return () => {}
  let lastState: string | undefined
  const reload = () => {
    try {
      const keys = loadKeys(sources)
      const state = keys.map(({ id, role, runs }) => [id, role, ...(runs ?? [])].join()).join(' ')
      if (lastState !== undefined && lastState !== state) log.info(`Reloaded API keys from ${file}`)
      if (lastState !== state) keyRing.replace(keys)
      lastState = state
    } catch (error) {
      const state = errorMessage(error)
      if (lastState !== state) log.error(`Failed to reload API keys; keeping the previous ones: ${state}`)
      lastState = state
    }
  }
  reload()
  const timer = setInterval(reload, POLL_INTERVAL_MS).unref()
  return () => clearInterval(timer)
}

function loadKeys({ API_KEYS, API_KEYS_FILE }: KeySources): ApiKey[] {
  const keys = API_KEYS === undefined ? [] : parseKeys(API_KEYS, 'API_KEYS')
  if (API_KEYS_FILE !== undefined) keys.push(...parseKeys(readKeyFile(API_KEYS_FILE), API_KEYS_FILE))
  if (new Set(keys.map(({ id }) => id)).size < keys.length) {
    throw new ConfigError(`The same key is in API_KEYS and in ${API_KEYS_FILE}`)
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

/** An API key in memory. Only its hash is kept. */
interface ApiKey extends Caller {
  hash: Buffer
}

const SHA256_KEY_PATTERN = /^sha256:([0-9a-f]{64})$/i
/** Characters that an HTTP header can carry as one token. */
const HEADER_SAFE_PATTERN = /^[\x21-\x7e]+$/

export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

/**
 * Keys are `role:key`, `role:sha256:HEX` with the hash of the key, or `role@run-a+run-b:key` for a key that is bound to runs.
 * Commas or line breaks separate keys; `#` starts a comment. Throws a ConfigError that names the invalid entry by its position,
 * so that keys never appear in logs.
 */
export function parseKeys(text: string, source: string): ApiKey[] {
  const entries = text
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*/, ''))
    .flatMap((line) => line.split(','))
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
  if (entries.length === 0) throw new ConfigError(`${source} contains no key. Write ROLE:KEY, as in admin:…`)
  const keys = entries.map((entry, k) => parseKey(entry, `${source}, key ${k + 1}`))
  const ids = keys.map(({ id }) => id)
  const duplicateIndex = ids.findIndex((id, k) => ids.indexOf(id) !== k)
  if (duplicateIndex >= 0) throw new ConfigError(`${source}, key ${duplicateIndex + 1}: duplicate key`)
  return keys
}

function parseKey(entry: string, location: string): ApiKey {
  const colon = entry.indexOf(':')
  if (colon < 0) throw new ConfigError(`${location}: must be ROLE:KEY, as in trainer:…`)
  const [name = '', runList, ...more] = entry.slice(0, colon).split('@')
  const role = ApiKeyRole.safeParse(name)
  if (!role.success)
    throw new ConfigError(`${location}: unknown role before the colon; the roles are ${ApiKeyRole.options.join(', ')}`)
  const runs = runList?.split('+') ?? null
  if (more.length > 0 || runs?.some((run) => !RunName.safeParse(run).success))
    throw new ConfigError(`${location}: what is after the @ is not a run name; write ${name}@run-a+run-b:KEY`)
  if (runs && role.data === 'admin') throw new ConfigError(`${location}: an admin key cannot be bound to runs`)
  const hash = parseKeyHash(entry.slice(colon + 1), location)
  return { id: hash.toString('hex').slice(0, 12), role: role.data, runs: runs && new Set(runs), hash }
}

function parseKeyHash(secret: string, location: string): Buffer {
  const hex = SHA256_KEY_PATTERN.exec(secret)?.[1]
  if (hex !== undefined) return Buffer.from(hex, 'hex')
  if (secret.startsWith('sha256:'))
    throw new ConfigError(`${location}: sha256: must be followed by 64 hexadecimal digits`)
  if (!HEADER_SAFE_PATTERN.test(secret))
    throw new ConfigError(`${location}: a key must consist of visible ASCII characters, without spaces`)
  return hashApiKey(secret)
}
