/** The log: one line per event, pretty in a terminal, JSON otherwise. It never contains keys, answers or stored payloads. */
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'

/** Fields with secrets, which are redacted in every logged object. */
const SECRET_FIELDS = [
  'api_key',
  'apiKey',
  'authorization',
  'Authorization',
  '["x-api-key"]',
  'password',
  'entry',
  'oracle_answer',
]
const SECRET_PARENTS = ['', 'headers.', 'req.headers.', 'request.', 'model.', '*.', '*.headers.']
const MAX_ERROR_MESSAGE_CHARS = 2000

export function createLogger(level: string, name: string, destination?: DestinationStream): Logger {
  const options: LoggerOptions = {
    level,
    name,
    redact: { paths: SECRET_FIELDS.flatMap((field) => SECRET_PARENTS.map((parent) => redactPath(parent, field))) },
    serializers: { err: serializeError },
  }
  if (destination) return pino(options, destination)
  if (!process.stdout.isTTY) return pino(options)
  return pino({
    ...options,
    transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname', singleLine: true } },
  })
}

function redactPath(parent: string, field: string): string {
  return field.startsWith('[') ? `${parent.replace(/\.$/, '')}${field}` : `${parent}${field}`
}

/** An error without the details that Redis and HTTP clients attach: commands with arguments, bodies, headers. */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack = '' } = error
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {}
  const cause = error.cause === undefined ? {} : { cause: serializeError(error.cause) }
  return {
    type: name,
    message: message.slice(0, MAX_ERROR_MESSAGE_CHARS),
    ...code,
    stack: stack.slice(0, 2 * MAX_ERROR_MESSAGE_CHARS),
    ...cause,
  }
}
