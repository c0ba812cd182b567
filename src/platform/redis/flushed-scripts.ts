/**
 * Scripts that survive `SCRIPT FLUSH`. If Redis has forgotten a script, ioredis sends it once more, but as a hash if another call
 * has just sent the text on this connection. A second flush in between would fail the call, or leave a job to its lock: this sends
 * the text. It holds for the scripts of BullMQ, too.
 */
import { Cluster, Pipeline, type Redis } from 'ioredis'

export interface ScriptDefinition {
  lua: string
  numberOfKeys?: number
}

type ScriptCommand = (...args: unknown[]) => Promise<unknown>

/** Wraps a command that `defineCommand` has added to the connection. */
export function sendTextIfFlushed(redis: object, name: string, { lua, numberOfKeys }: ScriptDefinition): void {
  const commands = redis as Record<string, ScriptCommand> // defineCommand adds methods
  const run = commands[name]
  if (!run || numberOfKeys === undefined) return
  commands[name] = function runOrSendText(this: object, ...args) {
    // A pipeline takes over the commands of its connection, and loads missing scripts itself.
    if (this instanceof Pipeline) return run.apply(this, args)
    return run.apply(redis, args).catch((error: unknown) => {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
      return (redis as Redis).eval(lua, numberOfKeys, ...(args.flat() as string[]))
    })
  }
}

export class ScriptCluster extends Cluster {
  override defineCommand(name: string, definition: ScriptDefinition): void {
    super.defineCommand(name, definition)
    sendTextIfFlushed(this, name, definition)
  }
}
