import type { FallbackCause } from './verdict.ts';

/** What an operator's `fallback: reject`, or the brake on unreadable questions, tells the user. Never the user's fault. */
export function controllerErrorText(cause: FallbackCause, decisionId: string): string {
  return [
    `CONTROLLER_ERROR: Tollgate could not decide about this job (${EXPLAINED[cause]}).`,
    'This is not the fault of the job. Retry it later; if it fails again, tell whoever runs Tollgate.',
    `Decision ${decisionId}`,
  ].join('\n');
}

/** An earlier answer used again. */
export const repeatedText = (text: string, ageMs: number): string =>
  `${text}\n(Decided ${Math.max(1, Math.round(ageMs / 1000))} s ago for an earlier job: the ledger cannot be asked right now.)`;

const EXPLAINED: Readonly<Record<FallbackCause, string>> = {
  invalid: 'its admission request was not understood',
  deadline: 'the decision took too long',
  contended: 'too many jobs asked at the same moment',
  unavailable: 'the ledger did not answer',
  error: 'a part of it failed',
  circuit_open: 'the deciding service is out of reach',
  unreachable: 'the deciding service is out of reach',
  refused: 'the deciding service refused the request',
  malformed: 'the deciding service gave no proper answer',
  queue_full: 'too many jobs were waiting',
  unreadable: 'its admission request could not be read',
  oversized: 'its admission request is too large',
  stopping: 'it is being restarted',
  schema_unproven: 'the schema of the router is not certain',
};
