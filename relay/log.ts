import { type DestinationStream, type Logger, pino } from 'pino';
import { oneLine } from '../policies/text/plain-text.ts';
import { noticeOf, type RelayEvent, type RelayObserver } from './events.ts';
import type { RelayClock } from './exchange.ts';
import type { SchemaState } from './wire/schema-proof.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Where containers collect lines. One for log and metrics, or one line could be torn by another. */
export const standardOut = (): DestinationStream => pino.destination(1);

/** Longer than GitLab's own paths are in practice; a line has room for everything else. */
const PATH_LENGTH_MAX = 255;
/** A router says in a sentence what it does not take. */
const REFUSAL_LENGTH_MAX = 200;
/** A job has some two dozen counters at most, and its page names them all; a log's reader wants the first ones. */
const NAMED_MAX = 10;

/** The ledger will not hear of these answers; what ran turns up as bypass when it ends. */
const LOST = 'fallback answers lost';

/** They go on waiting in memory. */
const NOT_WRITTEN = {
  journal: 'the journal was not written',
  rooms: 'what is known to be left of limits was not written into the table',
} as const;

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
export function logEvents(log: Logger, clock: RelayClock): RelayObserver {
  // What a question holds has kinds without end; kept apart, it takes no other trouble's place.
  const [once, onceOfProblems, onceOfFields] = Array.from(
    { length: 3 },
    () => new LogThrottle(() => clock.monotonicMs()),
  ) as [LogThrottle, LogThrottle, LogThrottle];
  const warnOnce = (kind: string, message: string, fields: object, of = once): void => {
    const suppressed = of.due(kind);
    if (suppressed !== undefined) log.warn(suppressed === 0 ? fields : { ...fields, suppressed }, message);
  };
  const logStreamEnd = ({ code, details, remedy, asked, failed }: StreamEnded): void => {
    if (failed === true) {
      warnOnce(
        `stream ${code} ${details}`,
        'a stream failed',
        { code, details, remedy, asked },
        onceOfProblems,
      );
    } else if (code !== 0) log.debug({ code, details, asked }, 'stream ended');
  };
  return (event) => {
    switch (event.type) {
      case 'answered':
        logAnswer(log, event);
        return;
      case 'backing_off': {
        const { code, details, remedy, attempt, delayMs } = event;
        log.warn(
          { code, details, remedy, attempt, delayMs: Math.round(delayMs) },
          'waiting before streams are opened again',
        );
        return;
      }
      case 'connected':
        log.info({ downMs: Math.round(event.downMs) }, 'streams wait at the router');
        return;
      case 'registration_failed':
        log.warn(
          { code: event.code, details: event.details, remedy: event.remedy },
          'registration failed; admission goes on without it',
        );
        return;
      case 'unknown_fields': {
        // Each field is a kind of its own: neither their order nor their company makes new ones.
        const due = event.fields
          .toSorted()
          .map((field) => ({ field, suppressed: onceOfFields.due(field) }))
          .filter(({ suppressed }) => suppressed !== undefined);
        if (due.length === 0) return;
        const suppressed = Math.max(...due.map((each) => each.suppressed ?? 0));
        const fields = due.map(({ field }) => field).join(' ');
        log.warn({ fields, ...(suppressed > 0 && { suppressed }) }, 'the schema lacks fields that came');
        return;
      }
      case 'unreadable': {
        const { problem, sizeBytes } = event;
        warnOnce(problem, 'a question could not be read', { problem, sizeBytes }, onceOfProblems);
        return;
      }
      case 'implausible': {
        const { jobId, why } = event;
        warnOnce(`implausible ${why}`, 'a question cannot be true as it was read', { jobId, why });
        return;
      }
      case 'schema':
        logSchema(log, event);
        return;
      case 'rejection_withheld': {
        const { standing, code } = event;
        warnOnce(`withheld ${standing}`, `rejections withheld: the schema is ${standing}`, {
          standing,
          code,
        });
        return;
      }
      case 'answer_refused': {
        const { outcome, refusal } = event;
        const fields = { outcome, refusal: oneLine(refusal).slice(0, REFUSAL_LENGTH_MAX) };
        warnOnce(`refused ${outcome}`, 'THE ROUTER DOES NOT ACCEPT OUR ANSWERS', fields);
        return;
      }
      case 'fields':
        if (event.missing.length > 0)
          log.warn({ missing: event.missing }, 'fields that rules need do not come from GitLab');
        return;
      case 'own_fault': {
        const { place, error, frames } = event;
        const suppressed = once.due(`fault ${place} ${error} ${frames[0]}`);
        if (suppressed !== undefined)
          log.error({ place, error, at: frames, suppressed }, 'a part of the relay failed');
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
      case 'directory':
        if (event.problem !== undefined) {
          const { problem, ageMs, groups } = event;
          warnOnce('directory', 'the directory was not received', {
            problem,
            ageSeconds: Math.round(ageMs / 1_000),
            groups,
          });
        }
        return;
      case 'breaker':
        log.warn({ state: event.state }, 'circuit breaker');
        return;
      case 'not_written':
        warnOnce(`not written ${event.where}`, NOT_WRITTEN[event.where], { error: event.error });
        return;
      case 'unmetered':
        if (event.lost !== undefined) {
          const { queued, dropped, lost } = event;
          // A full queue loses one for each that comes; the others are one line each, with all the ids there is room for.
          const suppressed = lost.why === 'queue_full' ? once.due('unmetered lost') : 0;
          if (suppressed !== undefined)
            log.error({ ...lost, count: dropped, queued, ...(suppressed > 0 && { suppressed }) }, LOST);
        }
        return;
      case 'stream_ended':
        logStreamEnd(event);
        return;
      case 'batch':
        log.debug({ lane: event.lane, jobs: event.jobs, waiters: event.waiters }, 'batch');
        return;
      case 'registered':
        log.debug('registered');
        return;
      case 'streams':
      case 'question':
      case 'waiting':
        // Metrics: a line for each would bury the decisions.
        return;
    }
  };
}

type StreamEnded = Extract<RelayEvent, { type: 'stream_ended' }>;

const SCHEMA_MESSAGE: Readonly<Record<SchemaState, string>> = {
  unproven: 'nothing is rejected before the schema is proven by questions of several projects',
  proven: 'the schema is proven',
  suspect:
    'NOTHING IS REJECTED: recent questions contradict the schema, or the router refused an answer; does GitLab speak another version?',
  placeholder:
    'NOTHING IS EVER REJECTED: the descriptors are the placeholder, whose field numbers are guesses; give GitLab’s own',
};

function logSchema(log: Logger, event: Extract<RelayEvent, { type: 'schema' }>): void {
  const { standing, source, hash, placeholder } = event;
  const loud = standing === 'suspect' || standing === 'placeholder';
  log[loud ? 'error' : 'info'](
    { standing, schema: source, schemaHash: hash, placeholder },
    SCHEMA_MESSAGE[standing],
  );
}

/**
 * The decision log: one line per answer, complete on its own. What has too many values for a metric is counted from it, e.g.
 * rejections by rule or money by group. `batch` is also in what the admit function says about the same jobs.
 */
function logAnswer(log: Logger, event: Extract<RelayEvent, { type: 'answered' }>): void {
  const { request, decision, answer, via, cause, latencyMs, waitedMs, heard, batch } = event;
  const decided = decision === undefined || decision.outcome === 'undecided' ? undefined : decision;
  const terms = decided?.terms;
  const violations = decided?.outcome === 'rejected' ? decided.violations.slice(0, NAMED_MAX) : undefined;
  const line = {
    decisionId: decided?.decisionId,
    jobId: request?.jobId,
    projectId: request?.projectId,
    projectPath: request?.projectPath?.slice(0, PATH_LENGTH_MAX),
    group: terms?.group.slice(0, PATH_LENGTH_MAX),
    root: rootPathOf(terms?.group ?? request?.projectPath),
    outcome: answer.outcome,
    codes: violations?.map(({ reason }) => reason.code),
    rules: violations?.map(({ rule }) => rule),
    notice: noticeOf(event),
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

const rootPathOf = (path: string | undefined): string | undefined =>
  path?.split('/', 1)[0]?.slice(0, PATH_LENGTH_MAX);

/** How long one line stands for all that are like it. */
const ONCE_MS = 60_000;
/** Different problems within a minute; beyond, they share one line. */
const KINDS_MAX = 100;
/** The line they share: it has its place whatever the others do, else a flood would silence it. */
const OTHERS = 'others';

/** Says of repeated trouble whether to write it now, and how often it was left out since the last line. */
class LogThrottle {
  readonly #monotonicMs: () => number;
  readonly #kinds = new Map<string, { quietUntilMs: number; suppressed: number }>();

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** The number of lines left out before this one; nothing if this one is to be left out too. */
  due(kind: string): number | undefined {
    const nowMs = this.#monotonicMs();
    const known = this.#kinds.get(kind);
    if (known !== undefined && nowMs < known.quietUntilMs) {
      known.suppressed += 1;
      return undefined;
    }
    if (known === undefined && kind !== OTHERS) {
      if (this.#kinds.size >= KINDS_MAX) this.#forgetQuiet(nowMs);
      if (this.#kinds.size >= KINDS_MAX) return this.due(OTHERS);
    }
    this.#kinds.set(kind, { quietUntilMs: nowMs + ONCE_MS, suppressed: 0 });
    return known?.suppressed ?? 0;
  }

  #forgetQuiet(nowMs: number): void {
    for (const [kind, { quietUntilMs }] of this.#kinds)
      if (quietUntilMs <= nowMs && kind !== OTHERS) this.#kinds.delete(kind);
  }
}
