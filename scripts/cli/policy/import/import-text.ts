import { isRecord } from '../../../../policies/document/reading.ts';
import type { Mode } from '../../../../policies/mode.ts';
import { comment, quotedText } from '../../init/written-yaml.ts';
import type { ImportedRule, ImportedRunner } from './imported-rule.ts';

interface TextOptions {
  /** What comments call the config.toml. */
  readonly file: string;
  readonly mode: Mode;
}

/** The rules of all runners as a document of their own, to be put under `rules` of a policy. */
export function rulesText(runners: readonly ImportedRunner[], options: TextOptions): string {
  const rules = runners.flatMap((runner) => {
    const what = `Runner ${JSON.stringify(runner.name)} (${options.file}:${runner.line}), executor ${runner.executor}${runner.runnerId === undefined ? ', whose id is not told' : `, runner ${runner.runnerId}`}.`;
    return runner.rules.length === 0
      ? []
      : [`\n${comment(what, '  ')}`, ...runner.rules.map((rule) => ruleText(rule, runner, options))];
  });
  return rules.length === 0 ? 'rules: []\n' : `rules:${rules.join('')}`;
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
