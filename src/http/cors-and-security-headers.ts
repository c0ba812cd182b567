/** For browsers: the headers that keep pages to themselves, and which other sites' pages may read answers (by default none). */
import cors from '@fastify/cors'
import fastifyPlugin from 'fastify-plugin'
import helmet from 'helmet'

const SELF = ["'self'"]
const NONE = ["'none'"]

/** Swagger UI writes style attributes and has pictures in its style sheets; scripts are files of ours on every page. */
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

/** What a page needs to read of our own, beside the body. */
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
      strictTransportSecurity: false, // the server speaks HTTP; who puts TLS before it adds this there
      referrerPolicy: { policy: 'no-referrer' },
    })
    // What is no page has no use for a dozen headers, which would cost as much as the scoring of an answer.
    app.addHook('onSend', (request, reply, payload, done) => {
      const isPage = String(reply.getHeader('content-type')).startsWith('text/html')
      if (isPage) return protect(request.raw, reply.raw, () => done(null, payload))
      reply.headers(NON_HTML_SECURITY_HEADERS)
      done(null, payload)
    })
    if (corsOrigins.length === 0) return
    await app.register(cors, {
      origin: corsOrigins,
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
      exposedHeaders: CORS_EXPOSED_HEADERS,
      maxAge: 600,
      strictPreflight: false,
    })
  },
  { name: 'security-headers', dependencies: ['request-ids'] },
)
