import type { Policy } from '../../../../policies/policy.ts';
import type { Rule } from '../../../../policies/rule.ts';
import { entriesAt, entriesOf, rulesZone, type WrittenEntry } from '../warnings/warning.ts';
import type { PolicyChange, PolicyEffect } from './change.ts';
import { type ExemptionsContext, exemptionChanges } from './diff-exemptions.ts';
import { leafText, leaves } from './leaves.ts';
import { ruleEffect } from './rule-directions.ts';

/** A policy, and as it was written. */
export interface Side {
  readonly policy: Policy;
  readonly document: unknown;
}

/** Rules that came, went, changed or moved, by id, in the order of the new document. */
export function ruleChanges(from: Side, to: Side, nowMs: number): readonly PolicyChange[] {
  const [before, after] = [rulesOf(from), rulesOf(to)];
  const zones = { from: rulesZone(from.document), to: rulesZone(to.document) };
  const gone = [...before.values()]
    .filter(({ rule }) => !after.has(rule.id))
    .map(
      ({ rule }): PolicyChange => ({
        at: `rules.${rule.id}`,
        what: `removed (${labelOf(rule)})`,
        effect: goneEffect(rule),
      }),
    );
  const there = [...after.values()].flatMap((each): readonly PolicyChange[] => {
    const earlier = before.get(each.rule.id);
    if (earlier !== undefined) return changed(earlier, each, { nowMs, zones });
    const effect = each.rule.mode === 'enforce' ? 'tightens' : 'neutral';
    return [{ at: `rules.${each.rule.id}`, what: `added (${labelOf(each.rule)})`, effect }];
  });
  return [...gone, ...there, ...orderChange([...before.keys()], [...after.keys()])];
}

interface WrittenRule {
  readonly rule: Rule;
  readonly written: WrittenEntry;
}

function rulesOf({ policy, document }: Side): ReadonlyMap<string, WrittenRule> {
  const written = entriesAt(document, 'rules');
  return new Map(policy.rules.map((rule) => [rule.id, { rule, written: written[rule.order] ?? {} }]));
}

const labelOf = ({ kind, mode }: Rule): string => `${kind}, ${mode}`;

const goneEffect = ({ mode }: Rule): PolicyEffect => (mode === 'enforce' ? 'loosens' : 'neutral');

function changed(
  from: WrittenRule,
  to: WrittenRule,
  using: Omit<ExemptionsContext, 'enforced'>,
): readonly PolicyChange[] {
  const at = `rules.${to.rule.id}`;
  if (from.rule.kind !== to.rule.kind)
    return [{ at: `${at}.kind`, what: `${from.rule.kind} → ${to.rule.kind}`, effect: 'could loosen' }];
  const enforced = from.rule.mode === 'enforce' || to.rule.mode === 'enforce';
  const fields = leaves({ ...from.written, exempt: undefined }, { ...to.written, exempt: undefined });
  return [
    ...fields.map((leaf): PolicyChange => {
      const isMode = leaf.path[0] === 'mode';
      // A rule in shadow mode before and after has no effect on jobs.
      const effect = isMode || enforced ? ruleEffect(to.rule.kind, leaf, to.written) : 'neutral';
      return { at: [at, ...leaf.path].join('.'), what: leafText(leaf), effect };
    }),
    ...exemptionChanges(at, exemptOf(from), exemptOf(to), { ...using, enforced }),
  ];
}

const exemptOf = ({ written }: WrittenRule): readonly unknown[] => entriesOf(written.exempt);

/** All violations are reported, so the order only affects which is first. */
function orderChange(before: readonly string[], after: readonly string[]): readonly PolicyChange[] {
  const common = (ids: readonly string[], others: readonly string[]): string => {
    const known = new Set(others);
    return ids.filter((id) => known.has(id)).join('\n');
  };
  if (common(before, after) === common(after, before)) return [];
  return [{ at: 'rules', what: 'stand in another order', effect: 'neutral' }];
}
