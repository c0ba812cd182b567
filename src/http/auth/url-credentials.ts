/**
 * Credentials in a URL, `http://trainer:KEY@host`, for clients that take nothing but a URL. They send them as HTTP Basic, with
 * the key as the password; the user name is free.
 */

const BASIC_PATTERN = /^Basic +([A-Za-z0-9+/_-]+={0,2}) *$/i
const ABSOLUTE_FORM_PATTERN = /^https?:\/\/[^/?#]*/i

/** The keys that the header may stand for, most likely first; none if it is not HTTP Basic or cannot be read. */
export function readBasicKeys(authorization: string): string[] {
  const encoded = BASIC_PATTERN.exec(authorization)?.[1]
  if (encoded === undefined) return []
  const credentials = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = credentials.indexOf(':')
  if (colon < 0 || colon === credentials.length - 1) return []
  const password = credentials.slice(colon + 1)
  const decoded = decodePercent(password)
  return decoded === password ? [password] : [password, decoded]
}

/** Some clients send the password as written in the URL, where `/`, `@` and `%` must be percent-encoded. */
function decodePercent(password: string): string {
  try {
    return decodeURIComponent(password)
  } catch {
    return password
  }
}

/**
 * For Fastify's `rewriteUrl`. A client that treats the server as a proxy sends the whole URL as the target, sometimes with
 * credentials. The origin is removed, so that nothing that shows a target, such as the log or a 404, can show a key.
 */
export function dropOriginFromTarget({ url = '/' }: { url?: string | undefined }): string {
  if (url.startsWith('/')) return url
  const rest = url.replace(ABSOLUTE_FORM_PATTERN, '')
  return rest.startsWith('/') || rest === url ? rest : `/${rest}`
}
