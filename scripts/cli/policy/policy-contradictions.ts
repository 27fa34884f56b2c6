import { compileWildcard } from '../../../policies/match/wildcard.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { Rule } from '../../../policies/rule.ts';
import { ruleEffect } from './diff/rule-directions.ts';
import { leaves, type PolicyEffect } from './diff/values.ts';
import type { ImportedRule, ImportedRunner, ImportNote } from './import-rules.ts';
import { entriesAt, entryOf, type WrittenEntry } from './written-document.ts';

/** A policy, and as it was written. */
interface WrittenPolicy {
  readonly policy: Policy;
  readonly document: unknown;
}

/** Keys that say how a rule reads the others. */
const MANNERS: readonly string[] = ['required', 'executors'];

/**
 * Lists contradictions between a policy and a Runner, by setting: values that the policy admits and the
 * Runner fails after the start, and values that only the policy refuses, which is its purpose.
 */
export function contradictionsOf(
  runner: ImportedRunner,
  { policy, document }: WrittenPolicy,
): readonly ImportNote[] {
  const written = entriesAt(document, 'rules');
  return runner.rules.flatMap((imported) => {
    const rules = policy.rules.filter(
      (rule) => rule.kind === imported.kind && mayMeet(rule, runner.runnerId),
    );
    return leavesOf(imported).flatMap(([path, value]) =>
      contradictions(
        imported,
        path,
        value,
        rules.map((rule) => ({ rule, written: written[rule.order] ?? {} })),
      ),
    );
  });
}

/** A rule that names other runners says nothing about this one. */
const mayMeet = ({ mode, match }: Rule, runnerId: number | undefined): boolean =>
  mode !== 'off' &&
  (match.runnerIds === undefined || runnerId === undefined || match.runnerIds.has(runnerId));

function contradictions(
  imported: ImportedRule,
  path: readonly string[],
  value: unknown,
  rules: readonly { readonly rule: Rule; readonly written: WrittenEntry }[],
): readonly ImportNote[] {
  const key = path.join('.');
  const line = imported.from.find(({ check }) => check === key)?.line ?? imported.from[0]?.line ?? 0;
  const effects = rules.flatMap(({ rule, written }) => {
    const effect = effectOf(imported, path, value, written);
    return effect === undefined ? [] : { rule, effect };
  });
  const ids = (of: readonly PolicyEffect[]): string =>
    effects
      .filter(({ effect }) => of.includes(effect))
      .map(({ rule }) => ruleText(rule))
      .join(', ');
  const tight = effects.some(({ effect }) => effect === 'loosens' || effect === 'neutral');
  const refusing = ids(['loosens', 'could loosen']);
  const admitting = ids(['tightens', 'could loosen']);
  return [
    ...(tight
      ? []
      : [
          {
            code: 'policy_admits' as const,
            line,
            text: `${key}: ${admitting === '' ? `no rule of kind ${imported.kind} restricts it` : `${admitting} may admit`}, so jobs are started that the Runner fails`,
          },
        ]),
    ...(refusing === ''
      ? []
      : [
          {
            code: 'policy_refuses' as const,
            line,
            text: `${key}: ${refusing} may refuse what the Runner takes`,
          },
        ]),
  ];
}

/** As if the policy's rule became the Runner's: what loosens then is what the policy refuses more. Undefined: it says nothing. */
function effectOf(
  imported: ImportedRule,
  path: readonly string[],
  to: unknown,
  written: WrittenEntry,
): PolicyEffect | undefined {
  const all = textsIn(valueAt(written, path));
  if (all === undefined || (Array.isArray(all) && all.length === 0)) return undefined;
  const from = IMAGE_KINDS.has(imported.kind) ? withoutCovered(all, to) : all;
  // Every image of the policy is among those of the Runner.
  if (Array.isArray(from) && from.length === 0) return 'loosens';
  if (leaves(from, to).length === 0) return 'neutral';
  return ruleEffect(imported.kind, { path, from, to });
}

const IMAGE_KINDS: ReadonlySet<string> = new Set(['image', 'services']);

/** The patterns without the names that a pattern of the Runner matches. Those in both lists stay. */
function withoutCovered(from: unknown, to: unknown): unknown {
  if (!Array.isArray(from) || !Array.isArray(to)) return from;
  const patterns = to.map((pattern) => compileWildcard(String(pattern)));
  const isCovered = (name: string): boolean =>
    !/[*?[{\\$]/.test(name) && patterns.some((each) => each.ok && each.wildcard.matches(name));
  return from.filter((each) => to.includes(each) || !isCovered(each));
}

/** YAML reads `1000` as a number and `"1000"` as a text; both are meant. */
const textsIn = (value: unknown): unknown => (Array.isArray(value) ? value.map(String) : value);

/** `cpu` of a policy stands for `cpu_limit` and `cpu_request`. */
function valueAt(written: WrittenEntry, [key = '', second]: readonly string[]): unknown {
  if (second === undefined) return written[key];
  const caps = entryOf(written[key]);
  return caps[second] ?? caps[second.replace(/_(?:request|limit)$/, '')];
}

/** Lists and values one by one; the caps of a container each. */
const leavesOf = ({ checks }: ImportedRule): readonly (readonly [readonly string[], unknown])[] =>
  Object.entries(checks)
    .filter(([key, value]) => !MANNERS.includes(key) && !(Array.isArray(value) && value.length === 0))
    .flatMap(([key, value]): readonly (readonly [readonly string[], unknown])[] =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.entries(value).map(([name, each]) => [[key, name], each] as const)
        : [[[key], value]],
    );

const ruleText = ({ id, mode }: Rule): string => `rule ${id} (${mode})`;
