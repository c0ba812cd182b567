/**
 * Parses API keys: `role:key`, `role:sha256:HEX` with the hash of the key, or `role@run-a+run-b:key` for a key that is bound
 * to runs. Commas or line breaks separate keys; `#` starts a comment.
 */
import { createHash } from 'node:crypto'
import { ConfigError } from '@reasoning-gym-server/contract/dot-env'
import { ApiKeyRole, type Caller } from '@reasoning-gym-server/contract/caller'
import { RunName } from '@reasoning-gym-server/contract/rollout'

/** An API key in memory. Only its hash is kept. */
export interface ApiKey extends Caller {
  hash: Buffer
}

const SHA256_KEY_PATTERN = /^sha256:([0-9a-f]{64})$/i
/** Characters that an HTTP header can carry as one token. */
const HEADER_SAFE_PATTERN = /^[\x21-\x7e]+$/

export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

/** Throws a ConfigError that names the invalid entry by its position, so that keys never appear in logs. */
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
    throw new ConfigError(`${location}: unknown role “${name}”; the roles are ${ApiKeyRole.options.join(', ')}`)
  const runs = runList?.split('+') ?? null
  const invalidRun = runs?.find((run) => !RunName.safeParse(run).success)
  if (invalidRun !== undefined || more.length > 0) {
    throw new ConfigError(`${location}: “${invalidRun ?? runList}” is not a run name; write ${name}@run-a+run-b:KEY`)
  }
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
