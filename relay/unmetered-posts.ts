import { REQUESTS_MAX } from '../functions/core/contract/index.ts';
import type { UnmeteredLoss } from './events.ts';
import type { RelayClock } from './exchange.ts';
import type { Forwarder, UnmeteredOutcome } from './forward.ts';
import type { UnmeteredQueue, UntoldAnswer } from './unmetered-queue.ts';

const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 60_000;
/** Nobody waits for these answers; the function gives itself 5 s and must be heard. */
const POST_TIMEOUT_MS = 7_000;
/** So often the service may refuse one answer while it takes others: some five minutes, in which a deployment is over. */
export const REFUSALS_MAX = 8;
/** A refusal halves the batch; each batch that is taken makes the next one so much larger. */
const BATCH_GROWTH = 8;
/** While the relay stops there is no later: short pauses, and no post that hangs for long. */
const LEAVING = { retryMs: 250, timeoutMs: 3_000 } as const;

interface UnmeteredPostsDeps {
  readonly queue: UnmeteredQueue;
  readonly post: Forwarder['postUnmetered'];
  readonly clock: RelayClock;
  readonly random: () => number;
  readonly state: () => 'open' | 'leaving' | 'closed';
  readonly told: (answers: readonly UntoldAnswer[], journaled: boolean) => void;
  readonly lost: (answers: readonly UntoldAnswer[], why: UnmeteredLoss) => void;
}

/**
 * Tells one batch after the other, and puts back what was not taken: alone and later what was refused by itself, behind a
 * pause of its root what the ledger was undecided about, and all of it behind a pause of everything if the service is away.
 */
export class UnmeteredPosts {
  readonly onTheWay = new Set<UntoldAnswer>();
  /** Monotonic; nothing is sent before. */
  quietUntilMs = Number.NEGATIVE_INFINITY;
  batchMax = REQUESTS_MAX;
  readonly #deps: UnmeteredPostsDeps;
  /** How often in a row the ledger was undecided about a root; only roots that wait. */
  readonly #undecided = new Map<string, number>();
  /** Calls in a row that told nobody anything. */
  #failures = 0;
  #takenTotal = 0;
  #takenAtRefusal = -1;

  constructor(deps: UnmeteredPostsDeps) {
    this.#deps = deps;
  }

  /** How many answers the service has taken. */
  get takenTotal(): number {
    return this.#takenTotal;
  }

  /** A batch that is refused for what is in it is told by halves. Whether to go on at once. Never rejects. */
  async post(batch: readonly UntoldAnswer[]): Promise<boolean> {
    for (const answer of batch) this.onTheWay.add(answer);
    const leaving = this.#deps.state() === 'leaving';
    const timeoutMs = leaving ? LEAVING.timeoutMs : POST_TIMEOUT_MS;
    const told = await this.#deps.post(batch, { timeoutMs, now: leaving });
    if (this.#deps.state() === 'closed') return false;
    for (const answer of batch) this.onTheWay.delete(answer);
    if (told.kind === 'told') return this.#taken(batch, told);
    if (told.kind === 'unreachable' || !told.content) return this.#pause(batch);
    const [only, ...others] = batch;
    if (only !== undefined && others.length === 0) return this.#refusedAlone(only);
    const half = Math.ceil(batch.length / 2);
    this.batchMax = half;
    return this.#inTurn(batch.slice(0, half), batch.slice(half));
  }

  /** Forgets these; they are told to be lost. */
  lose(answers: readonly UntoldAnswer[], why: UnmeteredLoss): void {
    if (answers.length === 0) return;
    for (const { root } of answers) this.#undecided.delete(root);
    this.#deps.lost(answers, why);
  }

  async #inTurn(first: readonly UntoldAnswer[], second: readonly UntoldAnswer[]): Promise<boolean> {
    for (const answer of second) this.onTheWay.add(answer);
    const goOn = await this.post(first);
    if (this.#deps.state() === 'closed') return false;
    if (goOn) return this.post(second);
    for (const answer of second) this.onTheWay.delete(answer);
    this.lose(this.#deps.queue.putBack(second), 'queue_full');
    return false;
  }

  #taken(
    batch: readonly UntoldAnswer[],
    { outcomes, journaled = false }: Extract<UnmeteredOutcome, { kind: 'told' }>,
  ): true {
    const { queue, clock } = this.#deps;
    this.#failures = 0;
    this.batchMax = Math.min(REQUESTS_MAX, Math.max(this.batchMax, batch.length) + BATCH_GROWTH);
    const byOutcome = Map.groupBy(batch, ({ jobId }) => outcomes.get(jobId) ?? 'undecided');
    const recorded = byOutcome.get('recorded') ?? [];
    this.#takenTotal += recorded.length;
    for (const { root } of recorded) this.#undecided.delete(root);
    const again = byOutcome.get('undecided') ?? [];
    const shed = queue.putBack(again);
    for (const root of new Set(again.map((answer) => answer.root))) {
      const times = (this.#undecided.get(root) ?? 0) + 1;
      this.#undecided.set(root, times);
      queue.hold(root, clock.monotonicMs() + this.#backoffMs(times));
    }
    this.lose(shed, 'queue_full');
    for (const answer of byOutcome.get('invalid') ?? []) this.#refused(answer);
    // Last: how many wait is true again.
    this.#deps.told(recorded, journaled);
    return true;
  }

  /** The service cannot be told anything now. */
  #pause(batch: readonly UntoldAnswer[]): false {
    const shed = this.#deps.queue.putBack(batch);
    this.#failures += 1;
    this.quietUntilMs = this.#deps.clock.monotonicMs() + this.#backoffMs(this.#failures);
    this.lose(shed, 'queue_full');
    return false;
  }

  /** Gives up no answer while the service refuses everything, but leaves it alone for a while. */
  #refusedAlone(answer: UntoldAnswer): boolean {
    const tookOthers = this.#takenTotal > answer.takenBefore;
    const tookAny = this.#takenTotal > this.#takenAtRefusal;
    this.#takenAtRefusal = this.#takenTotal;
    if (tookOthers) this.#refused(answer);
    else this.#putAlone(answer, this.#failures + 1);
    return tookAny || this.#pause([]);
  }

  #refused(answer: UntoldAnswer): void {
    const refusals = answer.refusals + 1;
    if (refusals >= REFUSALS_MAX) this.lose([answer], 'refused');
    else this.#putAlone({ ...answer, refusals }, refusals);
  }

  #putAlone(answer: UntoldAnswer, tries: number): void {
    const dueMs = this.#deps.clock.monotonicMs() + this.#backoffMs(tries);
    const alone = { ...answer, takenBefore: this.#takenTotal };
    this.lose(this.#deps.queue.putAlone(alone, dueMs), 'queue_full');
  }

  #backoffMs(tries: number): number {
    const { random, state } = this.#deps;
    if (state() === 'leaving') return LEAVING.retryMs;
    return Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** Math.min(tries, 6)) * (0.5 + random() / 2);
  }
}
