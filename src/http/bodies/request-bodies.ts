/**
 * Takes request bodies from the connection to a parsed value. A large body waits for memory (body-memory-plugin.ts), a
 * compressed one is decompressed, and JSON is read and parsed within the limits of the route.
 */
import fastifyPlugin from 'fastify-plugin'
import type { BodyMemoryLimiter } from '../../platform/client-memory/body-memory-limiter.ts'
import { bodyMemoryPlugin } from './body-memory-plugin.ts'
import { jsonBodyParser } from './json-body-parser.ts'
import { requestDecompression } from './request-decompression.ts'

export const requestBodies = fastifyPlugin<{ bodyMemory: BodyMemoryLimiter }>(
  async (app, { bodyMemory }) => {
    await app.register(bodyMemoryPlugin, { bodyMemory })
    await app.register(requestDecompression)
    await app.register(jsonBodyParser)
  },
  { name: 'request-bodies', dependencies: ['rate-limit', 'compression'] },
)
