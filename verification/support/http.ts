/** One call over HTTP with JSON bodies. */

export interface CallOptions {
  body?: unknown
  headers?: Record<string, string>
  /** API key. */
  key?: string | undefined
  timeoutMs?: number
}

export interface CallResponse {
  ok: boolean
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: the answers of many routes; what is missing fails where it is read
  body: any
}

/** The response, whatever its status. `body` is the JSON of the response; JSON Lines and pages are in `text` only. */
export async function call(method: string, url: string, options: CallOptions = {}): Promise<CallResponse> {
  const { body, headers, key, timeoutMs } = options
  const response = await fetch(url, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(timeoutMs !== undefined && { signal: AbortSignal.timeout(timeoutMs) }),
  })
  const text = await response.text()
  const isJson = /^application\/(problem\+)?json/.test(response.headers.get('content-type') ?? '') && text !== ''
  const { ok, status } = response
  return { ok, status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined }
}

/** The body of a response with a 2xx status; throws for any other. */
export async function requireBody(method: string, url: string, options?: CallOptions): Promise<CallResponse['body']> {
  const { ok, status, text, body } = await call(method, url, options)
  if (!ok) throw new Error(`${method} ${url}: ${status} ${text.slice(0, 500)}`)
  return body
}
