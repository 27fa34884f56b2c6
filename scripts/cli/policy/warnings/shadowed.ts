import { isDeepStrictEqual } from 'node:util';
import { compareModes } from '../../../../policies/rollout.ts';
import type { Rule } from '../../../../policies/rule.ts';
import { entriesAt, type Warning, type WrittenDocuments } from './warning.ts';

/** Keys that say nothing about what a rule does to a job. */
const LABELS: ReadonlySet<string> = new Set(['id', 'message']);

/** Rules that say what another one says already. */
export function shadowed({ policy, policyDocument }: WrittenDocuments): readonly Warning[] {
  const entries = entriesAt(policyDocument, 'rules');
  const written = entries.map(meaning);
  const seen = new Map<string, Rule>();
  const ofEveryJob = policy.rules.filter(
    (rule) =>
      !rule.stateless && isDeepStrictEqual(rule.match, {}) && entries[rule.order]?.exempt === undefined,
  );
  return policy.rules.flatMap((rule): Warning[] => {
    const key = JSON.stringify(written[rule.order] ?? {});
    const first = seen.get(key);
    if (first === undefined) seen.set(key, rule);
    const path = ['rules', rule.order];
    if (first !== undefined)
      return [{ path, message: `rule ${rule.id} is the same as rule ${first.id}; keep one` }];
    const stricter = ofEveryJob.find((other) => switchesOnMore(other, rule));
    if (stricter === undefined) return [];
    const why = `rule ${stricter.id} asks the same limits of every job, in mode ${stricter.mode}`;
    return [{ path, message: `rule ${rule.id} decides nothing: ${why}` }];
  });
}

const meaning = (rule: Readonly<Record<string, unknown>>): readonly unknown[] =>
  Object.entries(rule)
    .filter(([key]) => !LABELS.has(key))
    .sort(([a], [b]) => (a < b ? -1 : 1));

/** A limit is asked once per job, by the strictest rule of its kind. @param other - a rule that asks about every job. */
function switchesOnMore(other: Rule, rule: Rule): boolean {
  if (other === rule || other.kind !== rule.kind || rule.mode === 'off') return false;
  // The platform's jobs are exempt from rules that do not bind it.
  if (other.exempt.length > 0 && rule.exempt.length === 0) return false;
  const further = compareModes(other.mode, rule.mode);
  return further > 0 || (further === 0 && !isDeepStrictEqual(rule.match, {}));
}
