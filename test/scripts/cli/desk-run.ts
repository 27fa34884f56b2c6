import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { COMMANDS } from '../../../scripts/cli/commands.ts';
import { runTollgate } from '../../../scripts/cli/run-tollgate.ts';
import type { CommandEntry, ExitCode, TerminalIo } from '../../../scripts/terminal/command.ts';
import { NOW_MS } from '../../policies/documents.ts';

/** What one call of `tollgate` came to. */
export interface DeskRun {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
}

/** A folder of its own with these files, which stands in for the project; gone when the test is over. */
export function aProject(files: Readonly<Record<string, string>> = {}): string {
  const root = `${mkdtempSync(join(tmpdir(), 'tollgate-desk-'))}/`;
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

/** A terminal in a project's folder that keeps what is printed. */
export function recordingIo(root: string, more: Partial<TerminalIo> = {}) {
  const told = { out: '', err: '' };
  const io: TerminalIo = {
    out: (text) => {
      told.out += text;
    },
    err: (text) => {
      told.err += text;
    },
    colours: false,
    progress: false,
    columns: Number.POSITIVE_INFINITY,
    cwd: root,
    root,
    env: {},
    nowMs: () => NOW_MS,
    ...more,
  };
  return { io, told };
}

/** Runs `tollgate …args` in this process, in a project's folder. */
export async function runDesk(
  args: readonly string[],
  root: string,
  more: Partial<TerminalIo> = {},
  commands: readonly CommandEntry[] = COMMANDS,
): Promise<DeskRun> {
  const { io, told } = recordingIo(root, more);
  return { code: await runTollgate(args, io, commands), ...told };
}
