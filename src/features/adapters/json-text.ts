/**
 * JSON that an adapter writes itself, so that every reader parses rewards as floats. Python reads `1` as an int, and a
 * batch of only ints becomes an integer tensor, which has no mean.
 */
import type { FastifyReply } from 'fastify'

export function formatFloat(value: number): string {
  return Number.isSafeInteger(value) ? `${value}.0` : String(value)
}

export function formatFloats(values: readonly number[]): string {
  return `[${values.map(formatFloat).join(', ')}]`
}

export function sendJsonText(reply: FastifyReply, text: string): FastifyReply {
  return reply.type('application/json').send(text)
}
