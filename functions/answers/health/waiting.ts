import { counted } from '../../../policies/unit-texts.ts';
import type { WaitingLine } from '../../core/contract/admissions.ts';
import type { RelayHeartbeat } from '../../core/store/health-items.ts';
import { span } from './judged.ts';

/** Two heartbeats; older queues are gone. */
const TOLD_MS = 60_000;

/** The wait queues of all relays together, in the order of their turns. Each relay has an order of its own. */
export function waitingLines(heartbeats: readonly RelayHeartbeat[], nowMs: number): readonly WaitingLine[] {
  const lines = new Map<string, { line: WaitingLine; turn: number }>();
  for (const { waiting = [] } of heartbeats.filter((heartbeat) => nowMs - heartbeat.atMs <= TOLD_MS))
    for (const [turn, line] of waiting.entries()) {
      const key = `${line.root} ${line.counter}`;
      const other = lines.get(key);
      const longestMs = Math.max(line.longestMs ?? 0, other?.line.longestMs ?? 0);
      lines.set(key, {
        line: { ...line, jobs: line.jobs + (other?.line.jobs ?? 0), ...(longestMs > 0 && { longestMs }) },
        turn: Math.min(turn, other?.turn ?? turn),
      });
    }
  return [...lines.values()].sort((a, b) => a.turn - b.turn).map(({ line }) => line);
}

/** `6 jobs of acme wait for room: jobs-now of group/101, the longest for 12 seconds` */
export function waitingText({ counter, jobs, longestMs }: WaitingLine, group: string): string {
  const [subject = '', limit = ''] = counter.split('|');
  const long = longestMs === undefined ? '' : `, the longest for ${span(longestMs)}`;
  return `${counted(jobs, 'job')} of ${group} ${jobs === 1 ? 'waits' : 'wait'} for room: ${limit} of ${subject}${long}`;
}
