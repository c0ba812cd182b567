/** The sandbox layers of the Python workers: which are active, and why the others are not. */

/** Workers that make items, and workers that score. Their layers differ. */
export type PythonWorkerKind = 'items' | 'score'

/** By name of the layer: null if it is active, otherwise the reason why not. */
export type SandboxLayers = Record<string, string | null>

/** The layers that Python workers report at their start. All workers of one kind report the same. */
export class SandboxLayerRegistry {
  readonly #byKind = new Map<PythonWorkerKind, SandboxLayers>()

  /** Returns whether the layers of this kind have changed. */
  record(kind: PythonWorkerKind, layers: SandboxLayers): boolean {
    const before = this.#byKind.get(kind)
    this.#byKind.set(kind, layers)
    return JSON.stringify(before) !== JSON.stringify(layers)
  }

  /** A layer is active if it is active for both kinds of workers. Empty until the first worker has started. */
  getCombined(): SandboxLayers {
    const all: SandboxLayers = {}
    for (const layers of this.#byKind.values()) {
      for (const [name, reason] of Object.entries(layers)) all[name] ??= reason
    }
    return all
  }
}

export function hasMissingLayers(layers: SandboxLayers): boolean {
  return Object.values(layers).some((reason) => reason !== null)
}

/** For display: `on`, or why the layer is not active. */
export function formatSandboxLayers(layers: SandboxLayers): Record<string, string> {
  return Object.fromEntries(Object.entries(layers).map(([name, reason]) => [name, reason ?? 'on']))
}
