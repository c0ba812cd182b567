/** Spans, as the server's own code starts them. Without OpenTelemetry, a span costs one call. */
import type { Attributes, AttributeValue, SpanStatus } from '@opentelemetry/api'

export interface SpanOptions {
  /**
   * `server` and `consumer` continue the trace of `traceparent`, or start one. `internal` continues the current span, and is no span
   * where there is none.
   */
  kind: 'server' | 'consumer' | 'internal'
  /** The W3C header of the caller. */
  traceparent?: string | undefined
  /** Named as in OpenTelemetry's semantic conventions, or with the prefix `rgs.`. */
  attributes: Attributes
}

/** What `work` may do with its span. */
export interface OpenSpan {
  setAttribute(name: string, value: AttributeValue): void
  setStatus(status: SpanStatus): void
}

export interface Tracing {
  /** Runs `work` in a span, which ends with it. A failure marks the span. */
  span<T>(name: string, options: SpanOptions, work: (span: OpenSpan) => Promise<T>): Promise<T>
  /** The W3C traceparent of the current span, for the job that continues it. */
  getTraceparent(): string | undefined
}

const NO_SPAN: OpenSpan = { setAttribute() {}, setStatus() {} }

export const NO_TRACING: Tracing = {
  span: (_name, _options, work) => work(NO_SPAN),
  getTraceparent: () => undefined,
}
