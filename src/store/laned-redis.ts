/** Connections to one Redis as this server uses them: few writes, and scripts on lanes of their own. */
import { Redis } from 'ioredis'

/**
 * In a turn of its loop Redis reads 16 KB of a connection, and where it writes to its disk before it answers a turn takes as long as that. The
 * scripts that keep groups are larger: on one connection they stand in line, and every small question behind them.
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
 * Scripts go over further connections in turn, all else over its own. Commands begun at once may so reach Redis in another
 * order: who needs one waits for the answer, or sends one pipeline.
 */
export class LanedRedis extends CorkedRedis {
  readonly #lanes: readonly CorkedRedis[]
  #turn = 0

  constructor(...of: ConstructorParameters<typeof CorkedRedis>) {
    super(...of)
    this.#lanes = Array.from({ length: LANES }, () => {
      const lane = new CorkedRedis(...of)
      lane.on('error', () => {}) // a lane that is lost is left out until it is back
      return lane
    })
  }

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
