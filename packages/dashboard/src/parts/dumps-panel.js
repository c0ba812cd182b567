/** The dump files of a run. */
import { downloadFile } from '../api.js'
import { useResource } from '../data-hooks.js'
import { formatBytes, formatCount, pluralize } from '../format.js'
import { html, useState } from '../html.js'
import { Chip, EmptyState, ErrorMessage, Loading, Panel } from './common.js'
import { RelativeTime } from './relative-time.js'
import { Table } from './table.js'

const MAX_FILES = 20
/** The server also writes a file when no groups arrive for a while. */
const REFRESH_INTERVAL_MS = 15_000

/** `dumps`: the number of groups that wait for a file, by kind, from the run's progress. */
export function DumpsPanel({ run, dumps = {}, width }) {
  const { value, problem } = useResource(`dumps?run=${encodeURIComponent(run)}`, { everyMs: REFRESH_INTERVAL_MS })
  const [trouble, setTrouble] = useState(undefined)
  const files = (value?.files ?? []).toReversed()
  return html`<${Panel} title="Dumps" width=${width}>
    ${problem && html`<${ErrorMessage} problem=${problem} absent="This server does not support dumps." />`}
    ${trouble && html`<${ErrorMessage} problem=${trouble} />`}
    ${!value && !problem && html`<${Loading} />`}
    ${Object.entries(dumps).map(([kind, { waiting, of }]) => waiting > 0 && html`<p class="soft">${pluralize(waiting, 'group')} ${waiting === 1 ? 'waits' : 'wait'} for the next ${kind} file. The server writes it at ${pluralize(of, 'group')}, or when no more groups arrive.</p>`)}
    ${value && files.length === 0 && !Object.values(dumps).some(({ waiting }) => waiting > 0) && html`<${EmptyState}>There are no dump files yet. To write them, turn on the settings <code>dump_rollouts</code> or <code>dump_failed_rollouts</code> of the run.<//>`}
    ${
      files.length > 0 &&
      html`<${Table} label="Dumps">
        <thead><tr><th>file</th><th>kind</th><th class="num">groups</th><th class="num">size</th><th class="num">written</th></tr></thead>
        <tbody>
          ${files.slice(0, MAX_FILES).map(
            (file) => html`<tr>
              <td>
                ${
                  file.here === false
                    ? html`<span class="mono">${file.name}</span> <${Chip}>on ${file.node}<//>`
                    : html`<button class="quiet mono file" type="button" onClick=${() => downloadFile(`dumps/${encodeURIComponent(file.name)}`, file.name).then(() => setTrouble(undefined), setTrouble)}>${file.name}</button>`
                }
              </td>
              <td><${Chip} tone=${file.kind === 'failed' ? 'bad' : 'good'}>${file.kind}<//></td>
              <td class="num">${formatCount(file.groups)}</td>
              <td class="num">${formatBytes(file.bytes)}</td>
              <td class="num"><${RelativeTime} at=${file.created_at} /></td>
            </tr>`,
          )}
        </tbody>
      <//>`
    }
    ${files.length > MAX_FILES && html`<p class="soft">The list omits ${pluralize(files.length - MAX_FILES, 'older file')}. <code>GET /dumps?run=${run}</code> returns all.</p>`}
  <//>`
}
