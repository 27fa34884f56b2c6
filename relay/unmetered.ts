import type { UnmeteredAnswer } from '../functions/core/contract/index.ts';
import { isRecord } from '../policies/document/reading.ts';
import { requestRootOf } from './commit/batch-job.ts';
import type { RelayObserver, UnmeteredLoss } from './events.ts';
import type { RelayClock } from './exchange.ts';
import type { Forwarder } from './forward.ts';
import type { Spool } from './spool.ts';
import { UnmeteredPosts } from './unmetered-posts.ts';
import { UnmeteredQueue, type UntoldAnswer } from './unmetered-queue.ts';

/** An hour of three fallbacks a second, some 20 MB. What is lost beyond turns up as bypass at settlement. */
const UNMETERED_MAX = 10_000;
const UNMETERED_BYTES_MAX = 64 * 1024 * 1024;
/** The first post waits this long, so that one outage makes few batches. */
const GATHER_MS = 1_000;
/** Side by side while the relay stops, because time is short; one after the other otherwise, because nobody waits. */
const POSTS_AT_ONCE = { open: 1, leaving: 4, closed: 0 } as const;
/** Job ids in one event: enough to find them, few enough for a line. */
const LOST_NAMED_MAX = 100;

interface UnmeteredDeps {
  readonly post: Forwarder['postUnmetered'];
  readonly clock: RelayClock;
  readonly random: () => number;
  readonly observe: RelayObserver;
  /** Keeps them on disk as well. @default memory alone */
  readonly spool?: Pick<Spool, 'takeLeft' | 'keep' | 'done'> | undefined;
  /** @default UNMETERED_MAX */
  readonly capacity?: number;
}

/** Answers given without the ledger, kept until it has taken them. What is lost all the same is counted and named. */
export interface UnmeteredAnswers {
  add(answer: UnmeteredAnswer): void;
  /** Takes over what an earlier relay left on disk. */
  restore(): void;
  /** The relay begins to stop: from now on everything is told at once, whatever the breaker says. */
  leave(): void;
  /** Waits until all is told, at most `withinMs`; the rest is lost. */
  flush(withinMs: number): Promise<void>;
  /** Not told yet. */
  readonly queued: number;
  /** Whether nothing has waited since then (monotonic). */
  isToldSince(atMs: number): boolean;
}

