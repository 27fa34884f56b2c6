import { styleText } from 'node:util';
import type { Reason } from '../../policies/reason.ts';
import { oneLine } from '../../policies/text/plain-text.ts';
import { amountText } from '../../policies/unit-texts.ts';
import type { RelayEvent } from '../../relay/events.ts';
import { cutToColumns } from '../terminal/table.ts';

export type AnsweredEvent = Extract<RelayEvent, { readonly type: 'answered' }>;

const WIDTHS = { progress: 7, job: 20, group: 14, cost: 9 } as const;

const toWidth = (text: string, width: number): string => {
  if (text.length <= width) return text.padEnd(width);
  const tail = Math.floor((width - 1) / 2);
  return `${text.slice(0, width - 1 - tail)}…${text.slice(text.length - tail)}`;
};

const cells = (progress: string, job: string, group: string, cost: string): string =>
  [
    toWidth(progress, WIDTHS.progress),
    toWidth(oneLine(job), WIDTHS.job),
    toWidth(oneLine(group), WIDTHS.group),
    `${cost.padStart(WIDTHS.cost)}  `,
  ].join('  ');

export const decisionHeader = `${cells('', 'job', 'group', 'cost')}decision`;

export function decisionLine(
  answered: AnsweredEvent,
  progress: string,
  colour: boolean,
  columns: number,
): string {
  const { request, decision } = answered;
  const terms = decision?.outcome === 'undecided' ? undefined : decision?.terms;
  const cost = terms === undefined ? '' : amountText(terms.costMicros, 'micros', terms.currency);
  const before = cells(progress, request?.jobName ?? '(unreadable)', terms?.group ?? '', cost);
  const { style, text } = verdictOf(answered);
  // Cut before it is painted: half an escape sequence would paint the rest of the screen.
  const shown = cutToColumns(text, columns - before.length);
  return `${before}${colour ? styleText(style, shown, { validateStream: false }) : shown}`;
}

function verdictOf({ decision, via, answer, cause }: AnsweredEvent) {
  if (via === 'fallback')
    return { style: 'yellow', text: `${answer.outcome} by fallback (${cause ?? 'unknown'})` } as const;
  if (decision?.outcome === 'rejected') {
    const why = decision.violations.map(({ reason }) => reasonShort(reason)).join('; ');
    return { style: 'red', text: `rejected  ${why}` } as const;
  }
  const shadow = decision?.outcome === 'admitted' ? decision.shadow : [];
  const would = shadow.map(
    ({ mode, reason, exempt }) => `${exempt ? 'exempt' : mode}: ${reasonShort(reason)}`,
  );
  return would.length === 0
    ? ({ style: 'green', text: 'admitted' } as const)
    : ({ style: 'yellow', text: `admitted  ${would.join('; ')}` } as const);
}

const SUBJECT_FIELDS = ['image', 'variable', 'runnerClass', 'breakGlass', 'frozenLabel', 'field', 'part'];

/** Code and subject, e.g. `BUDGET_EXHAUSTED money-month of group acme/payments`. */
function reasonShort(reason: Reason): string {
  if ('limit' in reason) return `${reason.code} ${oneLine(`${reason.limit} of ${reason.subjectLabel}`)}`;
  const part = SUBJECT_FIELDS.find((field) => field in reason);
  if (part === undefined) return reason.code;
  return `${reason.code} ${oneLine(String((reason as unknown as Record<string, unknown>)[part]))}`;
}
