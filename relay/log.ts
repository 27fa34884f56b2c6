import { type DestinationStream, type Logger, pino } from 'pino';
import type { Observe, RelayEvent } from './events.ts';
import type { RelayClock } from './exchange.ts';
import { LogOnce } from './log-once.ts';
import { noticeOf } from './notice.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** JSON lines on stdout, where containers collect it. */
export function createLogger(level: LogLevel, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    messageKey: 'message',
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** Writes what the relay says, named fields only: never a variable, a token, a rejection's text or undecoded bytes. */
export function logEvents(log: Logger, clock: RelayClock): Observe {
  const once = new LogOnce(() => clock.monotonicMs());
  const warnOnce = (kind: string, message: string, fields: object): void => {
    const suppressed = once.due(kind);
    if (suppressed !== undefined) log.warn(suppressed === 0 ? fields : { ...fields, suppressed }, message);
  };
  return (event) => {
    switch (event.type) {
      case 'answered':
        logAnswer(log, event);
        return;
      case 'backing_off': {
        const { code, attempt, delayMs, remedy } = event;
        log.warn(
          { code, attempt, delayMs: Math.round(delayMs), remedy },
          'waiting before streams are opened again',
        );
        return;
      }
      case 'connected':
        log.info({ downMs: Math.round(event.downMs) }, 'streams wait at the router');
        return;
      case 'registration_failed':
        log.warn(
          { code: event.code, details: event.details },
          'registration failed; admission goes on without it',
        );
        return;
      case 'unknown_fields': {
        const fields = event.fields.join(' ');
        warnOnce(`unknown ${fields}`, 'the schema lacks fields that came', { fields });
        return;
      }
      case 'unreadable': {
        const { problem, sizeBytes } = event;
        warnOnce(`unreadable ${problem}`, 'a question could not be read', { problem, sizeBytes });
        return;
      }
      case 'suspicious':
        log.warn({ jobId: event.jobId, fields: event.fields }, 'variables contradict GitLab');
        return;
      case 'admit_failed':
        warnOnce(`admit ${event.code}`, 'the deciding service failed', {
          code: event.code,
          details: event.details,
        });
        return;
      case 'breaker':
        log.warn({ state: event.state }, 'circuit breaker');
        return;
      case 'unmetered':
        if (event.dropped > 0) {
          warnOnce('unmetered dropped', 'fallback answers lost: the queue is full', { queued: event.queued });
        }
        return;
      case 'stream_ended':
        if (event.code !== 0)
          log.debug({ code: event.code, details: event.details, asked: event.asked }, 'stream ended');
        return;
      case 'batch':
        log.debug({ root: event.root, jobs: event.jobs, waiters: event.waiters }, 'batch');
        return;
      case 'registered':
        log.debug('registered');
        return;
      case 'streams':
      case 'question':
        // Metrics: a line for each would bury the decisions.
        return;
    }
  };
}

/** The decision log: one line per answer, complete on its own. */
function logAnswer(log: Logger, event: Extract<RelayEvent, { type: 'answered' }>): void {
  const { request, decision, answer, via, cause, latencyMs, heard } = event;
  const decided = decision === undefined || decision.outcome === 'undecided' ? undefined : decision;
  const terms = decided?.terms;
  const line = {
    decisionId: decided?.decisionId,
    jobId: request?.jobId,
    projectId: request?.projectId,
    projectPath: request?.projectPath,
    group: terms?.group,
    outcome: answer.outcome,
    codes: decided?.outcome === 'rejected' ? decided.violations.map(({ reason }) => reason.code) : undefined,
    rules: decided?.outcome === 'rejected' ? decided.violations.map(({ rule }) => rule) : undefined,
    notice: noticeOf(event),
    shadow: decided?.shadow.length ? decided.shadow.map(({ rule }) => rule) : undefined,
    costMicros: terms?.costMicros,
    runnerClass: terms?.runnerClass,
    via,
    cause,
    latencyMs: Math.round(latencyMs),
    heard: heard ? undefined : false,
  };
  if (via === 'fallback' || !heard) log.warn(line, 'decision');
  else log.info(line, 'decision');
}
