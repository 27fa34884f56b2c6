import type { CounterKey } from '../../../policies/claim.ts';
import type { Counter } from '../ledger/index.ts';
import { OVERDRAFT, type ThresholdLevel, thresholdLevelsOf, type WatchedLimit } from './level.ts';

/** `spent`: what is settled. `committed`: spent + held. */
type Measure = 'spent' | 'committed';

const MEASURES: readonly Measure[] = ['spent', 'committed'];

/** A counter's own step from one write to the next. `before` is absent for its first. */
export interface Transition {
  readonly before?: Counter;
  readonly after: Counter;
}

/** A measure of a counter has reached a level it was below before. */
export interface Crossing {
  readonly key: CounterKey;
  readonly measure: Measure;
  /** The highest level reached: the one that is told. */
  readonly level: ThresholdLevel;
  /** All levels up to and with it, lowest first: those below are never told any more. */
  readonly passed: readonly ThresholdLevel[];
  /** The counter's after the step, in whole units. */
  readonly spent: number;
  readonly committed: number;
}

const measured = ({ settled, committed }: Counter, measure: Measure): number =>
  measure === 'spent' ? settled : committed;

/** What is held may be given back: only what is spent is overdrawn. */
const isOf = (measure: Measure, name: string): boolean => name !== OVERDRAFT || measure === 'spent';

/**
 * At most one crossing per measure, whatever the jump. Pure: whether a level was told before (the counter was there, fell
 * and rose again) is not known here. Nothing moves when a limit is lowered; to tell what that alone has reached, ask with
 * `before` absent.
 */
export function crossings({ before, after }: Transition, limit: WatchedLimit): readonly Crossing[] {
  const levels = thresholdLevelsOf(limit);
  return MEASURES.flatMap((measure): readonly Crossing[] => {
    const from = before === undefined ? 0 : measured(before, measure);
    const to = measured(after, measure);
    const passed = levels.filter(({ name, amount }) => amount <= to && isOf(measure, name));
    const level = passed.at(-1);
    if (level === undefined || level.amount <= from) return [];
    return [{ key: after.key, measure, level, passed, spent: after.settled, committed: after.committed }];
  });
}
