/** Calls to the server, with the key of this session if there is one. */
const STORAGE_KEY = 'rgs-key'
const keyEvents = new EventTarget()

/** A refusal as the server words it. */
export class ApiError extends Error {
  constructor(status, body) {
    super(body?.detail ?? body?.title ?? `The server answered ${status}`)
    this.status = status
    this.code = body?.code ?? 'internal'
    this.errors = body?.errors ?? []
  }
}

/** No answer came or it broke off, or what answered is not this server: a stopped call stays a stopped call. */
function toApiError(error) {
  if (error instanceof ApiError || error.name === 'AbortError') return error
  return new ApiError(
    0,
    error instanceof SyntaxError
      ? { code: 'unreadable_answer', detail: 'What answered here is not this server’s API' }
      : { code: 'no_answer', detail: 'The server does not answer' },
  )
}

export function hasKey() {
  return sessionStorage.getItem(STORAGE_KEY) !== null
}

/** Kept for this tab's session and no longer; '' forgets it. */
export function setKey(key) {
  if (key === '') sessionStorage.removeItem(STORAGE_KEY)
  else sessionStorage.setItem(STORAGE_KEY, key)
  keyEvents.dispatchEvent(new Event('key'))
}

/** Calls back with 'key' when the key changes, with 'required' when the server asks for one. */
export function onKeyEvent(name, listener) {
  keyEvents.addEventListener(name, listener)
  return () => keyEvents.removeEventListener(name, listener)
}

/** The answer, if it is a good one. Paths are relative, so that the server may live under a prefix. */
export async function fetchResponse(path, { method = 'GET', body, headers = {}, signal } = {}) {
  const key = sessionStorage.getItem(STORAGE_KEY)
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
    throw toApiError(error)
  })
  if (answer.ok) return answer
  const problem = new ApiError(answer.status, await answer.json().catch(() => undefined))
  if (answer.status === 401) keyEvents.dispatchEvent(new Event('required'))
  throw problem
}

export async function fetchJson(path, options) {
  const answer = await fetchResponse(path, options)
  if (answer.status === 204) return undefined
  return answer.json().catch((error) => {
    throw toApiError(error)
  })
}

/** A file by link would go without the key: it is fetched, and then saved. */
export async function downloadFile(path, name) {
  const blob = await (await fetchResponse(path)).blob()
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
