import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { collectProblems } from '../../policy/yaml-document.ts';
import { DocumentError, EXIT, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command, orElse, severalWords, text, whole } from '../../terminal/define.ts';
import { shortPath, writeUserFile } from '../../terminal/user-file.ts';
import { readFixtures } from './fixtures/read-fixtures.ts';
import { junitXml, printRun, runFixtures, runJson } from './fixtures/run-fixtures.ts';

/** More files than real fixtures have. */
const FILES_MAX = 10_000;

const policyTest = command({
  name: 'policy test',
  about: `Sends the requests of fixture files to the code that decides in production, with the clock, the counters and the limits
that each of them names, and compares decision, codes, rules, shadow findings and text.

A file of fixtures; policies/policy.test.yaml is an example:
  policy, limits, directory   documents, from the folder of the file (default: those of this project)
  defaults                    shared by all tests; a test's own keys win, requests are merged
  tests                       a list of
    name       what is guaranteed
    now        the clock, 2026-11-21T12:00Z
    request    project or group (found in the directory, by path or id), name, stage, image, services, tags,
               runner_tags, runner, timeout, variables, pull_policy, environment, ref, protected, source, user, or any
               field of an admission request, such as project_id. An image may be {name, pull_policy, docker: {user},
               kubernetes: {user}}. null: GitLab sends no such field
    counters   [{group: 101, limit: money-month, spent: 7.40, held: 0.10}] in the units of limits.yaml. Subjects:
               instance: true, group, project, runner_class, user.
               {pipeline: 7, started: 3}: jobs of the pipeline that were admitted before, which gives it its grace.
               {breakglass: outage, used: 20}: jobs it admitted in the current period
    limits     entries of limits.yaml that replace entries on the same subject with the same id. Likewise group_defaults,
               grants, freezes, breakglass and rollout; the test's own stand first
    expect     admitted, or rejected, or {decision, code, rule, shadow, text, cost, runner_class}. All names must be
               listed, in any order; shadow takes codes and rule ids; text takes parts of the message`,
  words: {
    files: severalWords('[files or folders]', 'default: all policies/**/*.test.yaml of this project', [
      0,
      FILES_MAX,
    ]),
  },
  flags: {
    policy: text('<file>', 'in place of the policy that the fixtures name: test a candidate'),
    limits: text('<file>', 'likewise'),
    directory: text('<file>', 'likewise'),
    'coverage-min': orElse(text('<percent>', 'fails if fewer rules acted in some test', whole(0, 100)), 0),
    junit: text('<file>', 'also writes JUnit XML, for artifacts:reports:junit'),
  },
  examples: ['tollgate policy test', 'tollgate policy test --coverage-min 90 --junit report.xml'],
  exits: {
    0: 'all as expected',
    1: 'a file cannot be written',
    2: 'a test failed or too little coverage',
    3: 'wrong usage, an invalid fixture or document',
  },
  run: async ({ flags, words }, io) => {
    const { 'coverage-min': percentMin, junit } = flags;
    const shown = (file: string): string => shortPath(file, io.cwd);
    // Nothing runs before all files could be read.
    const problems: string[] = [];
    const fixtures = fixtureFiles(words.files, io).flatMap(
      (file) => collectProblems(problems, () => readFixtures(file, flags, io)) ?? [],
    );
    if (problems.length > 0) throw new DocumentError([...new Set(problems)]);
    const run = await runFixtures(fixtures);
    if (junit !== undefined)
      writeUserFile(resolve(io.cwd, junit), junitXml(run, shown), `--junit "${junit}"`);
    if (flags.json) io.out(`${JSON.stringify(runJson(run, shown))}\n`);
    else printRun(run, shown, io);
    const isCovered = run.coveragePercent >= percentMin;
    if (!isCovered) io.err(`coverage is ${run.coveragePercent} %; --coverage-min wants ${percentMin} %\n`);
    return isCovered && run.failed === 0 ? EXIT.ok : EXIT.wouldReject;
  },
});

export const commands = [policyTest];

/** Files that are named, all `*.test.yaml` of a folder that is named, else those under `policies/`. */
function fixtureFiles(words: readonly string[], io: Pick<TerminalIo, 'cwd' | 'root'>): readonly string[] {
  const named = words.length === 0 ? [`${io.root}policies`] : words;
  const files = named.flatMap((word) => filesAt(resolve(io.cwd, word)));
  if (files.length === 0)
    throw new UsageError(`${named.join(' ')}: has no *.test.yaml; name a file of fixtures`);
  return [...new Set(files)];
}

function filesAt(path: string): readonly string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined)
    throw new UsageError(`${path}: is not there; expected a file of fixtures or a folder`);
  if (!stats.isDirectory()) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.test\.ya?ml$/.test(name) && !name.includes('node_modules'))
    .sort()
    .map((name) => join(path, name));
}
