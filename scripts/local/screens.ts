import type { LimitSet } from '../../policies/limits/limits.ts';
import { decisionHeader, decisionLine } from './decision-line.ts';
import type { Screen } from './run.ts';
import { renderSummary } from './summary-table.ts';

/** For people: lines as decisions happen, then tables. */
export function terminalScreen(out: NodeJS.WriteStream, currency: string): Screen {
  const say = (line: string): void => void out.write(`${line}\n`);
  const colour = out.isTTY === true && !process.env.NO_COLOR;
  return {
    started: (facts) => {
      for (const [name, value] of Object.entries(facts)) say(`${name.padEnd(9)} ${value}`);
      say('');
      say(decisionHeader());
    },
    answered: (answered, count, total) =>
      say(decisionLine(answered, total === undefined ? String(count) : `${count}/${total}`, colour)),
    trouble: (text) => say(`! ${text}`),
    finished: (summary) => say(`\n${renderSummary(summary, currency)}`),
  };
}

/** For programs: one JSON object per decision, then the summary. Troubles go to stderr. */
export function jsonScreen(out: NodeJS.WriteStream, limits: LimitSet): Screen {
  const say = (value: unknown): void => void out.write(`${JSON.stringify(value)}\n`);
  return {
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
    trouble: (text) => void process.stderr.write(`${text}\n`),
    finished: (summary) => say({ type: 'summary', limitsVersion: limits.version, ...summary }),
  };
}

function decisionFields(decision: Parameters<Screen['answered']>[0]['decision']) {
  if (decision === undefined || decision.outcome === 'undecided') return {};
  const { decisionId, terms, shadow } = decision;
  const reasons = decision.outcome === 'rejected' ? decision.violations : [];
  return { decisionId, ...terms, reasons, shadow };
}
