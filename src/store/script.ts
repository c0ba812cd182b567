/**
 * Lua scripts in files: NAME-ARITY.lua, where arity is the number of keys. The contract stands on top of each.
 * A line `-- include NAME` takes in parts/NAME.lua: what several scripts do, or a noun of its own.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { ScriptPoolRedis } from './laned-redis.ts'

type ScriptArgument = string | number | Buffer
type EvalArguments = [arity: number, ...ScriptArgument[]]

const SCRIPTS_FOLDER = join(import.meta.dirname, 'scripts')

/** Runs a script by its hash; Redis is told the text when it does not know it (it forgets at a restart). */
export function loadScript(file: string): (redis: Redis, keys: string[], args: ScriptArgument[]) => Promise<unknown> {
  const arity = Number(/-(\d+)$/.exec(file)?.[1])
  const text = readScript(`${file}.lua`)
  const sha = createHash('sha1').update(text).digest('hex')
  return async (redis, keys, args) => {
    if (keys.length !== arity) throw new TypeError(`${file} takes ${arity} keys, not ${keys.length}`)
    const ask = (connection: Redis) => evalScript(connection, { sha, text }, [arity, ...keys, ...args])
    return redis instanceof ScriptPoolRedis ? redis.withScriptConnection(ask) : ask(redis)
  }
}

async function evalScript(
  redis: Redis,
  { sha, text }: { sha: string; text: string },
  args: EvalArguments,
): Promise<unknown> {
  try {
    return await redis.evalsha(sha, ...args)
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
    return redis.eval(text, ...args)
  }
}

function readScript(file: string): string {
  return readFileSync(join(SCRIPTS_FOLDER, file), 'utf8').replace(/^-- include (\w+)$/gm, (_line, part: string) =>
    readScript(`parts/${part}.lua`),
  )
}