export function createUnmetered(deps: UnmeteredDeps): UnmeteredAnswers {
  const { clock } = deps;
  let waitedAtMs = Number.NEGATIVE_INFINITY;
  /** Everything that changes how many wait is told, so what waited until now is known. */
  const observe: RelayObserver = (event) => {
    waitedAtMs = clock.monotonicMs();
    deps.observe(event);
  };
  let state: keyof typeof POSTS_AT_ONCE = 'open';
  let underWay = 0;
  let planned: { readonly atMs: number; readonly cancel: () => void } | undefined;
  let whenIdle = (): void => {};
  const queue = new UnmeteredQueue({
    answersMax: deps.capacity ?? UNMETERED_MAX,
    bytesMax: UNMETERED_BYTES_MAX,
  });
  const posts = new UnmeteredPosts({ ...deps, queue, state: () => state, told: tell, lost });

  function add(answer: UnmeteredAnswer): void {
    const untold = untoldOf(answer, JSON.stringify(answer));
    if (state === 'closed') {
      posts.lose([untold], 'stopping');
      return;
    }
    deps.spool?.keep(untold);
    const shed = queue.push(untold);
    if (shed.length === 0) tell([], false);
    posts.lose(shed, 'queue_full');
    plan(state === 'leaving' ? 0 : GATHER_MS);
  }

  const untoldOf = ({ request }: UnmeteredAnswer, json: string): UntoldAnswer => ({
    jobId: request.jobId,
    root: requestRootOf(request),
    json,
    bytes: Buffer.byteLength(json),
    refusals: 0,
    takenBefore: posts.takenTotal,
  });

  function restore(): void {
    const shed: UntoldAnswer[] = [];
    let restored = 0;
    for (const json of deps.spool?.takeLeft() ?? []) {
      const answer = answerIn(json);
      if (answer === undefined) continue;
      restored += 1;
      shed.push(...queue.push(untoldOf(answer, json)));
    }
    if (restored === 0) return;
    observe({ type: 'unmetered', queued: queued() + shed.length, posted: 0, dropped: 0, restored });
    posts.lose(shed, 'queue_full');
    plan(GATHER_MS);
  }

  /** The soonest plan counts. */
  function plan(delayMs: number): void {
    if (underWay >= POSTS_AT_ONCE[state]) return;
    const nowMs = clock.monotonicMs();
    const atMs = Math.max(nowMs + delayMs, posts.quietUntilMs);
    if (planned !== undefined && planned.atMs <= atMs) return;
    planned?.cancel();
    const cancel = clock.after(Math.max(0, atMs - nowMs), () => {
      planned = undefined;
      while (underWay < POSTS_AT_ONCE[state] && start());
    });
    planned = { atMs, cancel };
  }

  /** Whether anything was due. */
  function start(): boolean {
    const batch = queue.take(clock.monotonicMs(), posts.batchMax);
    if (batch.length === 0) return false;
    underWay += 1;
    void tellAll(batch).finally(() => {
      underWay -= 1;
      const { dueMs } = queue;
      if (dueMs !== undefined) plan(dueMs - clock.monotonicMs());
      else if (underWay === 0) whenIdle();
    });
    return true;
  }

  /** Batch after batch, until nothing is due or everything is to wait. */
  async function tellAll(first: readonly UntoldAnswer[]): Promise<void> {
    for (let batch = first; batch.length > 0; ) {
      if (!(await posts.post(batch))) return;
      batch = queue.take(clock.monotonicMs(), posts.batchMax);
    }
  }

  function leave(): void {
    if (state !== 'open') return;
    state = 'leaving';
    posts.quietUntilMs = Number.NEGATIVE_INFINITY;
    queue.hurry();
    plan(0);
  }

  async function flush(withinMs: number): Promise<void> {
    leave();
    if (queue.size > 0 || underWay > 0) {
      let cancelWait = (): void => {};
      await new Promise<void>((resolve) => {
        cancelWait = clock.after(withinMs, resolve);
        whenIdle = resolve;
      });
      cancelWait();
    }
    state = 'closed';
    planned?.cancel();
    planned = undefined;
    // Nobody will hear whether those on their way came.
    const rest = [...posts.onTheWay, ...queue.drain()];
    posts.onTheWay.clear();
    posts.lose(rest, 'stopping');
  }

  function lost(answers: readonly UntoldAnswer[], why: UnmeteredLoss): void {
    // Declared lost, because a task's disk ends with it; where the next relay finds the same disk, it takes them over.
    if (why !== 'stopping') deps.spool?.done(answers);
    const jobIds = answers.slice(0, LOST_NAMED_MAX).map(({ jobId }) => jobId);
    observe({
      type: 'unmetered',
      queued: queued(),
      posted: 0,
      dropped: answers.length,
      lost: { why, jobIds },
    });
  }

  function tell(answers: readonly UntoldAnswer[], journaled: boolean): void {
    deps.spool?.done(answers);
    const posted = journaled ? 0 : answers.length;
    const written = journaled && { journaled: answers.length };
    observe({ type: 'unmetered', queued: queued(), posted, dropped: 0, ...written });
  }

  const queued = (): number => queue.size + posts.onTheWay.size;

  return {
    add,
    restore,
    leave,
    flush,
    get queued() {
      return queued();
    },
    isToldSince: (atMs) => queued() === 0 && waitedAtMs <= atMs,
  };
}

/** The function looks at the rest. */
function answerIn(json: string): UnmeteredAnswer | undefined {
  try {
    const answer: unknown = JSON.parse(json);
    const isWhole =
      isRecord(answer) && isRecord(answer.request) && Number.isSafeInteger(answer.request.jobId);
    return isWhole ? (answer as unknown as UnmeteredAnswer) : undefined;
  } catch {
    return undefined;
  }
}
