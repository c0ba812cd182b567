/** The standard variables of OpenTelemetry that the server reads. The SDK itself reads others, such as those of TLS and headers. */
import { z } from 'zod'

export const TelemetryVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url()
    .optional()
    .describe(
      'Collector that gets traces by OTLP over HTTP, such as `http://127.0.0.1:4318`. If neither this nor the next one is set, OpenTelemetry is off.',
    ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.url().optional().describe('Whole URL for traces, if it is another one.'),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .enum(['http/protobuf', 'http/json'])
    .default('http/protobuf')
    .describe('Encoding of OTLP. The server does not speak OTLP over gRPC.'),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none']).default('otlp').describe('`none` exports no traces.'),
  OTEL_TRACES_SAMPLER: z
    .enum([
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
      'always_on',
      'always_off',
      'traceidratio',
    ])
    .default('parentbased_always_on')
    .describe('Which requests are traced. `parentbased_…` follows the `traceparent` of the caller, if it sends one.'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('Share of the traces that `traceidratio` keeps.'),
  OTEL_SERVICE_NAME: z
    .string()
    .optional()
    .meta({ defaultInWords: '`reasoning-gym-server`' })
    .describe('Name of the service in traces.'),
  OTEL_SDK_DISABLED: z.stringbool().default(false).describe('`true` turns OpenTelemetry off.'),
}
export type TelemetryConfig = z.infer<z.ZodObject<typeof TelemetryVariables>>
