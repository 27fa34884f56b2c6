import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { COMMANDS } from '../../../scripts/cli/commands.ts';
import { runTollgate } from '../../../scripts/cli/run-tollgate.ts';
import type { CommandEntry, TerminalIo } from '../../../scripts/terminal/command.ts';
import { NOW_MS } from '../../policies/documents.ts';

/** What one call of `tollgate` came to. */
export interface DeskRun {
  readonly code: number;
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

/** Runs `tollgate …args` in this process, in a project's folder. */
export async function runDesk(
  args: readonly string[],
  root: string,
  more: Partial<TerminalIo> = {},
  commands: readonly CommandEntry[] = COMMANDS,
): Promise<DeskRun> {
  let [out, err] = ['', ''];
  const io: TerminalIo = {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
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
  const code = await runTollgate(args, io, commands);
  return { code, out, err };
}

/** A command as it is listed, with other functions in place of those that open tables, call servers or ask the user. */
export const listed = (name: string, ...standIns: readonly (readonly [real: unknown, other: unknown])[]) => ({
  run: async (args: readonly string[], io: TerminalIo): Promise<number> => {
    const entry = COMMANDS.find((each) => each.name === name);
    if (entry === undefined) throw new Error(`there is no command ${name}`);
    return (await entry.load()).run(args, { ...io, standIns: new Map(standIns) });
  },
});
