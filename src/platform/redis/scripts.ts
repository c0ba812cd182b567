/**
 * Lua scripts in files: NAME.lua in the `scripts` folder of the feature that runs it, with the script's contract on top.
 * Scripts name their keys and stored fields: `K.run` and `RUN.epoch` come from a prelude, generated from the declaration.
 * A line `-- include PATH` inserts PATH.lua, relative to the file that has the line.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Redis } from 'ioredis'
import { runOnScriptConnection } from './script-connections.ts'
import { reportUnreadable } from './unreadable-entries.ts'

type ScriptArgument = string | number | Buffer

export interface ScriptDeclaration<Key extends string> {
  /** The folder of the feature: pass `import.meta.dirname`. */
  folder: string
  name: string
  /** The keys that the script touches, all in one hash slot. */
  keys: readonly Key[]
  /** Tables of constants, such as the fields of a stored record. */
  constants?: Record<string, Readonly<Record<string, string | number>>>
}

/** Runs a declared script on one of the connection's script connections; keys it does not declare are left out. */
export type Script<Key extends string> = (
  redis: Redis,
  keys: Readonly<Record<Key, string>>,
  args: ScriptArgument[],
) => Promise<unknown>

/** Throws if the script names a key or a constant that is not declared. */
export function defineScript<const Key extends string>(declaration: ScriptDeclaration<Key>): Script<Key> {
  const { folder, name, keys: keyNames } = declaration
  const path = join(folder, 'scripts', `${name}.lua`)
  const body = readScript(path)
  const prelude = buildPrelude(path, body, declaration)
  const reportsUnreadable = body.includes('UNREADABLE')
  const lua = reportsUnreadable ? `${prelude} ${listUnreadable(body)}` : `${prelude} ${body}`
  const definition = { lua, numberOfKeys: keyNames.length }
  return async (redis, keys, args) => {
    const run = (connection: Redis) =>
      runCommand(connection, path, definition, [...keyNames.map((key) => keys[key]), ...args])
    const reply = await runOnScriptConnection(redis, run)
    if (!reportsUnreadable || !Array.isArray(reply) || reply[0] !== UNREADABLE_REPLY) return reply
    const [, rest, entries] = reply as UnreadableReply
    for (const [key, name] of entries) reportUnreadable(redis, { key, name })
    return rest
  }
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
function buildPrelude(path: string, body: string, { keys, constants }: ScriptDeclaration<string>): string {
  const tables: Record<string, Record<string, string>> = {
    K: Object.fromEntries(keys.map((key, k) => [key, `KEYS[${k + 1}]`])),
  }
  for (const [table, values] of Object.entries(constants ?? {})) {
    tables[table] = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]))
  }
  for (const table of listTables(body)) {
    if (!tables[table]) throw new TypeError(`${path} names ${table}, which is not declared`)
  }
  const locals = Object.entries(tables).map(([table, values]) => {
    const members = listMembers(body, table).map((name) => {
      if (values[name] === undefined) throw new TypeError(`${path} names ${table}.${name}, which is not declared`)
      return `${name} = ${values[name]}`
    })
    return `local ${table} = { ${members.join(', ')} }`
  })
  return locals.join(' ')
}

/** Tables of constants have names in capitals. */
function listTables(body: string): Set<string> {
  const code = body
    .split('\n')
    .map((line) => line.split('--', 1)[0] ?? '')
    .join('\n')
  return new Set([...code.matchAll(/\b([A-Z]+)\.\w/g)].map(([, table = '']) => table))
}

/** Every NAME of `TABLE.NAME` in a script, once. */
function listMembers(body: string, table: string): string[] {
  return [...new Set([...body.matchAll(new RegExp(`\\b${table}\\.(\\w+)`, 'g'))].map(([, name = '']) => name))]
}

function readScript(path: string): string {
  return readFileSync(path, 'utf8').replace(/^-- include (\S+)$/gm, (_line, part: string) =>
    readScript(join(dirname(path), `${part}.lua`)),
  )
}
