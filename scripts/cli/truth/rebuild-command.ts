import { readWholeDirectory } from '../../../functions/core/directory/directory-part.ts';
import { type LedgerClock, silentLog, systemClock } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import type { CounterAmounts, Drift, RebuildReport } from '../../../functions/core/ledger/ledger.ts';
import { placeBy } from '../../../functions/core/usage/contribution.ts';
import { rebuildUsage, type UsageRebuild } from '../../../functions/core/usage/count-records.ts';
import { ENV_ROLLUP_ZONE } from '../../../functions/names.ts';
import { counterName } from '../../../policies/claim.ts';
import { isZone } from '../../../policies/limits/calendar.ts';
import { EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command } from '../../terminal/define-command.ts';
import { text, toggle } from '../../terminal/flags.ts';
import { type Paint, paintWhen, printable } from '../../terminal/paint.ts';
import { firstRows, right, table } from '../../terminal/table.ts';
import { type LedgerFlags, TABLE_FLAGS } from '../ledger-flags.ts';
import { type OpenLedger, openLedger, openToRepair, withOpened } from '../open-ledger.ts';
import { shadowCount } from '../report/shadow-words.ts';
import { agreedTo } from './confirm.ts';
import { progressOf, watched } from './progress.ts';

const rebuild = command({
  name: 'rebuild',
  about: `Counts every counter again from closing entries, job records and correction entries, twice. Reports as drift only what both
counts agree on while the counter was not written. There should be none. A period that was never closed and whose records may have
expired is neither compared nor repaired. Nothing is compared while the table has items of a newer Tollgate.`,
  flags: {
    repair: toggle('sets the counters that drift to the sums of their records; asks first'),
    yes: toggle('does not ask'),
    usage: toggle(
      'counts every job record into the usage of groups and days again, and adds what is missing there; counters stay unchanged. It may run at any time',
    ),
    zone: text('<zone>', 'with --usage: where days begin and end (default: $TOLLGATE_ROLLUP_ZONE, else UTC)'),
    ...TABLE_FLAGS,
  },
  json: 'the report as one JSON object',
  examples: [
    'tollgate rebuild --ledger tollgate-ledger',
    'tollgate rebuild --ledger tollgate-ledger --repair',
  ],
  exits: {
    0: 'no drift, all of it repaired, or usage complete',
    1: 'the ledger does not answer',
    2: 'something is left',
  },
  run: async ({ flags: values }, io) => {
    if (values.yes && !values.repair) throw new UsageError('--yes: belongs to --repair, which is not there');
    if (values.zone !== undefined && !values.usage)
      throw new UsageError('--zone: belongs to --usage, which is not there');
    if (values.usage) {
      if (values.repair)
        throw new UsageError('--usage: mends usage, --repair counters; expected one of them');
      return rebuildAllUsage(values, io);
    }
    const found = await recount(openLedger, false, values, io);
    if (found.drift.length === 0 || !values.repair) return tell(found, values.json, io);
    if (!values.yes) {
      if (!values.json) io.out(driftText(found, paintWhen(io.colours), io.columns));
      const question = `Set ${found.drift.length} counters to what their records make?`;
      const remedy = '--repair: nobody can be asked here; add --yes to repair without asking';
      if (!(await agreedTo(io, question, remedy))) return EXIT.wouldReject;
    }
    // It counts again: moved counters are no drift any more.
    return tell(await recount(openToRepair, true, values, io), values.json, io);
  },
});

export const commands = [rebuild];

const recount = (
  open: OpenLedger,
  repair: boolean,
  flags: LedgerFlags,
  io: TerminalIo,
): Promise<RebuildResult> =>
  withOpened(open, flags, io, async ({ store, description }) => {
    const ledger = createLedger({
      store: watched(store, progressOf('items counted', io)),
      clock: { ...systemClock, nowMs: io.nowMs },
    });
    return { ledger: description, ...(await ledger.rebuild({ repair })) };
  });

function tell(result: RebuildResult, json: boolean, io: TerminalIo): ExitCode {
  if (json) io.out(`${JSON.stringify(result)}\n`);
  else io.out(rebuildText(result, paintWhen(io.colours), io.columns));
  return result.drift.length > result.repaired || result.passedOver > 0 ? EXIT.wouldReject : EXIT.ok;
}

