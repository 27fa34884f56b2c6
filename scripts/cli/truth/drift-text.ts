import type { CounterAmounts, Drift, RebuildReport } from '../../../functions/core/ledger/index.ts';
import { counterName } from '../../../policies/claim.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { shadowCount } from '../report/shadow-words.ts';

/** Lines on the screen; `--json` has them all. */
const UNPROVEN_MAX = 50;

/** Output of `--json`. */
export interface RebuildResult extends RebuildReport {
  /** For people: whose books. */
  readonly ledger: string;
}

export function rebuildText(result: RebuildResult, paint: Paint, columns: number): string {
  const { drift, repaired, passedOver } = result;
  const verdict =
    passedOver > 0
      ? paint.bad(
          `${shadowCount(passedOver)} items were written by a newer Tollgate: nothing can be said about drift.`,
        )
      : drift.length === 0
        ? paint.good('No drift.')
        : repaired === drift.length
          ? paint.good(`${shadowCount(repaired)} counters drifted and are repaired.`)
          : repaired > 0
            ? paint.bad(
                `${shadowCount(drift.length)} counters drifted, ${shadowCount(repaired)} are repaired: somebody wrote the others meanwhile. Run it again.`,
              )
            : paint.bad(`${shadowCount(drift.length)} counters drift.`);
  return `${verdict}\n${driftText(result, paint, columns)}${unprovenText(result, paint, columns)}`;
}

export function driftText(
  { ledger, records, counters, drift }: RebuildResult,
  paint: Paint,
  columns: number,
): string {
  const counted = paint.dim(
    `${shadowCount(counters)} counters of ${ledger}, counted from ${shadowCount(records)} job records\n`,
  );
  if (drift.length === 0) return counted;
  const right = { align: 'right' } as const;
  const titles = [
    { title: 'counter' },
    { title: 'amount' },
    { title: 'shows', ...right },
    { title: 'records make', ...right },
    { title: 'difference', ...right },
  ];
  return counted + table(titles, drift.flatMap(rowsOf), columns, paint.dim);
}

const EXPIRED = `Their periods were over for too long before they were closed:
records have expired, and a recount would take away what was spent.`;
const NEWER = 'What a newer Tollgate wrote may count in them: run the newer one.';

/** Skipped counters, with reasons. */
function unprovenText({ unproven, passedOver }: RebuildResult, paint: Paint, columns: number): string {
  if (unproven.length === 0) return '';
  const listed = unproven.slice(0, UNPROVEN_MAX).map(({ key }) => [printable(counterName(key))]);
  const more =
    unproven.length > UNPROVEN_MAX ? `… and ${shadowCount(unproven.length - UNPROVEN_MAX)} more\n` : '';
  return `\n${paint.bad(`${shadowCount(unproven.length)} counters are left as they are.`)} ${passedOver > 0 ? NEWER : EXPIRED}
${table([{ title: 'counter' }], listed, columns, paint.dim)}${more}`;
}

/** Whole units of the counter: micro-units of money, seconds, jobs. Only the parts that differ. */
function rowsOf({ key, counter, recount }: Drift): readonly (readonly string[])[] {
  const [shown, made] = [partsOf(counter), partsOf(recount)];
  return shown
    .map(([part, amount], index) => ({ part, amount, makes: made[index]?.[1] ?? 0 }))
    .filter(({ amount, makes }) => amount !== makes)
    .map(({ part, amount, makes }, index) => [
      index === 0 ? printable(counterName(key)) : '',
      part,
      whole(amount),
      whole(makes),
      whole(amount - makes),
    ]);
}

const partsOf = ({ committed, fitted, settled, unchecked }: CounterAmounts) =>
  [
    ['committed', committed],
    ['settled', settled],
    ['fitted', fitted],
    ['exempt', unchecked.exempt],
    ['unmetered', unchecked.unmetered],
    ['bypass', unchecked.bypass],
  ] as const;

const whole = (amount: number): string => `${amount < 0 ? '-' : ''}${shadowCount(Math.abs(amount))}`;
