import { STATUS } from '../router/router.ts';
import { type StreamState, wasAsked } from './stream-state.ts';

/**
 * What the end of a stream means for opening others.
 * `served`: it had its question; `aged`: a clean end without one, normal after a while;
 * `brief`: ended without fault but at once, harmless unless it goes on; `failed`: wait before the next.
 */
export type EndKind = 'served' | 'aged' | 'brief' | 'failed';

/** A router that ends streams younger than this has no room for them, or is broken. */
const AGED_MS = 1_000;

/** The router gave this one question up, or did not like our answer: no reason to keep others from being asked. */
const OF_THE_QUESTION: ReadonlySet<number> = new Set([
  STATUS.OK,
  STATUS.CANCELLED,
  STATUS.INVALID_ARGUMENT,
  STATUS.DEADLINE_EXCEEDED,
]);

/** @param last - the state the stream was in; `oversized`: its question was beyond our limit. */
export function endKind(last: StreamState, code: number, oversized: boolean, nowMs: number): EndKind {
  // The limit was ours, whatever the code says; a router that sends many such questions is still held to a pace.
  if (oversized) return 'brief';
  if (wasAsked(last)) return OF_THE_QUESTION.has(code) ? 'served' : 'failed';
  if (code !== STATUS.OK) return 'failed';
  return last.name === 'waiting' && nowMs - last.sinceMs >= AGED_MS ? 'aged' : 'brief';
}
