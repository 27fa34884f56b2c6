import { type BacktestFigures, backtest } from '../../../functions/answers/backtest/backtest.ts';
import { groupLabelOf, limitLabel } from '../../../functions/answers/reading/scope.ts';
import type { ZonedSpan } from '../../../functions/answers/rollout/shadow-report.ts';
import type { Directory } from '../../../policies/directory.ts';
import { command, print } from '../../terminal/define-command.ts';
import { text } from '../../terminal/flags.ts';
import { type Paint, paintWhen, printable } from '../../terminal/paint.ts';
import { amounts, firstRows, right } from '../../terminal/table.ts';
import { LEDGER_EXITS, TABLE_FLAGS } from '../ledger-flags.ts';
import { openLedger, withOpened } from '../open-ledger.ts';
import { rollupZone } from '../rollup-zone.ts';
import { RULES_FLAGS, readRules } from '../rules-flags.ts';
import { progressOf } from '../truth/progress.ts';
import { money, shadowCount, spanText } from './shadow-words.ts';
import { groupFilter, readSpan, SPAN_HELP } from './span.ts';

const backtestCommand = command({
  name: 'backtest',
  about: `Replays the ledger's jobs under these limits, or this policy and its prices, in the order they were decided, on separate
counters: which would have been rejected, by what, and what all would have cost. A job that would not have run takes no room
of those after it. It only reads: no counter is changed.`,
  flags: {
    since: text('<time>', `14d, 36h, 8w ago, a day (2026-10-01) or an instant (default: 60d). ${SPAN_HELP}`),
    until: text('<time>', 'the same (default: now)'),
    group: text('<id | path>', 'counts only jobs of this group and below'),
    ...RULES_FLAGS,
    ...TABLE_FLAGS,
  },
  json: 'the result as one JSON object',
  examples: ['tollgate backtest --limits next-year.yaml --since 30d --group acme'],
  exits: { ...LEDGER_EXITS, 3: 'wrong usage or invalid documents' },
  run: async ({ flags }, io) => {
    const span = readSpan(flags.since ?? '60d', flags.until, io.nowMs(), rollupZone(io));
    const rules = readRules(flags, io);
    const { counts, ...of } = groupFilter(flags.group, rules.directory);
    const progress = progressOf('jobs replayed', io);
    const asked = { ...span, rules, counts, onJob: progress.step };
    const result = await withOpened(openLedger, flags, io, async ({ store, description: ledger }) => {
      const figures = await backtest(store, asked).finally(progress.done);
      const { currency, version: policyVersion } = rules.policy;
      return {
        ...{ ...span, ...figures, ledger, ...of, currency, policyVersion },
        ...{ limitsVersion: rules.limits.version, notes: notesOf(figures) },
      };
    });
    return print(io, flags, result, () =>
      backtestText(result, rules.directory, paintWhen(io.colours), io.columns),
    );
  },
});

export interface BacktestResult extends BacktestFigures, ZonedSpan {
  readonly ledger: string;
  readonly group?: string;
  readonly currency: string;
  readonly policyVersion: string;
  readonly limitsVersion: string;
  readonly notes: readonly string[];
}

const ALWAYS_SO: readonly string[] = [
  'A job that runs now and did not then is taken to last as long as it was estimated. People may have tried again what was rejected: both tries are counted.',
];

function notesOf({ unrecorded, variablesLost, unasked, waitedNow }: BacktestFigures): readonly string[] {
  const notes = [
    [waitedNow, 'Jobs that would wait for room first, and run'],
    [unrecorded, 'Jobs judged without image, ref and the like: their question was not kept'],
    [variablesLost, 'Jobs that had variables: rules that read them say what they said then'],
    [unasked, 'Jobs that were never asked about (unmetered, bypass): they use up limits and are not judged'],
  ] as const;
  return [
    ...notes.flatMap(([jobs, what]) => (jobs > 0 ? [`${what}: ${shadowCount(jobs)}.`] : [])),
    ...ALWAYS_SO,
  ];
}

function backtestText(result: BacktestResult, directory: Directory, paint: Paint, columns: number): string {
  const { currency, group, ledger, notes, groups, rejections, estimatedMicros } = result;
  const of = group === undefined ? '' : ` of ${printable(group)}`;
  const estimated = estimatedMicros === 0 ? '' : `, of it ${money(estimatedMicros, currency)} only estimated`;
  const head = [
    paint.dim(`${spanText(result)}${of}, by ${printable(ledger)}`),
    paint.strong(
      `${shadowCount(result.rejectedNow)} of ${shadowCount(result.jobs)} jobs would be rejected; ${shadowCount(result.rejectedThen)} were.`,
    ),
    `${shadowCount(result.newlyRejected)} are new, ${shadowCount(result.newlyAdmitted)} would run instead.`,
    `Cost ${money(result.nowMicros, currency)} instead of ${money(result.thenMicros, currency)}${estimated}.`,
    ...notes.map((note) => paint.dim(note)),
  ];
  const shape = { width: columns, dim: paint.dim };
  const groupRows = groups.map((row) => [
    printable(groupLabelOf(row, directory)),
    ...[row.jobs, row.rejectedThen, row.rejectedNow].map(shadowCount),
    ...[row.thenMicros, row.nowMicros].map((micros) => money(micros, currency)),
  ]);
  const rejectionRows = rejections.map((row) => [
    ...[groupLabelOf(row, directory), row.rule].map(printable),
    printable(row.limit === undefined ? '' : limitLabel(row.limit, directory)),
    ...[row.code, shadowCount(row.jobs), shadowCount(row.newly), row.examples.slice(0, 3).join(' ')],
  ]);
  return [
    `${head.join('\n')}\n`,
    ...(groups.length > 0 ? [firstRows(GROUP_TITLES, groupRows, shape)] : []),
    ...(rejections.length > 0 ? [firstRows(REJECTION_TITLES, rejectionRows, shape)] : []),
  ].join('\n');
}

const GROUP_TITLES = [
  ...['group', ...['jobs', 'rejected', 'would be'].map(right), amounts('cost'), amounts('would be')],
];
const REJECTION_TITLES = [
  ...['would be rejected in', 'rule', 'limit', 'code', right('jobs'), right('new'), 'e.g.'],
];

export const commands = [backtestCommand];
