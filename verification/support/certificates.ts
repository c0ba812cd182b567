/** Certificates for tests of TLS: two CAs, and what the first has signed. Needs the command `openssl`. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface Certificate {
  /** Paths of PEM files. */
  cert: string
  key: string
}

export interface TestCertificates {
  ca: string
  /** Has signed nothing. */
  otherCa: string
  /** For 127.0.0.1 and redis.test. */
  server: Certificate
  expired: Certificate
  client: Certificate
}

const SERVER_NAMES = 'subjectAltName=IP:127.0.0.1,DNS:redis.test'

export function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'])
    return true
  } catch {
    return false
  }
}

export function createTestCertificates(folder: string): TestCertificates {
  const path = (name: string) => join(folder, name)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const createCa = (name: string) => {
    openssl(
      'req',
      '-x509',
      ...newKey,
      '-keyout',
      path(`${name}.key`),
      '-out',
      path(`${name}.crt`),
      '-subj',
      `/CN=${name}`,
    )
    return path(`${name}.crt`)
  }
  const ca = createCa('ca')
  const sign = (name: string, days: number): Certificate => {
    const [cert, key, request] = [path(`${name}.crt`), path(`${name}.key`), path(`${name}.csr`)]
    const names = path(`${name}.ext`)
    writeFileSync(names, SERVER_NAMES)
    openssl('req', ...newKey, '-keyout', key, '-out', request, '-subj', `/CN=${name}`)
    const by = ['-CA', ca, '-CAkey', path('ca.key'), '-CAcreateserial', '-days', String(days)]
    openssl('x509', '-req', '-in', request, ...by, '-extfile', names, '-out', cert)
    return { cert, key }
  }
  return {
    ca,
    otherCa: createCa('other-ca'),
    server: sign('server', 2),
    expired: sign('expired', -1),
    client: sign('client', 2),
  }
}
