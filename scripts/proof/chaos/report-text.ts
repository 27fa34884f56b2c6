import { chaosCapOf, SHARED_CAP } from './chaos-rules.ts';
import type { ChaosResult } from './run-chaos.ts';

interface ChaosPromise {
  readonly what: string;
  readonly got: number;
  /** What it was, if it was. */
  readonly samples: readonly (number | string)[];
}

const SAMPLES_MAX = 5;
/** Half of what the router waits for an answer. */
const LATE_MS_MAX = 5_000;

/** Each must be 0. */
export function promisesOf(result: ChaosResult): readonly ChaosPromise[] {
  const counted = (what: string, samples: readonly (number | string)[]): ChaosPromise => ({
    what,
    got: samples.length,
    samples: samples.slice(0, SAMPLES_MAX),
  });
  const plain = (what: string, got: number): ChaosPromise => ({ what, got, samples: [] });
  return [
    counted('questions that nobody answered', result.unanswered),
    plain('commits at which the ledger itself was over a limit', result.ledgerOver),
    plain(
      "jobs over a cap beyond what relays admitted alone, the room's error",
      result.roomError.unexplained,
    ),
    counted('questions in no books, not declared lost, and not gone with a killed relay', result.nowhere),
    counted('jobs whose books say another thing than the router heard', result.wrong),
    plain('counters that differ from a recount', result.drift),
    plain('holds left', result.liveLeft),
  ];
}

const overText = (what: string, over: number, limit: number): string =>
  `  ${what.padEnd(36)} ${over} of ${limit} (${((100 * over) / limit).toFixed(1)} %)`;

export function chaosText(result: ChaosResult): string {
  const { decisions, answered } = result;
  const list = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  const lines = [
    `Faults      ${list(result.faults)}`,
    ...(result.lateMs > LATE_MS_MAX
      ? [
          `Machine     too busy: questions were asked up to ${Math.round(result.lateMs / 1_000)} s late, and so may answers be that count as none`,
        ]
      : []),
    `Questions   ${result.asked}: ${list(answered)}; ${result.cut} of them cut off with their relay or connection`,
    `Answers     by the ledger ${decisions.ledger}; by the fallback ${decisions.admitted} admitted, ${decisions.rejected} rejected; ` +
      `${decisions.withheld} not rejected before the schema was proven`,
    `Afterwards  ${result.declaredLost} declared lost, ${result.diedWithRelay} rejections gone with a killed relay, ` +
      `${result.swept} ended by asking GitLab`,
    `Books       ${result.counters} counters, ${result.commits} commits looked at`,
    `At once     ${result.runningMost} jobs really ran, of ${SHARED_CAP} under the shared cap`,
    "Room's error  jobs that really ran beyond a cap, at most, outage and recovery included",
    ...Object.entries(result.roomError.most).map(([subject, most]) =>
      overText(subject, most, chaosCapOf(subject) ?? 0),
    ),
    'In the books  over a limit at most: ends that were not worked off yet come on top',
    ...result.overLimits.map(({ counter, limit, mostOver }) => overText(counter, mostOver, limit)),
    '',
    ...promisesOf(result).map(
      ({ what, got, samples }) =>
        `${got === 0 ? 'holds ' : 'BROKEN'}  ${what}: ${got}${samples.length === 0 ? '' : ` (${samples.join('; ')})`}`,
    ),
  ];
  return lines.join('\n');
}
