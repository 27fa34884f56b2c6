/** Lives a ledger's jobs again, one after the other in the order they were decided, against other documents. */
import {
  expireMove,
  type HoldAsk,
  isExpiredCharged,
  type JobRecord,
  type KnownCounter,
  releaseMove,
  settleMove,
  wasRejected,
} from '../../core/ledger/index.ts';
import { pricedAs } from '../../core/truth/index.ts';
import { EndQueue, type TimedEvent } from './ends.ts';
import type { BacktestQuestion, BacktestQuestions } from './question.ts';
import { VirtualLedger } from './virtual-ledger.ts';

/** What became of one job, then and now. */
export interface ReplayedJob {
  readonly record: JobRecord;
  /** As the virtual ledger decided it; undefined: the ask was not lawful, or nobody asked. */
  readonly now: JobRecord | undefined;
  readonly question: BacktestQuestion;
  readonly rejectedThen: boolean;
  /** Charged then; 0 for a job that is not over. */
  readonly thenMicros: number;
  /** What it would be charged; one that was rejected then and runs now is charged its estimate. */
  readonly nowMicros: number;
  /** `nowMicros` is only an estimate: the job never ran. */
  readonly estimated: boolean;
}

interface End extends TimedEvent {
  readonly record: JobRecord;
  /** How the job ended: the record as it really was. */
  readonly how: JobRecord;
  readonly durationSeconds: number;
}

export class Replay {
  readonly #questions: BacktestQuestions;
  readonly #sinceMs: number;
  readonly #ledger: VirtualLedger;
  readonly #ends = new EndQueue<End>();
  readonly #obeyed: boolean;

  /**
   * @param sinceMs - jobs decided before are counted as they were decided, and not judged.
   * @param filled - what counters show before the first job, by `counterName`.
   * @param obeyed - GitLab follows every answer: a job that is rejected uses up nothing, also one that really ran.
   */
  constructor(
    questions: BacktestQuestions,
    sinceMs: number,
    filled?: ReadonlyMap<string, KnownCounter>,
    { obeyed = false }: { readonly obeyed?: boolean } = {},
  ) {
    this.#obeyed = obeyed;
    this.#questions = questions;
    this.#sinceMs = sinceMs;
    this.#ledger = new VirtualLedger(filled);
  }

  /**
   * The next job: `decidedAtMs` never goes back. Undefined: it is not judged, because it was decided before, or because
   * nobody was asked (unmetered, bypass).
   */
  next(record: JobRecord): ReplayedJob | undefined {
    const { decidedAtMs } = record;
    for (
      let end = this.#ends.takeUntil(decidedAtMs);
      end !== undefined;
      end = this.#ends.takeUntil(decidedAtMs)
    )
      this.#end(end);
    const rejectedThen = wasRejected(record);
    const ranAnyway = record.unchecked === 'bypass';
    const judged = decidedAtMs >= this.#sinceMs && (rejectedThen || !wasUnasked(record));
    if (!judged && rejectedThen && !ranAnyway) return undefined;
    const question = this.#questions.of(record);
    const ask = judged ? question.ask : unasked(question.ask, ranAnyway);
    const now = this.#ledger.hold(ask, decidedAtMs);
    if (now !== undefined) this.#scheduleEnd(record, now);
    if (!judged) return undefined;
    return { record, now, question, rejectedThen, ...chargesOf(record, now) };
  }

  #scheduleEnd(record: JobRecord, now: JobRecord): void {
    const { jobId, decidedAtMs, endedAtMs } = record;
    const neverRan = record.state === 'REJECTED';
    // A job that is rejected again counts only if it ran all the same.
    if (now.state === 'REJECTED' && (this.#obeyed || record.unchecked !== 'bypass')) return;
    const durationSeconds = neverRan ? now.facts.estimateSeconds : (record.durationSeconds ?? 0);
    const atMs = neverRan ? decidedAtMs + durationSeconds * 1000 : endedAtMs;
    if (atMs !== undefined) this.#ends.add({ atMs, jobId, record: now, how: record, durationSeconds });
  }

  #end({ atMs, jobId, record, how, durationSeconds }: End): void {
    switch (how.state) {
      case 'RELEASED':
        this.#ledger.apply(releaseMove(record, atMs).changes);
        break;
      case 'EXPIRED':
        this.#ledger.apply(expireMove(record, isExpiredCharged(how) ? 'hold' : 'nothing', atMs).changes);
        break;
      case 'SETTLED':
      case 'REJECTED': {
        const end = { jobId, durationSeconds, endedAtMs: atMs };
        this.#ledger.apply(settleMove(record, end, atMs).changes);
        break;
      }
      case 'HELD':
      case 'RUNNING':
        break;
    }
  }
}

const wasUnasked = ({ unchecked }: JobRecord): boolean => unchecked === 'unmetered' || unchecked === 'bypass';

/** It takes its amounts without asking; a bypass, of which nobody knew before its end, takes them then. */
const unasked = (ask: HoldAsk, atItsEnd: boolean): HoldAsk => ({
  ...ask,
  violations: [],
  claims: ask.claims.map((claim) => ({
    counter: claim.counter,
    unit: claim.unit,
    amount: atItsEnd ? 0 : claim.amount,
    mode: claim.mode,
    rule: claim.rule,
    class: claim.class,
    refusal: (seen) => claim.refusal(seen),
  })),
});

function chargesOf(
  record: JobRecord,
  now: JobRecord | undefined,
): Pick<ReplayedJob, 'thenMicros' | 'nowMicros' | 'estimated'> {
  const charge = (as: JobRecord): number => {
    if (record.state === 'SETTLED') return pricedAs(as, record.durationSeconds ?? 0).micros;
    return isExpiredCharged(record) ? as.facts.costMicros : 0;
  };
  const thenMicros = charge(record);
  if (now === undefined) return { thenMicros, nowMicros: thenMicros, estimated: false };
  if (now.state === 'REJECTED')
    return { thenMicros, nowMicros: record.unchecked === 'bypass' ? charge(now) : 0, estimated: false };
  if (record.state !== 'REJECTED') return { thenMicros, nowMicros: charge(now), estimated: false };
  return { thenMicros, nowMicros: pricedAs(now, now.facts.estimateSeconds).micros, estimated: true };
}
