/** The log: pretty lines in a terminal, JSON otherwise. */
import { type Logger, pino } from 'pino'

export function openLog(level: string, name: string): Logger {
  if (!process.stdout.isTTY) return pino({ level, name })
  return pino({
    level,
    name,
    transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname', singleLine: true } },
  })
}