/** Output of `--json`. */
interface RebuildResult extends RebuildReport {
  /** For people: whose books. */
  readonly ledger: string;
}

function rebuildText(result: RebuildResult, paint: Paint, columns: number): string {
  return `${verdictText(result, paint)}\n${driftText(result, paint, columns)}${unprovenText(result, paint, columns)}`;
}

function verdictText({ drift, repaired, passedOver }: RebuildResult, paint: Paint): string {
  const [all, mended] = [shadowCount(drift.length), shadowCount(repaired)];
  if (passedOver > 0)
    return paint.bad(
      `${shadowCount(passedOver)} items were written by a newer Tollgate: nothing can be said about drift.`,
    );
  if (drift.length === 0) return paint.good('No drift.');
  if (repaired === drift.length) return paint.good(`${mended} counters drifted and are repaired.`);
  if (repaired === 0) return paint.bad(`${all} counters drift.`);
  return paint.bad(
    `${all} counters drifted, ${mended} are repaired: somebody wrote the others meanwhile. Run it again.`,
  );
}

function driftText(
  { ledger, records, counters, drift }: RebuildResult,
  paint: Paint,
  columns: number,
): string {
  const counted = paint.dim(
    `${shadowCount(counters)} counters of ${ledger}, counted from ${shadowCount(records)} job records\n`,
  );
  if (drift.length === 0) return counted;
  const titles = ['counter', 'amount', ...['shows', 'records make', 'difference'].map(right)];
  return counted + table(titles, drift.flatMap(rowsOf), columns, paint.dim);
}

const EXPIRED = `Their periods were over for too long before they were closed:
records have expired, and a recount would take away what was spent.`;
const NEWER = 'What a newer Tollgate wrote may count in them: run the newer one.';

/** Skipped counters, with reasons. */
function unprovenText({ unproven, passedOver }: RebuildResult, paint: Paint, columns: number): string {
  if (unproven.length === 0) return '';
  const listed = unproven.map(({ key }) => [printable(counterName(key))]);
  return `\n${paint.bad(`${shadowCount(unproven.length)} counters are left as they are.`)} ${passedOver > 0 ? NEWER : EXPIRED}
${firstRows(['counter'], listed, { max: 50, width: columns, dim: paint.dim })}`;
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

/** No job waits for it. */
const TIMEOUT_MS = 15_000;

/** Counts every record into usage once more. Safe at any time, also while the stream is read: both go the same way. */
async function rebuildAllUsage(
  flags: LedgerFlags & { readonly zone: string | undefined; readonly json: boolean },
  io: TerminalIo,
): Promise<ExitCode> {
  const zone = flags.zone ?? (io.env[ENV_ROLLUP_ZONE] || 'UTC');
  if (!isZone(zone)) throw new UsageError(`--zone "${zone}": expected a time zone like Europe/Berlin or UTC`);
  return withOpened(openToRepair, flags, io, async ({ usage, directory: groups, description, store }) => {
    if (usage === undefined) throw new Error(`${description} keeps no usage`);
    const directory = groups && (await readWholeDirectory(groups, { timeoutMs: TIMEOUT_MS }))?.directory;
    const clock: LedgerClock = { ...systemClock, nowMs: io.nowMs };
    const rebuilt = await rebuildUsage(watched(store, progressOf('items counted', io)).scan(), {
      ...{ store: usage, clock, random: Math.random, placeOf: placeBy(directory, zone), log: silentLog },
    });
    io.out(flags.json ? `${JSON.stringify({ ledger: description, ...rebuilt })}\n` : textOf(rebuilt));
    return rebuilt.failed > 0 ? EXIT.wouldReject : EXIT.ok;
  });
}

function textOf({ records, changed, failed, passedOver }: UsageRebuild): string {
  const counts = [
    [failed, 'could not be counted: run it again.'],
    [passedOver, 'items were written by a newer Tollgate and passed over.'],
  ] as const;
  return [
    changed === 0 ? 'Nothing was missing.' : `${shadowCount(changed)} jobs were missing and are counted now.`,
    `${shadowCount(records)} job records looked at`,
    ...counts.flatMap(([count, what]) => (count > 0 ? [`${shadowCount(count)} ${what}`] : [])),
    '',
  ].join('\n');
}
