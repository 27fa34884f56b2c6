/** What others may use of this folder; its README says what it promises. */

export { decide } from './decide.ts';
export type { DecideDeps, HandOutDirectory, Rules, WaitLookup } from './decide-deps.ts';
export { type CountersNow, type CurrentDecision, countersAsked, decideNow } from './decide-now.ts';
export { type Evaluated, judgeRequests, toHoldAsk, waitsOf } from './judge.ts';
export { LimitRooms } from './limit-rooms.ts';
export { decisionIdOf, pageText } from './page-text.ts';
export { recordUnmetered } from './record-unmetered.ts';
