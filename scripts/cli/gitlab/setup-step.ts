/** Settings and reported lines that set-up, rotation, teardown and canary share. */
import type { AdminAnswer, AdminRefusal } from '../../../functions/core/gitlab/admin-calls.ts';
import type { GitLabAdministration } from '../../../functions/core/gitlab/administration.ts';
import { EXIT, type ExitCode } from '../../terminal/command.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import type { SecretStore } from './secret-store.ts';

/** `change` may change GitLab, `plan` says what it would do, `look` says what is wrong. */
export type SetupMode = 'change' | 'plan' | 'look';

export interface Setup {
  readonly gitlab: GitLabAdministration;
  readonly store: SecretStore;
  readonly mode: SetupMode;
  /** The controller's description, and the name of the webhooks. */
  readonly name: string;
  /** Wins over the description. */
  readonly controllerId: number | undefined;
  /** Scope of the controller; if all are empty, the existing scope stays, or the instance is the default. */
  readonly scope: {
    readonly instance: boolean;
    readonly runnerIds: readonly number[];
    /** Instance runners with all these tags. */
    readonly tags: readonly string[];
    /** Instance runners that this user made. */
    readonly owner: string | undefined;
  };
  /** The deployment's webhook address. Undefined: a pilot, which estimates durations. */
  readonly hookUrl: string | undefined;
  /** Token of any runner: with it GitLab says where it sends that runner. */
  readonly runnerToken: string | undefined;
  readonly nowMs: () => number;
  /** Reports how many groups are done. */
  readonly progress: (done: number, of: number) => void;
}

type Part =
  | 'access'
  | 'version'
  | 'licence'
  | 'flags'
  | 'settings'
  | 'router'
  | 'controller'
  | 'token'
  | 'scope'
  | 'webhooks'
  | 'runner'
  | 'project'
  | 'pipeline'
  | 'admitted'
  | 'rejected'
  | 'patience';

/** `planned`: a run that may change GitLab would do it. */
type Standing = 'right' | 'done' | 'planned' | 'wrong' | 'unknown';

/** One line of the report: the state of one part, or a change to it. */
export interface SetupLine {
  readonly part: Part;
  readonly standing: Standing;
  readonly says: string;
  readonly remedy?: string;
  /** GitLab did not answer; a later run may succeed. */
  readonly silent?: true;
}

/** Ends a step early; its last line says why. */
class StepStopped extends Error {}

/** Collects the lines of a report. A step that cannot go on adds its last line and throws. */
export class SetupLines {
  readonly all: SetupLine[] = [];

  add(part: Part, standing: Standing, says: string, remedy?: string): void {
    this.all.push({ part, standing, says, ...(remedy !== undefined && { remedy }) });
  }

  /** Adds a difference that is only reported (`look`) or planned. */
  missing(part: Part, mode: SetupMode, would: string, is: string): void {
    if (mode === 'look') this.add(part, 'wrong', is, 'tollgate gitlab setup');
    else this.add(part, 'planned', would);
  }

  /** Adds what GitLab refused. @param about - the group, if there are several */
  refuse(part: Part, { code, says, remedy }: AdminRefusal, about = ''): void {
    const silent = code === 'unavailable' || code === 'rate_limited';
    this.all.push({ part, standing: 'wrong', says: about + says, remedy, ...(silent && { silent: true }) });
  }

  /** Returns the answer's value. @throws if GitLab refused: ends the step. */
  need<T>(part: Part, answer: AdminAnswer<T>): T {
    if (answer.ok) return answer.value;
    this.refuse(part, answer.refusal);
    throw new StepStopped();
  }

  /** Adds the last line of a step. Throw the result to end the step. */
  stop(part: Part, says: string, remedy?: string): Error {
    this.add(part, 'wrong', says, remedy);
    return new StepStopped();
  }

  /** Runs one step. Undefined: it ended early. */
  async step<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof StepStopped) return undefined;
      throw error;
    }
  }

  has(part: Part, standing: Standing): boolean {
    return this.all.some((line) => line.part === part && line.standing === standing);
  }
}

/** GitLab that does not answer three times in a row is left for the next run. */
const TRIES_MAX = 3;

/**
 * Looks, makes what is missing, and looks again: a lost response proves nothing, and a received one is confirmed by
 * reading.
 */
export async function madeOnce<T>(
  look: () => Promise<AdminAnswer<T | undefined>>,
  make: () => Promise<AdminAnswer<unknown>>,
): Promise<AdminAnswer<T>> {
  for (let tries = 1; ; tries += 1) {
    const before = await look();
    if (!before.ok) return before;
    if (before.value !== undefined) return { ok: true, value: before.value };
    const made = await make();
    if (!made.ok && made.refusal.code !== 'unavailable' && made.refusal.code !== 'conflict') return made;
    const after = await look();
    if (!after.ok) return after;
    if (after.value !== undefined) return { ok: true, value: after.value };
    if (tries < TRIES_MAX) continue;
    if (!made.ok) return made;
    const says = 'GitLab said yes, and what was made cannot be read back';
    const refusal = { code: 'unreadable', call: '', status: undefined, says } as const;
    return { ok: false, refusal: { ...refusal, remedy: 'look at it in GitLab' } };
  }
}

const MARKS: Readonly<Record<Standing, readonly [string, keyof Paint]>> = {
  right: ['ok     ', 'good'],
  done: ['done   ', 'good'],
  planned: ['would  ', 'warn'],
  wrong: ['wrong  ', 'bad'],
  unknown: ['unknown', 'warn'],
};

/** One line per entry, its remedy under it. */
export const linesText = (lines: readonly SetupLine[], paint: Paint): string =>
  lines
    .map(({ part, standing, says, remedy }) => {
      const [mark, colour] = MARKS[standing];
      const head = `${paint[colour](mark)}  ${part.padEnd(10)}  ${printable(says)}\n`;
      return remedy === undefined ? head : `${head}${' '.repeat(21)}→ ${printable(remedy)}\n`;
    })
    .join('');

/** 2 for problems, 1 if the only problem is that GitLab did not answer. Planned changes are no problem. */
export function exitOf(lines: readonly SetupLine[]): ExitCode {
  const wrong = lines.filter(({ standing }) => standing === 'wrong');
  if (wrong.length === 0) return EXIT.ok;
  return wrong.every(({ silent }) => silent === true) ? EXIT.failed : EXIT.wouldReject;
}
