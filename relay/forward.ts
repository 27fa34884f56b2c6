import { ADMISSIONS_PATH, UNMETERED_PATH, type UnmeteredResponse } from '../functions/admit/contract.ts';
import { type AdmitAnswer, type AdmitCallDeps, callAdmit, malformed } from './admit-call.ts';
import type { Breaker } from './breaker.ts';
import type { BatchJob } from './commit/batch-job.ts';
import type { SendBatch } from './commit/group-commit.ts';
import { SEND_MS_MIN } from './commit/take-batch.ts';
import type { Observe } from './events.ts';
import { parseUnmeteredResults, parseVerdicts } from './parse-verdicts.ts';
import { undecided, type Verdict } from './verdict.ts';

/**
 * A throttled or dropped call is worth one more try; two failures in a row are left to the fallback, which is kinder
 * than a third load on a service in trouble. No hedging for now: a second copy of a slow batch doubles the load just
 * when the service is slow, and the commonest slowness, a cold start, meets the copy too.
 */
const TRIES_MAX = 2;
/** Full jitter up to this before the second try: short beside a 2 s deadline, long beside a throttled burst. */
const RETRY_PAUSE_MS_MAX = 200;

export interface ForwarderDeps extends AdmitCallDeps {
  readonly breaker: Breaker;
  readonly random: () => number;
  readonly observe: Observe;
}

/** The way to the service that decides. */
export interface Forwarder {
  readonly send: SendBatch;
  /** Posts `UnmeteredAnswer`s, each already JSON; nothing if the service cannot be asked now. Never rejects. */
  readonly postUnmetered: (
    answers: readonly string[],
    timeoutMs: number,
  ) => Promise<UnmeteredResponse['results'] | undefined>;
}

export function createForwarder(deps: ForwarderDeps): Forwarder {
  const { clock, breaker, observe } = deps;

  async function send(
    jobs: readonly BatchJob[],
    remainingMs: number,
    batch?: string,
  ): Promise<readonly Verdict[]> {
    const all = (verdict: Verdict): readonly Verdict[] => jobs.map(() => verdict);
    const deadlineMs = clock.monotonicMs() + remainingMs;
    const requests = jobs.map((job) => job.json).join(',');
    const named = batch === undefined ? '' : `"batch":${JSON.stringify(batch)},`;
    for (let attempt = 1; ; attempt += 1) {
      const leftMs = Math.floor(deadlineMs - clock.monotonicMs());
      if (!breaker.allow()) return all(undecided('circuit_open'));
      const body = `{${named}"requests":[${requests}],"remainingMs":${leftMs}}`;
      const answer = await call(ADMISSIONS_PATH, body, leftMs, (parsed) =>
        parseVerdicts(parsed, jobs.length),
      );
      if (answer.kind === 'parsed') return answer.value;
      if (answer.kind === 'refused') return all(undecided('refused'));
      if (attempt === TRIES_MAX || answer.cause !== 'unreachable') return all(undecided(answer.cause));
      const pauseMs = deps.random() * RETRY_PAUSE_MS_MAX;
      if (deadlineMs - clock.monotonicMs() - pauseMs < SEND_MS_MIN) return all(undecided(answer.cause));
      await new Promise<void>((resume) => clock.after(pauseMs, resume));
    }
  }

  async function postUnmetered(
    answers: readonly string[],
    timeoutMs: number,
  ): Promise<UnmeteredResponse['results'] | undefined> {
    if (!breaker.allow()) return undefined;
    const body = `{"answers":[${answers.join(',')}]}`;
    const answer = await call(UNMETERED_PATH, body, timeoutMs, (parsed) =>
      parseUnmeteredResults(parsed, answers.length),
    );
    if (answer.kind === 'parsed') return answer.value;
    // A batch that the service will never take must not block those behind it.
    return answer.kind === 'refused' ? answers.map(() => ({ outcome: 'invalid' })) : undefined;
  }

  /** One call, reported to the breaker and to whoever watches. */
  async function call<T>(
    path: string,
    body: string,
    timeoutMs: number,
    parse: (body: unknown) => T | undefined,
  ): Promise<{ kind: 'parsed'; value: T } | Exclude<AdmitAnswer, { kind: 'answered' }>> {
    const answer = judge(await callAdmit(deps, path, body, timeoutMs), path, parse);
    // Refusing is an answer too: the service is there.
    if (answer.kind === 'unreachable') breaker.failed();
    else breaker.succeeded();
    if (answer.kind !== 'parsed') {
      const code = answer.kind === 'refused' ? 'admit_refused' : 'admit_unreachable';
      observe({ type: 'admit_failed', code, details: answer.error.message });
    }
    return answer;
  }

  return { send, postUnmetered };
}

function judge<T>(
  answer: AdmitAnswer,
  path: string,
  parse: (body: unknown) => T | undefined,
): { kind: 'parsed'; value: T } | Exclude<AdmitAnswer, { kind: 'answered' }> {
  if (answer.kind !== 'answered') return answer;
  const value = parse(answer.body);
  return value === undefined
    ? malformed(`${path} answered with what is not of its contract`)
    : { kind: 'parsed', value };
}
