import type { Unit } from '../../policies/claim.ts';
import { formatMoney } from './decision-line.ts';
import type { GroupSummary, LimitSummary, Summary } from './summary.ts';

/** The summary for people: what each limit holds now, what each group met, and how long answers took. */
export function renderSummary(summary: Summary, currency: string): string {
  const limits = table(
    ['limit', 'of', 'mode', 'spent', 'held', 'limit', ''],
    summary.limits.map((limit) => limitRow(limit, currency)),
    new Set([3, 4, 5]),
  );
  const groups = table(
    ['group', 'spent', 'held', 'limit', 'admitted', 'rejected', 'rejected by'],
    summary.groups.map((group) => groupRow(group, currency)),
    new Set([1, 2, 3, 4, 5]),
  );
  const { p50, p99 } = summary.latencyMs;
  const total = `${summary.decisions} decisions: ${summary.admitted} admitted, ${summary.rejected} rejected, ${summary.fallback} by fallback. Question to answer: p50 ${p50} ms, p99 ${p99} ms.`;
  return [groups, '', limits, '', total].join('\n');
}

function groupRow(group: GroupSummary, currency: string): string[] {
  const { money } = group;
  // Where nothing is limited nothing is counted on the way of an admission.
  const counted = money?.limitAmount === 'unlimited' ? undefined : money;
  const show = (amount: number | 'unlimited' | undefined): string =>
    amount === undefined ? '–' : amount === 'unlimited' ? amount : formatMoney(amount, currency);
  const rules = Object.entries(group.rejectedBy).map(([rule, count]) => `${count}× ${rule}`);
  return [
    group.group,
    show(counted?.spent),
    show(counted?.held),
    show(money?.limitAmount),
    String(group.admitted),
    String(group.rejected),
    rules.join(', '),
  ];
}

function limitRow(limit: LimitSummary, currency: string): string[] {
  const show = (amount: number): string =>
    limit.limitAmount === 'unlimited' ? '–' : showAmount(amount, limit.unit, currency);
  const share =
    limit.limitAmount === 'unlimited' || limit.limitAmount === 0
      ? undefined
      : (limit.spent + limit.held) / limit.limitAmount;
  return [
    limit.limit,
    limit.subject,
    limit.mode,
    show(limit.spent),
    show(limit.held),
    limit.limitAmount === 'unlimited' ? 'unlimited' : show(limit.limitAmount),
    share === undefined ? '' : `${bar(share)} ${Math.floor(share * 100)} %`,
  ];
}

function showAmount(amount: number, unit: Unit, currency: string): string {
  switch (unit) {
    case 'micros':
      return formatMoney(amount, currency);
    case 'seconds':
      return `${(amount / 60).toFixed(0)} min`;
    case 'jobs':
      return `${amount} jobs`;
    case 'starts':
      return `${amount} starts`;
    case 'millicpu':
      return `${amount / 1000} CPU`;
    case 'bytes':
      return `${(amount / 2 ** 30).toFixed(1).replace(/\.0$/, '')} GiB`;
  }
}

const BAR_WIDTH = 10;

const bar = (share: number): string => {
  const full = Math.min(BAR_WIDTH, Math.floor(share * BAR_WIDTH));
  return '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full);
};

function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  right: ReadonlySet<number>,
): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        right.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [line(head), ...rows.map(line)].join('\n');
}
