import { type DestinationStream, type Logger, pino } from 'pino';
import { oneLine } from '../../policies/text/plain-text.ts';
import type { EventOf, RelayEvent, RelayObserver } from '../events.ts';
import type { RelayClock } from '../exchange.ts';
import type { SchemaState } from '../wire/schema-proof.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A destination may keep lines back, but none from `warn` (40) upwards: they explain an end of the process. */
export const createLogger = (level: LogLevel, destination: DestinationStream & { flush?(): void }): Logger =>
  pino(
    {
      ...{ level, base: null, messageKey: 'message', timestamp: pino.stdTimeFunctions.isoTime },
      formatters: { level: (label) => ({ level: label }) },
      hooks: {
        logMethod(fields, write, number) {
          write.apply(this, fields);
          if (number >= 40) destination.flush?.();
        },
      },
    },
    destination,
  );

const PATH_LENGTH_MAX = 255;
const REFUSAL_LENGTH_MAX = 200;
/** A job has some two dozen counters at most. Its page names them all. */
const NAMED_MAX = 10;

const SCHEMA_MESSAGE: Readonly<Record<SchemaState, string>> = {
  unproven: 'nothing is rejected before the schema is proven by requests of several projects',
  proven: 'the schema is proven',
  suspect:
    'NOTHING IS REJECTED: recent requests contradict the schema, or the router refused an answer; does GitLab speak another version?',
  placeholder:
    'NOTHING IS EVER REJECTED: the descriptors are the placeholder, whose field numbers are guesses; give GitLab’s own',
};

/** By event type. A type without an entry shows in metrics only: a line for each would bury the decisions. */
type Writers = { readonly [Type in RelayEvent['type']]?: (event: EventOf<Type>) => void };

/** Writes events with named fields only: never a variable, a token, a rejection's text or undecoded bytes. */
export function logEvents(log: Logger, clock: RelayClock): RelayObserver {
  const throttle = () => logThrottle(() => clock.monotonicMs());
  // Requests bring any number of kinds. Throttled apart, they cannot silence other problems.
  const [once, onceOfRequests, onceOfFields] = [throttle(), throttle(), throttle()];
  const warnOnce = (kind: string, message: string, fields: object, of = once): void => {
    const suppressed = of(kind);
    if (suppressed !== undefined) log.warn(suppressed === 0 ? fields : { ...fields, suppressed }, message);
  };

  const writers: Writers = {
    answered: (event) => logAnswer(log, event),
    batch: ({ roots, jobs, waiters }) => log.debug({ roots, jobs, waiters }, 'batch'),
    registered: () => log.debug('registered'),
    registration_failed: ({ code, details, remedy }) =>
      log.warn({ code, details, remedy }, 'registration failed; admission goes on without it'),
    backing_off: ({ code, details, remedy, attempt, delayMs }) =>
      log.warn(
        { code, details, remedy, attempt, delayMs: Math.round(delayMs) },
        'waiting before streams are opened again',
      ),
    connected: ({ downMs }) => log.info({ downMs: Math.round(downMs) }, 'streams wait at the router'),
    stream_ended: ({ code, details, remedy, asked, failed }) => {
      if (failed === true) {
        const fields = { code, details, remedy, asked };
        warnOnce(`stream ${code} ${details}`, 'a stream failed', fields, onceOfRequests);
      } else if (code !== 0) log.debug({ code, details, asked }, 'stream ended');
    },
    unknown_fields: ({ fields }) => {
      for (const field of fields)
        warnOnce(field, 'the schema lacks a field that came', { field }, onceOfFields);
    },
    unreadable: ({ problem, sizeBytes }) =>
      warnOnce(problem, 'an admission request could not be read', { problem, sizeBytes }, onceOfRequests),
    implausible: ({ jobId, why }) =>
      warnOnce(`implausible ${why}`, 'an admission request cannot be true as it was read', { jobId, why }),
    suspicious: ({ jobId, fields }) => log.warn({ jobId, fields }, 'variables contradict GitLab'),
    schema: ({ state, source, hash: schemaHash, placeholder }) => {
      const isLoud = state === 'suspect' || state === 'placeholder';
      log[isLoud ? 'error' : 'info'](
        { schemaState: state, schema: source, schemaHash, placeholder },
        SCHEMA_MESSAGE[state],
      );
    },
    rejection_withheld: ({ state, code }) =>
      warnOnce(`withheld ${state}`, `rejections withheld: the schema is ${state}`, {
        schemaState: state,
        code,
      }),
    answer_refused: ({ outcome, refusal }) => {
      const fields = { outcome, refusal: oneLine(refusal).slice(0, REFUSAL_LENGTH_MAX) };
      warnOnce(`refused ${outcome}`, 'THE ROUTER DOES NOT ACCEPT OUR ANSWERS', fields);
    },
    fields: ({ missing }) => {
      if (missing.length > 0) log.warn({ missing }, 'fields that rules need do not come from GitLab');
    },
    own_fault: ({ place, error, frames }) => {
      const suppressed = once(`fault ${place} ${error} ${frames[0]}`);
      if (suppressed !== undefined)
        log.error({ place, error, at: frames, suppressed }, 'a part of the relay failed');
    },
    admit_failed: ({ code, details }) =>
      warnOnce(`admit ${code}`, 'the deciding service failed', { code, details }),
    directory: ({ problem, ageMs, groups }) => {
      const ageSeconds = Math.round(ageMs / 1_000);
      if (problem !== undefined)
        warnOnce('directory', 'the directory was not received', { problem, ageSeconds, groups });
    },
    rules: ({ version: policy, problem, behindMs }) => {
      if (problem === undefined) log.info({ policy }, 'policy in use');
      else warnOnce('rules', 'the policy in force was not received', { policy, problem, behindMs });
    },
    breaker: ({ state }) => log.warn({ state }, 'circuit breaker'),
    not_written: ({ where, error }) =>
      warnOnce(`not written ${where}`, `the ${where} was not written into the table`, { error }),
    unmetered: ({ queued, dropped, lost }) => {
      if (lost === undefined) return;
      // A full queue loses one decision for each that comes. Other losses are rare, so each has a line with its ids.
      const suppressed = lost.why === 'queue_full' ? once('unmetered lost') : 0;
      if (suppressed !== undefined)
        log.error({ ...lost, count: dropped, queued, suppressed }, 'fallback answers lost');
    },
  };
  return (event) => (writers[event.type] as ((event: RelayEvent) => void) | undefined)?.(event);
}

