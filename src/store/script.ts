/** Lua scripts in files: NAME-ARITY.lua, where arity is the number of keys. The contract stands on top of each. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Redis } from 'ioredis'

type Argument = string | number | Buffer

/** Runs a script by its hash; Redis is told the text when it does not know it (it forgets at a restart). */
export function loadScript(file: string): (redis: Redis, keys: string[], args: Argument[]) => Promise<unknown> {
  const arity = Number(/-(\d+)$/.exec(file)?.[1])
  const text = readFileSync(join(import.meta.dirname, 'scripts', `${file}.lua`), 'utf8')
  const sha = createHash('sha1').update(text).digest('hex')
  return async (redis, keys, args) => {
    if (keys.length !== arity) throw new TypeError(`${file} takes ${arity} keys, not ${keys.length}`)
    try {
      return await redis.evalsha(sha, arity, ...keys, ...args)
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
      return redis.eval(text, arity, ...keys, ...args)
    }
  }
}
