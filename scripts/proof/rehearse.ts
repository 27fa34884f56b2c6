import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pythonTools } from '../build/python-tools.ts';
import { writeRenumbered } from '../local/router/schemas.ts';
import { parseInput } from '../terminal/define.ts';
import { runProgram } from '../terminal/program.ts';
import { runRehearsal } from './rehearse/course.ts';
import { deploymentAt } from './rehearse/deployed.ts';
import { startEmulator } from './rehearse/emulator.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const REHEARSAL_MS_MAX = 20 * 60_000;
const BUNDLE_MS_MAX = 180_000;

const HELP = `npm run rehearse

Deploys Tollgate to an AWS emulator on this machine (moto, in .tollgate/venv, installed once from PyPI) with the real
commands: bootstrap, deploy, update, destroy. Deploy and update fail at each of their steps once, and are only run again.
In between the deployed names are used: parameters, the table, the
functions' own code and environment, the relay's bundle before a job router with other field numbers than the placeholder's,
the console's sign-in.
The emulator checks no rights, calls no function by a URL, stream or schedule, starts no container, and measures nothing.
Needs Python 3.10 or newer with venv; no account, no Docker.

Exit codes: 0 all of it went as it should, 1 something did not, 3 wrong usage`;

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    console.log(HELP);
    return 0;
  }
  parseInput(args, {}, {});
  const programs = pythonTools();
  mkdirSync(join(root, '.tollgate'), { recursive: true });
  const folder = mkdtempSync(join(root, '.tollgate', 'rehearsal-'));
  const descriptors = writeRenumbered(join(folder, 'gitlab.binpb'));
  console.log('Building the bundles …');
  const bundle = [join(root, 'scripts/build/bundle.ts'), '--descriptors', descriptors];
  await promisify(execFile)(process.execPath, bundle, { cwd: root, timeout: BUNDLE_MS_MAX });
  const python = join(programs, 'python');
  const emulator = await startEmulator(python);
  const stop = async (code: number): Promise<never> => {
    await emulator.stop();
    rmSync(folder, { recursive: true, force: true });
    process.exit(code);
  };
  process.on('SIGINT', () => stop(130));
  process.on('SIGTERM', () => stop(143));
  const overdue = setTimeout(() => {
    console.error(`It has not ended in ${REHEARSAL_MS_MAX / 60_000} minutes and was given up.`);
    void stop(1);
  }, REHEARSAL_MS_MAX);
  const passed = await runRehearsal(deploymentAt(emulator, folder, descriptors, python));
  clearTimeout(overdue);
  if (!passed) for (const crash of emulator.crashes()) console.log(`  the emulator broke: ${crash}`);
  return stop(passed ? 0 : 1);
}

await runProgram(() => main(process.argv.slice(2)), 'npm run rehearse -- --help');
