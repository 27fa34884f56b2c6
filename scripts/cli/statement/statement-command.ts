import type { LedgerStore } from '../../../functions/core/ledger/store.ts';
import type { Period } from '../../../policies/limits/period.ts';
import { pathKey } from '../../../policies/place/directory.ts';
import { type Command, type DeskIo, EXIT, type ExitCode, UsageError } from '../../terminal/command.ts';
import { readChoice, readFlags } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { ALL_GROUPS } from '../evaluation/unknown-place.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { type OpenLedger, openDeskLedger } from '../ledger/open-ledger.ts';
import { rollupZone } from '../rollup-zone.ts';
import { type DeskRules, RULES_FLAGS, RULES_FLAGS_HELP, readRules } from '../rules-flags.ts';
import { progressOf, watched } from '../truth/progress.ts';
import { billedTo } from './billed-to.ts';
import { deliver } from './deliver.ts';
import { focusCsv } from './focus-csv.ts';
import { keptMonth } from './kept-month.ts';
import { monthLimitsOf, monthRuleOf, readMonth, readZone } from './month.ts';
import type { Statement } from './statement.ts';
import { statementCsv } from './statement-csv.ts';
import { StatementTally } from './statement-tally.ts';
import { statementTerminal } from './statement-terminal.ts';

const HELP = `tollgate statement --month <month> (--group <id | path> | --all) [flags]

What a group and everything below it is charged for a month, per project, runner class and day or job. A job belongs to
the month and to the groups of its admission, wherever groups were moved since. Corrections are lines of their own;
those that came after the month was over are marked. Ninety days after its end a month has lines by day only: they are
read from usage (days begin in $TOLLGATE_ROLLUP_ZONE, else UTC) and checked against the closing entries of the group's
limits. FOCUS and --by job need the jobs and are for younger months.

  --month <month>      2026-10, with its last day, in the zone of the group's limit of money per month
  --group <id | path>  e.g. acme/payments; instance is everything
  --all                everything: the same as --group instance
  --by <what>          day or job                                           (default: day)
  --with-users         with --by job, in CSV and --json: who started it, an id or, after 90 days, a pseudonym
  --zone <zone>        where the month begins and ends, e.g. Europe/Berlin  (default: as the group's limit,
                       else $TOLLGATE_ROLLUP_ZONE, else UTC)
  --format <format>    terminal, csv or focus (FOCUS 1.2, CSV)              (default: terminal)
  --out <file>         writes the statement there
${LEDGER_FLAGS_HELP}
${RULES_FLAGS_HELP}
  --json               the statement as one JSON object

Exit codes: 0 done, 1 the ledger does not answer, 2 the month is over and the group's counter shows
something else, 3 wrong usage`;

const FORMATS = ['terminal', 'csv', 'focus'] as const;
const READ_TIMEOUT_MS = 15_000;
/** The ledger keeps a month's records at least this long after the month. */
const KEPT_MS = 90 * 86_400_000;

/** @param open - tests open a ledger of their own. */
export const statementCommandOn = (open: OpenLedger): Command => ({
  name: 'statement',
  summary: 'What is a group charged for a month? For people, as CSV or FOCUS, with corrections',
  help: HELP,
  run: (args, io) => tellStatement(args, io, open),
});

export const statementCommand: Command = statementCommandOn(openDeskLedger);

const FLAGS = {
  month: 'text',
  group: 'text',
  all: 'switch',
  by: 'text',
  'with-users': 'switch',
  zone: 'text',
  format: 'text',
  out: 'text',
  ...LEDGER_FLAGS,
  ...RULES_FLAGS,
} as const;