/**
 * The decision log: one complete line per answer. Readers count from it what has too many values for a metric, e.g. rejections by
 * rule or money by group. The admit function logs the same `batch`.
 */
function logAnswer(log: Logger, event: EventOf<'answered'>): void {
  const { request, decision, answer, via, cause, latencyMs, waitedMs, heard, batch } = event;
  const decided = decision === undefined || decision.outcome === 'undecided' ? undefined : decision;
  const terms = decided?.terms;
  const rejection = decided?.outcome === 'rejected' ? decided : undefined;
  const violations = rejection?.violations.slice(0, NAMED_MAX);
  const line = {
    decisionId: decided?.decisionId,
    jobId: request?.jobId,
    projectId: request?.projectId,
    projectPath: request?.projectPath?.slice(0, PATH_LENGTH_MAX),
    group: terms?.group.slice(0, PATH_LENGTH_MAX),
    root: (terms?.group ?? request?.projectPath)?.split('/', 1)[0]?.slice(0, PATH_LENGTH_MAX),
    outcome: answer.outcome,
    codes: violations?.map(({ reason }) => reason.code),
    rules: violations?.map(({ rule }) => rule),
    // Without `repeat` users are notified for the first time.
    notice: answer.outcome === 'rejected' ? (rejection?.notice ?? 'first') : undefined,
    shadow: decided?.shadow.length ? decided.shadow.slice(0, NAMED_MAX).map(({ rule }) => rule) : undefined,
    costMicros: terms?.costMicros,
    runnerClass: terms?.runnerClass,
    unclassed: terms?.unclassed,
    via,
    cause,
    batch,
    latencyMs: Math.round(latencyMs),
    waitedMs: waitedMs === undefined ? undefined : Math.round(waitedMs),
    heard: heard ? undefined : false,
  };
  if (via === 'fallback' || !heard) log.warn(line, 'decision');
  else log.info(line, 'decision');
}

const ONCE_MS = 60_000;
const KINDS_MAX = 100;
const OTHERS = 'others';

/** Returns how many lines of this kind were left out since the last one, or undefined to leave out this one too. */
function logThrottle(monotonicMs: () => number): (kind: string) => number | undefined {
  const kinds = new Map<string, { quietUntilMs: number; suppressed: number }>();
  return function due(kind) {
    const nowMs = monotonicMs();
    const known = kinds.get(kind);
    if (known !== undefined && nowMs < known.quietUntilMs) {
      known.suppressed += 1;
      return undefined;
    }
    if (known === undefined && kind !== OTHERS && kinds.size >= KINDS_MAX) {
      for (const [each, { quietUntilMs }] of kinds)
        if (quietUntilMs <= nowMs && each !== OTHERS) kinds.delete(each);
      if (kinds.size >= KINDS_MAX) return due(OTHERS);
    }
    kinds.set(kind, { quietUntilMs: nowMs + ONCE_MS, suppressed: 0 });
    return known?.suppressed ?? 0;
  };
}
