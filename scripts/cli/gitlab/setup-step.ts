/** Reported lines and steps that set-up, rotation, teardown and canary share. */
import type { AdminAnswer, AdminRefusal } from '../../../functions/core/gitlab/admin-calls.ts';
import { EXIT, type ExitCode } from '../../terminal/command.ts';
import { type Paint, printable } from '../../terminal/paint.ts';

/** `missing`: set-up would make or repair it. */
type Standing = 'right' | 'done' | 'missing' | 'wrong' | 'unknown';

/** The state of one part, such as `token` or `scope`, or a change to it. */
export interface SetupLine {
  readonly part: string;
  readonly standing: Standing;
  readonly says: string;
  readonly remedy?: string;
  /** GitLab did not answer; a later run may succeed. */
  readonly silent?: true;
}

export function refusedLine({ code, says, remedy }: AdminRefusal): Omit<SetupLine, 'part'> {
  const silent = code === 'unavailable' || code === 'rate_limited';
  return { standing: 'wrong', says, remedy, ...(silent && { silent: true }) };
}

/** Ends a step early; its last line says why. */
class StepStopped extends Error {}

/** Collects the lines of a report. A step that cannot go on adds its last line and throws. */
export class SetupLines {
  readonly all: SetupLine[] = [];

  add(part: string, standing: Standing, says: string, remedy?: string): void {
    this.all.push({ part, standing, says, ...(remedy !== undefined && { remedy }) });
  }

  /** Returns the answer's value. @throws if GitLab refused: ends the step. */
  need<T>(part: string, answer: AdminAnswer<T>): T {
    if (answer.ok) return answer.value;
    this.all.push({ part, ...refusedLine(answer.refusal) });
    throw new StepStopped();
  }

  /** Adds the last line of a step. Throw the result to end the step. */
  stop(part: string, says: string, remedy: string): Error {
    this.add(part, 'wrong', says, remedy);
    return new StepStopped();
  }

  async step<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof StepStopped) return undefined;
      throw error;
    }
  }

  has(standing: Standing): boolean {
    return this.all.some((line) => line.standing === standing);
  }
}

export const mapped = <From, To>(answer: AdminAnswer<From>, value: (from: From) => To): AdminAnswer<To> =>
  answer.ok ? { ok: true, value: value(answer.value) } : answer;

/** Looks, makes what is missing, and looks again: a lost response proves nothing, and a received one is confirmed by reading. */
export async function madeOnce<T>(
  look: () => Promise<AdminAnswer<T | undefined>>,
  make: () => Promise<AdminAnswer<unknown>>,
): Promise<AdminAnswer<T>> {
  const before = await look();
  if (!before.ok) return before;
  if (before.value !== undefined) return { ok: true, value: before.value };
  const made = await make();
  if (!made.ok && made.refusal.code !== 'unavailable' && made.refusal.code !== 'conflict') return made;
  const after = await look();
  if (!after.ok) return after;
  if (after.value !== undefined) return { ok: true, value: after.value };
  if (!made.ok) return made;
  const says = 'GitLab said yes, and what was made cannot be read back';
  const refusal = { code: 'unreadable', call: '', status: undefined, says } as const;
  return { ok: false, refusal: { ...refusal, remedy: 'look at it in GitLab' } };
}

const MARKS: Readonly<Record<Standing, keyof Paint>> = {
  right: 'good',
  done: 'good',
  missing: 'warn',
  wrong: 'bad',
  unknown: 'warn',
};

export const linesText = (lines: readonly SetupLine[], paint: Paint): string =>
  lines
    .map(({ part, standing, says, remedy }) => {
      const mark = paint[MARKS[standing]]((standing === 'right' ? 'ok' : standing).padEnd(7));
      const head = `${mark}  ${part.padEnd(10)}  ${printable(says)}\n`;
      return remedy === undefined ? head : `${head}${' '.repeat(21)}→ ${printable(remedy)}\n`;
    })
    .join('');

/** 2 for problems, 1 if the only problem is that GitLab did not answer. */
export function exitOf(lines: readonly SetupLine[]): ExitCode {
  const wrong = lines.filter(({ standing }) => standing === 'wrong');
  if (wrong.length === 0) return EXIT.ok;
  return wrong.every(({ silent }) => silent === true) ? EXIT.failed : EXIT.wouldReject;
}
