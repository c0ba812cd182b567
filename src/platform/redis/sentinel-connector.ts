/**
 * Asks the Sentinels for the master and connects to it, so that connections survive failovers.
 *
 * The connector of ioredis listens for `+switch-master` on behalf of a connection that is already lost. If the message arrives
 * while it looks up the new master, it closes the connection for good, and every later command fails with `Connection is
 * closed`. This connector stops listening before the lookup, and listens again once it is connected.
 */
import { type SentinelConnectionOptions, SentinelConnector } from 'ioredis'

type ReportError = Parameters<SentinelConnector['connect']>[0]

/** The private listener of the connector of ioredis. The tests of failovers fail if its name changes. */
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
