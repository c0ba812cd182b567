/** A form that scores an answer or a completion. */
import { fetchJson } from '../api.js'
import { useCaller } from '../caller.js'
import { html, useState } from '../html.js'
import { ErrorMessage, SegmentedControl } from './common.js'
import { Verdict } from './completion.js'

const FORMAT_HINTS = {
  answer: 'The answer without tags, as the scorer receives it.',
  completion: 'A full completion of a model: <think>…</think> <answer>…</answer>.',
}

export function TryIt({ item }) {
  const [kind, setKind] = useState('answer')
  const [text, setText] = useState('')
  const [extraction, setExtraction] = useState('strict')
  const [result, setResult] = useState(/** @type {{ busy?: boolean, verdict?: any, problem?: any }} */ ({}))
  const [right, setRight] = useState(/** @type {{ answer?: string, problem?: any }} */ ({}))
  const { denial } = useCaller()
  const score = async (event) => {
    event.preventDefault()
    setResult({ busy: true })
    try {
      const ask = async (scoring) => {
        const body = { rollouts: [{ item_id: item.id, [kind]: text }], extraction, scoring }
        return (await fetchJson('score', { method: 'POST', body })).verdicts[0]
      }
      const [upstream, hardened] = await Promise.all([ask('upstream'), ask('hardened')])
      setResult({ verdict: { ...upstream, hardened: hardened.score } })
    } catch (problem) {
      setResult({ problem })
    }
  }
  const reveal = async () => {
    try {
      const { answer } = await fetchJson(`items/${encodeURIComponent(item.id)}?reveal=true`)
      setRight({ answer: answer ?? 'This item has no single correct answer.' })
    } catch (problem) {
      setRight({ problem })
    }
  }
  return html`<form onSubmit=${score}>
    <div class="row">
      <${SegmentedControl} label="Input" value=${kind} options=${{ answer: 'Answer', completion: 'Completion' }} onChange=${setKind} />
    </div>
    <label>
      <span>${FORMAT_HINTS[kind]}</span>
      <textarea rows=${kind === 'answer' ? 4 : 8} value=${text} onInput=${({ target }) => setText(target.value)} spellcheck="false"></textarea>
    </label>
    <div class="row">
      ${
        kind === 'completion' &&
        html`<label>Extraction<select value=${extraction} onChange=${({ target }) => setExtraction(target.value)}>
        ${['strict', 'last_tag', 'tag_or_boxed', 'bare'].map((name) => html`<option>${name}</option>`)}
      </select></label>`
      }
      <button class="main" type="submit" disabled=${Boolean(result.busy || denial('scorer'))}>Score</button>
      ${!denial('admin') && html`<button type="button" onClick=${reveal}>Show the answer</button>`}
    </div>
    ${denial('scorer') && html`<p class="soft">${denial('scorer')}</p>`}
    ${right.answer !== undefined && html`<div class="verdict"><p class="soft">Reference answer</p><div class="text" tabindex="0" role="region" aria-label="Reference answer">${right.answer}</div></div>`}
    ${right.problem && html`<${ErrorMessage} problem=${right.problem} />`}
    ${result.verdict && html`<${Verdict} verdict=${result.verdict} task=${item.task} />`}
    ${result.problem && html`<${ErrorMessage} problem=${result.problem} />`}
  </form>`
}
