import { isRecord } from '../../../policies/document/reading.ts';
import { compileWildcard } from '../../../policies/match/wildcard.ts';
import type { Policy } from '../../../policies/policy.ts';
import { ruleEffect } from './diff/rule-directions.ts';
import { leaves, type PolicyEffect } from './diff/values.ts';
import type { ImportedRule, ImportedRunner, ImportNote } from './import-rules.ts';
import { entryOf, type WrittenEntry } from './written-document.ts';

/** Keys that say how a rule reads the others. */
const MANNERS: readonly string[] = ['required', 'executors'];

/**
 * Lists contradictions between a policy and a Runner, by setting: values that the policy admits and the
 * Runner fails after the start, and values that only the policy refuses, which is its purpose.
 *
 * @param written - the policy's rules as they are written.
 */
export const contradictionsOf = (
  { rules: imported, runnerId }: ImportedRunner,
  policy: Policy,
  written: readonly WrittenEntry[],
): readonly ImportNote[] =>
  imported.flatMap((own) => {
    const rules = policy.rules.filter(
      ({ kind, mode, match: { runnerIds } }) =>
        kind === own.kind &&
        mode !== 'off' &&
        // A rule that names other runners says nothing about this one.
        (runnerIds === undefined || runnerId === undefined || runnerIds.has(runnerId)),
    );
    return checksOf(own).flatMap(([path, value]): readonly ImportNote[] => {
      const key = path.join('.');
      const line = own.from.find(({ check }) => check === key)?.line ?? own.from[0]?.line ?? 0;
      const effects = rules.map(({ id, mode, order }) => ({
        name: `rule ${id} (${mode})`,
        effect: effectOf(own, path, value, written[order] ?? {}),
      }));
      const names = (...of: readonly (PolicyEffect | undefined)[]): string =>
        effects.flatMap(({ name, effect }) => (of.includes(effect) ? [name] : [])).join(', ');
      const refusing = names('loosens', 'could loosen');
      const admitting = names('tightens', 'could loosen');
      const why = admitting === '' ? `no rule of kind ${own.kind} restricts it` : `${admitting} may admit`;
      const admits = `${key}: ${why}, so jobs are started that the Runner fails`;
      const refuses = `${key}: ${refusing} may refuse what the Runner takes`;
      return [
        ...(names('loosens', 'neutral') === ''
          ? [{ code: 'policy_admits' as const, line, text: admits }]
          : []),
        ...(refusing === '' ? [] : [{ code: 'policy_refuses' as const, line, text: refuses }]),
      ];
    });
  });

type CheckedPath = readonly [key: string, resource?: string];

/** Lists and values one by one; the caps of a container each. */
const checksOf = ({ checks }: ImportedRule): readonly (readonly [CheckedPath, unknown])[] =>
  Object.entries(checks)
    .filter(([key, value]) => !MANNERS.includes(key) && !(Array.isArray(value) && value.length === 0))
    .flatMap(([key, value]): readonly (readonly [CheckedPath, unknown])[] =>
      isRecord(value)
        ? Object.entries(value).map(([name, each]) => [[key, name], each] as const)
        : [[[key], value]],
    );

/** As if the policy's rule became the Runner's: what loosens then is what the policy refuses more. Undefined: it says nothing. */
function effectOf(
  { kind }: ImportedRule,
  [key, resource]: CheckedPath,
  to: unknown,
  written: WrittenEntry,
): PolicyEffect | undefined {
  const caps = entryOf(written[key]);
  // `cpu` of a policy stands for `cpu_limit` and `cpu_request`.
  const value =
    resource === undefined
      ? written[key]
      : (caps[resource] ?? caps[resource.replace(/_(?:request|limit)$/, '')]);
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return undefined;
  // YAML reads `1000` as a number and `"1000"` as a text; both are meant.
  const all = Array.isArray(value) ? value.map(String) : value;
  const from = kind === 'image' || kind === 'services' ? withoutCovered(all, to) : all;
  // Every image of the policy is among those of the Runner.
  if (Array.isArray(from) && from.length === 0) return 'loosens';
  if (leaves(from, to).length === 0) return 'neutral';
  return ruleEffect(kind, { path: resource === undefined ? [key] : [key, resource], from, to });
}

/** The patterns without the names that a pattern of the Runner matches. Those in both lists stay. */
function withoutCovered(from: unknown, to: unknown): unknown {
  if (!Array.isArray(from) || !Array.isArray(to)) return from;
  const patterns = to.map((pattern) => compileWildcard(String(pattern)));
  const isCovered = (name: string): boolean =>
    !/[*?[{\\$]/.test(name) && patterns.some((each) => each.ok && each.wildcard.matches(name));
  return from.filter((each) => to.includes(each) || !isCovered(each));
}
