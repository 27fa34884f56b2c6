import { styleText } from 'node:util';
import type { Message } from '../../functions/core/notify/message.ts';
import type { LimitSet } from '../../policies/limits/limits.ts';
import { unitRow } from '../../policies/unit.ts';
import { amountText, bareAmountText } from '../../policies/unit-texts.ts';
import { coloursWanted, printable } from '../terminal/paint.ts';
import { cutToColumns } from '../terminal/table.ts';
import { type AnsweredEvent, decisionHeader, decisionLine, type ExhaustedLimit } from './decision-line.ts';
import { type LimitSummary, renderSummary, type Summary } from './summary.ts';

export interface Figures {
  /** Since the first admission request, real ms. */
  readonly elapsedMs: number;
  /** The time of day on the jobs' clock, Unix ms. */
  readonly timeMs: number;
  readonly decided: number;
  readonly total: number | undefined;
  /** Jobs that run, or wait for their decision. */
  readonly running: number;
  readonly limits: readonly LimitSummary[];
}

export interface Screen {
  readonly figuresEveryMs: number;
  /** Days of the made-up month that are written; without numbers all are. Before `started`. */
  loading(done?: number, total?: number): void;
  /** The parts that were started, once. */
  started(facts: Readonly<Record<string, string>>): void;
  answered(answered: AnsweredEvent, count: number, total: number | undefined): void;
  /** A limit rejected for the first time. */
  ranOut(ranOut: ExhaustedLimit): void;
  figures(figures: Figures): void;
  /** An event that is not a decision, e.g. a router out of reach. */
  trouble(text: string): void;
  finished(summary: Summary): void;
  /** A message to an owner; this machine delivers it nowhere else. */
  mailed(message: Message): void;
  /** The jobs have ended, and the console stays. */
  stays(url: string): void;
  /** The jobs have ended, and the console has closed. */
  closed(): void;
}

const FIGURES_EVERY_MS = 1_000;

/** For programs: one JSON object per decision, exhausted budget and change of figures, then the summary. Problems go to stderr. */
export function jsonScreen(out: NodeJS.WriteStream, limits: LimitSet): Screen {
  const say = (value: unknown): void => void out.write(`${JSON.stringify(value)}\n`);
  return {
    figuresEveryMs: FIGURES_EVERY_MS,
    loading: () => {},
    started: () => {},
    answered: ({ request, decision, answer, via, cause, latencyMs }) =>
      say({
        ...{ type: 'decision', jobId: request?.jobId, job: request?.jobName, project: request?.projectPath },
        ...{ ...answer, via, cause, latencyMs: Math.round(latencyMs * 10) / 10 },
        ...decisionFields(decision),
      }),
    ranOut: (ranOut) => say({ type: 'ran_out', ...ranOut }),
    figures: ({ elapsedMs, ...figures }) =>
      say({ type: 'figures', elapsedMs: Math.round(elapsedMs), ...figures }),
    trouble: (text) => void process.stderr.write(`${text}\n`),
    finished: (summary) => say({ type: 'summary', limitsVersion: limits.version, ...summary }),
    mailed: () => {},
    stays: () => {},
    closed: () => {},
  };
}

function decisionFields(decision: AnsweredEvent['decision']) {
  if (decision === undefined || decision.outcome === 'undecided') return {};
  const { decisionId, terms, shadow } = decision;
  const reasons = decision.outcome === 'rejected' ? decision.violations : [];
  return { decisionId, ...terms, reasons, shadow };
}

const LIVE_EVERY_MS = 500;
const LINE_EVERY_MS = 2_000;
const COLUMNS = 80;

