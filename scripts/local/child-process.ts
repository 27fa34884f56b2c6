import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { until } from './timing.ts';

const STOP_MS_MAX = 5_000;

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

/** @throws {Error} with the server's name if it ends or does not answer in time. */
export async function untilAnswers(
  child: ChildProcess,
  name: string,
  answers: () => Promise<boolean>,
  withinMs: number,
): Promise<void> {
  const isOver = await until(async () => hasEnded(child) || (await answers()), withinMs);
  if (hasEnded(child))
    throw new Error(`${name} ended with ${child.exitCode ?? child.signalCode}: is the port taken?`);
  if (!isOver) throw new Error(`${name} gave no answer for ${withinMs} ms`);
}

/** Closes the input of a process, which should end it, and kills it if it does not end in time. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  child.ref();
  const exited = once(child, 'exit');
  child.stdin?.destroy();
  const killer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
  await exited;
  clearTimeout(killer);
}
