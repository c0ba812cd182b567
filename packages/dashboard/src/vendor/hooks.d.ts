/** Types of preact's hooks: a ref or state that starts without a value may hold any value later. */
import type { Dispatch, StateUpdater } from 'preact/hooks'

export { useEffect, useMemo } from 'preact/hooks'
// biome-ignore-start lint/suspicious/noExplicitAny: elements, and values of the API as they come
export function useRef(empty?: null): { current: any }
export function useRef<T>(initial: T): { current: T }
export function useState(empty?: null): [any, Dispatch<any>]
export function useState(empty: never[]): [any[], Dispatch<StateUpdater<any[]>>]
export function useState<T>(initial: T | (() => T)): [T, Dispatch<StateUpdater<T>>]
// biome-ignore-end lint/suspicious/noExplicitAny: elements, and values of the API as they come
