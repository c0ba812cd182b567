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

/**
 * Scripts go over further connections in turn, all else over its own. So commands that are begun together may come to Redis in
 * another order: who needs one waits for the answer, or sends one pipeline.
 */
export class LanedRedis extends CorkedRedis {
  readonly #lanes = Array.from({ length: LANES }, () => laneOf(this.options))
  #turn = 0

  override sendCommand(...of: Parameters<Redis['sendCommand']>): unknown {
    const [{ name }, pipeline] = of
    const lane = name === 'evalsha' && pipeline === undefined ? this.#nextLane() : undefined
    return lane ? lane.sendCommand(...of) : super.sendCommand(...of)
  }

  override disconnect(reconnect = false): void {
    super.disconnect(reconnect)
    if (!reconnect) for (const lane of this.#lanes) lane.disconnect()
  }

  #nextLane(): CorkedRedis | undefined {
    this.#turn = (this.#turn + 1) % LANES
    const lane = this.#lanes[this.#turn]
    return lane?.status === 'ready' ? lane : undefined
  }
}

function laneOf({ replyMapping: _legacy, ...options }: RedisOptions): CorkedRedis {
  const lane = new CorkedRedis(options)
  lane.on('error', () => {}) // one that is lost is left out until it is back
  return lane
}
