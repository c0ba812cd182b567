/** Parses REDIS_URL: a single Redis, a cluster, or a master behind Sentinel. */
import { resolve } from 'node:path'

interface RedisNode {
  host: string
  port: number
}

interface RedisCredentials {
  username?: string
  password?: string
  tls: boolean
}

export type RedisAddress =
  | { kind: 'one'; url: string }
  | ({ kind: 'cluster'; nodes: RedisNode[] } & RedisCredentials)
  | ({ kind: 'sentinel'; nodes: RedisNode[]; master: string; db: number; sentinelPassword?: string } & RedisCredentials)

const MULTI_NODE_URL =
  /^(?<scheme>rediss?)\+(?<kind>cluster|sentinel):\/\/(?:(?<user>[^@/]*)@)?(?<nodes>[^@/?]+)(?:\/(?<path>[^?]*))?(?:\?(?<query>.*))?$/

/**
 * Reads `redis://…`, `rediss://…` or the path of a socket; `redis+cluster://[user:password@]host:port,host:port`, or the
 * same as several `redis://` addresses with commas between them; `redis+sentinel://[user:password@]host:port,…/master[/db]`
 * with `?sentinel_password=`. A `rediss+` scheme uses TLS. Throws a TypeError that names the invalid part.
 */
export function parseRedisAddress(text: string): RedisAddress {
  const listed = text.split(',').map((part) => part.trim())
  if (listed.length > 1 && listed.every((part) => /^rediss?:\/\//.test(part))) return parseClusterUrls(listed)
  if (!/^rediss?\+/.test(text)) return { kind: 'one', url: parseSingleAddress(text) }
  const { scheme, kind, user, nodes = '', path = '', query = '' } = MULTI_NODE_URL.exec(text)?.groups ?? {}
  if (kind === undefined)
    throw new TypeError('must be redis+cluster://host:port,… or redis+sentinel://host:port,…/master')
  const access = { ...parseCredentials(user), tls: scheme === 'rediss' }
  if (kind === 'cluster') return { kind, nodes: parseNodes(nodes, 6379), ...access }
  const [master, db = '0'] = path.split('/')
  if (!master) throw new TypeError('the name of the master is missing; write redis+sentinel://host:port,…/master')
  if (!/^\d+$/.test(db)) throw new TypeError(`"${db}" is not the number of a database`)
  const sentinelPassword = new URLSearchParams(query).get('sentinel_password')
  return {
    kind: 'sentinel',
    nodes: parseNodes(nodes, 26379),
    master: decodeURIComponent(master),
    db: Number(db),
    ...access,
    ...(sentinelPassword && { sentinelPassword }),
  }
}

/** Rejects everything else, because ioredis would treat it as a host name. */
function parseSingleAddress(text: string): string {
  if (/^rediss?:\/\//.test(text) && URL.canParse(text)) {
    const db = new URL(text).pathname.slice(1)
    if (!/^\d*$/.test(db)) throw new TypeError(`"${db}" is not the number of a database`) // ioredis would use database 0
    return text
  }
  const isPath = !text.includes('://') && (text.includes('/') || text.endsWith('.sock'))
  if (!isPath) throw new TypeError('must be redis://host:port, rediss://host:port or the path of a socket')
  return resolve(text)
}

/** The address of Redis for display, without credentials. */
export function formatRedisAddress(text: string): string {
  const address = parseRedisAddress(text)
  if (address.kind !== 'one') return address.nodes.map(({ host, port }) => `${host}:${port}`).join(', ')
  if (address.url.startsWith('/')) return address.url
  const { hostname, port } = new URL(address.url)
  return `${hostname}:${port || 6379}`
}

function parseClusterUrls(listed: string[]): RedisAddress {
  const urls = listed.map((url) => new URL(url))
  const [first] = urls
  const user = first && (first.username || first.password) ? `${first.username}:${first.password}` : undefined
  const nodes = urls.map(({ hostname, port }) => ({ host: stripIpv6Brackets(hostname), port: Number(port || 6379) }))
  return { kind: 'cluster', nodes, ...parseCredentials(user), tls: first?.protocol === 'rediss:' }
}

function parseCredentials(user: string | undefined): { username?: string; password?: string } {
  if (!user) return {}
  const colon = user.indexOf(':')
  const username = decodeURIComponent(colon < 0 ? user : user.slice(0, colon))
  const password = colon < 0 ? '' : decodeURIComponent(user.slice(colon + 1))
  return { ...(username && { username }), ...(password && { password }) }
}

function parseNodes(list: string, defaultPort: number): RedisNode[] {
  return list.split(',').map((text) => {
    const [, host, port] = /^(\[[^\]]+\]|[^:[\]]+)(?::(\d+))?$/.exec(text.trim()) ?? []
    if (!host || Number(port ?? 1) > 65535) throw new TypeError(`"${text.trim()}" is not host:port`)
    return { host: stripIpv6Brackets(host), port: Number(port ?? defaultPort) }
  })
}

/** An IPv6 address without its brackets. */
function stripIpv6Brackets(host: string): string {
  return host.replace(/^\[|\]$/g, '')
}
