import { styleText } from 'node:util';
import type { Reason } from '../../policies/reason.ts';
import { oneLine } from '../../policies/text/plain-text.ts';
import { classColumn } from '../../policies/text/rejection-text.ts';
import { isInFlight } from '../../policies/unit.ts';
import { amountText, bareAmountText, limitLabelOf } from '../../policies/unit-texts.ts';
import type { RelayEvent } from '../../relay/events.ts';
import { cutToColumns } from '../terminal/table.ts';

export type AnsweredEvent = Extract<RelayEvent, { readonly type: 'answered' }>;

interface Column {
  readonly title: string;
  readonly wide: number;
  /** Absent: narrow terminals do not show it. */
  readonly narrow?: number;
  readonly isNumber?: true;
  text(answered: AnsweredEvent, progress: string): string;
}

const termsOf = ({ decision }: AnsweredEvent) =>
  decision?.outcome === 'undecided' ? undefined : decision?.terms;

const COLUMNS: readonly Column[] = [
  { title: '', wide: 9, narrow: 7, text: (_, progress) => progress },
  { title: 'job', wide: 34, narrow: 15, text: ({ request }) => oneLine(request?.jobName ?? '(unreadable)') },
  { title: 'group', wide: 15, narrow: 13, text: (answered) => oneLine(termsOf(answered)?.group ?? '') },
  {
    ...{ title: 'class', wide: 8 },
    text(answered) {
      const terms = termsOf(answered);
      return terms === undefined ? '' : oneLine(classColumn(terms));
    },
  },
  {
    ...{ title: 'cost', wide: 10, narrow: 9, isNumber: true },
    text(answered) {
      const terms = termsOf(answered);
      return terms === undefined ? '' : amountText(terms.costMicros, 'micros', terms.currency);
    },
  },
  { title: 'ms', wide: 5, isNumber: true, text: ({ latencyMs }) => latencyMs.toFixed(0) },
];

/** From this width on the wide columns leave room for the decision. */
const WIDE_COLUMNS_MIN = 120;
const GAP = '  ';

/** Pads a name, or cuts its middle. */
export const toWidth = (text: string, width: number): string => {
  if (text.length <= width) return text.padEnd(width);
  const tail = Math.floor((width - 1) / 2);
  return `${text.slice(0, width - 1 - tail)}…${text.slice(text.length - tail)}`;
};

function cells(columns: number, text: (column: Column) => string): string {
  const shown = COLUMNS.flatMap((column) => {
    const width = columns >= WIDE_COLUMNS_MIN ? column.wide : column.narrow;
    if (width === undefined) return [];
    return [column.isNumber ? text(column).padStart(width) : toWidth(text(column), width)];
  });
  return shown.map((cell) => `${cell}${GAP}`).join('');
}

/** @param columns of the terminal; `Infinity` for files. */
export const decisionHeader = (columns: number): string => `${cells(columns, ({ title }) => title)}decision`;

/** One decision on one line, with the limit that made it. */
export function decisionLine(
  answered: AnsweredEvent,
  progress: string,
  colour: boolean,
  columns: number,
): string {
  const before = cells(columns, (column) => column.text(answered, progress));
  return `${before}${decisionText(answered, colour, columns - before.length)}`;
}

interface Part {
  readonly style: 'green' | 'red' | 'yellow';
  readonly text: string;
}

/** Cuts before it paints: half an escape sequence would paint the rest of the screen. */
function decisionText(answered: AnsweredEvent, colour: boolean, room: number): string {
  let left = room;
  return partsOf(answered)
    .map(({ style, text }) => {
      const shown = left <= 0 ? '' : cutToColumns(text, left);
      left -= shown.length;
      return colour && shown !== '' ? styleText(style, shown, { validateStream: false }) : shown;
    })
    .join('');
}

function partsOf({ decision, via, answer, cause }: AnsweredEvent): readonly Part[] {
  if (via === 'fallback') {
    return [{ style: 'yellow', text: `${answer.outcome} by fallback (${cause ?? 'unknown'})` }];
  }
  if (decision?.outcome === 'rejected') {
    const why = decision.violations.map(({ reason }) => reasonShort(reason)).join('; ');
    return [{ style: 'red', text: `rejected  ${why}` }];
  }
  const shadow = decision?.outcome === 'admitted' ? decision.shadow : [];
  const would = shadow
    .map(({ mode, reason, exempt }) => `${exempt ? 'exempt' : mode}: ${reasonShort(reason)}`)
    .join('; ');
  return [
    { style: 'green', text: 'admitted' },
    ...(would === '' ? [] : [{ style: 'yellow' as const, text: `  ${would}` }]),
  ];
}

/** Code and subject, e.g. `BUDGET_EXHAUSTED money-month of group acme/payments`. */
function reasonShort(reason: Reason): string {
  const subject = subjectText(reason);
  return subject === '' ? reason.code : `${reason.code} ${oneLine(subject)}`;
}

/** The part of the job or of the policy that the reason is about. */
function subjectText(reason: Reason): string {
  if ('limit' in reason) return `${reason.limit} of ${reason.subjectLabel}`;
  for (const field of [
    'image',
    'variable',
    'runnerClass',
    'breakGlass',
    'frozenLabel',
    'field',
    'part',
  ] as const)
    if (field in reason) return String((reason as unknown as Record<string, unknown>)[field]);
  return '';
}

/** A limit that rejected for the first time in this run and its period. */
export interface ExhaustedLimit {
  readonly subject: string;
  readonly limit: string;
  readonly text: string;
}

type OfLimit = Extract<Reason, { readonly committed: number }>;

export class ExhaustionWatch {
  readonly #known = new Set<string>();
  readonly #currency: string;

  constructor(currency: string) {
    this.#currency = currency;
  }

  newIn({ decision }: AnsweredEvent): readonly ExhaustedLimit[] {
    if (decision?.outcome !== 'rejected') return [];
    return decision.violations.flatMap(({ reason }) => {
      if (!('committed' in reason) || reason.code === 'SOFT_LIMIT') return [];
      const { limit, subjectLabel, periodLabel } = reason;
      const key = `${subjectLabel} ${limit} ${periodLabel ?? ''}`;
      if (this.#known.has(key)) return [];
      this.#known.add(key);
      return [{ subject: subjectOf(reason), limit, text: ranOutText(reason, this.#currency) }];
    });
  }
}

/** `acme/payments` of `group acme/payments`, as in the decisions above it. */
const subjectOf = (reason: OfLimit): string => limitLabelOf(reason).replace(/^(group|project) /, '');

function ranOutText(reason: OfLimit, currency: string): string {
  const { committed, settled, limitAmount, asked, unit, periodLabel } = reason;
  const subject = subjectOf(reason);
  if (periodLabel === undefined && isInFlight(unit)) {
    return `${subject} is full: ${bareAmountText(committed, unit)} of ${amountText(limitAmount, unit, currency)} at once, the job needs ${bareAmountText(asked, unit)}`;
  }
  const period = periodLabel === undefined ? '' : ` for ${oneLine(periodLabel)}`;
  const held = committed - settled;
  return `${subject} has run out: ${bareAmountText(settled, unit)} spent + ${bareAmountText(held, unit)} held of ${amountText(limitAmount, unit, currency)}${period}, the job needs ${bareAmountText(asked, unit)}`;
}
