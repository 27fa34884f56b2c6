import { isRecord } from '../../../../policies/document/reading.ts';
import type { Mode } from '../../../../policies/mode.ts';
import { comment, quotedText } from '../../init/written-yaml.ts';
import type { ImportedClass, ImportedRule, ImportedRunner } from './imported-rule.ts';

interface TextOptions {
  /** Name of the config.toml in comments. */
  readonly file: string;
  readonly mode: Mode;
}

/** The rules of all runners as a document, to be put under `rules` of a policy. Comments say the class of each runner. */
export function rulesText(runners: readonly ImportedRunner[], options: TextOptions): string {
  const parts = runners.map((runner) => {
    const { name, line, executor, runnerId } = runner;
    const id = runnerId === undefined ? ', whose id is not told' : `, runner ${runnerId}`;
    const title = `Runner ${JSON.stringify(name)} (${options.file}:${line}), executor ${executor}${id}.`;
    return [
      `\n${comment(title, '  ')}`,
      `  # Its runner class: ${classText(runner.class)}\n`,
      ...runner.rules.map((rule) => ruleText(rule, runner, options)),
    ].join('');
  });
  const hasRules = runners.some(({ rules }) => rules.length > 0);
  return `rules:${hasRules ? '' : ' []'}${parts.join('')}`;
}

/** `{ cpu: "500m", overwrites: { cpu_request: "2" } }`: keys of a runner class. */
function classText({ cpu, memory, overwrites }: ImportedClass): string {
  const maxima =
    overwrites === 'none'
      ? 'none'
      : `{ ${Object.entries(overwrites)
          .map(([key, max]) => `${key}: ${quotedText(max)}`)
          .join(', ')} }`;
  const keys = [
    ...(cpu === undefined ? [] : [`cpu: ${quotedText(cpu)}`]),
    ...(memory === undefined ? [] : [`memory: ${quotedText(memory)}`]),
    `overwrites: ${maxima}`,
  ];
  return `{ ${keys.join(', ')} }`;
}

function ruleText(rule: ImportedRule, { runnerId }: ImportedRunner, { file, mode }: TextOptions): string {
  const from = rule.from.map(({ setting, line }) => `${file}:${line} ${setting}`).join(', ');
  return [
    comment(from, '  '),
    `  - id: ${quotedText(rule.id)}\n`,
    `    kind: ${rule.kind}\n`,
    // A rule without a match would be about every runner.
    `    mode: ${runnerId === undefined ? 'off' : mode}\n`,
    ...(runnerId === undefined ? [] : [`    match: { runner_ids: [${runnerId}] }\n`]),
    `    on_missing: ${rule.onMissing}\n`,
    ...Object.entries(rule.checks).map(([key, value]) => checkText(key, value)),
  ].join('');
}

/** Lists of patterns and users one a line. */
function checkText(key: string, value: unknown): string {
  if (Array.isArray(value) && value.length > 0)
    return `    ${key}:\n${value.map((each) => `      - ${quotedText(each)}\n`).join('')}`;
  if (!isRecord(value)) return `    ${key}: ${quotedText(value)}\n`;
  const caps = Object.entries(value).map(([name, each]) => `${name}: ${quotedText(each)}`);
  return `    ${key}: { ${caps.join(', ')} }\n`;
}
