import { readWholeDirectory } from '../../../functions/core/directory/directory-part.ts';
import { type LedgerClock, silentLog, systemClock } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import type { CounterAmounts, Drift, RebuildReport } from '../../../functions/core/ledger/ledger.ts';
import { placeBy } from '../../../functions/core/usage/contribution.ts';
import { rebuildUsage, type UsageRebuild } from '../../../functions/core/usage/count-records.ts';
import { ENV_ROLLUP_ZONE } from '../../../functions/names.ts';
import { counterName } from '../../../policies/claim.ts';
import { isZone } from '../../../policies/limits/calendar.ts';
import { EXIT, type ExitCode, standIn, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command } from '../../terminal/define-command.ts';
import { text, toggle } from '../../terminal/flags.ts';
import { type Paint, paintWhen, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { type LedgerFlags, TABLE_FLAGS } from '../ledger-flags.ts';
import { type OpenLedger, openLedger, openToRepair } from '../open-ledger.ts';
import { shadowCount } from '../report/shadow-words.ts';
import { confirmed } from './confirm.ts';
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
  run: async ({ flags }, io) => rebuildCounters(flags, io),
});

export const commands = [rebuild];

interface RebuildFlags extends LedgerFlags {
  readonly repair: boolean;
  readonly yes: boolean;
  readonly usage: boolean;
  readonly zone: string | undefined;
  readonly json: boolean;
}

async function rebuildCounters(values: RebuildFlags, io: TerminalIo): Promise<ExitCode> {
  if (values.yes && !values.repair) throw new UsageError('--yes: belongs to --repair, which is not there');
  if (values.zone !== undefined && !values.usage)
    throw new UsageError('--zone: belongs to --usage, which is not there');
  if (values.usage) {
    if (values.repair) throw new UsageError('--usage: mends usage, --repair counters; expected one of them');
    return rebuildAllUsage(values, io);
  }
  const found = await recount(openLedger, false, values, io);
  if (found.drift.length === 0 || !values.repair) return tell(found, values.json, io);
  if (!values.yes) {
    if (!values.json) io.out(driftText(found, paintWhen(io.colours), io.columns));
    const agreed = await confirmed(io, `Set ${found.drift.length} counters to what their records make?`);
    if (agreed === undefined)
      throw new UsageError('--repair: nobody can be asked here; add --yes to repair without asking');
    if (!agreed) {
      io.err('Nothing was written.\n');
      return EXIT.wouldReject;
    }
  }
  // It counts again: moved counters are no drift any more.
  return tell(await recount(openToRepair, true, values, io), values.json, io);
}

async function recount(
  open: OpenLedger,
  repair: boolean,
  flags: LedgerFlags,
  io: TerminalIo,
): Promise<RebuildResult> {
  const opened = await standIn(io, open)(flags, io);
  const progress = progressOf('items counted', io);
  try {
    const ledger = createLedger({
      store: watched(opened.store, progress),
      clock: { ...systemClock, nowMs: io.nowMs },
    });
    const report: RebuildReport = await ledger.rebuild({ repair });
    return { ledger: opened.description, ...report };
  } finally {
    await opened.close();
  }
}

function tell(result: RebuildResult, json: boolean, io: TerminalIo): ExitCode {
  if (json) io.out(`${JSON.stringify(result)}\n`);
  else io.out(rebuildText(result, paintWhen(io.colours), io.columns));
  return result.drift.length > result.repaired || result.passedOver > 0 ? EXIT.wouldReject : EXIT.ok;
}

/** Lines on the screen; `--json` has them all. */
const UNPROVEN_MAX = 50;

/** Output of `--json`. */
interface RebuildResult extends RebuildReport {
  /** For people: whose books. */
  readonly ledger: string;
}

function rebuildText(result: RebuildResult, paint: Paint, columns: number): string {
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

function driftText(
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

/** No job waits for it. */
const TIMEOUT_MS = 15_000;

/** Counts every record into usage once more. Safe at any time, also while the stream is read: both go the same way. */
async function rebuildAllUsage(flags: RebuildFlags, io: TerminalIo): Promise<ExitCode> {
  const zone = flags.zone ?? (io.env[ENV_ROLLUP_ZONE] || 'UTC');
  if (!isZone(zone)) throw new UsageError(`--zone "${zone}": expected a time zone like Europe/Berlin or UTC`);
  const opened = await standIn(io, openToRepair)(flags, io);
  try {
    const { usage, directory: groups } = opened;
    if (usage === undefined) throw new Error(`${opened.description} keeps no usage`);
    const directory = groups && (await readWholeDirectory(groups, { timeoutMs: TIMEOUT_MS }))?.directory;
    const clock: LedgerClock = { ...systemClock, nowMs: io.nowMs };
    const rebuilt = await rebuildUsage(watched(opened.store, progressOf('items counted', io)).scan(), {
      store: usage,
      clock,
      random: Math.random,
      placeOf: placeBy(directory, zone),
      log: silentLog,
    });
    io.out(flags.json ? `${JSON.stringify({ ledger: opened.description, ...rebuilt })}\n` : textOf(rebuilt));
    return rebuilt.failed > 0 ? EXIT.wouldReject : EXIT.ok;
  } finally {
    await opened.close();
  }
}

function textOf({ records, changed, failed, passedOver }: UsageRebuild): string {
  const mended =
    changed === 0 ? 'Nothing was missing.' : `${shadowCount(changed)} jobs were missing and are counted now.`;
  const left = failed === 0 ? '' : `${shadowCount(failed)} could not be counted: run it again.\n`;
  const newer =
    passedOver === 0
      ? ''
      : `${shadowCount(passedOver)} items were written by a newer Tollgate and passed over.\n`;
  return `${mended}\n${shadowCount(records)} job records looked at\n${left}${newer}`;
}
