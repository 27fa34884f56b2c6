/** Public exports of this folder; its README lists its promises. */

export { decide, decisionIdOf, pageText, recordUnmetered } from './decide.ts';
export type { DecideDeps, HandOutDirectory, Rules, WaitLookup } from './judge.ts';
export {
  type CountersNow,
  type CurrentDecision,
  countersAsked,
  decideNow,
  type Evaluated,
  judgeRequests,
  toHoldAsk,
  waitsOf,
} from './judge.ts';
export { LimitRooms } from './limit-rooms.ts';
