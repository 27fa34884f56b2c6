/** Rules about what jobs may overwrite of their pods, as a Runner allows it. */
import { Reading } from '../../../../policies/document/reading.ts';
import { parseQuantity } from '../../../../policies/kubernetes/quantity.ts';
import { readCaps, readOverwrites } from '../../../../policies/kubernetes/resource-caps.ts';
import { OVERWRITE_NAMES } from '../../../../policies/kubernetes/resource-variables.ts';
import { compileRegex } from '../../../../policies/match/regex.ts';
import type { ImportedPart } from './imported-part.ts';
import type { ImportedClass, ImportNote, RuleSource } from './imported-rule.ts';
import { type RunnerSection, textOf } from './runner-config.ts';

export function importOverwrites({ settings }: RunnerSection): ImportedPart {
  const checks: Record<string, unknown> = {};
  const from: RuleSource[] = [];
  const notes: ImportNote[] = [];
  for (const name of OVERWRITE_NAMES) {
    const setting = settings.get(`kubernetes.${name}_overwrite_allowed`);
    const pattern = textOf(setting);
    if (name === 'bearer_token' || setting === undefined || pattern === undefined) continue;
    const compiled = compileRegex(pattern);
    if (compiled.ok) {
      checks[name] = pattern;
      from.push({ setting: `${name}_overwrite_allowed`, line: setting.line, check: name });
    } else
      notes.push({
        code: 'rule_looser',
        line: setting.line,
        text: `${name}_overwrite_allowed ${compiled.problem}: no rule is made of it`,
      });
  }
  // The Runner ignores disallowed overwrites: the job runs with its own value, so no rule refuses it.
  return from.length === 0
    ? { notes }
    : { rule: { kind: 'overwrites', onMissing: 'admit', checks, from }, notes };
}

const SUBJECTS = [
  { prefix: '', subject: 'build' },
  { prefix: 'helper_', subject: 'helper' },
  { prefix: 'service_', subject: 'service' },
  { prefix: 'pod_', subject: 'pod' },
] as const;
const RESOURCES = ['cpu', 'memory', 'ephemeral_storage'] as const;
const BOUNDS = ['request', 'limit'] as const;

export function importResources({ settings }: RunnerSection): ImportedPart {
  const checks: Record<string, Record<string, string>> = {};
  const from: RuleSource[] = [];
  const notes: ImportNote[] = [];
  for (const { prefix, subject } of SUBJECTS)
    for (const resource of RESOURCES) {
      const caps = BOUNDS.flatMap((bound) => {
        const name = `${prefix}${resource}_${bound}_overwrite_max_allowed`;
        const setting = settings.get(`kubernetes.${name}`);
        const text = textOf(setting);
        return setting === undefined || text === undefined ? [] : { bound, name, text, line: setting.line };
      });
      for (const { bound, name, text, line } of caps) {
        if (!isCap(subject, `${resource}_${bound}`, text)) {
          const isQuantity = parseQuantity(text) !== undefined;
          notes.push({
            code: 'rule_looser',
            line,
            text: `${name} is ${isQuantity ? 'no amount a rule takes' : 'no quantity, so the Runner fails every job that sets it'}: no rule is made of it`,
          });
          continue;
        }
        checks[subject] = { ...checks[subject], [`${resource}_${bound}`]: text };
        from.push({ setting: name, line, check: `${subject}.${resource}_${bound}` });
        if (bound === 'request' && caps.length === 1)
          notes.push({
            code: 'rule_stricter',
            line,
            text: `${name} stands alone: where a job sets only a limit, the rule takes that for its request, as Kubernetes would; the Runner ignores the limit`,
          });
      }
    }
  return from.length === 0
    ? { notes }
    : { rule: { kind: 'resources', onMissing: 'admit', checks, from }, notes };
}

/** Reads what the Runner gives a build and lets jobs overwrite. Only the Kubernetes executor reads such variables. */
export function importClass({ executor, settings }: RunnerSection): ImportedClass {
  if (executor !== 'kubernetes') return { overwrites: 'none' };
  const quantity = (name: string): string | undefined => {
    const text = textOf(settings.get(`kubernetes.${name}`));
    return text !== undefined && parseQuantity(text) !== undefined ? text : undefined;
  };
  // Kubernetes takes the limit of a container without a request for its request.
  const cpu = quantity('cpu_request') ?? quantity('cpu_limit');
  const memory = quantity('memory_request') ?? quantity('memory_limit');
  const maxima = SUBJECTS.flatMap(({ prefix }) =>
    ['cpu', 'memory'].flatMap((resource) =>
      BOUNDS.flatMap((bound) => {
        const key = `${prefix}${resource}_${bound}`;
        const text = quantity(`${key}_overwrite_max_allowed`);
        return text === undefined || !isOverwrite(key, text) ? [] : [[key, text] as const];
      }),
    ),
  );
  return {
    ...(cpu !== undefined && { cpu }),
    ...(memory !== undefined && { memory }),
    overwrites: maxima.length === 0 ? 'none' : Object.fromEntries(maxima),
  };
}

function isOverwrite(key: string, text: string): boolean {
  const reading = Reading.of({ [key]: text });
  readOverwrites(reading);
  return reading.problems.length === 0;
}

function isCap(subject: string, key: string, text: string): boolean {
  const reading = Reading.of({ [subject]: { [key]: text } });
  return readCaps(reading).length > 0 && reading.problems.length === 0;
}
