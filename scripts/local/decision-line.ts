import { styleText } from 'node:util';
import type { Reason } from '../../policies/reason.ts';
import { oneLine } from '../../policies/text/plain-text.ts';
import { classColumn } from '../../policies/text/rejection-text.ts';
import { isInFlight } from '../../policies/units/unit.ts';
import { amountText, bareAmountText, durationText, limitLabelOf } from '../../policies/units/unit-texts.ts';
import type { RelayEvent } from '../../relay/events.ts';
import { cutToColumns } from '../terminal/table.ts';

export type AnsweredEvent = Extract<RelayEvent, { readonly type: 'answered' }>;

interface Layout {
  readonly progress: number;
  readonly job: number;
  readonly group: number;
  readonly cost: number;
  /** Absent on narrow terminals. */
  readonly wide?: { readonly runnerClass: number; readonly latency: number };
}

const WIDE: Layout = { progress: 9, job: 34, group: 15, cost: 10, wide: { runnerClass: 8, latency: 5 } };
const NARROW: Layout = { progress: 7, job: 15, group: 13, cost: 9 };
/** From this width on the wide layout leaves room for the decision. */
const WIDE_COLUMNS_MIN = 120;
const GAP = '  ';

const layoutFor = (columns: number): Layout => (columns >= WIDE_COLUMNS_MIN ? WIDE : NARROW);

/** Pads a name, or cuts its middle. */
export const toWidth = (text: string, width: number): string => {
  if (text.length <= width) return text.padEnd(width);
  const tail = Math.floor((width - 1) / 2);
  return `${text.slice(0, width - 1 - tail)}…${text.slice(text.length - tail)}`;
};

/** @param columns of the terminal; `Infinity` for files. */
export function decisionHeader(columns: number): string {
  const { progress, job, group, cost, wide } = layoutFor(columns);
  return [
    ''.padEnd(progress),
    'job'.padEnd(job),
    'group'.padEnd(group),
    ...(wide === undefined ? [] : ['class'.padEnd(wide.runnerClass)]),
    'cost'.padStart(cost),
    ...(wide === undefined ? [] : ['ms'.padStart(wide.latency)]),
    'decision',
  ].join(GAP);
}

/** One decision on one line, with the limit that made it. */
export function decisionLine(
  answered: AnsweredEvent,
  progress: string,
  colour: boolean,
  columns: number,
): string {
  const { request, decision } = answered;
  const layout = layoutFor(columns);
  const { wide } = layout;
  const terms = decision?.outcome === 'undecided' ? undefined : decision?.terms;
  const before = [
    toWidth(progress, layout.progress),
    toWidth(oneLine(request?.jobName ?? '(unreadable)'), layout.job),
    toWidth(oneLine(terms?.group ?? ''), layout.group),
    ...(wide === undefined
      ? []
      : [toWidth(terms === undefined ? '' : oneLine(classColumn(terms)), wide.runnerClass)]),
    (terms === undefined ? '' : amountText(terms.costMicros, 'micros', terms.currency)).padStart(layout.cost),
    ...(wide === undefined ? [] : [answered.latencyMs.toFixed(0).padStart(wide.latency)]),
    '',
  ].join(GAP);
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

function subjectText(reason: Reason): string {
  switch (reason.code) {
    case 'BUDGET_EXHAUSTED':
    case 'CONCURRENCY_FULL':
    case 'CAPACITY_FULL':
    case 'WINDOW_FULL':
    case 'SOFT_LIMIT':
    case 'EXCEEDS_LIMIT_ALONE':
      return `${reason.limit} of ${reason.subjectLabel}`;
    case 'IMAGE_NOT_ALLOWED':
    case 'TAG_NOT_ALLOWED':
    case 'PRIVILEGED_DENIED':
      return reason.image;
    case 'SERVICE_LIMIT':
      return `${reason.services} of ${reason.servicesMax}`;
    case 'PULL_POLICY_NOT_ALLOWED':
      return reason.asked.join(', ') || 'none';
    case 'RESOURCE_CAP':
      return `${reason.variable} ${reason.asked} of ${reason.cap}`;
    case 'RESOURCE_INVALID':
    case 'OVERWRITE_NOT_ALLOWED':
    case 'VARIABLE_NOT_ALLOWED':
      return reason.variable;
    case 'CONTAINER_USER_NOT_ALLOWED':
      return `${reason.part} ${reason.asked || 'none'}`;
    case 'TIMEOUT_TOO_LONG':
      return `${durationText(reason.timeoutSeconds)} on ${reason.runnerClass}`;
    case 'RUNNER_SCOPE':
      return reason.runnerClass;
    case 'BREAK_GLASS':
      return reason.breakGlass;
    case 'GROUP_FROZEN':
      return reason.frozenLabel;
    case 'FIELD_MISSING':
      return reason.field;
    case 'CONTROLLER_ERROR':
      return '';
  }
}

/** A limit that rejected for the first time in this run and its period. */
export interface ExhaustedLimit {
  readonly subject: string;
  readonly limit: string;
  /** For people. */
  readonly text: string;
}

type OfLimit = Extract<Reason, { readonly committed: number }>;

/** Finds the first rejection by each limit. */
export class ExhaustionWatch {
  readonly #known = new Set<string>();
  readonly #currency: string;

  constructor(currency: string) {
    this.#currency = currency;
  }

  /** Returns the limits whose first rejection this is. */
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
