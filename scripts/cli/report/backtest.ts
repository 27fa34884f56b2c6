import {
  type BacktestFigures,
  type BacktestGroupRow,
  backtest,
} from '../../../functions/answers/backtest/backtest.ts';
import { limitLabel } from '../../../functions/answers/reading/scope.ts';
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
    const group = flags.group === undefined ? undefined : groupFilter(flags.group, rules.directory);
    const progress = progressOf('jobs replayed', io);
    const asked = { ...span, rules, counts: group?.counts ?? (() => true), onJob: progress.step };
    const { figures, ledger } = await withOpened(openLedger, flags, io, async ({ store, description }) => ({
      ...{ ledger: description, figures: await backtest(store, asked).finally(progress.done) },
    }));
    group?.check();
    const unknown = group?.unknown
      ? [`The directory does not know ${group.label}: groups below it may be missing.`]
      : [];
    const result: BacktestResult = {
      ...span,
      ...figures,
      ledger,
      ...(group !== undefined && { group: group.label }),
      currency: rules.policy.currency,
      policyVersion: rules.policy.version,
      limitsVersion: rules.limits.version,
      notes: [...unknown, ...notesOf(figures)],
    };
    return print(io, flags, result, () =>
      backtestText(result, rules.directory, paintWhen(io.colours), io.columns),
    );
  },
});

/** Output of `--json`. */
export interface BacktestResult extends BacktestFigures, ZonedSpan {
  /** For people: whose books. */
  readonly ledger: string;
  readonly group?: string;
  readonly currency: string;
  readonly policyVersion: string;
  readonly limitsVersion: string;
  /** Caveats for the reader. */
  readonly notes: readonly string[];
}

/** Caveats of every replay. */
const ALWAYS_SO: readonly string[] = [
  'A job that runs now and did not then is taken to last as long as it was estimated. People may have tried again what was rejected: both tries are counted.',
  'Jobs end when GitLab says, not when the ledger heard of it; groups are where the directory has them now; estimates are those of then.',
];

function notesOf(figures: BacktestFigures): readonly string[] {
  const { unrecorded, variablesLost, unasked, undecided, waitedNow } = figures;
  const notes = [
    [
      waitedNow,
      'Jobs that would wait for room first, and run; a deployment whose relays answer sooner rejects them sooner',
    ],
    [
      unrecorded,
      'Jobs that are asked by their facts alone, without image, ref and the like: their question was not kept',
    ],
    [
      variablesLost,
      'Jobs that had variables, which are never kept: rules that read them say what they said then',
    ],
    [unasked, 'Jobs that were never asked about (unmetered, bypass): they use up limits and are not judged'],
    [undecided, 'Jobs that could not be decided: too many counters, or amounts too large'],
  ] as const;
  return [
    ...notes.flatMap(([jobs, what]) => (jobs > 0 ? [`${what}: ${shadowCount(jobs)}.`] : [])),
    ...ALWAYS_SO,
  ];
}

function backtestText(result: BacktestResult, directory: Directory, paint: Paint, columns: number): string {
  const { currency, group, ledger, notes, groups, rejections } = result;
  const of = group === undefined ? '' : ` of ${printable(group)}`;
  const difference = result.nowMicros - result.thenMicros;
  const sign = difference > 0 ? '+' : '';
  const estimated =
    result.estimatedMicros === 0 ? '' : `, of it ${money(result.estimatedMicros, currency)} only estimated`;
  const head = [
    paint.dim(`${spanText(result)}${of}, by ${printable(ledger)}`),
    paint.strong(
      `${shadowCount(result.rejectedNow)} of ${shadowCount(result.jobs)} jobs would be rejected; ${shadowCount(result.rejectedThen)} were.`,
    ),
    `${shadowCount(result.newlyRejected)} are new, ${shadowCount(result.newlyAdmitted)} would run instead.`,
    `Cost ${money(result.nowMicros, currency)} instead of ${money(result.thenMicros, currency)} (${sign}${money(difference, currency)})${estimated}.`,
    ...notes.map((note) => paint.dim(note)),
  ];
  const pathOf = placeIn(directory);
  const shape = { width: columns, dim: paint.dim };
  const groupRows = groups.map((row) => [
    ...[pathOf(row), ...[row.jobs, row.rejectedThen, row.rejectedNow].map(shadowCount)],
    ...[row.thenMicros, row.nowMicros].map((micros) => money(micros, currency)),
  ]);
  const rejectionRows = rejections.map((row) => [
    ...[pathOf(row), printable(row.rule)],
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

type PathOf = (row: Pick<BacktestGroupRow, 'groupId' | 'projectPath'>) => string;

const placeIn =
  (directory: Directory): PathOf =>
  ({ groupId, projectPath }) => {
    const known = groupId === undefined ? undefined : directory.groupById.get(groupId)?.path;
    const above = projectPath?.slice(0, Math.max(0, projectPath.lastIndexOf('/')));
    return printable(known || above || String(groupId ?? 'unknown'));
  };

export const commands = [backtestCommand];
