/** Lists wait queues with counters and times: one result for all callers. Pure. */
import type { WaitingLine } from '../../core/contract/index.ts';
import type { RelayBeat } from '../../core/store/index.ts';
import { counted, span } from './judged.ts';

/** Two heartbeats; older queues are gone. */
const TOLD_MS = 60_000;

/**
 * The lines of all relays together, in the order of their turns. Each relay has an order of its own: where two have the same turn, the
 * one that waits longer comes first.
 */
export function waitingLines(beats: readonly RelayBeat[], nowMs: number): readonly WaitingLine[] {
  const lines = new Map<string, { line: WaitingLine; turn: number }>();
  for (const { atMs, waiting = [] } of beats) {
    if (nowMs - atMs > TOLD_MS) continue;
    for (const [turn, line] of waiting.entries()) {
      const key = `${line.root} ${line.counter}`;
      const other = lines.get(key);
      lines.set(key, {
        line: other === undefined ? line : together(other.line, line),
        turn: Math.min(turn, other?.turn ?? turn),
      });
    }
  }
  return [...lines.values()]
    .sort((a, b) => a.turn - b.turn || (b.line.longestMs ?? 0) - (a.line.longestMs ?? 0))
    .map(({ line }) => line);
}

const together = (one: WaitingLine, other: WaitingLine): WaitingLine => {
  const longestMs = Math.max(one.longestMs ?? 0, other.longestMs ?? 0);
  return { ...one, jobs: one.jobs + other.jobs, ...(longestMs > 0 && { longestMs }) };
};

/** `6 jobs of acme wait for room: jobs-now of group/101, the longest for 12 seconds` */
export function waitingText({ counter, jobs, longestMs }: WaitingLine, group: string): string {
  // A counter's name is its subject, its limit and its period.
  const [subject = '', limit = ''] = counter.split('|');
  const long =
    longestMs === undefined ? '' : `, ${jobs === 1 ? 'for' : 'the longest for'} ${span(longestMs)}`;
  return `${counted(jobs, 'job')} of ${group} ${jobs === 1 ? 'waits' : 'wait'} for room: ${limit} of ${subject}${long}`;
}
