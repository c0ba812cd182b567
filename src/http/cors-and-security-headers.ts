/** Security headers for browsers, and CORS: the origins whose pages may read responses (none by default). */
import cors from '@fastify/cors'
import fastifyPlugin from 'fastify-plugin'
import helmet from 'helmet'

const SELF = ["'self'"]
const NONE = ["'none'"]

/** Swagger UI uses style attributes and images in style sheets. Scripts are always files of this server. */
const CSP_DIRECTIVES = {
  defaultSrc: NONE,
  scriptSrc: SELF,
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", 'data:'],
  fontSrc: ["'self'", 'data:'],
  connectSrc: SELF,
  formAction: SELF,
  baseUri: NONE,
  frameAncestors: NONE,
}

const NON_HTML_SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/** Response headers that pages may read. */
const CORS_EXPOSED_HEADERS = [
  'Allow',
  'ETag',
  'Location',
  'Retry-After',
  'X-Batch-Missing',
  'X-Batch-Queued',
  'X-Request-Id',
]

export const securityHeaders = fastifyPlugin<{ corsOrigins: string[] }>(
  async (app, { corsOrigins }) => {
    const protect = helmet({
      contentSecurityPolicy: { useDefaults: false, directives: CSP_DIRECTIVES },
      strictTransportSecurity: false, // the server speaks HTTP; a TLS proxy in front of it adds this header
      referrerPolicy: { policy: 'no-referrer' },
    })
    // Other responses do not need a dozen headers, which would cost as much as scoring an answer.
    app.addHook('onSend', (request, reply, payload, done) => {
      const isPage = String(reply.getHeader('content-type')).startsWith('text/html')
      if (isPage) return protect(request.raw, reply.raw, () => done(null, payload))
      reply.headers(NON_HTML_SECURITY_HEADERS)
      done(null, payload)
    })
    if (corsOrigins.length === 0) return
    await app.register(cors, {
      origin: corsOrigins,
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      exposedHeaders: CORS_EXPOSED_HEADERS,
      maxAge: 600,
      strictPreflight: false,
    })
  },
  { name: 'security-headers', dependencies: ['request-ids'] },
)
