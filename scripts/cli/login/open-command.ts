import { spawn } from 'node:child_process';
import { parseJobReference } from '../../../functions/answers/job/recorded-job.ts';
import { type Command, EXIT, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { ENV_CONSOLE, originOf } from './kept-sessions.ts';

/** Replaced by tests. */
interface OpenDeps {
  /** Opens an address in the local browser. @returns false if there is none */
  readonly openBrowser: (address: string) => Promise<boolean>;
}

const HELP = `tollgate open [<group> | <job>] [flags]

Opens the console's page of a group or job in the browser; without either, the overview. Where no browser can be opened, or
nobody sits at a terminal, it prints the address.

  <group>              a full path such as acme/payments, or a part of one: the search opens
  <job>                the id of a job, 4711, or the address of its page in GitLab
  --console <url>      which console                     (default: $${ENV_CONSOLE})
  --print              only prints the address
  --json               the address as one JSON object; opens nothing

Exit codes: 0 opened or printed, 3 wrong usage`;

export const openCommandOn = ({ openBrowser }: OpenDeps): Command => ({
  name: 'open',
  summary: 'Opens the console’s page of a group or job in the browser, or prints its address',
  help: HELP,
  run: async (args, io) => {
    const { values, words } = readFlags(
      args,
      { console: 'text', print: 'switch' },
      { max: 1, what: 'one group or job' },
    );
    const named = values.console ?? io.env[ENV_CONSOLE];
    if (!named)
      throw new UsageError(`--console is missing: expected the address of a console, or $${ENV_CONSOLE}`);
    const address = `${originOf(named)}${pathOf(words[0])}`;
    if (values.json) {
      io.out(`${JSON.stringify({ address })}\n`);
      return EXIT.ok;
    }
    const isShown = !values.print && io.progress && (await openBrowser(address));
    io.out(isShown ? `Opened ${address}\n` : `${address}\n`);
    return EXIT.ok;
  },
});

function pathOf(word: string | undefined): string {
  if (word === undefined) return '/';
  const job = parseJobReference(word);
  return job.ok ? `/jobs/${job.value.jobId}` : `/?q=${encodeURIComponent(word)}`;
}

/** The address is an argument of its own, so no shell reads it. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

const openBrowser = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
    const child = spawn(program, [...args, address], { detached: true, stdio: 'ignore' });
    child.on('error', () => resolve(false));
    child.on('spawn', () => {
      child.unref();
      resolve(true);
    });
  });

export const openCommand: Command = openCommandOn({ openBrowser });
