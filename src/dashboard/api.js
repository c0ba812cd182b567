/** Calls to the server, with the key of this session if there is one. */
const KEY = 'rgs-key'
const news = new EventTarget()

/** A refusal as the server words it. */
export class Problem extends Error {
  constructor(status, body) {
    super(body?.detail ?? body?.title ?? `The server answered ${status}`)
    this.status = status
    this.code = body?.code ?? 'internal'
    this.errors = body?.errors ?? []
  }
}

/** No answer came or it broke off, or what answered is not this server: a stopped call stays a stopped call. */
function problemOf(error) {
  if (error instanceof Problem || error.name === 'AbortError') return error
  return new Problem(
    0,
    error instanceof SyntaxError
      ? { code: 'unreadable_answer', detail: 'What answered here is not this server’s API' }
      : { code: 'no_answer', detail: 'The server does not answer' },
  )
}

export function hasKey() {
  return sessionStorage.getItem(KEY) !== null
}

/** Kept for this tab's session and no longer; '' forgets it. */
export function setKey(key) {
  if (key === '') sessionStorage.removeItem(KEY)
  else sessionStorage.setItem(KEY, key)
  news.dispatchEvent(new Event('key'))
}

/** Calls back with 'key' when the key changes, with 'wanted' when the server asks for one. */
export function onKeyNews(name, listener) {
  news.addEventListener(name, listener)
  return () => news.removeEventListener(name, listener)
}

/** The answer, if it is a good one. Paths are relative, so that the server may live under a prefix. */
export async function ask(path, { method = 'GET', body, headers = {}, signal } = {}) {
  const key = sessionStorage.getItem(KEY)
  const answer = await fetch(path, {
    method,
    signal,
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch((error) => {
    throw problemOf(error)
  })
  if (answer.ok) return answer
  const problem = new Problem(answer.status, await answer.json().catch(() => undefined))
  if (answer.status === 401) news.dispatchEvent(new Event('wanted'))
  throw problem
}

export async function call(path, options) {
  const answer = await ask(path, options)
  if (answer.status === 204) return undefined
  return answer.json().catch((error) => {
    throw problemOf(error)
  })
}

/** A file by link would go without the key: it is fetched, and then saved. */
export async function save(path, name) {
  const blob = await (await ask(path)).blob()
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
