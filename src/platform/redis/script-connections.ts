/**
 * Connections to one Redis: all commands of one turn leave in one write, and scripts and large values have their own
 * connections.
 *
 * Symptom: Redis reads 16 KB of a connection per turn of its loop, so small queries wait behind megabytes of arguments.
 * Gain: p99 of W7 690 ms, without it 1,720 ms in an earlier run; W5 changes by less than a tenth.
 * Measure: npm run bench -- --only rollouts,connections [--without script-connections or write-batching]
 * Delete when: the p99 of W7 and W5 change by less than a tenth.
 */
import { Cluster, Pipeline, Redis, type RedisOptions } from 'ioredis'

/**
 * A turn of the loop of Redis lasts as long as its disk takes. The payloads of groups, and the arguments of some scripts, have more
 * than 16 KB: on one connection they would queue, and every small query behind them.
 */
const SCRIPT_CONNECTION_COUNT = 4

/**
 * Sends the commands of one turn of the event loop in one write: a system call for each takes a tenth of all time. The option
 * `enableAutoPipelining` of ioredis takes 6.5 µs of processor time per command instead of 2.3 (50 commands per turn), and holds back
 * new commands until the previous pipeline is answered.
 */
export class WriteBatchingRedis extends Redis {
  override sendCommand(...of: Parameters<Redis['sendCommand']>): unknown {
    const stream = this.stream as Redis['stream'] | undefined // undefined until it connects
    if (stream && stream.writableCorked === 0) {
      stream.cork()
      process.nextTick(() => stream.uncork())
    }
    return super.sendCommand(...of)
  }

  override defineCommand(name: string, definition: ScriptDefinition): void {
    super.defineCommand(name, definition)
    sendTextIfFlushed(this, name, definition)
  }
}

/** Runs commands with large values apart from the small ones. A cluster has no such connections. */
export function runOnScriptConnection<T>(redis: Redis, work: (connection: Redis) => Promise<T>): Promise<T> {
  return redis instanceof ScriptPoolRedis ? redis.withScriptConnection(work) : work(redis)
}

interface ScriptConnection {
  connection: WriteBatchingRedis
  inFlight: number
}

/**
 * Sends scripts, and what `runOnScriptConnection` is given, over separate connections, and everything else over its own. Commands sent
 * together may therefore reach Redis in another order: to keep an order, await each reply or send one pipeline.
 */
export class ScriptPoolRedis extends WriteBatchingRedis {
  readonly #scriptConnections = Array.from(
    { length: SCRIPT_CONNECTION_COUNT },
    (): ScriptConnection => ({ connection: createConnection(this.options), inFlight: 0 }),
  )
  #nextIndex = 0

  /** Uses the connection with the fewest scripts in flight, round-robin among equals, so that a stuck one delays few scripts. */
  async withScriptConnection<T>(work: (connection: Redis) => Promise<T>): Promise<T> {
    const leastBusy = this.#getLeastBusy()
    if (!leastBusy) return work(this)
    leastBusy.inFlight++
    try {
      return await work(leastBusy.connection)
    } finally {
      leastBusy.inFlight--
    }
  }

  /** This connection and those for scripts. */
  listConnections(): Redis[] {
    return [this, ...this.#scriptConnections.map(({ connection }) => connection)]
  }

  override disconnect(reconnect = false): void {
    super.disconnect(reconnect)
    if (!reconnect) for (const { connection } of this.#scriptConnections) connection.disconnect()
  }

  #getLeastBusy(): ScriptConnection | undefined {
    this.#nextIndex = (this.#nextIndex + 1) % SCRIPT_CONNECTION_COUNT
    let leastBusy: ScriptConnection | undefined
    for (let k = 0; k < SCRIPT_CONNECTION_COUNT; k++) {
      const candidate = this.#scriptConnections[(this.#nextIndex + k) % SCRIPT_CONNECTION_COUNT]
      const fewest = leastBusy?.inFlight ?? Number.POSITIVE_INFINITY
      if (candidate && candidate.inFlight < fewest && isWritable(candidate)) leastBusy = candidate
    }
    return leastBusy
  }
}

/** Between `end` and `close` a connection still reports the status `ready`. */
function isWritable({ connection: { status, stream } }: ScriptConnection): boolean {
  return status === 'ready' && stream.writable
}

function createConnection({ replyMapping: _legacy, ...options }: RedisOptions): WriteBatchingRedis {
  const connection = new WriteBatchingRedis(options)
  connection.on('error', () => {}) // a lost connection is skipped until it is back
  return connection
}

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
