import Fastify from 'fastify'
import { expect, it } from 'vitest'
import { authorization } from '../../src/http/auth/authorization.ts'
import { requestDecompression } from '../../src/http/compression.ts'
import { errorHandling } from '../../src/http/errors/error-handling.ts'
import { malformedPaths } from '../../src/http/errors/malformed-requests.ts'
import { openapi } from '../../src/http/openapi/openapi.ts'

it.each([
  ['authorization', authorization, 'authentication'],
  ['request decompression', requestDecompression, 'rate-limit'],
  ['malformed paths', malformedPaths, 'rate-limit'],
  ['error handling', errorHandling, 'rate-limit'],
])('%s does not start without the plugin that has to come before it', async (_name, plugin, missing) => {
  await expect(async () => Fastify().register(plugin)).rejects.toThrow(missing)
})

it('the API document does not start before the routes are authorized', async () => {
  await expect(async () => Fastify().register(openapi)).rejects.toThrow('authorization')
})
