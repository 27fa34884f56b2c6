import {
  type Command,
  type CommandEntry,
  EXIT,
  type ExitCode,
  type TerminalIo,
} from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { consoleAsked } from '../api/console-client.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { RULES_FLAGS, RULES_FLAGS_HELP } from '../rules-flags.ts';
import { runTollgate } from '../run-tollgate.ts';
import { mcpAnswer } from './mcp-session.ts';
import { type CommandCall, mcpTools } from './mcp-tools.ts';

const HELP = `tollgate mcp [flags]

Answers over the Model Context Protocol on stdin and stdout, for editors and agents: can I afford this rerun, what is left of
the budget, why was this job rejected, would such a job start. It only reads, and ends with its input. With --console no key
is needed: it asks as whoever signed in with tollgate login.

${LEDGER_FLAGS_HELP}
${RULES_FLAGS_HELP}

Exit codes: 0 the input ended, 3 wrong usage`;

/** A message has some hundred bytes. */
const LINE_CHARACTERS_MAX = 1_000_000;

/** @param commands - those that tools are made of. @param input - tests have their own. */
export const mcpCommandOf = (
  commands: readonly CommandEntry[],
  input: AsyncIterable<string | Uint8Array> = process.stdin,
): Command => ({
  name: 'mcp',
  summary: 'Answers editors and agents over the Model Context Protocol: can I afford this rerun?',
  help: HELP,
  run: (args, io) => serve(args, io, commands, input),
});

async function serve(
  args: readonly string[],
  io: TerminalIo,
  commands: readonly CommandEntry[],
  input: AsyncIterable<string | Uint8Array>,
): Promise<ExitCode> {
  const { values } = readFlags(args, { ...LEDGER_FLAGS, ...RULES_FLAGS });
  const origin = consoleAsked(values, io);
  const named = Object.entries(values).flatMap(([name, value]) =>
    typeof value === 'string' && name !== 'console' ? [`--${name}=${value}`] : [],
  );
  const call = silently(io, commands);
  // A console has limits and groups of its own; only what is made up is read by a policy from here.
  const tools = origin === undefined ? mcpTools(call, named) : mcpTools(call, [`--console=${origin}`], named);
  for await (const line of linesOf(input)) {
    const answer = await mcpAnswer(line, tools, PROTOCOL_NAME_VERSION);
    if (answer !== undefined) io.out(`${answer}\n`);
  }
  return EXIT.ok;
}

/** Sent to clients; the project has no releases yet. */
const PROTOCOL_NAME_VERSION = '1';

/** Stdout is the protocol's: what commands print goes into the answer. */
const silently =
  (io: TerminalIo, commands: readonly CommandEntry[]): CommandCall =>
  async (args) => {
    let out = '';
    let err = '';
    const quiet: TerminalIo = {
      ...io,
      colours: false,
      progress: false,
      columns: Number.POSITIVE_INFINITY,
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
    };
    return { code: await runTollgate(args, quiet, commands), out, err };
  };

/** A line that is too long is cut, and is no JSON then. */
async function* linesOf(input: AsyncIterable<string | Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of input) {
    const text = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    const lines = (rest + text).split('\n');
    rest = (lines.pop() ?? '').slice(0, LINE_CHARACTERS_MAX);
    for (const line of lines) if (line.trim() !== '') yield line;
  }
  if (rest.trim() !== '') yield rest;
}
