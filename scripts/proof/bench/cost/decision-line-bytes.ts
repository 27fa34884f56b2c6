import type { Decision } from '../../../../policies/decision.ts';
import type { AdmissionRequest } from '../../../../policies/request/request.ts';
import { createLogger, logEvents } from '../../../../relay/log.ts';
import { handClock } from '../../../local/clock/hand-clock.ts';

const LATENCY_MS = 23;

/** The line that the relay's own log writes about this answer, with its line break. */
export function decisionLineBytes(request: AdmissionRequest, decision: Decision): number {
  let line = '';
  const log = createLogger('info', {
    write: (text) => {
      line += text;
    },
  });
  const rejected = decision.outcome === 'rejected';
  const observe = logEvents(log, handClock());
  observe({
    type: 'answered',
    answer: rejected ? { outcome: 'rejected', reason: decision.text } : { outcome: 'admitted' },
    via: 'ledger',
    latencyMs: LATENCY_MS,
    heard: true,
    request,
    decision,
  });
  return Buffer.byteLength(line);
}