/** For people: a line per decision, the figures below them, then tables. Only a terminal is redrawn. */
export function terminalScreen(
  out: NodeJS.WriteStream,
  currency: string,
  env: Readonly<Record<string, string | undefined>>,
): Screen {
  const live = out.isTTY === true && env.TERM !== 'dumb';
  const colour = coloursWanted(out.isTTY === true, env);
  const { say, show } = liveBlock((text) => out.write(text));
  // The last column stays free: some terminals break the line after it.
  const columns = (): number =>
    out.isTTY === true ? (out.columns || COLUMNS) - 1 : Number.POSITIVE_INFINITY;
  const cut = (text: string): string => cutToColumns(text, columns());
  const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
    colour ? styleText(style, text, { validateStream: false }) : text;
  return {
    figuresEveryMs: live ? LIVE_EVERY_MS : LINE_EVERY_MS,
    loading: (done, total) => {
      if (done === undefined || total === undefined) return show([]);
      const loading = `month     ${total} days of made-up jobs for the console's pages …`;
      if (live) show([cut(`${loading} ${done} written`)]);
      else if (done === 0) say(loading);
    },
    started: (facts) => {
      for (const [name, value] of Object.entries(facts)) say(`${name.padEnd(9)} ${value}`);
      say(`\n${decisionHeader}`);
    },
    answered: (answered, count, total) =>
      say(
        decisionLine(answered, total === undefined ? String(count) : `${count}/${total}`, colour, columns()),
      ),
    ranOut: ({ text }) => say(paint(['bold', 'red'], cut(`▶ ${text}`))),
    figures: (figures) => {
      if (live) show(['', ...liveLines(figures, currency)].map((line) => paint('bold', cut(line))));
      else say(figureLine(figures, currency));
    },
    trouble: (text) => say(`! ${printable(text)}`),
    mailed: ({ subject, text }) => say(`\n✉ ${printable(subject)}\n${indented(text)}\n`),
    finished: (summary) => {
      show([]);
      say(`\n${renderSummary(summary, currency, columns())}`);
    },
    closed: () =>
      say('\nThe console has closed. npm start -- --console keeps it up after the jobs, until Ctrl-C.'),
    stays: (url) => say(`\nThe console stays at ${url} until Ctrl-C; time goes at its usual pace again.`),
  };
}

const indented = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${printable(line)}`))
    .join('\n');

/** Changing lines at the bottom of a terminal, below the lines that stay. */
export function liveBlock(write: (text: string) => unknown) {
  let lines: readonly string[] = [];
  /** Moves to the first changing line and erases to the end of the screen. */
  const erased = (): string => (lines.length === 0 ? '' : `\u001b[${lines.length}F\u001b[J`);
  const drawn = (): string => lines.map((line) => `${line}\n`).join('');
  return {
    say: (line: string): void => void write(`${erased()}${line}\n${drawn()}`),
    show(shown: readonly string[]): void {
      const before = erased();
      lines = shown;
      write(`${before}${drawn()}`);
    },
  };
}

const BUDGETS_SHOWN = 3;

/** The changing lines below the decisions. */
function liveLines(figures: Figures, currency: string): readonly string[] {
  const { decided, total, running, timeMs } = figures;
  const progress = total === undefined ? `${decided} decided` : `${decided} of ${total} decided`;
  return [
    `${progress}, ${running} ${running === 1 ? 'job runs' : 'jobs run'}, ${clockText(timeMs)} by the jobs' clock`,
    ...busiestBudgets(figures, currency),
  ];
}

/** The same on one line, for logs. */
export function figureLine(figures: Figures, currency: string): string {
  const seconds = `${Math.round(figures.elapsedMs / 1000)} s`;
  return [`~ ${seconds}`, ...busiestBudgets(figures, currency), `${figures.running} jobs run`].join(' · ');
}

/** `21 Nov 2026, 14:32`, in the machine's zone. */
const clockText = (timeMs: number): string =>
  new Date(timeMs).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

/** The budgets with the highest use, in words. */
function busiestBudgets({ limits }: Figures, currency: string): readonly string[] {
  return limits
    .flatMap(({ subject, unit, mode, spent, held, limitAmount }) => {
      if (unitRow(unit).inCurrency !== true || mode !== 'enforce' || limitAmount === 'unlimited') return [];
      const [spentText, heldText] = [bareAmountText(spent, unit), bareAmountText(held, unit)];
      const limitText = amountText(limitAmount, unit, currency);
      const text = `${subject} ${spentText} spent + ${heldText} held of ${limitText}`;
      return [{ text, share: limitAmount === 0 ? 1 : (spent + held) / limitAmount }];
    })
    .sort((a, b) => b.share - a.share)
    .slice(0, BUDGETS_SHOWN)
    .map(({ text }) => text);
}
