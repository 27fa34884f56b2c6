import { readInstant } from '../../../../policies/document/values.ts';
import { entryOf, type WrittenEntry } from '../warnings/warning.ts';
import type { PolicyChange, PolicyEffect } from './change.ts';
import { added, leafText, leaves, removed, valueText } from './leaves.ts';

/** Keys about duration and reason, not about jobs. */
const ABOUT: ReadonlySet<string> = new Set(['reason', 'until', 'zone', 'ticket']);

export interface ExemptionsContext {
  /** The rule rejects before or after the change. */
  readonly enforced: boolean;
  readonly nowMs: number;
  /** IANA zones of the two policies. */
  readonly zones: { readonly from: string; readonly to: string };
}

/** Exemptions that came, went, or last longer or shorter; one is the same if it is for the same jobs. */
export function exemptionChanges(
  rule: string,
  from: readonly unknown[],
  to: readonly unknown[],
  { enforced, nowMs, zones }: ExemptionsContext,
): readonly PolicyChange[] {
  const at = `${rule}.exempt`;
  const gone = removed(from, to).map(entryOf);
  const came = added(from, to).map(entryOf);
  const told = (effect: PolicyEffect): PolicyEffect => (enforced ? effect : 'neutral');
  const changes: PolicyChange[] = [];
  for (const each of came) {
    const index = gone.findIndex((other) => leaves(forWhom(each), forWhom(other)).length === 0);
    const [earlier] = index === -1 ? [] : gone.splice(index, 1);
    if (earlier === undefined) {
      const effect = told(endMs(each, zones.to) <= nowMs ? 'neutral' : 'loosens');
      changes.push({ at, what: `+ ${valueText(each)}`, effect });
    } else {
      for (const leaf of leaves(earlier, each)) {
        const isEnd = leaf.path[0] === 'until' || leaf.path[0] === 'zone';
        const effect = isEnd
          ? told(untilEffect(endMs(earlier, zones.from), endMs(each, zones.to), nowMs))
          : 'neutral';
        changes.push({
          at: `${at}[${valueText(forWhom(each))}].${leaf.path.join('.')}`,
          what: leafText(leaf),
          effect,
        });
      }
    }
  }
  for (const each of gone) {
    const over = endMs(each, zones.from) <= nowMs;
    const what = `- ${valueText(each)}${over ? ' (was over)' : ''}`;
    changes.push({ at, what, effect: told(over ? 'neutral' : 'tightens') });
  }
  return changes;
}

const forWhom = (exemption: WrittenEntry): WrittenEntry =>
  Object.fromEntries(Object.entries(exemption).filter(([key]) => !ABOUT.has(key)));

function untilEffect(before: number, after: number, nowMs: number): PolicyEffect {
  if (before === after || (before <= nowMs && after <= nowMs)) return 'neutral';
  return after > before ? 'loosens' : 'tightens';
}

const endMs = ({ until, zone }: WrittenEntry, ofPolicy: string): number =>
  (typeof until === 'string'
    ? readInstant(until, 'end', typeof zone === 'string' ? zone : ofPolicy)
    : undefined) ?? Number.POSITIVE_INFINITY;
