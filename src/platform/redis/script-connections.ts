/**
 * Connections to one Redis: the commands of one turn leave in one write, and scripts have connections of their own.
 *
 * Symptom: Redis reads 16 KB of a connection per turn of its loop, so small queries wait behind scripts of megabytes.
 * Gain: p99 of W7 1,720 to 690 ms, W5 a twentieth; one write per turn saves a tenth of the time of W5.
 * Measure: npm run bench -- --only rollouts,connections [--without script-connections or write-batching]
 * Delete when: the p99 of W7 and W5 change by less than a tenth.
 */
import { Redis, type RedisOptions } from 'ioredis'

/**
 * In a turn of its loop Redis reads 16 KB of a connection, and the turn lasts as long as its disk takes. The scripts that keep
 * groups are larger: on one connection they would stand in line, and every small question behind them.
 */
const SCRIPT_CONNECTION_COUNT = 4

/** The commands of one turn of the event loop leave in one write: a system call for each takes a tenth of all time. */
export class WriteBatchingRedis extends Redis {
  override sendCommand(...of: Parameters<Redis['sendCommand']>): unknown {
    const stream = this.stream as Redis['stream'] | undefined // there is none before it connects
    if (stream && stream.writableCorked === 0) {
      stream.cork()
      process.nextTick(() => stream.uncork())
    }
    return super.sendCommand(...of)
  }
}

interface ScriptConnection {
  connection: WriteBatchingRedis
  /** Scripts that are begun and not answered. */
  inFlight: number
}

/**
 * Has further connections for scripts, all else goes over its own. So commands that are begun together may come to Redis in
 * another order: who needs one waits for the answer, or sends one pipeline.
 */
export class ScriptPoolRedis extends WriteBatchingRedis {
  readonly #scriptConnections = Array.from(
    { length: SCRIPT_CONNECTION_COUNT },
    (): ScriptConnection => ({ connection: createConnection(this.options), inFlight: 0 }),
  )
  #nextIndex = 0

  /** Over the lane that has the least to do, in turn where several have: so one that is stuck holds up few. */
  async withScriptConnection<T>(ask: (connection: Redis) => Promise<T>): Promise<T> {
    const lane = this.#leastBusy()
    if (!lane) return ask(this)
    lane.inFlight++
    try {
      return await ask(lane.connection)
    } finally {
      lane.inFlight--
    }
  }

  override disconnect(reconnect = false): void {
    super.disconnect(reconnect)
    if (!reconnect) for (const { connection } of this.#scriptConnections) connection.disconnect()
  }

  #leastBusy(): ScriptConnection | undefined {
    this.#nextIndex = (this.#nextIndex + 1) % SCRIPT_CONNECTION_COUNT
    let freest: ScriptConnection | undefined
    for (let k = 0; k < SCRIPT_CONNECTION_COUNT; k++) {
      const lane = this.#scriptConnections[(this.#nextIndex + k) % SCRIPT_CONNECTION_COUNT]
      if (lane && lane.inFlight < (freest?.inFlight ?? Number.POSITIVE_INFINITY) && isWritable(lane)) freest = lane
    }
    return freest
  }
}

/** Between its end and its close a connection still calls itself ready. */
function isWritable({ connection: { status, stream } }: ScriptConnection): boolean {
  return status === 'ready' && stream.writable
}

function createConnection({ replyMapping: _legacy, ...options }: RedisOptions): WriteBatchingRedis {
  const connection = new WriteBatchingRedis(options)
  connection.on('error', () => {}) // one that is lost is left out until it is back
  return connection
}
