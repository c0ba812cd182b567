/**
 * Lua scripts in files: NAME.lua in the `scripts` folder of the feature that runs it, with the script's contract on top.
 * Scripts name their keys and stored fields: `K.run` and `RUN.epoch` come from a prelude, generated for the names that they use.
 * A line `-- include PATH` inserts PATH.lua, relative to the file that has the line.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Redis } from 'ioredis'
import { runOnScriptConnection } from './script-connections.ts'
import { reportUnreadable } from './unreadable-entries.ts'

type ScriptArgument = string | number | Buffer

/** Tables of constants that scripts name, such as the fields of a stored record. */
export type ScriptConstants = Record<string, Readonly<Record<string, string | number>>>

/** Runs a script on one of the connection's script connections. `keys` has those that it names, in one hash slot, and maybe more. */
export type Script = (redis: Redis, keys: object, args: ScriptArgument[]) => Promise<unknown>

/** `folder` is that of the feature: pass `import.meta.dirname`. Throws if the script names a constant that is not declared. */
export function defineScript(folder: string, name: string, constants: ScriptConstants = {}): Script {
  const path = join(folder, 'scripts', `${name}.lua`)
  const body = readScript(path)
  const keyNames = listMembers(body, 'K')
  const prelude = buildPrelude(path, body, keyNames, constants)
  const reportsUnreadable = body.includes('UNREADABLE')
  const lua = reportsUnreadable ? `${prelude} ${listUnreadable(body)}` : `${prelude} ${body}`
  return async (redis, keys, args) => {
    const own = keyNames.map((key) => requireKey(path, keys, key))
    const all = redis.isCluster ? [...own, ...own.slice(0, 1).map(nameAbsentKey)] : own
    const definition = { lua, numberOfKeys: all.length }
    const run = (connection: Redis) => runCommand(connection, path, definition, [...all, ...args])
    const reply = await runOnScriptConnection(redis, run)
    if (!reportsUnreadable || !Array.isArray(reply) || reply[0] !== UNREADABLE_REPLY) return reply
    const [, rest, entries] = reply as UnreadableReply
    for (const [key, name] of entries) reportUnreadable(redis, { key, name })
    return rest
  }
}

function requireKey(path: string, keys: object, name: string): string {
  const key: unknown = Reflect.get(keys, name)
  if (typeof key !== 'string') throw new TypeError(`${path} names K.${name}, and its caller gives no such key`)
  return key
}

/**
 * A key that never exists, in the slot of the given one. A cluster runs a script in a moving slot if all its keys are still
 * there, and ends it halfway, with its writes done, at a key that is not among them. With this key it answers TRYAGAIN instead.
 */
function nameAbsentKey(key: string): string {
  const start = key.indexOf('{')
  const end = key.indexOf('}', start + 1)
  const tag = start >= 0 && end > start ? key.slice(start + 1, end) : key
  return `{${tag}}:absent`
}

const UNREADABLE_REPLY = 'UNREADABLE'
type UnreadableReply = [typeof UNREADABLE_REPLY, reply: unknown, entries: [key: string, name: string][]]

/** Makes the script add the entries that it could not read to its reply (scripts/parts/unreadable.lua). */
function listUnreadable(body: string): string {
  const reply = `{ '${UNREADABLE_REPLY}', reply or false, UNREADABLE }`
  return `local UNREADABLE = {} local function run() ${body}
end
local reply = run()
return UNREADABLE[1] and ${reply} or reply`
}

type Command = (...args: ScriptArgument[]) => Promise<unknown>

/** Commands are defined per connection and named by path, because two features may have scripts with the same name. */
async function runCommand(
  connection: Redis,
  path: string,
  definition: { lua: string; numberOfKeys: number },
  args: ScriptArgument[],
): Promise<unknown> {
  const commands = connection as unknown as Record<string, Command | undefined> // defineCommand adds methods
  if (!commands[path]) connection.defineCommand(path, definition)
  return commands[path]?.(...args)
}

/** The prelude is one line, so that line numbers in errors match the file. It has only the names that the script uses. */
function buildPrelude(path: string, body: string, keyNames: string[], constants: ScriptConstants): string {
  const keys = keyNames.map((name, k) => `${name} = KEYS[${k + 1}]`)
  for (const table of listTables(body)) {
    if (table !== 'K' && !constants[table]) throw new TypeError(`${path} names ${table}, which is not declared`)
  }
  const tables = Object.entries(constants).map(([table, values]) => {
    const members = listMembers(body, table).map((name) => {
      if (values[name] === undefined) throw new TypeError(`${path} names ${table}.${name}, which is not declared`)
      return `${name} = ${JSON.stringify(values[name])}`
    })
    return `local ${table} = { ${members.join(', ')} }`
  })
  return [`local K = { ${keys.join(', ')} }`, ...tables].join(' ')
}

/** Tables of constants have names in capitals. */
function listTables(body: string): Set<string> {
  return new Set([...omitComments(body).matchAll(/\b([A-Z]+)\.\w/g)].map(([, table = '']) => table))
}

/** Every NAME of `TABLE.NAME` in a script, once. */
function listMembers(body: string, table: string): string[] {
  const found = omitComments(body).matchAll(new RegExp(`\\b${table}\\.(\\w+)`, 'g'))
  return [...new Set([...found].map(([, name = '']) => name))]
}

function omitComments(body: string): string {
  return body.replace(/--.*/g, '')
}

function readScript(path: string): string {
  return readFileSync(path, 'utf8').replace(/^-- include (\S+)$/gm, (_line, part: string) =>
    readScript(join(dirname(path), `${part}.lua`)),
  )
}
