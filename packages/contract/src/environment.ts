/** Reads the environment of a command that only calls a server. The settings of the server are in src/platform/environment.ts. */
import { z } from 'zod'
import { ConfigError, readEnvironment } from './dot-env.ts'

export const DEFAULT_PORT = 8000

/** The variables that a client needs: where the server is, and the keys. */
export const ClientVariables = {
  HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('Address to listen on. Set `API_KEYS` before you listen on anything but loopback.'),
  PORT: z.coerce.number().int().min(0).max(65535).default(DEFAULT_PORT).describe('Port to listen on.'),
  REASONING_GYM_URL: z
    .string()
    .trim()
    .min(1)
    .optional()
    .describe(
      'Server that the command line calls. If it is not set, the command line uses the server on this machine, or starts one.',
    ),
  REASONING_GYM_API_KEY: z.string().min(1).optional().describe('API key that the command line sends to the server.'),
  MODEL_API_KEY: z.string().min(1).optional().describe('API key of the model that the command line evaluates.'),
}

const ClientConfig = z.object(ClientVariables)
export type ClientConfig = z.infer<typeof ClientConfig>

/** Reads only the variables of a client. Throws a ConfigError that names every invalid one. */
export function readClientConfig(): ClientConfig {
  return parseEnvironment(ClientConfig, readEnvironment())
}

/** Parses the variables that are set and not empty. Throws a ConfigError that names every invalid variable. */
export function parseEnvironment<Schema extends z.ZodType>(
  schema: Schema,
  environment: NodeJS.ProcessEnv,
): z.infer<Schema> {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const wrong = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${formatIssue(issue, given)}`)
  throw new ConfigError(`Invalid environment variables: ${wrong.join('; ')}`)
}

/** Names the value where a number is expected. Other values may hold secrets. */
function formatIssue(issue: z.core.$ZodIssue, given: Record<string, string | undefined>): string {
  const name = String(issue.path[0])
  if (name === 'PORT' || name.endsWith('_PORT')) return `"${given[name]}" is not a port`
  if (issue.code === 'invalid_type' && ['number', 'int'].includes(issue.expected))
    return `"${given[name]}" is not a ${issue.expected === 'int' ? 'whole ' : ''}number`
  return issue.message
}
