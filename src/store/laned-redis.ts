/** Connections to one Redis as this server uses them: few writes, and scripts on lanes of their own. */
import { Redis, type RedisOptions } from 'ioredis'

/**
 * In a turn of its loop Redis reads 16 KB of a connection, and the turn lasts as long as its disk takes. The scripts that keep
 * groups are larger: on one connection they would stand in line, and every small question behind them.
 */
const LANES = 4

/** The commands of one turn of the event loop leave in one write: a system call for each takes a tenth of all time. */
export class CorkedRedis extends Redis {
  override sendCommand(...of: Parameters<Redis['sendCommand']>): unknown {
    const stream = this.stream as Redis['stream'] | undefined // there is none before it connects
    if (stream && stream.writableCorked === 0) {
      stream.cork()
      process.nextTick(() => stream.uncork())
    }
    return super.sendCommand(...of)
  }
}

interface Lane {
  connection: CorkedRedis
  /** Scripts that are begun and not answered. */
  busy: number
}

/**
 * Has further connections for scripts, all else goes over its own. So commands that are begun together may come to Redis in
 * another order: who needs one waits for the answer, or sends one pipeline.
 */
export class LanedRedis extends CorkedRedis {
  readonly #lanes = Array.from({ length: LANES }, (): Lane => ({ connection: connectionOf(this.options), busy: 0 }))
  #turn = 0

  /** Over the lane that has the least to do, in turn where several have: so one that is stuck holds up few. */
  async overLane<T>(ask: (connection: Redis) => Promise<T>): Promise<T> {
    const lane = this.#freest()
    if (!lane) return ask(this)
    lane.busy++
    try {
      return await ask(lane.connection)
    } finally {
      lane.busy--
    }
  }

  override disconnect(reconnect = false): void {
    super.disconnect(reconnect)
    if (!reconnect) for (const { connection } of this.#lanes) connection.disconnect()
  }

  #freest(): Lane | undefined {
    this.#turn = (this.#turn + 1) % LANES
    let freest: Lane | undefined
    for (let k = 0; k < LANES; k++) {
      const lane = this.#lanes[(this.#turn + k) % LANES]
      if (lane && lane.busy < (freest?.busy ?? Number.POSITIVE_INFINITY) && isUp(lane)) freest = lane
    }
    return freest
  }
}

/** Between its end and its close a connection still calls itself ready. */
function isUp({ connection: { status, stream } }: Lane): boolean {
  return status === 'ready' && stream.writable
}

function connectionOf({ replyMapping: _legacy, ...options }: RedisOptions): CorkedRedis {
  const connection = new CorkedRedis(options)
  connection.on('error', () => {}) // one that is lost is left out until it is back
  return connection
}
