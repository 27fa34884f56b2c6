import { EXIT, type TerminalIo } from '../terminal/command.ts';
import { sink } from '../terminal/program.ts';
import { coloursWanted } from '../terminal/table.ts';
import { COMMANDS } from './commands.ts';
import { runTollgate } from './run-tollgate.ts';

/** Runs a command with this process's arguments, streams and environment. */
export async function main(own: Pick<TerminalIo, 'root' | 'version'>): Promise<void> {
  const { stdout, stderr, env } = process;
  // With stderr lost there is no other place for the line.
  const err = sink(stderr, () => {});

  const io: TerminalIo = {
    out: sink(stdout, (line) => {
      err(line);
      // The command may still be running, e.g. to take back what it made.
      process.once('exit', () => {
        process.exitCode = EXIT.failed;
      });
    }),
    err,
    colours: coloursWanted(stdout.isTTY === true, env),
    progress: stderr.isTTY === true,
    columns: stdout.isTTY === true ? stdout.columns : Number.POSITIVE_INFINITY,
    cwd: process.cwd(),
    ...own,
    env,
    nowMs: Date.now,
  };

  // Not process.exit: what is still on its way through a pipe must arrive.
  process.exitCode = await runTollgate(process.argv.slice(2), io, COMMANDS);
}
