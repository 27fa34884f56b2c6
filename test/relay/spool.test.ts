import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { UnmeteredAnswer } from '../../functions/core/contract/admissions.ts';
import type { RelayEvent } from '../../relay/events.ts';
import type { UnmeteredOutcome } from '../../relay/forward.ts';
import { openSpool, Spool } from '../../relay/spool.ts';
import { createUnmetered } from '../../relay/unmetered.ts';
import { handClock } from '../../scripts/local/clock/hand-clock.ts';
import { turn } from '../support/relay/commit-bench.ts';

let folder: string;
const file = () => join(folder, 'tollgate-answers.spool');
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-spool-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const anAnswer = (jobId: number): UnmeteredAnswer => ({
  request: { jobId, jobName: 'build', projectId: 1001, namespaceId: 101, rootNamespaceId: 100 },
  answered: 'admitted',
  cause: 'unreachable',
  answeredAtMs: 1_700_000_000_000,
});
const kept = (jobId: number) => ({ jobId, json: JSON.stringify(anAnswer(jobId)) });

const spool = (bytesMax?: number) => {
  const failures: unknown[] = [];
  const opened = new Spool({
    folder,
    failed: (error) => failures.push(error),
    ...(bytesMax !== undefined && { bytesMax }),
  });
  return { opened, failures };
};
const leftJobs = (left: readonly string[]): readonly number[] =>
  left.map((json) => (JSON.parse(json) as UnmeteredAnswer).request.jobId);

test('what was kept and not told is there for the next relay, once, and nobody else may read the file', () => {
  const { opened } = spool();
  for (const jobId of [1, 2, 3, 2]) opened.keep(kept(jobId));
  opened.done([kept(1), kept(2), kept(9)]);
  const next = spool().opened;
  expect(leftJobs(next.takeLeft())).toEqual([2, 3]);
  expect(next.takeLeft()).toEqual([]);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  next.done([kept(2), kept(3)]);
  expect(statSync(file()).size).toBe(0);
});

test('a last line that was torn is cut off, and what comes after it is whole', () => {
  const { opened } = spool();
  for (const jobId of [1, 2]) opened.keep(kept(jobId));
  const whole = readFileSync(file(), 'utf8');
  for (let length = whole.length - 1; length > whole.indexOf('\n'); length -= 7) {
    writeFileSync(file(), whole.slice(0, length));
    const next = spool().opened;
    expect(leftJobs(next.takeLeft())).toEqual([1]);
    next.keep(kept(3));
    expect(leftJobs(spool().opened.takeLeft())).toEqual([1, 3]);
  }
});

test('lines that nobody can read are passed over', () => {
  const { opened } = spool();
  opened.keep(kept(1));
  appendFileSync(file(), 'nonsense\n+ x {}\n- \n\n+ 7 not json\n');
  opened.keep(kept(2));
  expect(leftJobs(spool().opened.takeLeft())).toEqual([1, 2]);
});

test('a full file gives up what was told; what does not fit then is told to be in memory alone', () => {
  const bytes = Buffer.byteLength(`+ 1 ${kept(1).json}\n`);
  const { opened, failures } = spool(3 * bytes + 20);
  for (const jobId of [1, 2, 3]) opened.keep(kept(jobId));
  opened.done([kept(1)]);
  opened.keep(kept(4));
  expect(failures).toEqual([]);
  opened.keep(kept(5));
  expect(failures).toHaveLength(1);
  expect(statSync(file()).size).toBeLessThanOrEqual(3 * bytes + 20);
  expect(existsSync(`${file()}.new`)).toBe(false);
  expect(leftJobs(spool().opened.takeLeft())).toEqual([2, 3, 4]);
});

test('a file may be filled to its last byte', () => {
  const bytes = Buffer.byteLength(`+ 1 ${kept(1).json}\n`);
  const { opened, failures } = spool(2 * bytes);
  for (const jobId of [1, 2]) opened.keep(kept(jobId));
  expect(failures).toEqual([]);
  opened.keep(kept(3));
  expect(failures).toHaveLength(1);
});

test('what is kept again comes after what waits since before', () => {
  const { opened } = spool();
  for (const jobId of [1, 2]) opened.keep(kept(jobId));
  opened.done([kept(1)]);
  opened.keep(kept(1));
  expect(leftJobs(spool().opened.takeLeft())).toEqual([2, 1]);
});

test('a folder that cannot be written to stops no relay', () => {
  const failures: unknown[] = [];
  expect(
    openSpool({ folder: join(folder, 'missing'), failed: (error) => failures.push(error) }),
  ).toBeUndefined();
  expect(failures).toHaveLength(1);
});

/** A relay's answers on their way, beside a function whose word is scripted. */
function aRelay(says: () => UnmeteredOutcome) {
  const clock = handClock(1_000);
  const events: RelayEvent[] = [];
  const unmetered = createUnmetered({
    post: async () => says(),
    clock,
    random: () => 0.5,
    observe: (event) => events.push(event),
    spool: spool().opened,
  });
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await turn();
  };
  return { unmetered, events, pass };
}

test('a relay that is killed while nobody can be told leaves its answers to the next one', async () => {
  const killed = aRelay(() => ({ kind: 'unreachable' }));
  for (const jobId of [1, 2, 3]) killed.unmetered.add(anAnswer(jobId));
  await killed.pass(2_000);

  const next = aRelay(() => ({
    kind: 'told',
    outcomes: new Map([1, 2, 3].map((jobId) => [jobId, 'recorded'])),
  }));
  next.unmetered.restore();
  expect(next.events).toEqual([{ type: 'unmetered', queued: 3, posted: 0, dropped: 0, restored: 3 }]);
  await next.pass(2_000);
  expect(next.unmetered.queued).toBe(0);
  expect(spool().opened.takeLeft()).toEqual([]);
});

test('a relay that stops while nobody can be told declares its answers lost, and leaves them all the same', async () => {
  const stopped = aRelay(() => ({ kind: 'unreachable' }));
  stopped.unmetered.add(anAnswer(1));
  const flushed = stopped.unmetered.flush(1_000);
  await stopped.pass(1_000);
  await flushed;
  expect(stopped.events.at(-1)).toMatchObject({ dropped: 1, lost: { why: 'stopping' } });
  expect(leftJobs(spool().opened.takeLeft())).toEqual([1]);
});
