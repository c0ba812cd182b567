/** Findings of the checks of `doctor` and `task check`. */

/** The result of one check: ok, a warning, or a failure. */
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