async function tellStatement(args: readonly string[], io: DeskIo, open: OpenLedger): Promise<ExitCode> {
  const { values } = readFlags(args, FLAGS);
  const { month, format, json } = values;
  if (month === undefined) throw new UsageError('--month is missing: expected a month like 2026-10');
  if (values.all && values.group !== undefined)
    throw new UsageError('--group and --all: expected one of them');
  const group = values.all ? ALL_GROUPS : values.group;
  if (group === undefined)
    throw new UsageError('--group is missing: expected a group like acme/payments, or --all');
  if (format !== undefined && json)
    throw new UsageError(`--format "${format}": expected it without --json, which is a format of its own`);
  const chosen = format === undefined ? 'terminal' : readChoice('format', format, FORMATS);
  const by = readChoice('by', values.by ?? 'day', ['day', 'job'] as const);
  const withUsers = values['with-users'];
  if (withUsers && (by !== 'job' || chosen === 'focus'))
    throw new UsageError('--with-users: belongs to --by job, and not to --format focus');
  const rules = readRules(values, io);
  const groupId = groupIdOf(group, rules);
  const then = { limits: rules.limits, directory: rules.directory, nowMs: io.nowMs(), zone: rollupZone(io) };
  const rule = values.zone === undefined ? monthRuleOf(groupId, then) : { zone: readZone(values.zone) };
  const period = readMonth(month, rule, io.nowMs());
  const filter = billedTo(group, groupId, rules.directory);
  const limitIds = monthLimitsOf(filter.subject, rule, then);
  const tally = new StatementTally({
    month: period,
    zone: rule.zone,
    by,
    withUsers,
    counts: filter.counts,
    subject: filter.subject,
    limitIds,
    directory: rules.directory,
  });
  const ledger = await open(values, io);
  const statement = await stated().finally(ledger.close);

  async function stated(): Promise<Statement> {
    const head = {
      month: period.key,
      zone: rule.zone,
      startMs: period.startMs,
      endMs: period.endMs,
      group: filter.label,
      currency: rules.policy.currency,
      instance: ledger.instance,
      ledger: ledger.description,
      writtenAtMs: io.nowMs(),
    };
    const unknownGroup = filter.unknown ? filter.label : undefined;
    const { usage, periods } = ledger;
    if (io.nowMs() > period.endMs + KEPT_MS && filter.subject !== undefined && usage && periods) {
      if (by === 'job' || chosen === 'focus')
        throw new UsageError(
          `--month "${month}": is over for more than 90 days and only its days are kept; expected it without --by job and --format focus`,
        );
      const ask = {
        month: period,
        subject: filter.subject,
        limitIds,
        usageZone: rollupZone(io),
        directory: rules.directory,
        nowMs: io.nowMs(),
      };
      const kept = await keptMonth(ask, { usage, periods });
      // Nothing is kept of a group that nobody knows.
      if (kept.lines.length === 0) filter.check();
      return { ...head, by: 'day', ...kept };
    }
    await readInto(tally, watched(ledger.store, progressOf('items read', io)));
    filter.check();
    return {
      ...head,
      by,
      ...(withUsers && { withUsers }),
      lines: tally.lines(),
      totals: tally.totals(),
      controls: tally.controls(),
      notes: notesOf(period, unknownGroup, tally.jobsInNoGroup, io.nowMs()),
    };
  }
  const text = json
    ? `${JSON.stringify(statement)}\n`
    : rendered(statement, chosen, values.out !== undefined, io);
  await deliver(text, values.out, io);
  const off = statement.controls.some(({ shownMicros, settledMicros }) => shownMicros !== settledMicros);
  // While jobs still end, a counter and its jobs are not read at one instant.
  return off && io.nowMs() >= period.endMs ? EXIT.wouldReject : EXIT.ok;
}

async function readInto(tally: StatementTally, store: LedgerStore): Promise<void> {
  for await (const item of store.scan()) {
    if (item.kind === 'counter') tally.addCounter(item.counter);
    if (item.kind !== 'record' || !tally.has(item.record)) continue;
    const { jobId, entries } = item.record;
    // Few jobs have any, so they are read one by one rather than all kept.
    const corrections = entries === 0 ? [] : await store.readEntries(jobId, { timeoutMs: READ_TIMEOUT_MS });
    tally.add(item.record, corrections);
  }
}

function rendered(
  statement: Statement,
  format: (typeof FORMATS)[number],
  toFile: boolean,
  io: DeskIo,
): string {
  switch (format) {
    case 'terminal':
      return statementTerminal(
        statement,
        paintWhen(io.colours && !toFile),
        toFile ? Number.POSITIVE_INFINITY : io.columns,
      );
    case 'csv':
      return statementCsv(statement);
    case 'focus':
      return focusCsv(statement);
  }
}

const groupIdOf = (group: string, { directory }: DeskRules): number | undefined =>
  /^\d{1,15}$/.test(group) ? Number(group) : directory.groupByPath.get(pathKey(group))?.id;

function notesOf(
  month: Period,
  unknownGroup: string | undefined,
  jobsInNoGroup: number,
  nowMs: number,
): readonly string[] {
  return [
    ...(unknownGroup === undefined
      ? []
      : [`The directory does not know ${unknownGroup}: groups below it may be missing.`]),
    ...(jobsInNoGroup === 0
      ? []
      : [
          `Jobs of this month whose group nobody knew when they were decided: ${jobsInNoGroup}. No group is charged for them.`,
        ]),
    ...(nowMs < month.endMs ? ['The month is not over: this is what is charged so far.'] : []),
    ...(nowMs > month.endMs + KEPT_MS
      ? ['The month is over for more than 90 days: records of its jobs may be gone, and lines with them.']
      : []),
  ];
}
