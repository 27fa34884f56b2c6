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
        type: 'decision',
        jobId: request?.jobId,
        job: request?.jobName,
        project: request?.projectPath,
        outcome: answer.outcome,
        ...(answer.outcome === 'rejected' ? { reason: answer.reason } : {}),
        via,
        cause,
        latencyMs: Math.round(latencyMs * 10) / 10,
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
  const block = new LiveBlock(out);
  // The last column stays free: some terminals break the line after it.
  const columns = (): number =>
    out.isTTY === true ? (out.columns || COLUMNS) - 1 : Number.POSITIVE_INFINITY;
  const say = (line: string): void => block.say(line);
  const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
    colour ? styleText(style, text, { validateStream: false }) : text;
  return {
    figuresEveryMs: live ? LIVE_EVERY_MS : LINE_EVERY_MS,
    loading: (done, total) => {
      if (done === undefined || total === undefined) return block.show([]);
      const loading = `month     ${total} days of made-up jobs for the console's pages …`;
      if (live) block.show([cutToColumns(`${loading} ${done} written`, columns())]);
      else if (done === 0) say(loading);
    },
    started: (facts) => {
      for (const [name, value] of Object.entries(facts)) say(`${name.padEnd(9)} ${value}`);
      say('');
      say(decisionHeader(columns()));
    },
    answered: (answered, count, total) =>
      say(
        decisionLine(answered, total === undefined ? String(count) : `${count}/${total}`, colour, columns()),
      ),
    ranOut: ({ text }) => say(paint(['bold', 'red'], cutToColumns(`▶ ${text}`, columns()))),
    figures: (figures) => {
      if (live) {
        const lines = ['', ...liveLines(figures, currency)].map((line) => cutToColumns(line, columns()));
        block.show(lines.map((line) => paint('bold', line)));
      } else say(figureLine(figures, currency));
    },
    trouble: (text) => say(`! ${printable(text)}`),
    mailed: ({ subject, text }) => say(`\n✉ ${printable(subject)}\n${indented(text)}\n`),
    finished: (summary) => {
      block.show([]);
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
export class LiveBlock {
  readonly #out: { write(text: string): unknown };
  #lines: readonly string[] = [];

  constructor(out: { write(text: string): unknown }) {
    this.#out = out;
  }

  say(line: string): void {
    this.#out.write(`${this.#erased()}${line}\n${this.#drawn()}`);
  }

  show(lines: readonly string[]): void {
    const erased = this.#erased();
    this.#lines = lines;
    this.#out.write(`${erased}${this.#drawn()}`);
  }

  /** Moves to the first changing line and erases to the end of the screen. */
  #erased(): string {
    return this.#lines.length === 0 ? '' : `\u001b[${this.#lines.length}F\u001b[J`;
  }

  #drawn(): string {
    return this.#lines.map((line) => `${line}\n`).join('');
  }
}

const BUDGETS_SHOWN = 3;
const BAR_WIDTH = 20;

/** The changing lines below the decisions. */
export function liveLines(figures: Figures, currency: string): readonly string[] {
  const { decided, total, running, timeMs, limits } = figures;
  const budgets = busiestBudgets(limits, BUDGETS_SHOWN);
  const width = (text: (budget: GroupBudget) => string): number =>
    Math.max(0, ...budgets.map((budget) => text(budget).length));
  const cells: readonly ((budget: GroupBudget) => string)[] = [
    ({ subject }) => subject,
    ({ spent, unit }) => bareAmountText(spent, unit),
    ({ held, unit }) => bareAmountText(held, unit),
    ({ limitAmount, unit }) => amountText(limitAmount, unit, currency),
  ];
  const [subject = 0, spent = 0, held = 0, limit = 0] = cells.map(width);
  const progress = total === undefined ? `${decided} decided` : `${decided} of ${total} decided`;
  return [
    `${progress}, ${running} ${running === 1 ? 'job runs' : 'jobs run'}, ${clockText(timeMs)} by the jobs' clock`,
    ...budgets.map((budget) => {
      const [a = '', b = '', c = '', d = ''] = cells.map((cell) => cell(budget));
      return `${a.padEnd(subject)}  ${b.padStart(spent)} spent + ${c.padStart(held)} held of ${d.padStart(limit)}  ${splitBar(budget)}`;
    }),
  ];
}

/** The same on one line, for logs. */
export function figureLine(figures: Figures, currency: string): string {
  const budgets = busiestBudgets(figures.limits, BUDGETS_SHOWN).map(
    ({ subject, spent, held, limitAmount, unit }) =>
      `${subject} ${bareAmountText(spent, unit)} spent + ${bareAmountText(held, unit)} held of ${amountText(limitAmount, unit, currency)}`,
  );
  const seconds = `${Math.round(figures.elapsedMs / 1000)} s`;
  return [`~ ${seconds}`, ...budgets, `${figures.running} jobs run`].join(' · ');
}

/** Spent, then held, then free. */
function splitBar({ spent, held, limitAmount }: GroupBudget): string {
  const cells = (amount: number): number =>
    limitAmount === 0
      ? BAR_WIDTH
      : Math.min(BAR_WIDTH, Math.max(0, Math.round((amount / limitAmount) * BAR_WIDTH)));
  const full = cells(spent);
  const upTo = Math.max(full, cells(spent + held));
  return '█'.repeat(full) + '▒'.repeat(upTo - full) + '░'.repeat(BAR_WIDTH - upTo);
}

/** `21 Nov 14:32`, in the machine's zone. */
const clockText = (timeMs: number): string =>
  new Date(timeMs).toLocaleString('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  });

interface GroupBudget extends LimitSummary {
  readonly limitAmount: number;
}

/** Returns at most `count` budgets with the highest use, in the order of the document. */
function busiestBudgets(limits: readonly LimitSummary[], count: number): readonly GroupBudget[] {
  const budgets = limits.filter(
    (limit): limit is GroupBudget =>
      unitRow(limit.unit).inCurrency === true &&
      limit.mode === 'enforce' &&
      typeof limit.limitAmount === 'number',
  );
  const busiest = new Set(budgets.toSorted((a, b) => shareOf(b) - shareOf(a)).slice(0, count));
  return budgets.filter((budget) => busiest.has(budget));
}

const shareOf = ({ spent, held, limitAmount }: GroupBudget): number =>
  limitAmount === 0 ? 1 : (spent + held) / limitAmount;
