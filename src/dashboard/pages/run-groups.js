/** The groups of a run that the server keeps, as the view `groups` of the page of a run. */
import { html } from '../html.js'
import { GroupsPanel } from '../parts/groups-panel.js'

/** `path`: of the run in the API. `id`: the group to show, if the address names one. */
export function RunGroups({ run, path, id }) {
  return html`<${GroupsPanel} path=${path} tasks=${Object.keys(run.tasks)} settings=${run.settings} id=${id} />`
}
