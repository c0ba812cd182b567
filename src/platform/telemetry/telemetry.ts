/** Starts OpenTelemetry if its variables ask for it. The SDK is loaded only then. */
import type { Logger } from 'pino'
import type { ProcessIdentity } from '../process-state.ts'
import type { OpenTelemetry } from './opentelemetry.ts'
import type { TelemetryConfig } from './telemetry-variables.ts'

/** Returns undefined if the environment does not ask for OpenTelemetry. */
export async function startTelemetry(
  config: TelemetryConfig,
  identity: ProcessIdentity,
  log: Logger,
): Promise<OpenTelemetry | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_TRACES_EXPORTER } = config
  const endpoint = OTEL_EXPORTER_OTLP_ENDPOINT ?? OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
  if (config.OTEL_SDK_DISABLED || OTEL_TRACES_EXPORTER === 'none' || endpoint === undefined) return undefined
  const sdk = await import('./opentelemetry.ts')
  return new sdk.OpenTelemetry(config, identity, log)
}
