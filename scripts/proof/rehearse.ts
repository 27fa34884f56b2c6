/** `npm run rehearse`: a whole deployment on an AWS emulator, from bootstrap to destroy, with the real CDK command line. */

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pythonTools } from '../build/python-tools.ts';
import { writeRenumbered } from '../local/router/schemas.ts';
import { parseInput, text } from '../terminal/flags.ts';
import { runProgram } from '../terminal/program.ts';
import { COURSE } from './rehearse/course.ts';
import { failingFile } from './rehearse/deploy-steps.ts';
import { awsEnvFor, type RehearsalPlace } from './rehearse/deployed.ts';
import { startEmulator } from './rehearse/emulator.ts';
import { NOT_REHEARSED, runSteps, type Step, type StepResult } from './rehearse/step.ts';
import { rehearseUpgrade } from './rehearse/upgrade.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** It takes 40 s on a quiet machine of two cores. */
const REHEARSAL_MS_MAX = 20 * 60_000;
const BUNDLE_MS_MAX = 180_000;

const HELP = `npm run rehearse -- [--since <ref>] [--json]

Deploys Tollgate to an AWS emulator on this machine (moto, in .tollgate/venv, installed once from PyPI) with the real CDK
command line: bootstrap, deploy, update, destroy. In between the deployed names are used: parameters, the table, the
functions' own code and environment, the relay's bundle before a job router with other field numbers than the placeholder's, a
limit in Parameter Store, tollgate budget, the console's sign-in. At the end the functions of an older version and of this one
work on one table.
Needs Python 3.10 or newer with venv, git, and Java for the last step; no account, no Docker.

  --since <ref>  the older version that must get on with this one; the newest tag, or the commit before the last
  --json         one JSON object at the end, progress to stderr

– in the output means: not possible here, for the reason told.

Exit codes: 0 all of it went as it should, 1 something did not, 3 wrong usage`;

const MARKS = { passed: '✓', failed: '✗', not_possible: '–' } as const;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const line = ({ outcome, name, detail, tookMs }: StepResult): string =>
  `${MARKS[outcome]} ${name} (${seconds(tookMs)})\n    ${detail.split('\n').join('\n    ')}`;

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    console.log(HELP);
    return 0;
  }
  const { json, since } = parseInput(args, { since: text('<ref>', '') }, {}).flags;
  const say = json ? console.error : console.log;
  const programs = pythonTools({ root, onInstall: (what) => say(`Installing ${what} …`) });
  mkdirSync(join(root, '.tollgate'), { recursive: true });
  const folder = mkdtempSync(join(root, '.tollgate', 'rehearsal-'));
  const descriptors = writeRenumbered(join(folder, 'gitlab.binpb'));
  say('Building the bundles …');
  const bundle = [join(root, 'scripts/build/bundle.ts'), '--descriptors', descriptors];
  await promisify(execFile)(process.execPath, bundle, { cwd: root, timeout: BUNDLE_MS_MAX });
  const emulator = await startEmulator(join(programs, 'python'), failingFile(folder));
  const stop = async (code: number): Promise<never> => {
    await emulator.stop();
    rmSync(folder, { recursive: true, force: true });
    process.exit(code);
  };
  process.on('SIGINT', () => stop(130));
  process.on('SIGTERM', () => stop(143));
  const overdue = setTimeout(() => {
    console.error(`It has not ended in ${seconds(REHEARSAL_MS_MAX)} and was given up.`);
    void stop(1);
  }, REHEARSAL_MS_MAX);
  say(`AWS is played by ${emulator.endpoint}\n`);
  const place: RehearsalPlace = {
    emulator,
    folder,
    descriptors,
    python: join(programs, 'python'),
    awsEnv: awsEnvFor(emulator.endpoint, folder),
  };
  const upgrade: Step<RehearsalPlace> = {
    name: 'an older version and this one keep the same books, both ways',
    run: () => rehearseUpgrade({ root, folder, since }),
  };
  const results = await runSteps<RehearsalPlace>([...COURSE, upgrade], place, {
    nowMs: () => performance.now(),
    onResult: (result) => say(line(result)),
  });
  clearTimeout(overdue);
  const failed = results.some(({ outcome }) => outcome === 'failed');
  if (failed) for (const crash of emulator.crashes()) say(`  the emulator broke: ${crash}`);
  const ignoredTypes = emulator.ignoredTypes();
  say(`\nIgnored by the emulator: ${ignoredTypes.join(', ') || 'nothing'}`);
  say(`Not shown by a rehearsal:\n${NOT_REHEARSED.map((each) => `  - ${each}`).join('\n')}`);
  if (json)
    process.stdout.write(
      `${JSON.stringify({ passed: !failed, steps: results, ignoredTypes, notRehearsed: NOT_REHEARSED })}\n`,
    );
  return stop(failed ? 1 : 0);
}

await runProgram(() => main(process.argv.slice(2)), 'npm run rehearse -- --help');
