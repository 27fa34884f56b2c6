import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DocumentError } from '../../policy/yaml-document.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readFlags, readWhole } from '../../terminal/flags.ts';
import { writeUserFile } from '../../terminal/user-file.ts';
import { RULES_FLAGS, rulesFiles } from '../rules-flags.ts';
import { shortPath } from '../short-path.ts';
import type { Fixture } from './fixtures/fixture.ts';
import { BaseDocumentReader, readFixtures } from './fixtures/read-fixtures.ts';
import { junitXml, runJson, tellRun } from './fixtures/report.ts';
import { passed, runFixtures } from './fixtures/run-fixtures.ts';

/** More files than real fixtures have. */
const FILES_MAX = 10_000;

export const testCommand: Command = {
  name: 'policy test',
  summary: 'Do the policies decide what their fixtures expect?',
  help: `Asks the code that decides in production about the requests of fixture files, with the clock, the counters, the
limits and the prices each of them names, and compares decision, codes, rules, shadow findings and text.

Usage
  tollgate policy test [files or folders]   (default: every *.test.yaml under policies/ of this project)

  --policy, --limits, --directory <file>    in place of the documents the fixtures name: test a candidate
  --coverage-min <percent>                  fail if fewer rules acted in some test
  --junit <file>                            also write JUnit XML, for artifacts:reports:junit
  --json                                    one JSON object

A file of fixtures; policies/policy.test.yaml is an example
  policy, limits, directory   documents, from the folder of the file (default: those of this project)
  defaults                    what all tests share; a test's own keys win, requests are merged
  tests                       a list of
    name       what is guaranteed
    now        the clock, 2026-11-21T12:00Z
    request    project or group (found in the directory, by path or id), name, stage, image, services, tags,
               runner_tags, runner, timeout, variables, pull_policy, environment, ref, protected, source, user, or any
               field of an admission request, project_id or projectId. An image may be {name, pull_policy, docker: {user},
               kubernetes: {user}}. null: GitLab sends no such field
    counters   [{group: 101, limit: money-month, spent: 7.40, held: 0.10}] in the units of limits.yaml. Subjects:
               instance: true, group, project, runner_class, user. fitted: what counts in mode shadow or warn, if not all.
               {pipeline: 7, started: 3}: jobs of the pipeline that were admitted before, which gives it its grace.
               {breakglass: outage, used: 20}: jobs it let in in the period that runs
    limits     entries of limits.yaml in place of those on the same subject with the same id. Likewise group_defaults,
               grants, freezes, breakglass and rollout; the test's own stand first
    prices     {large: 0.12}, a minute of a runner class
    path       ledger, or fallback: as the relay decides while the function is out of reach
    expect     admitted, or rejected, or {decision, code(s), rule(s), shadow, text, cost, runner_class}. Names must be all
               there are, in any order; shadow takes codes and rule ids. text: parts, or {exactly: the whole}

Exit codes: 0 all as expected, 2 a test failed or too little coverage, 3 an invalid fixture or document`,
  run: test,
};

async function test(args: readonly string[], io: TerminalIo): Promise<ExitCode> {
  const { values, words } = readFlags(
    args,
    { ...RULES_FLAGS, 'coverage-min': 'text', junit: 'text' },
    { max: FILES_MAX, what: 'files of fixtures' },
  );
  const coverageMin = values['coverage-min'];
  const percentMin = coverageMin === undefined ? 0 : readWhole('coverage-min', coverageMin, 0, 100);
  const shown = (file: string): string => shortPath(file, io.cwd);
  const run = await runFixtures(readAll(fixtureFiles(words, io), values, io));
  if (values.junit !== undefined)
    writeUserFile(resolve(io.cwd, values.junit), junitXml(run, shown), `--junit "${values.junit}"`);
  const covered = run.coveragePercent >= percentMin;
  if (values.json) io.out(`${JSON.stringify(runJson(run, shown))}\n`);
  else tellRun(run, shown, io);
  if (!covered) io.err(`coverage is ${run.coveragePercent} %; --coverage-min wants ${percentMin} %\n`);
  return covered && run.results.every(passed) ? EXIT.ok : EXIT.wouldReject;
}

type Documents = {
  readonly policy?: string | undefined;
  readonly limits?: string | undefined;
  readonly directory?: string | undefined;
};

/** @throws {DocumentError} with the problems of all files, before anything runs. */
function readAll(files: readonly string[], flags: Documents, io: TerminalIo): readonly Fixture[] {
  const reader = new BaseDocumentReader();
  const given = rulesFiles(flags, io);
  const absolute = {
    policy: flags.policy && given.policy,
    limits: flags.limits && given.limits,
    directory: flags.directory && given.directory,
  };
  const own = rulesFiles({}, io);
  const problems: string[] = [];
  const fixtures = files.flatMap((file) => {
    try {
      return readFixtures(file, absolute, own, reader);
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
      problems.push(...error.problems.filter((problem) => !problems.includes(problem)));
      return [];
    }
  });
  if (problems.length > 0) throw new DocumentError(problems);
  return fixtures;
}

const FIXTURE_NAME = /\.test\.ya?ml$/;

/**
 * Files of fixtures: those that are named, all `*.test.yaml` of a folder that is named, else those under `policies/`.
 *
 * @throws {UsageError} if there is no such file, or none at all.
 */
export function fixtureFiles(
  words: readonly string[],
  io: Pick<TerminalIo, 'cwd' | 'root'>,
): readonly string[] {
  const named = words.map((word) => resolve(io.cwd, word));
  const files = (named.length === 0 ? [`${io.root}policies`] : named).flatMap(filesAt);
  if (files.length === 0)
    throw new UsageError(
      `${words.join(' ') || `${io.root}policies`}: has no *.test.yaml; name a file of fixtures`,
    );
  return [...new Set(files)];
}

function filesAt(path: string): readonly string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined)
    throw new UsageError(`${path}: is not there; expected a file of fixtures or a folder`);
  if (!stats.isDirectory()) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => FIXTURE_NAME.test(name) && !name.includes('node_modules'))
    .sort()
    .map((name) => join(path, name));
}
