/** The log: one line a fact; pretty in a terminal, JSON otherwise. Keys, answers and stored payloads do not get into it. */
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'

/** Fields that carry secrets, wherever somebody logs an object that has them. */
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

/** An error without what clients of Redis and HTTP hang on it: commands with their arguments, bodies, headers. */
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
