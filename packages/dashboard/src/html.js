/** Preact with htm: components without a build step. */
import htm from './vendor/htm.js'
import { h } from './vendor/preact.js'

export { useEffect, useMemo, useRef, useState } from './vendor/hooks.js'
export { render } from './vendor/preact.js'
// @ts-expect-error: the types of htm name its default export, which is the function itself
export const html = htm.bind(h)
