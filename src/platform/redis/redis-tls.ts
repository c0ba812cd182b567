/** TLS of `rediss` connections, and advice for errors. */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type ConnectionOptions, createSecureContext } from 'node:tls'
import { parseRedisAddress } from './redis-url.ts'

/** TLS options in addition to Node's own list of CAs and the host name of the address. */
export type RedisTls = Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'servername'>

interface RedisTlsSettings {
  REDIS_TLS_CA_FILE?: string | undefined
  REDIS_TLS_CERT_FILE?: string | undefined
  REDIS_TLS_KEY_FILE?: string | undefined
  REDIS_TLS_SERVERNAME?: string | undefined
}

/** Reads the files; undefined without settings. Throws a TypeError that names the invalid setting. */
export function readRedisTls(url: string | undefined, settings: RedisTlsSettings): RedisTls | undefined {
  const {
    REDIS_TLS_CA_FILE: caFile,
    REDIS_TLS_CERT_FILE: certFile,
    REDIS_TLS_KEY_FILE: keyFile,
    REDIS_TLS_SERVERNAME: servername,
  } = settings
  if (!(caFile || certFile || keyFile || servername)) return undefined
  if (url === undefined || !usesTls(url))
    throw new TypeError(
      'A REDIS_TLS_… variable is set, but REDIS_URL is not encrypted. Use rediss:// in REDIS_URL, or remove the variable.',
    )
  if (Boolean(certFile) !== Boolean(keyFile))
    throw new TypeError('Only one of REDIS_TLS_CERT_FILE and REDIS_TLS_KEY_FILE is set. Set both.')
  const tls = {
    ...(caFile && { ca: readCertificate('REDIS_TLS_CA_FILE', caFile) }),
    ...(certFile && { cert: readCertificate('REDIS_TLS_CERT_FILE', certFile) }),
    ...(keyFile && { key: readSettingFile('REDIS_TLS_KEY_FILE', keyFile) }),
    ...(servername && { servername }),
  }
  assertKeyFits(tls)
  return tls
}

export function usesTls(url: string): boolean {
  const address = parseRedisAddress(url)
  return address.kind === 'one' ? address.url.startsWith('rediss:') : address.tls
}

function readCertificate(setting: string, file: string): string {
  const pem = readSettingFile(setting, file)
  try {
    new X509Certificate(pem) // Node would ignore a file without a certificate
  } catch (cause) {
    throw new TypeError(`${setting}: ${file} contains no certificate in PEM format`, { cause })
  }
  return pem
}

function readSettingFile(setting: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new TypeError(`${setting} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    })
  }
}

function assertKeyFits({ cert, key }: RedisTls): void {
  try {
    createSecureContext({ cert, key })
  } catch (cause) {
    throw new TypeError('REDIS_TLS_KEY_FILE is not the private key of REDIS_TLS_CERT_FILE', { cause })
  }
}

/** A port without TLS never replies to a handshake: it waits for the end of a line. */
export const NO_HANDSHAKE = 'the TLS handshake timed out (if this port does not use TLS, write redis://)'
export const CLOSED_BY_REDIS =
  'Redis closed the connection (if this port uses TLS, write rediss://; if it requires a client certificate, set REDIS_TLS_CERT_FILE)'

/** Errors of Node, OpenSSL and ioredis, by a part of their code or message. */
const ADVICE: { parts: string[]; advice: string }[] = [
  {
    parts: ['SELF_SIGNED', 'UNABLE_TO_VERIFY', 'UNABLE_TO_GET_ISSUER'],
    advice: 'set REDIS_TLS_CA_FILE to the CA certificate that signed the certificate of Redis',
  },
  { parts: ['CERT_HAS_EXPIRED'], advice: 'renew the certificate of Redis' },
  { parts: ['CERT_NOT_YET_VALID'], advice: 'compare the clocks of this machine and Redis' },
  {
    parts: ['ALTNAME_INVALID'],
    advice: 'set REDIS_TLS_SERVERNAME to a name in the certificate of Redis',
  },
  { parts: ['WRONG_VERSION_NUMBER', 'PACKET_LENGTH_TOO_LONG'], advice: 'this port does not use TLS: write redis://' },
  { parts: ['Protocol error, got "\\u0015"'], advice: 'this port uses TLS: write rediss://' },
  { parts: ['ECONNRESET'], advice: 'if this port uses TLS, write rediss://' },
  { parts: ['ETIMEDOUT'], advice: 'nothing answers at this address; with rediss://, the port may not use TLS' },
  {
    parts: ['CERTIFICATE_REQUIRED', 'ALERT_HANDSHAKE_FAILURE'],
    advice: 'Redis requires a client certificate: set REDIS_TLS_CERT_FILE and REDIS_TLS_KEY_FILE',
  },
  {
    parts: ['ALERT_UNKNOWN_CA', 'ALERT_BAD_CERTIFICATE', 'ALERT_CERTIFICATE_EXPIRED', 'ALERT_CERTIFICATE_UNKNOWN'],
    advice: 'Redis rejects the client certificate: check REDIS_TLS_CERT_FILE',
  },
]

/** Words for errors of the system. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'it closes the connection',
  ENOTFOUND: 'the host name cannot be resolved',
  EAI_AGAIN: 'the host name cannot be resolved at the moment',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to its network',
  ETIMEDOUT: 'the connection timed out',
  ENOENT: 'the socket file does not exist',
  EACCES: 'this user may not open the socket file',
  EPIPE: 'it closes the connection',
}
/** Messages of ioredis that only say that there is no connection. */
const DRIVER_MESSAGES = /isn't writeable|isn't ready|connection is closed|max retries|command timed out/i

/** Why a connection failed, in one line, with the setting that fixes it if TLS is the cause. */
export function explainConnectionError(error: Error & { code?: string }): string {
  const text = `${error.code} ${error.message}`
  const advice = ADVICE.find(({ parts }) => parts.some((part) => text.includes(part)))?.advice
  const [, raw = error.message] = /:SSL routines:[^:]*:([^:]+):/.exec(error.message) ?? []
  const message = REASONS[error.code ?? ''] ?? (DRIVER_MESSAGES.test(raw) ? 'there is no connection' : raw)
  return advice === undefined ? message : `${message} (${advice})`
}
