/** Calls the server, with the API key of this session if there is one. */
import { saveBlob } from './save-file.js'

const STORAGE_KEY = 'rgs-key'
const keyEvents = new EventTarget()

/** An error response, with the server's wording. */
export class ApiError extends Error {
  constructor(status, body) {
    super(body?.detail ?? body?.title ?? `The server returned status ${status}`)
    this.status = status
    this.code = body?.code ?? 'internal'
    this.errors = body?.errors ?? []
  }
}

/** Converts a failed fetch or an unreadable response to an ApiError. Aborted calls keep their error. */
function toApiError(error) {
  if (error instanceof ApiError || error.name === 'AbortError') return error
  return new ApiError(
    0,
    error instanceof SyntaxError
      ? {
          code: 'unreadable_answer',
          detail: 'The response does not come from this server’s API. Check the address and any proxy in between',
        }
      : { code: 'no_answer', detail: 'The server does not answer. Check that it is running; this page tries again' },
  )
}

export function hasKey() {
  return sessionStorage.getItem(STORAGE_KEY) !== null
}

/** Stores the key for the session of this tab. An empty string deletes it. */
export function setKey(key) {
  if (key === '') sessionStorage.removeItem(STORAGE_KEY)
  else sessionStorage.setItem(STORAGE_KEY, key)
  keyEvents.dispatchEvent(new Event('key'))
}

/** Listens for 'key' (the key changed) or 'required' (the server requires a key). Returns a function that stops listening. */
export function onKeyEvent(name, listener) {
  keyEvents.addEventListener(name, listener)
  return () => keyEvents.removeEventListener(name, listener)
}

/**
 * Resolves with a 2xx response and throws an ApiError otherwise. Paths are relative, so that the server can run under a prefix.
 * @param {string} path
 * @param {{ method?: string, body?: unknown, headers?: Record<string, string>, signal?: AbortSignal }} options
 */
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

/** @returns {Promise<any>} */
export async function fetchJson(path, options = {}) {
  const answer = await fetchResponse(path, options)
  if (answer.status === 204) return undefined
  return answer.json().catch((error) => {
    throw toApiError(error)
  })
}

/** Fetches a file and saves it, because a plain link would not send the API key. */
export async function downloadFile(path, name) {
  saveBlob(name, await (await fetchResponse(path)).blob())
}
