/**
 * Keys as they are written: `role:key`, `role:sha256:HEX` with the hash of the key in its place, and with the runs that
 * the key is bound to `role@run-a+run-b:key`. Several are parted by commas or lines; `#` begins a comment.
 */
import { createHash } from 'node:crypto'
import { ApiKeyRole, type Caller } from '../../contract/caller.ts'
import { RunName } from '../../contract/rollout.ts'
import { ConfigError } from '../../platform/config.ts'

/** A key on the server: only its hash is kept, whatever was written. */
export interface ApiKey extends Caller {
  hash: Buffer
}

const SHA256_KEY_PATTERN = /^sha256:([0-9a-f]{64})$/i
/** What a header can carry as one word. */
const HEADER_SAFE_PATTERN = /^[\x21-\x7e]+$/

export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

/** Throws a ConfigError that says which entry cannot be read, by its place: keys are not repeated in logs. */
export function parseKeys(text: string, source: string): ApiKey[] {
  const entries = text
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*/, ''))
    .flatMap((line) => line.split(','))
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
  if (entries.length === 0) throw new ConfigError(`${source} holds no key; write role:key, as in admin:…`)
  const keys = entries.map((entry, k) => parseKey(entry, `${source}, key ${k + 1}`))
  const ids = keys.map(({ id }) => id)
  const twice = ids.findIndex((id, k) => ids.indexOf(id) !== k)
  if (twice >= 0) throw new ConfigError(`${source}, key ${twice + 1}: the same key stands there twice`)
  return keys
}

function parseKey(entry: string, where: string): ApiKey {
  const colon = entry.indexOf(':')
  if (colon < 0) throw new ConfigError(`${where}: write role:key`)
  const [name = '', bound, ...more] = entry.slice(0, colon).split('@')
  const role = ApiKeyRole.safeParse(name)
  if (!role.success)
    throw new ConfigError(`${where}: there is no role “${name}”; roles are ${ApiKeyRole.options.join(', ')}`)
  const runs = bound?.split('+') ?? null
  const misnamed = runs?.find((run) => !RunName.safeParse(run).success)
  if (misnamed !== undefined || more.length > 0) {
    throw new ConfigError(`${where}: “${misnamed ?? bound}” is no name of a run; write ${name}@run-a+run-b:key`)
  }
  if (runs && role.data === 'admin') throw new ConfigError(`${where}: an admin is not bound to runs`)
  const hash = parseKeyHash(entry.slice(colon + 1), where)
  return { id: hash.toString('hex').slice(0, 12), role: role.data, runs: runs && new Set(runs), hash }
}

function parseKeyHash(secret: string, where: string): Buffer {
  const hex = SHA256_KEY_PATTERN.exec(secret)?.[1]
  if (hex !== undefined) return Buffer.from(hex, 'hex')
  if (secret.startsWith('sha256:')) throw new ConfigError(`${where}: sha256: is followed by 64 hexadecimal digits`)
  if (!HEADER_SAFE_PATTERN.test(secret))
    throw new ConfigError(`${where}: a key is made of visible ASCII characters, without spaces`)
  return hashApiKey(secret)
}
