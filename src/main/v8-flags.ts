/**
 * Requests are forgotten as soon as they are answered. V8 watches where objects survive and makes those old from the start;
 * a busy moment is enough for it to take parts of requests for such. As long as such a part is not collected nothing is
 * that it refers to: bodies were moved about instead of being forgotten, a third of all processor time.
 */
import { setFlagsFromString } from 'node:v8'

setFlagsFromString('--no-allocation-site-pretenuring')
