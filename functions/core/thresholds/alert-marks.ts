/**
 * What owners were told of the levels of a counter: to whom, by what, when, and what nobody took. One item per counter, and so
 * per period, for crossings, which the rollup writes, and one for forecasts, which the notices write: with the message, never with a job.
 */
import type { CounterKey } from '../../../policies/claim.ts';
import {
  answered,
  atRev,
  type BatchGetDeps,
  batchGet,
  getItem,
  type InstanceTable,
  itemAt,
  LedgerError,
  ledgerKeys,
  putItem,
  TimeLimit,
  TTL_ATTRIBUTE,
  unavailable,
} from '../store/index.ts';
import { keptUntilMs } from './announced.ts';

/** `topic`: mail, and whatever else listens to the deployment's topic. */
export const ALERT_CHANNELS = ['topic', 'slack', 'teams'] as const;

export interface ChannelOutcome {
  readonly channel: (typeof ALERT_CHANNELS)[number];
  /** `taken`: the channel took the message over. `failed`: it did not, and was not heard to since. */
  readonly outcome: 'taken' | 'failed';
  /** When it was taken, or first failed. Unix ms. */
  readonly atMs: number;
}

export const ALERT_MEASURES = ['spent', 'committed', 'forecast'] as const;

/** One level of a limit as it was when its owner was told of it. */
export interface AlertedLevel {
  readonly measure: (typeof ALERT_MEASURES)[number];
  /** `90 %`, `soft`, `overdraft`, `forecast 100 %`. */
  readonly level: string;
  readonly levelAmount: number;
  readonly limitAmount: number;
  /** Who was told, as the limits named them then. */
  readonly owner: string;
}

export interface AlertMark extends AlertedLevel {
  /** One a channel. */
  readonly channels: readonly ChannelOutcome[];
}

interface CounterAlerts {
  readonly of: 'crossings' | 'forecasts';
  readonly key: CounterKey;
}

export interface AlertMarkStore {
  /** One list per ask, same order, the oldest first. A moment old at most. @throws {LedgerError} `ledger_unavailable` */
  read(asks: readonly CounterAlerts[]): Promise<readonly (readonly AlertMark[])[]>;
  /**
   * Adds to what stands there. What was taken stays taken, what fails again failed when it first did, and then nothing is written.
   * @throws {LedgerError} `ledger_unavailable`
   */
  note(about: CounterAlerts, marks: readonly AlertMark[]): Promise<void>;
}

const TIMEOUT_MS = 3_000;
const REV = 'rv';
const MARKS = 'mk';
/** Some 10 KB; a limit that was changed so often in a period forgets the oldest. */
const MARKS_MAX = 60;
/** One reader of the stream writes the crossings of a counter, one run of the notices its forecasts: others are repeats of them. */
const TRIES_MAX = 3;

export function dynamoAlertMarks(deps: InstanceTable & BatchGetDeps): AlertMarkStore {
  const { table, instance, clock } = deps;
  const keys = ledgerKeys(instance);
  const failure = unavailable(table);
  return {
    async read(asks) {
      const wanted = asks.map(({ of, key }) => keys.alertMarks(of, key));
      const items = await answered('read what owners were told', failure, () =>
        batchGet(wanted, TIMEOUT_MS, deps, { consistent: false }),
      );
      return items.map((item) => marksIn(item?.[MARKS]?.S));
    },
    async note({ of, key }, marks) {
      const at = keys.alertMarks(of, key);
      for (let tried = 1; tried <= TRIES_MAX; tried += 1) {
        const item = await answered('read what an owner was told', failure, () =>
          getItem(table, at, new TimeLimit(TIMEOUT_MS)),
        );
        const before = item?.[MARKS]?.S;
        const after = JSON.stringify(withMarks(marksIn(before), marks));
        if (after === before) return;
        const rev = Number(item?.[REV]?.N ?? 0);
        const next = itemAt(at, {
          [REV]: { N: String(rev + 1) },
          [MARKS]: { S: after },
          [TTL_ATTRIBUTE]: { N: String(Math.ceil(keptUntilMs(key.period, clock.nowMs()) / 1_000)) },
        });
        const { outcome } = await answered('note what an owner was told', failure, () =>
          putItem(table, next, new TimeLimit(TIMEOUT_MS), atRev(REV, rev)),
        );
        if (outcome === 'written') return;
      }
      throw new LedgerError('ledger_unavailable', `what the owner of ${at.pk} was told is written by others`);
    },
  };
}

// Written by `note` alone.
const marksIn = (text: string | undefined): readonly AlertMark[] => JSON.parse(text ?? '[]');

function withMarks(before: readonly AlertMark[], more: readonly AlertMark[]): readonly AlertMark[] {
  const marks = new Map(before.map((mark) => [markName(mark), mark]));
  for (const mark of more) {
    const known = marks.get(markName(mark));
    // The one that is told last comes last; whom it was sent to is said by the last message.
    marks.delete(markName(mark));
    marks.set(markName(mark), { ...mark, channels: withOutcomes(known?.channels ?? [], mark.channels) });
  }
  const isSame = more.every((mark) => isKnown(mark, before));
  return isSame ? before : [...marks.values()].slice(-MARKS_MAX);
}

const markName = ({ measure, level, limitAmount }: AlertedLevel): string =>
  JSON.stringify([measure, level, limitAmount]);

/** Nothing new is said: each of its channels took it before, or fails as it did. */
const isKnown = (mark: AlertMark, before: readonly AlertMark[]): boolean => {
  const known = before.find((each) => markName(each) === markName(mark));
  return mark.channels.every(({ channel, outcome }) =>
    known?.channels.some(
      (each) => each.channel === channel && (each.outcome === 'taken' || outcome === 'failed'),
    ),
  );
};

function withOutcomes(
  before: readonly ChannelOutcome[],
  more: readonly ChannelOutcome[],
): readonly ChannelOutcome[] {
  const outcomes = new Map(before.map((each) => [each.channel, each]));
  for (const each of more) {
    const known = outcomes.get(each.channel);
    if (known === undefined || (known.outcome === 'failed' && each.outcome === 'taken'))
      outcomes.set(each.channel, each);
  }
  return [...outcomes.values()];
}
