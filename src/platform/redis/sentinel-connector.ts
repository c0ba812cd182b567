/**
 * Asks the Sentinels for the master and connects to it, so that connections survive failovers. It stops listening for failovers
 * before it looks up the master, and listens again once it is connected.
 *
 * Symptom: the connector of ioredis listens for `+switch-master` on behalf of a connection that is already lost. If the message
 * arrives while it looks up the new master, it closes the connection for good: every later command fails.
 * Gain: correctness, no speed: every connection follows a failover.
 * Measure: npx vitest run test/cluster/sentinel.test.ts; npm run verify -- topology --case sentinel-failover
 * Delete when: both pass with the SentinelConnector of ioredis.
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
