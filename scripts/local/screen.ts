import { styleText } from 'node:util';
import type { Message } from '../../functions/core/notify/message.ts';
import type { LimitSet } from '../../policies/limits/limits.ts';
import type { Reason } from '../../policies/reason.ts';
import { oneLine } from '../../policies/text/plain-text.ts';
import { unitRow } from '../../policies/unit.ts';
import { amountText, bareAmountText } from '../../policies/unit-texts.ts';
import { coloursWanted, cutToColumns, printable } from '../terminal/table.ts';
import { type AnsweredEvent, type LimitSummary, renderSummary, type Summary } from './summary.ts';

interface Figures {
  readonly elapsedMs: number;
  readonly decided: number;
  readonly running: number;
  readonly limits: readonly LimitSummary[];
}

export interface Screen {
  started(facts: Readonly<Record<string, string>>): void;
  answered(answered: AnsweredEvent, count: number, total: number | undefined): void;
  figures(figures: Figures): void;
  note(text: string): void;
  problem(text: string): void;
  finished(summary: Summary): void;
  /** A message to an owner; this machine delivers it nowhere else. */
  mailed(message: Message): void;
}

/** For programs: one JSON object per decision and change of figures, then the summary. Problems go to stderr. */
export function jsonScreen(out: NodeJS.WriteStream, limits: LimitSet): Screen {
  const say = (value: unknown): void => void out.write(`${JSON.stringify(value)}\n`);
  return {
    started: () => {},
    answered: ({ request, decision, answer, via, cause, latencyMs }) =>
      say({
        ...{ type: 'decision', jobId: request?.jobId, job: request?.jobName, project: request?.projectPath },
        ...{ ...answer, via, cause, latencyMs: Math.round(latencyMs * 10) / 10 },
        ...decisionFields(decision),
      }),
    figures: ({ elapsedMs, ...figures }) =>
      say({ type: 'figures', elapsedMs: Math.round(elapsedMs), ...figures }),
    note: () => {},
    problem: (text) => void process.stderr.write(`${text}\n`),
    finished: (summary) => say({ type: 'summary', limitsVersion: limits.version, ...summary }),
    mailed: () => {},
  };
}

function decisionFields(decision: AnsweredEvent['decision']) {
  if (decision === undefined || decision.outcome === 'undecided') return {};
  const { decisionId, terms, shadow } = decision;
  const reasons = decision.outcome === 'rejected' ? decision.violations : [];
  return { decisionId, ...terms, reasons, shadow };
}

const COLUMNS = 80;

export function terminalScreen(
  out: NodeJS.WriteStream,
  currency: string,
  env: Readonly<Record<string, string | undefined>>,
): Screen {
  const colour = coloursWanted(out.isTTY === true, env);
  const say = (line: string): void => void out.write(`${line}\n`);
  // The last column stays free: some terminals break the line after it.
  const columns = (): number =>
    out.isTTY === true ? (out.columns || COLUMNS) - 1 : Number.POSITIVE_INFINITY;
  return {
    started: (facts) => {
      for (const [name, value] of Object.entries(facts)) say(`${name.padEnd(9)} ${value}`);
      say(`\n${decisionHeader}`);
    },
    answered: (answered, count, total) =>
      say(
        decisionLine(answered, total === undefined ? String(count) : `${count}/${total}`, colour, columns()),
      ),
    figures: (figures) => {
      const line = cutToColumns(figureLine(figures, currency), columns());
      say(colour ? styleText('bold', line, { validateStream: false }) : line);
    },
    note: say,
    problem: (text) => say(`! ${printable(text)}`),
    mailed: ({ subject, text }) => {
      const lines = text.trimEnd().split('\n');
      say(`\n✉ ${printable(subject)}\n${lines.map((line) => `  ${printable(line)}`.trimEnd()).join('\n')}\n`);
    },
    finished: (summary) => say(`\n${renderSummary(summary, currency, columns())}`),
  };
}

const BUDGETS_SHOWN = 3;

function figureLine({ elapsedMs, limits, running }: Figures, currency: string): string {
  const budgets = limits
    .flatMap(({ subject, unit, mode, spent, held, limitAmount }) => {
      if (unitRow(unit).inCurrency !== true || mode !== 'enforce' || limitAmount === 'unlimited') return [];
      const [spentText, heldText] = [bareAmountText(spent, unit), bareAmountText(held, unit)];
      const text = `${subject} ${spentText} spent + ${heldText} held of ${amountText(limitAmount, unit, currency)}`;
      return [{ text, share: limitAmount === 0 ? 1 : (spent + held) / limitAmount }];
    })
    .sort((a, b) => b.share - a.share)
    .slice(0, BUDGETS_SHOWN)
    .map(({ text }) => text);
  return [`~ ${Math.round(elapsedMs / 1000)} s`, ...budgets, `${running} jobs run`].join(' · ');
}

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

const decisionHeader = `${cells('', 'job', 'group', 'cost')}decision`;

function decisionLine(answered: AnsweredEvent, progress: string, colour: boolean, columns: number): string {
  const { request, decision } = answered;
  const terms = decision?.outcome === 'undecided' ? undefined : decision?.terms;
  const cost = terms === undefined ? '' : amountText(terms.costMicros, 'micros', terms.currency);
  const before = cells(progress, request?.jobName ?? '(unreadable)', terms?.group ?? '', cost);
  const { style, text } = describeDecision(answered);
  // Cut before it is painted: half an escape sequence would paint the rest of the screen.
  const shown = cutToColumns(text, columns - before.length);
  return `${before}${colour ? styleText(style, shown, { validateStream: false }) : shown}`;
}

function describeDecision({ decision, via, answer, cause }: AnsweredEvent) {
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
