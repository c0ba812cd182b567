/** Files that a run has written. */
import { save } from '../api.js'
import { bytes, count, plural } from '../format.js'
import { html, useState } from '../html.js'
import { useLoad } from '../loading.js'
import { Chip, Empty, Loading, Panel, Trouble } from './bits.js'
import { Table } from './table.js'
import { Time } from './time.js'

const MOST = 20
/** Files are also written when nothing comes: once it has been quiet for a while. */
const EVERY_MS = 15_000

/** `dumps`: of the run's progress; what waits for a file by kind. */
export function DumpsPanel({ run, dumps = {}, width }) {
  const { value, problem } = useLoad(`dumps?run=${encodeURIComponent(run)}`, { everyMs: EVERY_MS })
  const [trouble, setTrouble] = useState(undefined)
  const files = (value?.files ?? []).toReversed()
  return html`<${Panel} title="Dumps" width=${width}>
    ${problem && html`<${Trouble} problem=${problem} absent="This server writes no dumps." />`}
    ${trouble && html`<${Trouble} problem=${trouble} />`}
    ${!value && !problem && html`<${Loading} />`}
    ${Object.entries(dumps).map(([kind, { waiting, of }]) => waiting > 0 && html`<p class="soft">${plural(waiting, 'group')} for a file of ${kind} ${waiting === 1 ? 'waits' : 'wait'}: it is written when there are ${count(of)}, or when no more come.</p>`)}
    ${value && files.length === 0 && !Object.values(dumps).some(({ waiting }) => waiting > 0) && html`<${Empty}>No file yet. <code>dump_rollouts</code> and <code>dump_failed_rollouts</code> have them written.<//>`}
    ${
      files.length > 0 &&
      html`<${Table} label="Dumps">
        <thead><tr><th>file</th><th>kind</th><th class="num">groups</th><th class="num">size</th><th class="num">written</th></tr></thead>
        <tbody>
          ${files.slice(0, MOST).map(
            (file) => html`<tr>
              <td>
                ${
                  file.here === false
                    ? html`<span class="mono">${file.name}</span> <${Chip}>on ${file.node}<//>`
                    : html`<button class="quiet mono file" type="button" onClick=${() => save(`dumps/${encodeURIComponent(file.name)}`, file.name).then(() => setTrouble(undefined), setTrouble)}>${file.name}</button>`
                }
              </td>
              <td><${Chip} tone=${file.kind === 'failed' ? 'bad' : 'good'}>${file.kind}<//></td>
              <td class="num">${count(file.groups)}</td>
              <td class="num">${bytes(file.bytes)}</td>
              <td class="num"><${Time} at=${file.created_at} /></td>
            </tr>`,
          )}
        </tbody>
      <//>`
    }
    ${files.length > MOST && html`<p class="soft">and ${count(files.length - MOST)} older ones: <code>GET /dumps?run=${run}</code></p>`}
  <//>`
}
