import { basename, resolve } from 'node:path';
import { isRecord } from '../../../policies/document/reading.ts';
import { MODES, type Mode } from '../../../policies/mode.ts';
import { policyIn } from '../../policy/read-documents.ts';
import { parseYaml } from '../../policy/yaml-document.ts';
import { EXIT, UsageError } from '../../terminal/command.ts';
import { choice, command, text, whole, word } from '../../terminal/define.ts';
import { printable, screenOf } from '../../terminal/table.ts';
import { readUserFile } from '../../terminal/user-file.ts';
import { comment, quotedText } from '../init/drafts.ts';
import { type ImportedRule, type RunnerSection, readRunnerConfig, rulesOfRunner } from './import-rules.ts';

const policyImport = command({
  name: 'policy import',
  about: `Prints rules that do the same as this Runner: allowed_images, allowed_services, services_limit, pull policies, users,
*_overwrite_allowed and *_overwrite_max_allowed. Put them under rules of your policy. Settings that no rule can express are listed as
warnings. Tokens in the file are never printed.`,
  words: { config: word('<config.toml>', 'the configuration of a GitLab Runner') },
  expects: 'one config.toml',
  flags: {
    mode: choice('<mode>', 'of the rules (default: shadow): ', MODES),
    'runner-id': text(
      '<id>',
      "GitLab's id of the runner, if the file has one [[runners]] without it",
      whole(1, 2 ** 31),
    ),
  },
  examples: ['tollgate policy import config.toml --runner-id 17 > rules.yaml'],
  exits: { 1: 'a file cannot be read', 3: 'wrong usage or an invalid file' },
  run: async ({ flags, words: { config: path } }, io) => {
    const { mode = 'shadow', 'runner-id': given } = flags;
    const sections = readRunnerConfig(readUserFile(resolve(io.cwd, path), path), path);
    const unnamed = sections.filter(({ id }) => id === undefined);
    if (given !== undefined && unnamed.length !== 1)
      throw new UsageError(
        `--runner-id: expected one [[runners]] without an id, the file has ${unnamed.length}`,
      );
    const runners = importRunners(sections, given);
    const rules = rulesText(runners, printable(basename(path)), mode);
    checkImported(rules);
    if (flags.json) io.out(`${JSON.stringify({ rules, runners })}\n`);
    else {
      io.out(rules);
      const screen = screenOf(io);
      for (const { name, warnings } of runners)
        for (const warning of warnings)
          io.err(`${screen.warn('warning')} ${printable(`runner ${JSON.stringify(name)}: ${warning}`)}\n`);
    }
    return EXIT.ok;
  },
});

export const commands = [policyImport];

/** @param given - id of the runner that has none in the file. */
export function importRunners(sections: readonly RunnerSection[], given?: number) {
  const seen = new Set<number>();
  return sections.map((section, index) => {
    const { name, executor, id: runnerId = given } = section;
    const warnings: string[] = [];
    if (runnerId === undefined) warnings.push('has no id, so its rules are off; name it with --runner-id');
    const isNew = runnerId !== undefined && !seen.has(runnerId);
    if (runnerId !== undefined) seen.add(runnerId);
    const prefix = isNew ? `runner-${runnerId}` : `runner-section-${index + 1}`;
    const rules = rulesOfRunner(section, (warning) => warnings.push(warning)).map((rule) => ({
      id: `${prefix}-${rule.kind}`,
      ...rule,
    }));
    return { name, executor, ...(runnerId !== undefined && { runnerId }), rules, warnings };
  });
}

type ImportedRunner = ReturnType<typeof importRunners>[number];

/** @throws {DocumentError} for invalid rules, which is our defect, or a list above the policy's bound. */
function checkImported(rules: string): void {
  const prices = 'prices: { version: "1", classes: [{ name: any, rate_per_minute: 0 }], default_class: any }';
  policyIn(parseYaml(`currency: EUR\n${prices}\nestimate: { default: 10m }\n${rules}`, 'imported rules'));
}

export function rulesText(runners: readonly ImportedRunner[], file: string, mode: Mode): string {
  const parts = runners.flatMap(({ name, executor, runnerId, rules }) => [
    `\n${comment(`Runner ${JSON.stringify(name)} of ${file}, executor ${executor}.`, '  ')}`,
    ...rules.map((rule) => ruleText(rule, runnerId, mode)),
  ]);
  const hasRules = runners.some(({ rules }) => rules.length > 0);
  return `rules:${hasRules ? '' : ' []'}${parts.join('')}`;
}

const ruleText = (
  { id, kind, onMissing, checks, from }: ImportedRule & { readonly id: string },
  runnerId: number | undefined,
  mode: Mode,
): string =>
  [
    comment(from.join(', '), '  '),
    `  - id: ${quotedText(id)}\n`,
    `    kind: ${kind}\n`,
    // A rule without a match would be about every runner.
    runnerId === undefined
      ? '    mode: off\n'
      : `    mode: ${mode}\n    match: { runner_ids: [${runnerId}] }\n`,
    `    on_missing: ${onMissing}\n`,
    ...Object.entries(checks).map(([key, value]) =>
      Array.isArray(value) && value.length > 0
        ? `    ${key}:\n${value.map((each) => `      - ${quotedText(each)}\n`).join('')}`
        : `    ${key}: ${flowText(value)}\n`,
    ),
  ].join('');

function flowText(value: unknown): string {
  if (!isRecord(value)) return quotedText(value);
  const keys = Object.entries(value).map(([name, each]) => `${name}: ${flowText(each)}`);
  return `{ ${keys.join(', ')} }`;
}
