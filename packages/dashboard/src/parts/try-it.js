/** A form that scores an answer or a completion. */
import { fetchJson } from '../api.js'
import { useCaller } from '../caller.js'
import { useAction } from '../data-hooks.js'
import { html, useState } from '../html.js'
import { ErrorMessage, SegmentedControl } from './common.js'
import { SampleView } from './completion.js'

const FORMAT_HINTS = {
  answer: 'The answer without tags, as the scorer receives it.',
  completion: 'A full completion of a model: <think>…</think> <answer>…</answer>.',
}

export function TryIt({ item }) {
  const [kind, setKind] = useState('answer')
  const [text, setText] = useState('')
  const [extraction, setExtraction] = useState('strict')
  const { denial } = useCaller()
  const ask = async (scoring) => {
    const body = { rollouts: [{ item_id: item.id, [kind]: text }], extraction, scoring }
    return (await fetchJson('score', { method: 'POST', body })).verdicts[0]
  }
  const scoring = useAction(async () => {
    const [upstream, hardened] = await Promise.all([ask('upstream'), ask('hardened')])
    return { ...upstream, task: item.task, hardened: hardened.score }
  })
  const reveal = useAction(() => fetchJson(`items/${encodeURIComponent(item.id)}?reveal=true`))
  return html`<form onSubmit=${scoring.start}>
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
      <button class="main" type="submit" disabled=${Boolean(scoring.busy || denial('scorer'))}>Score</button>
      ${!denial('admin') && html`<button type="button" onClick=${reveal.start}>Show the answer</button>`}
    </div>
    ${denial('scorer') && html`<p class="soft">${denial('scorer')}</p>`}
    ${reveal.value && html`<p class="soft">Reference answer</p><div class="text" tabindex="0" role="region" aria-label="Reference answer">${reveal.value.answer ?? 'This item has no single correct answer.'}</div>`}
    ${reveal.problem && html`<${ErrorMessage} problem=${reveal.problem} />`}
    <div role="status">${scoring.value && html`<${SampleView} sample=${scoring.value} label="Verdict" question=${item.question} />`}</div>
    ${scoring.problem && html`<${ErrorMessage} problem=${scoring.problem} />`}
  </form>`
}
