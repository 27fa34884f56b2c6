import { amountText } from '../../policies/units/unit-texts.ts';
import { table } from '../terminal/table.ts';
import { toWidth } from './decision-line.ts';
import type { EndsSummary } from './local-ends.ts';
import type { GroupSummary, LimitSummary, Summary } from './summary.ts';

/** From this width on the tables fit with all columns. */
const WIDE_COLUMNS_MIN = 105;
const SUBJECT_NARROW = 15;
const BAR_WIDTH = 10;

/**
 * The summary for people: a table of groups, a table of limits, how jobs were settled, and the latency.
 * @param columns of the terminal; `Infinity` for files.
 */
export function renderSummary(summary: Summary, currency: string, columns: number): string {
  const { p50, p99 } = summary.latencyMs;
  return [
    groupTable(summary.groups, currency, columns),
    limitTable(summary.limits, currency, columns),
    `${summary.decisions} decisions: ${summary.admitted} admitted, ${summary.rejected} rejected, ${summary.fallback} by fallback.`,
    ...(summary.ends === undefined ? [] : endsLines(summary.ends)),
    `Question to answer: p50 ${p50} ms, p99 ${p99} ms.`,
  ].join('\n');
}

function groupTable(groups: readonly GroupSummary[], currency: string, columns: number): string {
  const wide = columns >= WIDE_COLUMNS_MIN;
  const right = (title: string) => ({ title, align: 'right' as const });
  return table(
    [
      { title: 'group' },
      right('spent'),
      ...(wide ? [right('this run')] : []),
      right('held'),
      ...(wide ? [right('limit')] : []),
      right('admitted'),
      right('rejected'),
      { title: 'rejected by' },
    ],
    groups.map((group) => groupRow(group, currency, wide)),
    columns,
  );
}

function groupRow(group: GroupSummary, currency: string, wide: boolean): string[] {
  const { money } = group;
  // An unlimited amount has no counter.
  const counted = money?.limitAmount === 'unlimited' ? undefined : money;
  const show = (amount: number | 'unlimited' | undefined): string =>
    amount === undefined ? '–' : amount === 'unlimited' ? amount : amountText(amount, 'micros', currency);
  const rules = Object.entries(group.rejectedBy).map(([rule, count]) => `${count}× ${rule}`);
  return [
    group.group,
    show(counted?.spent),
    ...(wide ? [show(counted?.spentThisRun)] : []),
    show(counted?.held),
    ...(wide ? [show(money?.limitAmount)] : []),
    String(group.admitted),
    String(group.rejected),
    rules.join(', '),
  ];
}

function limitTable(limits: readonly LimitSummary[], currency: string, columns: number): string {
  const wide = columns >= WIDE_COLUMNS_MIN;
  const right = (title: string) => ({ title, align: 'right' as const });
  return table(
    [
      { title: 'limit' },
      { title: 'of' },
      ...(wide ? [{ title: 'mode' }] : []),
      right('spent'),
      right('held'),
      right('limit'),
      {},
    ],
    limits.map((limit) => limitRow(limit, currency, wide)),
    columns,
  );
}

function limitRow(limit: LimitSummary, currency: string, wide: boolean): string[] {
  const { unit, spent, held, limitAmount } = limit;
  const unlimited = limitAmount === 'unlimited';
  const show = (amount: number): string => (unlimited ? '–' : amountText(amount, unit, currency));
  const share = unlimited || limitAmount === 0 ? undefined : (spent + held) / limitAmount;
  const percent = share === undefined ? '' : `${Math.floor(share * 100)} %`;
  return [
    limit.limit,
    wide ? limit.subject : toWidth(limit.subject, SUBJECT_NARROW),
    ...(wide ? [limit.mode] : []),
    show(spent),
    show(held),
    unlimited ? limitAmount : show(limitAmount),
    share === undefined || !wide ? percent : `${bar(share)} ${percent}`,
  ];
}

const bar = (share: number): string => {
  const full = Math.min(BAR_WIDTH, Math.max(0, Math.floor(share * BAR_WIDTH)));
  return '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full);
};

function endsLines({ webhook, sweep, healed, webhooks, sweeps, holdsLeft }: EndsSummary): readonly string[] {
  return [
    `${webhook + sweep} jobs ran to their end: ${webhook} told by webhook, ${sweep} by the sweep.`,
    `The sweep found ${healed} whose webhook was lost, and ${sweep - healed} before their webhook came.`,
    `${webhooks.events} webhooks: ${webhooks.lost} lost, ${webhooks.repeated} repeated, ${webhooks.reordered} out of order. ${sweeps} sweeps.`,
    holdsLeft === 0 ? 'Nothing is held any more.' : `${holdsLeft} jobs still hold something.`,
  ];
}
