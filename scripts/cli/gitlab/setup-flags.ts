import type { AdminAnswer, AdminRefusal } from '../../../functions/core/gitlab/admin-calls.ts';
import { createGitLabAdministration } from '../../../functions/core/gitlab/administration.ts';
import { EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { orElse, print, readWhole, text, texts, type ValuesOf } from '../../terminal/define.ts';
import { paintWhen, printable } from '../../terminal/table.ts';
import { neededGitLab, readGitLabPlace } from '../reconcile/gitlab-flags.ts';
import { openSecretStore } from './secret-store.ts';

const TIMES = { timeoutMs: 15_000, deadlineMs: 60_000 };

export function readHookUrl(url: string): string {
  if (/^https?:\/\//.test(url) && URL.canParse(url)) return url;
  throw new UsageError(`--webhook-url "${url}": expected an address such as https://x.example.com/`);
}

export const ADMIN_FLAGS = {
  ...neededGitLab(
    "holds an administrator's token of scope api (admin_mode where Admin Mode is on); read_api to look",
  ),
  secrets: orElse(
    text(
      '<where>',
      'keeps router-token, webhook-secrets and webhook-tokens: a folder, or ssm:/tollgate/prod. In a folder the files are for their owner alone',
    ),
    '.tollgate/secrets',
  ),
  name: orElse(text('<name>', "the controller's description and the webhooks' name"), 'tollgate'),
};

export const SETUP_FLAGS = {
  ...ADMIN_FLAGS,
  'webhook-url': text(
    '<url>',
    'gives every top-level group a webhook to this address (WebhookUrl of a deployment)',
    readHookUrl,
  ),
  runner: texts('<id>', 'asks only about jobs of this runner; several times for several (default: all jobs)'),
};

export type Admin = ReturnType<typeof readAdmin>;
export type Setup = ReturnType<typeof readSetup>;

function readAdmin(flags: ValuesOf<typeof ADMIN_FLAGS>, io: TerminalIo) {
  const place = readGitLabPlace(flags, io);
  return {
    place,
    gitlab: createGitLabAdministration({ ...place, ...TIMES }),
    store: openSecretStore(flags.secrets, io.cwd),
    name: flags.name,
    progress: (done: number, of: number): void => {
      if (io.progress) io.err(done >= of ? '\r\u001b[K' : `\r${done} of ${of} groups`);
    },
  };
}

export function readSetup(flags: ValuesOf<typeof SETUP_FLAGS>, mayChange: boolean, io: TerminalIo) {
  const runnerIds = flags.runner.map((id) => readWhole('runner', id, 1, Number.MAX_SAFE_INTEGER));
  return { ...readAdmin(flags, io), mayChange, runnerIds, hookUrl: flags['webhook-url'] };
}

/** Runs `work` as an administrator and prints its lines, unless it returns `EXIT.wouldReject` because the user declined. */
export async function runAsAdmin(
  flags: ValuesOf<typeof ADMIN_FLAGS> & { readonly json: boolean },
  io: TerminalIo,
  work: (admin: Admin, lines: SetupLines) => Promise<unknown>,
): Promise<ExitCode> {
  const admin = readAdmin(flags, io);
  const lines = new SetupLines();
  const code = await lines.step(() => work(admin, lines));
  if (code === EXIT.wouldReject) return code;
  print(io, flags, { gitlab: admin.place.baseUrl, lines: lines.all }, () => linesText(lines.all, io));
  return exitOf(lines.all);
}

/** `missing`: set-up would make or repair it. */
type Status = 'right' | 'done' | 'missing' | 'wrong' | 'unknown';

export interface SetupLine {
  readonly part: string;
  readonly state: Status;
  readonly says: string;
  readonly remedy?: string;
  /** GitLab did not answer; a later run may succeed. */
  readonly silent?: true;
}

export function refusedLine({ code, says, remedy }: AdminRefusal): Omit<SetupLine, 'part'> {
  const silent = code === 'unavailable' || code === 'rate_limited';
  return { state: 'wrong', says, remedy, ...(silent && { silent: true }) };
}

class StepStopped extends Error {}

/** Collects the lines of a report. A step that cannot go on adds its last line and throws. */
export class SetupLines {
  readonly all: SetupLine[] = [];

  add(part: string, state: Status, says: string, remedy?: string): void {
    this.all.push({ part, state, says, ...(remedy !== undefined && { remedy }) });
  }

  need<T>(part: string, answer: AdminAnswer<T>): T {
    if (answer.ok) return answer.value;
    this.all.push({ part, ...refusedLine(answer.refusal) });
    throw new StepStopped();
  }

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

  has(state: Status): boolean {
    return this.all.some((line) => line.state === state);
  }
}

export const mapped = <From, To>(answer: AdminAnswer<From>, value: (from: From) => To): AdminAnswer<To> =>
  answer.ok ? { ok: true, value: value(answer.value) } : answer;

/** Reads, makes what is missing, and reads again: a lost response proves nothing, and a received one is confirmed by reading. */
export async function makeOnce<From, T>(
  read: () => Promise<AdminAnswer<From>>,
  find: (from: From) => T | undefined,
  make: () => Promise<AdminAnswer<unknown>>,
): Promise<AdminAnswer<T>> {
  const before = await read();
  if (!before.ok) return before;
  const existing = find(before.value);
  if (existing !== undefined) return { ok: true, value: existing };
  const made = await make();
  if (!made.ok && made.refusal.code !== 'unavailable' && made.refusal.code !== 'conflict') return made;
  const after = await read();
  if (!after.ok) return after;
  const found = find(after.value);
  if (found !== undefined) return { ok: true, value: found };
  if (!made.ok) return made;
  const says = 'GitLab said yes, and what was made cannot be read back';
  const refusal = { code: 'unreadable', call: '', status: undefined, says } as const;
  return { ok: false, refusal: { ...refusal, remedy: 'look at it in GitLab' } };
}

const MARKS = { right: 'good', done: 'good', missing: 'warn', wrong: 'bad', unknown: 'warn' } as const;

export function linesText(lines: readonly SetupLine[], { colours }: Pick<TerminalIo, 'colours'>): string {
  const paint = paintWhen(colours);
  return lines
    .map(({ part, state, says, remedy }) => {
      const mark = paint[MARKS[state]]((state === 'right' ? 'ok' : state).padEnd(7));
      const head = `${mark}  ${part.padEnd(10)}  ${printable(says)}\n`;
      return remedy === undefined ? head : `${head}${' '.repeat(21)}→ ${printable(remedy)}\n`;
    })
    .join('');
}

/** 2 for problems, 1 if the only problem is that GitLab did not answer. */
export function exitOf(lines: readonly SetupLine[]): ExitCode {
  const wrong = lines.filter(({ state }) => state === 'wrong');
  if (wrong.length === 0) return EXIT.ok;
  return wrong.every(({ silent }) => silent === true) ? EXIT.failed : EXIT.wouldReject;
}
