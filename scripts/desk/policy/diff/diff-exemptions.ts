import { readInstant } from '../../../../policies/document/instant.ts';
import { entryOf, type WrittenEntry } from '../warnings/warning.ts';
import type { Change, Effect } from './change.ts';
import { added, leafText, leaves, removed, valueText } from './leaves.ts';

/** Keys that say for how long and why, not for whom. */
const ABOUT: ReadonlySet<string> = new Set(['reason', 'until', 'ticket']);

export interface ExemptionsWith {
  /** The rule rejects before or after the change. */
  readonly enforced: boolean;
  readonly nowMs: number;
}

/** Exemptions that came, went, or last longer or shorter; one is the same if it is for the same jobs. */
export function exemptionChanges(
  rule: string,
  from: readonly unknown[],
  to: readonly unknown[],
  { enforced, nowMs }: ExemptionsWith,
): readonly Change[] {
  const at = `${rule}.exempt`;
  const gone = removed(from, to).map(entryOf);
  const came = added(from, to).map(entryOf);
  const told = (effect: Effect): Effect => (enforced ? effect : 'neutral');
  const changes: Change[] = [];
  for (const each of came) {
    const index = gone.findIndex((other) => leaves(forWhom(each), forWhom(other)).length === 0);
    const [earlier] = index === -1 ? [] : gone.splice(index, 1);
    if (earlier === undefined) {
      const effect = told(isOver(each, nowMs) ? 'neutral' : 'loosens');
      changes.push({ at, what: `+ ${valueText(each)}`, effect });
    } else {
      for (const leaf of leaves(earlier, each)) {
        const effect = leaf.path[0] === 'until' ? told(untilEffect(leaf.from, leaf.to, nowMs)) : 'neutral';
        changes.push({
          at: `${at}[${valueText(forWhom(each))}].${leaf.path.join('.')}`,
          what: leafText(leaf),
          effect,
        });
      }
    }
  }
  for (const each of gone) {
    const over = isOver(each, nowMs);
    const what = `- ${valueText(each)}${over ? ' (was over)' : ''}`;
    changes.push({ at, what, effect: told(over ? 'neutral' : 'tightens') });
  }
  return changes;
}

const forWhom = (exemption: WrittenEntry): WrittenEntry =>
  Object.fromEntries(Object.entries(exemption).filter(([key]) => !ABOUT.has(key)));

const isOver = ({ until }: WrittenEntry, nowMs: number): boolean => endMs(until) <= nowMs;

function untilEffect(from: unknown, to: unknown, nowMs: number): Effect {
  const [before, after] = [endMs(from), endMs(to)];
  if (before === after || (before <= nowMs && after <= nowMs)) return 'neutral';
  return after > before ? 'loosens' : 'tightens';
}

const endMs = (until: unknown): number =>
  (typeof until === 'string' ? readInstant(until, 'end') : undefined) ?? Number.POSITIVE_INFINITY;
