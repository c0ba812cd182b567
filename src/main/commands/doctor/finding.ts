/** The result of one check: ok, a warning, or a failure that keeps the server from working. */
export interface Finding {
  name: string
  is: 'ok' | 'warn' | 'fail'
  found: string
  /** What the user can do about it. */
  advice?: string
}

export const ok = (name: string, found: string): Finding => ({ name, is: 'ok', found })
export const warn = (name: string, found: string, advice: string): Finding => ({ name, is: 'warn', found, advice })
export const fail = (name: string, found: string, advice: string): Finding => ({ name, is: 'fail', found, advice })
