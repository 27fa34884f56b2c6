import { styleText } from 'node:util';
import type { Reason } from '../../policies/reason.ts';
import { durationText } from '../../policies/text/duration-text.ts';
import { oneLine } from '../../policies/text/plain-text.ts';
import type { RelayEvent } from '../../relay/events.ts';

export type Answered = Extract<RelayEvent, { readonly type: 'answered' }>;

const WIDTHS = { progress: 9, job: 34, group: 15, runnerClass: 8, cost: 10 } as const;

/** `unlimited` width would wrap on a small terminal; names longer than their column lose their middle. */
const toWidth = (text: string, width: number): string => {
  if (text.length <= width) return text.padEnd(width);
  const tail = Math.floor((width - 1) / 2);
  return `${text.slice(0, width - 1 - tail)}…${text.slice(text.length - tail)}`;
};

export const decisionHeader = (): string =>
  [
    ''.padEnd(WIDTHS.progress),
    'job'.padEnd(WIDTHS.job),
    'group'.padEnd(WIDTHS.group),
    'class'.padEnd(WIDTHS.runnerClass),
    'cost'.padStart(WIDTHS.cost),
    'ms'.padStart(5),
    'decision',
  ].join('  ');

/** One decision on one line: progress, job, group, cost, latency, decision and the limit that made it. */
export function decisionLine(answered: Answered, progress: string, colour: boolean): string {
  const { request, decision } = answered;
  const terms = decision?.outcome === 'undecided' ? undefined : decision?.terms;
  return [
    toWidth(progress, WIDTHS.progress),
    toWidth(request?.jobName ?? '(unreadable)', WIDTHS.job),
    toWidth(terms?.group ?? '', WIDTHS.group),
    toWidth(terms?.runnerClass ?? '', WIDTHS.runnerClass),
    (terms === undefined ? '' : formatMoney(terms.costMicros, terms.currency)).padStart(WIDTHS.cost),
    answered.latencyMs.toFixed(0).padStart(5),
    verdictText(answered, colour),
  ].join('  ');
}

function verdictText(answered: Answered, colour: boolean): string {
  const paint = (style: 'green' | 'red' | 'yellow', text: string): string =>
    colour ? styleText(style, text) : text;
  const { decision } = answered;
  if (answered.via === 'fallback') {
    return paint('yellow', `${answered.answer.outcome} by fallback (${answered.cause ?? 'unknown'})`);
  }
  if (decision?.outcome === 'rejected') {
    return paint(
      'red',
      `rejected  ${decision.violations.map(({ reason }) => reasonShort(reason)).join('; ')}`,
    );
  }
  const shadow = decision?.outcome === 'admitted' ? decision.shadow : [];
  const would = shadow
    .map(({ mode, reason, exempt }) => `${exempt ? 'exempt' : mode}: ${reasonShort(reason)}`)
    .join('; ');
  return `${paint('green', 'admitted')}${would === '' ? '' : paint('yellow', `  ${would}`)}`;
}

/** Code and what it is about, e.g. `BUDGET_EXHAUSTED money-month of group acme/payments`. */
export function reasonShort(reason: Reason): string {
  const about = aboutText(reason);
  return about === '' ? reason.code : `${reason.code} ${oneLine(about)}`;
}

function aboutText(reason: Reason): string {
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
      return reason.asked.join(', ');
    case 'RESOURCE_CAP':
      return `${reason.variable} ${reason.asked} of ${reason.cap}`;
    case 'RESOURCE_INVALID':
    case 'OVERWRITE_NOT_ALLOWED':
      return reason.variable;
    case 'CONTAINER_USER_NOT_ALLOWED':
      return `${reason.part} ${reason.asked}`;
    case 'TIMEOUT_TOO_LONG':
      return `${durationText(reason.timeoutSeconds)} on ${reason.runnerClass}`;
    case 'RUNNER_SCOPE':
      return reason.runnerClass;
    case 'GROUP_FROZEN':
      return reason.frozenLabel;
    case 'FIELD_MISSING':
      return reason.field;
    case 'CONTROLLER_ERROR':
      return '';
  }
}

export const formatMoney = (micros: number, currency: string): string =>
  `${(micros / 1e6).toFixed(2)} ${currency}`;
