import type { LimitSet } from '../../policies/limits/limits.ts';
import type { AnsweredEvent } from './decision-line.ts';
import type { Screen } from './screen.ts';

const FIGURES_EVERY_MS = 1_000;

/** For programs: one JSON object per decision, budget that ran out and look at the figures, then the summary. Troubles go to stderr. */
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
