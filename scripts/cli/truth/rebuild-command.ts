import { readWholeDirectory } from '../../../functions/core/directory/directory-part.ts';
import { type LedgerClock, silentLog, systemClock } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import type { CounterAmounts, Drift, RebuildReport } from '../../../functions/core/ledger/ledger.ts';
import { placeBy } from '../../../functions/core/usage/contribution.ts';
import { rebuildUsage } from '../../../functions/core/usage/count-records.ts';
import { counterName } from '../../../policies/claim.ts';
import { isZone } from '../../../policies/limits/calendar.ts';
import { EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command, print } from '../../terminal/define-command.ts';
import { text, toggle } from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { firstRows, right, table } from '../../terminal/table.ts';
import { type LedgerFlags, TABLE_FLAGS } from '../ledger-flags.ts';
import { type OpenLedger, openLedger, openToRepair, withOpened } from '../open-ledger.ts';
import { shadowCount } from '../report/shadow-words.ts';
import { rollupZone } from '../rollup-zone.ts';
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
  run: async ({ flags }, io) => {
    if (flags.usage && flags.repair)
      throw new UsageError('--usage: mends usage, --repair counters; expected one of them');
    if (flags.yes && !flags.repair)
      throw new UsageError('--yes: belongs to --repair; without it nothing is changed that needs a yes');
    if (flags.usage) return rebuildAllUsage(flags, io);
    const finish = (found: RebuildResult): ExitCode => {
      print(io, flags, found, () => rebuildText(found, io));
      return found.drift.length > found.repaired || found.passedOver > 0 ? EXIT.wouldReject : EXIT.ok;
    };
    const found = await recount(openLedger, false, flags, io);
    if (found.drift.length === 0 || !flags.repair) return finish(found);
    if (!flags.yes) {
      if (!flags.json) io.out(driftText(found, io));
      const question = `Set ${found.drift.length} counters to what their records make?`;
      const remedy = '--repair: there is no terminal to ask; add --yes to repair without asking';
      if (!(await agreedTo(io, question, remedy))) return EXIT.wouldReject;
    }
    // It counts again: moved counters are no drift any more.
    return finish(await recount(openToRepair, true, flags, io));
  },
});

export const commands = [rebuild];

interface RebuildResult extends RebuildReport {
  readonly ledger: string;
}

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

function rebuildText(result: RebuildResult, io: TerminalIo): string {
  const paint = paintWhen(io.colours);
  const { drift, repaired, passedOver, unproven } = result;
  const left = drift.length - repaired;
  const verdict =
    passedOver > 0
      ? `${shadowCount(passedOver)} items were written by a newer Tollgate: drift is unknown. Run the newer one.`
      : `${drift.length === 0 ? 'No' : shadowCount(drift.length)} counters drift${repaired > 0 ? `ed, ${shadowCount(repaired)} are repaired` : ''}.${repaired > 0 && left > 0 ? ' Others were written meanwhile: run it again.' : ''}`;
  const isBad = left > 0 || passedOver > 0;
  const head = `${(isBad ? paint.bad : paint.good)(verdict)}\n${driftText(result, io)}`;
  if (unproven.length === 0) return head;
  const listed = unproven.map(({ key }) => [printable(counterName(key))]);
  return `${head}
${paint.bad(`${shadowCount(unproven.length)} counters are left as they are.`)} Their records may have expired before the period was closed.
${firstRows(['counter'], listed, { max: 50, width: io.columns, dim: paint.dim })}`;
}

function driftText({ ledger, records, counters, drift }: RebuildResult, io: TerminalIo): string {
  const paint = paintWhen(io.colours);
  const counted = paint.dim(
    `${shadowCount(counters)} counters of ${ledger}, counted from ${shadowCount(records)} job records\n`,
  );
  if (drift.length === 0) return counted;
  const titles = ['counter', 'amount', ...['shows', 'records make', 'difference'].map(right)];
  return counted + table(titles, drift.flatMap(rowsOf), io.columns, paint.dim);
}

/** In units of the counter: micro-units of money, seconds, jobs. Only the amounts that differ. */
function rowsOf({ key, counter, recount }: Drift): readonly (readonly string[])[] {
  const made = amountsOf(recount);
  return Object.entries(amountsOf(counter)).flatMap(([name, amount]) => {
    const makes = made[name] ?? 0;
    if (amount === makes) return [];
    return [[printable(counterName(key)), name, whole(amount), whole(makes), whole(amount - makes)]];
  });
}

const amountsOf = ({ unchecked, ...amounts }: CounterAmounts): Readonly<Record<string, number>> => ({
  ...amounts,
  ...unchecked,
});

const whole = (amount: number): string => `${amount < 0 ? '-' : ''}${shadowCount(Math.abs(amount))}`;

const TIMEOUT_MS = 15_000;

/** Counts every record into usage once more. Safe at any time, also while the stream is read: both go the same way. */
async function rebuildAllUsage(
  flags: LedgerFlags & { readonly zone: string | undefined; readonly json: boolean },
  io: TerminalIo,
): Promise<ExitCode> {
  const zone = flags.zone ?? rollupZone(io);
  if (!isZone(zone)) throw new UsageError(`--zone "${zone}": expected a time zone like Europe/Berlin or UTC`);
  return withOpened(openToRepair, flags, io, async ({ usage, directory: groups, description, store }) => {
    if (usage === undefined) throw new Error(`${description} keeps no usage`);
    const directory = groups && (await readWholeDirectory(groups, { timeoutMs: TIMEOUT_MS }))?.directory;
    const clock: LedgerClock = { ...systemClock, nowMs: io.nowMs };
    const rebuilt = await rebuildUsage(watched(store, progressOf('items counted', io)).scan(), {
      ...{ store: usage, clock, random: Math.random, placeOf: placeBy(directory, zone), log: silentLog },
    });
    const { records, changed, failed, passedOver } = rebuilt;
    const counts = [
      [changed, 'were missing and are counted now'],
      [failed, 'could not be counted: run it again'],
      [passedOver, 'were written by a newer Tollgate and passed over'],
    ] as const;
    const named = counts
      .map(([count, what]) => (count > 0 ? `${shadowCount(count)} ${what}.\n` : ''))
      .join('');
    const text = `${shadowCount(records)} job records looked at.\n${named || 'Nothing was missing.\n'}`;
    print(io, flags, { ledger: description, ...rebuilt }, () => text);
    return failed > 0 ? EXIT.wouldReject : EXIT.ok;
  });
}
