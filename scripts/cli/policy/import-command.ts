import { basename, resolve } from 'node:path';
import { isRecord } from '../../../policies/document/reading.ts';
import { MODES, type Mode } from '../../../policies/mode.ts';
import { locatePolicy, policyIn } from '../../policy/read-documents.ts';
import { parseYaml } from '../../policy/yaml-document.ts';
import { EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command } from '../../terminal/define-command.ts';
import { choice, text, whole, word } from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { readUserFile } from '../../terminal/user-file.ts';
import { comment, quotedText } from '../init/written-yaml.ts';
import { RULES_FLAGS, rulesFiles } from '../rules-flags.ts';
import { type ImportedRule, type ImportedRunner, importRunner, type NoteCode } from './import-rules.ts';
import { contradictionsOf } from './policy-contradictions.ts';
import { readRunnerConfig } from './runner-config.ts';
import { entriesAt } from './written-document.ts';

const policyImport = command({
  name: 'policy import',
  about: `Prints rules that do the same as this Runner: allowed_images, allowed_services, services_limit, pull policies, users,
*_overwrite_allowed and *_overwrite_max_allowed, each with a comment that names the line. Put them under rules of your policy. Another
comment has cpu, memory and overwrites of the runner's class: put them into that class of your prices.

Separately it lists: where the policy admits a job that the Runner fails or rejects one that it takes; where a rule cannot say the
same; and what the Runner gives its jobs that no rule sees (privileged, capabilities, volumes, namespaces …). Tokens in the file are
never printed.`,
  words: { config: word('<config.toml>', 'the configuration of a GitLab Runner') },
  expects: 'one config.toml',
  flags: {
    policy: RULES_FLAGS.policy,
    mode: choice('<mode>', 'of the rules (default: shadow): ', MODES),
    'runner-id': text(
      '<id>',
      "GitLab's id of the runner, if the file has one [[runners]] without it",
      whole(1, 2 ** 31),
    ),
  },
  examples: ['tollgate policy import config.toml --runner-id 17 > rules.yaml'],
  exits: {
    0: 'no contradiction',
    1: 'a file cannot be read',
    2: 'the policy admits jobs that the Runner fails',
    3: 'wrong usage or an invalid file',
  },
  run: async ({ flags, words }, io) => importConfig(words.config, flags, io),
});

export const commands = [policyImport];

interface ImportFlags {
  readonly policy: string | undefined;
  readonly mode: Mode | undefined;
  readonly 'runner-id': number | undefined;
  readonly json: boolean;
}

function importConfig(path: string, flags: ImportFlags, io: TerminalIo): ExitCode {
  const { mode = 'shadow', 'runner-id': given } = flags;
  const sections = readRunnerConfig(readUserFile(resolve(io.cwd, path), path), path);
  const untold = sections.filter(({ id }) => id === undefined);
  if (given !== undefined && untold.length !== 1)
    throw new UsageError(
      `--runner-id: expected one [[runners]] without an id, the file has ${untold.length}`,
    );
  const { model: policy, document } = locatePolicy(rulesFiles(flags, io).policy);
  const byId = Map.groupBy(sections, ({ id }) => id);
  const runners = sections.map((section) => {
    const isShared = section.id !== undefined && (byId.get(section.id)?.length ?? 0) > 1;
    const runner = importRunner(section, section.id ?? given, isShared);
    const notes = [...contradictionsOf(runner, policy, entriesAt(document.value, 'rules')), ...runner.notes];
    return { ...runner, notes };
  });
  const rules = rulesText(runners, { file: printable(basename(path)), mode });
  checkImported(rules);
  if (flags.json) {
    const shown = runners.map((runner) => ({ ...runner, rules: runner.rules.map(({ id }) => id) }));
    io.out(`${JSON.stringify({ rules, runners: shown })}\n`);
  } else {
    io.out(rules);
    const paint = paintWhen(io.colours);
    for (const { name, line, notes } of runners) {
      io.err(`${printable(`Runner ${JSON.stringify(name)}, ${path}:${line}`)}\n`);
      for (const note of notes) {
        const title = paint[note.code === 'policy_admits' ? 'bad' : 'warn'](TITLES[note.code]);
        io.err(`  ${printable(path)}:${note.line} ${title}: ${printable(note.text)}\n`);
      }
    }
  }
  const isWrong = runners.some(({ notes }) => notes.some(({ code }) => code === 'policy_admits'));
  return isWrong ? EXIT.wouldReject : EXIT.ok;
}

/** @throws {DocumentError} for invalid rules, which is our defect, or a list above the policy's bound. */
function checkImported(rules: string): void {
  const prices = 'prices: { version: "1", classes: [{ name: any, rate_per_minute: 0 }], default_class: any }';
  policyIn(parseYaml(`currency: EUR\n${prices}\nestimate: { default: 10m }\n${rules}`, 'imported rules'));
}

const TITLES: Readonly<Record<NoteCode, string>> = {
  policy_admits: 'the policy admits it, the Runner fails it',
  policy_refuses: 'the policy refuses it, the Runner takes it',
  no_rule: 'the Runner allows it, no rule can',
  not_seen: 'the Runner decides it, no rule sees it',
  rule_stricter: 'the rule is stricter',
  rule_looser: 'the rule is looser',
  no_effect: 'has no effect',
  unrestricted: 'the Runner restricts nothing',
  runner_not_told: 'to be filled',
};

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
      `  # Its runner class: ${flowText(runner.class)}\n`,
      ...runner.rules.map((rule) => ruleText(rule, runner, options)),
    ].join('');
  });
  const hasRules = runners.some(({ rules }) => rules.length > 0);
  return `rules:${hasRules ? '' : ' []'}${parts.join('')}`;
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
    // Lists of patterns and users one a line.
    ...Object.entries(rule.checks).map(([key, value]) =>
      Array.isArray(value) && value.length > 0
        ? `    ${key}:\n${value.map((each) => `      - ${quotedText(each)}\n`).join('')}`
        : `    ${key}: ${flowText(value)}\n`,
    ),
  ].join('');
}

/** `{ cpu: "500m", overwrites: { cpu_request: "2" } }`. */
function flowText(value: unknown): string {
  if (!isRecord(value)) return value === 'none' ? value : quotedText(value);
  const keys = Object.entries(value).map(([name, each]) => `${name}: ${flowText(each)}`);
  return `{ ${keys.join(', ')} }`;
}
