import { type CounterKey, counterName } from '../../../policies/claim.ts';
import type { LedgerClock, Log } from '../environment/index.ts';
import type { AlertMarkStore, ChannelOutcome } from './alert-marks.ts';
import type { AmountCrossing, KnownCrossings } from './announced.ts';
import type { LimitOfSubject } from './watched.ts';

interface NoteDeps {
  readonly alerts: Pick<AlertMarkStore, 'note'>;
  readonly knownFailed?: KnownCrossings;
  readonly clock: Pick<LedgerClock, 'nowMs'>;
  readonly log: Log;
}

/** Notes at once. */
const NOTES_MAX = 16;

/**
 * Writes beside each counter what became of its message. Never throws: what was told is not told again because nobody could
 * write it down, and what failed is tried again with the counter's next step.
 */
export async function noteCrossings(
  reached: readonly (AmountCrossing & LimitOfSubject)[],
  outcome: ChannelOutcome['outcome'],
  { alerts, knownFailed, clock, log }: NoteDeps,
): Promise<void> {
  const news = outcome === 'taken' ? reached : reached.filter((each) => knownFailed?.has(each) !== true);
  const atMs = clock.nowMs();
  const byCounter = [...Map.groupBy(news, ({ crossing }) => counterName(crossing.key)).values()];
  for (let start = 0; start < byCounter.length; start += NOTES_MAX)
    await Promise.all(
      byCounter.slice(start, start + NOTES_MAX).map(async (ofCounter) => {
        const [first] = ofCounter;
        if (first === undefined) return;
        try {
          await alerts.note(
            { of: 'crossings', key: first.crossing.key },
            ofCounter.map(({ crossing: { measure, level }, limitAmount, to }) => ({
              ...{ measure, level: level.name, levelAmount: level.amount, limitAmount, owner: to.owner },
              channels: [{ channel: 'topic', outcome, atMs }],
            })),
          );
          if (outcome === 'failed') knownFailed?.add(ofCounter);
        } catch (error) {
          warnOf(error, first.crossing.key, log);
        }
      }),
    );
}

const warnOf = (error: unknown, key: CounterKey, log: Log): void =>
  log.warn('not noted what an owner was told', {
    counter: counterName(key),
    error: error instanceof Error ? error.name : 'unknown failure',
  });
