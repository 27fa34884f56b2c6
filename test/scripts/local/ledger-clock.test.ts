import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { LEDGER_FLAGS } from '../../../scripts/cli/ledger-flags.ts';
import { ledgerFolder, readLedgerNote, writeLedgerNote } from '../../../scripts/local/ledger-note.ts';
import { EXIT } from '../../../scripts/terminal/command.ts';
import { command, type FlagTable, text } from '../../../scripts/terminal/define.ts';
import { runDesk } from '../cli/desk-run.ts';

const HOUR_MS = 3_600_000;
const NOW_MS = Date.UTC(2026, 10, 21, 12);
const PACED = { instance: 'gitlab.local', atMs: NOW_MS + HOUR_MS, realMs: NOW_MS, pace: 600, jobId: 7 };
const NOBODY = 2_000_000_000;

function aRoot(): { readonly root: string; readonly dataDir: string } {
  const root = `${mkdtempSync(join(tmpdir(), 'ledger-clock-'))}/`;
  onTestFinished(() => rmSync(root, { recursive: true }));
  const dataDir = ledgerFolder(root);
  mkdirSync(dataDir, { recursive: true });
  return { root, dataDir };
}

const clock = (flags: FlagTable) =>
  command({
    ...{ name: 'clock', about: 'Prints the time.', flags, examples: ['tollgate clock'] },
    run: async (_input, io) => {
      io.out(new Date(io.nowMs()).toISOString());
      return EXIT.ok;
    },
  });

async function timeOf(
  root: string,
  args: readonly string[],
  flags: FlagTable = LEDGER_FLAGS,
): Promise<string> {
  const entry = { name: 'clock', summary: '', load: async () => clock(flags) };
  return (await runDesk(['clock', ...args], root, { nowMs: () => NOW_MS + 6_000 }, [entry])).out;
}

const OURS = '2026-11-21T12:00:06.000Z';
/** An hour ahead, and six seconds of ours are an hour there. */
const THEIRS = '2026-11-21T14:00:00.000Z';

test('a command on the ledger of this machine goes by its clock, and every other one by ours', async () => {
  const { root, dataDir } = aRoot();
  expect(await timeOf(root, [])).toBe(OURS);
  writeLedgerNote(dataDir, { ...PACED, pid: process.pid });
  expect(await timeOf(root, [])).toBe(THEIRS);
  expect(await timeOf(root, ['--ledger', 'local', '--instance', 'gitlab.local'])).toBe(THEIRS);
  const optional = { ledger: text('<local | table>', 'without it, no ledger is read') };
  expect(await timeOf(root, ['--ledger=local'], optional)).toBe(THEIRS);
  expect(await timeOf(root, [], optional)).toBe(OURS);
  expect(await timeOf(root, [], {})).toBe(OURS);
  expect(await timeOf(root, ['--ledger', 'tollgate-ledger'])).toBe(OURS);
  expect(await timeOf(root, ['--instance=gitlab.example.com'])).toBe(OURS);
});

test('a program that ended by a blow leaves no clock that runs on', async () => {
  const { root, dataDir } = aRoot();
  writeLedgerNote(dataDir, { ...PACED, pid: NOBODY });
  expect(await timeOf(root, [])).toBe('2026-11-21T13:00:00.000Z');
});

test('a run goes on where the one before left off, and a note that cannot be read is none', () => {
  const folder = aRoot().dataDir;
  expect(readLedgerNote(folder)).toBeUndefined();
  const note = { ...PACED, pid: 1 };
  writeLedgerNote(folder, note);
  expect(readLedgerNote(folder)).toEqual(note);
  writeFileSync(join(folder, 'clock.json'), JSON.stringify({ ...note, atMs: 'now' }));
  expect(readLedgerNote(folder)).toBeUndefined();
});
