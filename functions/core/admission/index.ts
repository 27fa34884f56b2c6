/** What others may use of this folder; its README says what it promises. */

export { decide } from './decide.ts';
export type { DecideDeps, HandOutDirectory, Rules, WaitLookup } from './decide-deps.ts';
export { judgeRequests, toHoldAsk } from './judge.ts';
export { LimitRooms } from './limit-rooms.ts';
export { recordUnmetered } from './record-unmetered.ts';
export { waitsOf } from './waits-of.ts';
