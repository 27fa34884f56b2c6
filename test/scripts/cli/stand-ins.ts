import { systemClock } from '../../../functions/core/environment/environment.ts';
import { commandFetch } from '../../../scripts/cli/command-fetch.ts';
import { COMMANDS } from '../../../scripts/cli/commands.ts';
import { type OpenLedger, openLedger, openToRepair } from '../../../scripts/cli/open-ledger.ts';
import { askOnTerminal } from '../../../scripts/cli/reconcile/progress.ts';
import type { Command, ExitCode, TerminalIo } from '../../../scripts/terminal/command.ts';

export interface Surroundings {
  /** GitLab. */
  readonly fetch?: typeof fetch;
  readonly clock?: { monotonicMs(): number; sleep(delayMs: number): Promise<void> };
  /** What the user answers: a text, or yes or no. Undefined: there is no terminal. */
  readonly answer?: (question: string) => string | boolean | undefined;
  readonly open?: OpenLedger;
  readonly openToRepair?: OpenLedger;
  readonly more?: readonly (readonly [real: unknown, instead: unknown])[];
}

/** Puts a test's own GitLab, clock, user and ledger in place of the real ones. No call waits at random. */
export function surrounded(by: Surroundings): Pick<TerminalIo, 'standIns'> {
  const { fetch, clock, answer } = by;
  const ask = async (question: string): Promise<string | undefined> => {
    const said = answer?.(question.replace(/ Type yes: $/, ''));
    return typeof said === 'boolean' ? (said ? 'yes' : 'no') : said;
  };
  const standIns = new Map<unknown, unknown>([
    [askOnTerminal, ask],
    [Math.random, () => 0],
    ...(by.more ?? []),
  ]);
  if (fetch !== undefined) standIns.set(commandFetch, () => fetch);
  if (clock !== undefined) standIns.set(systemClock, clock);
  if (by.open !== undefined) standIns.set(openLedger, by.open);
  if (by.openToRepair !== undefined) standIns.set(openToRepair, by.openToRepair);
  return { standIns };
}

export async function commandOf(name: string): Promise<Command> {
  const entry = COMMANDS.find((each) => each.name === name);
  if (entry === undefined) throw new Error(`${name} is not a command`);
  return entry.load();
}

/** Runs one command on its own: its errors are thrown, not printed. */
export const runCommand = async (name: string, args: readonly string[], io: TerminalIo): Promise<ExitCode> =>
  (await commandOf(name)).run(args, io);
