/** `npm run rehearse:versions -- v1.2.0`: another version and this one work in turns on one ledger, up and back down. */
import { deepStrictEqual } from 'node:assert';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { cloneHere } from '../support/clone.ts';

/** Ends a command that waits for what never comes. */
const LIMIT = 'timeout 300';
const JOBS = 'npm start -- --rate 200 --jobs 160';
const RECOUNT = 'npx tollgate rebuild';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const commit = process.argv[2] ?? 'HEAD~1';
using here = cloneHere();
using there = cloneHere(commit);
type Clone = typeof here;
mkdirSync(join(here.folder, '.tollgate'));
symlinkSync(join(here.folder, '.tollgate'), join(there.folder, '.tollgate'));

async function run(clone: Clone, command: string): Promise<string> {
  const { code, out, err } = await clone.sh(`${LIMIT} ${command}`);
  const version = clone === here ? 'this version' : commit;
  if (code !== 0)
    throw new Error(`${version}: ${command}\nexit ${code}\n${out.slice(-1500)}${err.slice(-1500)}`);
  say(`ok  ${version.padEnd(12)}  ${command}`);
  return out;
}

try {
  for (const [clone, edit] of [
    [there, 'limits publish policies/limits.yaml --why "first set"'],
    [here, 'budget grant acme/payments 0.10EUR --until 2099-12-31 --reason "release week"'],
    [there, 'budget set acme/payments "7 EUR/month" --thresholds "80 100" --reason "new year"'],
    [here, 'budget set acme/payments "6.50 EUR/month" --thresholds "forecast 100" --reason "growth"'],
    [there, 'budget undo --confirm --reason "too early"'],
  ] as const) {
    await run(clone, JOBS);
    await run(clone, `npx tollgate ${edit}`);
    for (const each of [here, there]) await run(each, RECOUNT);
  }
  const [ours, theirs] = await Promise.all(
    [here, there].map(async (each) => JSON.parse(await run(each, 'npx tollgate budget ls --json'))),
  );
  deepStrictEqual(ours, theirs);
  say('Both versions show the same limits, used and held amounts.');
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
