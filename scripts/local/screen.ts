import type { Message } from '../../functions/core/notify/message.ts';
import type { LimitSet } from '../../policies/limits/limits.ts';
import type { AnsweredEvent, ExhaustedLimit } from './decision-line.ts';
import type { LimitSummary, Summary } from './summary.ts';

/** The run at one moment. */
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

/** Shows a run, to people or to programs. */
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

/** For programs: one JSON object per decision, exhausted budget and change of figures, then the summary. Troubles go to stderr. */
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
