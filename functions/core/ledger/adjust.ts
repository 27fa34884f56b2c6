/** Credits and debits by hand: an entry beside the counter and the counter's change, in one transaction. */
import { counterName, isPipelineCounter } from '../../../policies/claim.ts';
import { LedgerError } from '../store/index.ts';
import { attempt } from './attempt.ts';
import { AMOUNT_MAX } from './job.ts';
import type { Adjustment, AdjustOutcome } from './ledger.ts';
import type { MoveDeps } from './make-moves.ts';
import { expiring } from './retention.ts';

const ID = /^[\w.-]{1,64}$/;
const REASON_CHARACTERS_MAX = 500;
const ACTOR_CHARACTERS_MAX = 200;

export async function adjust(
  adjustment: Adjustment,
  deadlineMs: number,
  deps: MoveDeps,
): Promise<AdjustOutcome> {
  refuseUnlawful(adjustment);
  const { counter: key, amount, id, reason, actor } = adjustment;
  const nowMs = deps.clock.nowMs();
  const entry = { key, id, amount, reason, actor, atMs: nowMs };
  const change = { committed: amount, fitted: amount, settled: amount, unchecked: {} };
  const result = await attempt(
    [{ kind: 'adjustment', adjustment: entry }, expiring({ kind: 'counter', key, ...change }, nowMs)],
    deadlineMs,
    deps,
  );
  switch (result.outcome) {
    case 'committed':
      deps.lastSeen.move(counterName(key), amount, amount);
      return 'applied';
    case 'gave_up':
      return 'undecided';
    case 'refused': {
      const [refusal] = result.refusals;
      const standing = refusal?.kind === 'adjustment' ? refusal.adjustment : undefined;
      return standing?.amount === amount ? 'unchanged' : 'contradicts';
    }
  }
}

function refuseUnlawful({ counter, amount, reason, actor, id }: Adjustment): void {
  const name = counterName(counter);
  if (!Number.isSafeInteger(amount) || amount === 0 || Math.abs(amount) > AMOUNT_MAX)
    refuse(`an amount of ${amount} on ${name}`, `whole units other than 0, at most ${AMOUNT_MAX}`);
  if (counter.period === 'now' || isPipelineCounter(counter))
    refuse(`counter ${name}`, 'one of a period; what is counted at once is given back by its jobs');
  if (!ID.test(id)) refuse(`id "${id.slice(0, 80)}"`, '1 to 64 letters, digits, ".", "_" or "-"');
  if (!isText(reason, REASON_CHARACTERS_MAX))
    refuse(`a reason of ${reason.length} characters`, `1 to ${REASON_CHARACTERS_MAX}`);
  if (!isText(actor, ACTOR_CHARACTERS_MAX))
    refuse(`an actor of ${actor.length} characters`, `1 to ${ACTOR_CHARACTERS_MAX}`);
}

function refuse(what: string, expected: string): never {
  throw new LedgerError('ledger_misuse', `cannot adjust by ${what}: expected ${expected}`);
}

const isText = (text: string, charactersMax: number): boolean =>
  text.trim() !== '' && text.length <= charactersMax;
