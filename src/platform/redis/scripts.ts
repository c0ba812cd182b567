/**
 * Lua scripts in files, in the `scripts` folder of the feature that runs them: NAME-ARITY.lua, where arity is the number of keys.
 * The contract stands on top of each. A line `-- include PATH` inserts PATH.lua, relative to the file that has the line.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Redis } from 'ioredis'
import { ScriptPoolRedis } from './script-connections.ts'

type ScriptArgument = string | number | Buffer
type EvalArguments = [arity: number, ...ScriptArgument[]]

/** Runs a script of `folder`/scripts by its hash, and sends its text when Redis does not know it (after a restart). */
export function loadScript(
  folder: string,
  file: string,
): (redis: Redis, keys: string[], args: ScriptArgument[]) => Promise<unknown> {
  const arity = Number(/-(\d+)$/.exec(file)?.[1])
  const text = readScript(join(folder, 'scripts', `${file}.lua`))
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

function readScript(path: string): string {
  return readFileSync(path, 'utf8').replace(/^-- include (\S+)$/gm, (_line, part: string) =>
    readScript(join(dirname(path), `${part}.lua`)),
  )
}
