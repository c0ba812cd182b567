/** How REDIS_URL names one Redis, a cluster of them, or a master that Sentinel knows. */
import { resolve } from 'node:path'

interface Node {
  host: string
  port: number
}

interface Access {
  username?: string
  password?: string
  tls: boolean
}

export type RedisAddress =
  | { kind: 'one'; url: string }
  | ({ kind: 'cluster'; nodes: Node[] } & Access)
  | ({ kind: 'sentinel'; nodes: Node[]; master: string; db: number; sentinelPassword?: string } & Access)

const SEVERAL =
  /^(?<scheme>rediss?)\+(?<kind>cluster|sentinel):\/\/(?:(?<user>[^@/]*)@)?(?<nodes>[^@/?]+)(?:\/(?<path>[^?]*))?(?:\?(?<query>.*))?$/

/**
 * Reads `redis://…`, `rediss://…` or the path of a socket; `redis+cluster://[user:password@]host:port,host:port`, or the
 * same as several `redis://` addresses with commas between them; `redis+sentinel://[user:password@]host:port,…/master[/db]`
 * with `?sentinel_password=`. With `rediss+` in front, over TLS. Throws a TypeError that says what cannot be read.
 */
export function readAddress(text: string): RedisAddress {
  const listed = text.split(',').map((part) => part.trim())
  if (listed.length > 1 && listed.every((part) => /^rediss?:\/\//.test(part))) return clusterOf(listed)
  if (!/^rediss?\+/.test(text)) return { kind: 'one', url: urlOf(text) }
  const { scheme, kind, user, nodes = '', path = '', query = '' } = SEVERAL.exec(text)?.groups ?? {}
  if (kind === undefined)
    throw new TypeError('write redis+cluster://host:port,… or redis+sentinel://host:port,…/master')
  const access = { ...accessOf(user), tls: scheme === 'rediss' }
  if (kind === 'cluster') return { kind, nodes: nodesOf(nodes, 6379), ...access }
  const [master, db = '0'] = path.split('/')
  if (!master) throw new TypeError('name the master: redis+sentinel://host:port,…/master')
  if (!/^\d+$/.test(db)) throw new TypeError(`the number of the database: ${db}`)
  const sentinelPassword = new URLSearchParams(query).get('sentinel_password')
  return {
    kind: 'sentinel',
    nodes: nodesOf(nodes, 26379),
    master: decodeURIComponent(master),
    db: Number(db),
    ...access,
    ...(sentinelPassword && { sentinelPassword }),
  }
}

/** ioredis takes whatever else it is given for the name of a host. */
function urlOf(text: string): string {
  if (/^rediss?:\/\//.test(text) && URL.canParse(text)) return text
  const isPath = !text.includes('://') && (text.includes('/') || text.endsWith('.sock'))
  if (!isPath) throw new TypeError('write redis://host:port, rediss://host:port or the path of a socket')
  return resolve(text)
}

/** Where Redis is, to be shown: without names and passwords. */
export function shownAddress(text: string): string {
  const address = readAddress(text)
  if (address.kind !== 'one') return address.nodes.map(({ host, port }) => `${host}:${port}`).join(', ')
  if (address.url.startsWith('/')) return address.url
  const { hostname, port } = new URL(address.url)
  return `${hostname}:${port || 6379}`
}

function clusterOf(listed: string[]): RedisAddress {
  const urls = listed.map((url) => new URL(url))
  const [first] = urls
  const user = first && (first.username || first.password) ? `${first.username}:${first.password}` : undefined
  const nodes = urls.map(({ hostname, port }) => ({ host: bare(hostname), port: Number(port || 6379) }))
  return { kind: 'cluster', nodes, ...accessOf(user), tls: first?.protocol === 'rediss:' }
}

function accessOf(user: string | undefined): { username?: string; password?: string } {
  if (!user) return {}
  const colon = user.indexOf(':')
  const username = decodeURIComponent(colon < 0 ? user : user.slice(0, colon))
  const password = colon < 0 ? '' : decodeURIComponent(user.slice(colon + 1))
  return { ...(username && { username }), ...(password && { password }) }
}

function nodesOf(list: string, defaultPort: number): Node[] {
  return list.split(',').map((text) => {
    const [, host, port] = /^(\[[^\]]+\]|[^:[\]]+)(?::(\d+))?$/.exec(text.trim()) ?? []
    if (!host || Number(port ?? 1) > 65535) throw new TypeError(`a host and port: ${text.trim() || 'nothing'}`)
    return { host: bare(host), port: Number(port ?? defaultPort) }
  })
}

/** An IPv6 address without its brackets. */
function bare(host: string): string {
  return host.replace(/^\[|\]$/g, '')
}
