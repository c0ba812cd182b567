/**
 * The OpenTelemetry SDK of a process. It exports in the background: a collector that does not answer costs no request anything, and
 * the SDK drops what its queue cannot hold.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  context,
  DiagLogLevel,
  defaultTextMapGetter,
  defaultTextMapSetter,
  diag,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter as JsonTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { detectResources, envDetector, type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Logger } from 'pino'
import type { Closable } from '../closers.ts'
import { VERSION } from '../installation.ts'
import type { ProcessIdentity } from '../process-state.ts'
import { errorMessage, throttledLog } from '../throttled-log.ts'
import type { TelemetryConfig } from './telemetry-variables.ts'
import { NO_TRACING, type SpanOptions, type Tracing } from './tracing.ts'

const SCOPE = 'reasoning-gym-server'
/** Of the shutdown, which has 15 s in all. */
const FLUSH_TIMEOUT_MS = 2000
const SPAN_KINDS = { server: SpanKind.SERVER, consumer: SpanKind.CONSUMER, internal: SpanKind.INTERNAL }

export class OpenTelemetry implements Closable {
  readonly tracing: Tracing
  readonly #provider: TracerProvider
  readonly #log: Logger

  constructor(config: TelemetryConfig, identity: ProcessIdentity, log: Logger) {
    const { OTEL_EXPORTER_OTLP_PROTOCOL, OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG } = config
    const isJson = OTEL_EXPORTER_OTLP_PROTOCOL === 'http/json'
    this.#log = log
    logFailures(log)
    this.#provider = new TracerProvider({
      resource: describeProcess(identity),
      sampler: createSampler(OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG),
      spanProcessors: [
        new BatchSpanProcessor({ exporter: isJson ? new JsonTraceExporter() : new ProtobufTraceExporter() }),
      ],
    })
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    this.tracing = createTracing(this.#provider.getTracer(SCOPE, VERSION))
  }

  /** Exports the rest, within a limit. */
  async close(): Promise<void> {
    const flushed = this.#provider.shutdown().then(
      () => true,
      () => false,
    )
    const isFlushed = await Promise.race([flushed, sleep(FLUSH_TIMEOUT_MS, false, { ref: false })])
    if (!isFlushed) this.#log.warn('OpenTelemetry could not export the rest before the shutdown')
    context.disable()
    diag.disable()
  }
}

/** The environment has precedence: OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME. */
function describeProcess({ process, role }: ProcessIdentity): Resource {
  return resourceFromAttributes({
    'service.name': SCOPE,
    'service.version': VERSION,
    'service.instance.id': process,
    'rgs.role': role,
  }).merge(detectResources({ detectors: [envDetector] }))
}

function createTracing(tracer: Tracer): Tracing {
  const propagator = new W3CTraceContextPropagator()
  const getParent = ({ kind, traceparent }: SpanOptions) =>
    kind === 'internal' ? context.active() : propagator.extract(ROOT_CONTEXT, { traceparent }, defaultTextMapGetter)
  return {
    span(name, options, work) {
      const { kind, attributes } = options
      const parent = getParent(options)
      if (kind === 'internal' && !trace.getSpan(parent)) return NO_TRACING.span(name, options, work)
      return tracer.startActiveSpan(name, { kind: SPAN_KINDS[kind], attributes }, parent, async (span) => {
        try {
          return await work(span)
        } catch (error) {
          span.setStatus({ code: SpanStatusCode.ERROR, message: errorMessage(error) })
          throw error
        } finally {
          span.end()
        }
      })
    },
    getTraceparent() {
      const carrier: { traceparent?: string } = {}
      propagator.inject(context.active(), carrier, defaultTextMapSetter)
      return carrier.traceparent
    },
  }
}

function createSampler(name: TelemetryConfig['OTEL_TRACES_SAMPLER'], ratio: number): Sampler {
  const root = name.endsWith('always_off')
    ? new AlwaysOffSampler()
    : name.endsWith('traceidratio')
      ? new TraceIdRatioBasedSampler(ratio)
      : new AlwaysOnSampler()
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root
}

const MAX_LOGGED_CHARS = 300

/** The SDK reports each failed export to its own logger, with a stack as JSON. */
function logFailures(log: Logger): void {
  const warn = throttledLog((reason, suppressed) =>
    log.warn({ reason, ...(suppressed && { suppressed }) }, 'OpenTelemetry could not export'),
  )
  const report = (message: string) => warn(message.slice(0, MAX_LOGGED_CHARS))
  const ignore = () => {}
  const logger = { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
}
