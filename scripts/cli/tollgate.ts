/** Wires the commands to this process; each of them has a folder beside. */
import { fileURLToPath } from 'node:url';
import type { TerminalIo } from '../terminal/command.ts';
import { coloursWanted } from '../terminal/paint.ts';
import { sink } from '../terminal/sink.ts';
import { COMMANDS } from './commands.ts';
import { runTollgate } from './run-tollgate.ts';

const { stdout, stderr, env } = process;

const io: TerminalIo = {
  out: sink(stdout),
  err: sink(stderr),
  colours: coloursWanted(stdout.isTTY === true, env),
  progress: stderr.isTTY === true,
  columns: stdout.isTTY === true ? stdout.columns : Number.POSITIVE_INFINITY,
  cwd: process.cwd(),
  root: fileURLToPath(new URL('../..', import.meta.url)),
  env,
  nowMs: Date.now,
};

// Not process.exit: what is still on its way through a pipe must arrive.
process.exitCode = await runTollgate(process.argv.slice(2), io, COMMANDS);
