/**
 * Asks the Sentinels for the master and connects to it, so that a connection outlives every failover.
 *
 * The connector of ioredis listens for `+switch-master` on behalf of a connection that is already lost. If the message arrives
 * while it asks for the new master, it takes it for an order to close, and the connection ends for good: `Connection is closed`
 * to every later command. This one stops listening before it asks; it listens again once it is connected.
 */
import { type SentinelConnectionOptions, SentinelConnector } from 'ioredis'

type ReportError = Parameters<SentinelConnector['connect']>[0]

/** What the connector of ioredis listens with; the tests of a failover fail where it has another name. */
interface Listening {
  failoverDetector: { cleanup(): void } | null
}

export class FailoverSentinelConnector extends SentinelConnector {
  constructor(options: unknown) {
    super(options as SentinelConnectionOptions) // ioredis passes its own options, and declares them unknown
  }

  override connect(report: ReportError): ReturnType<SentinelConnector['connect']> {
    const listening = this as unknown as Listening // its declaration hides it
    listening.failoverDetector?.cleanup()
    listening.failoverDetector = null
    return super.connect(report)
  }
}
