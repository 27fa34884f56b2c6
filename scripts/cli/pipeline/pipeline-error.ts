/**
 * - `too_large`: more work than any real pipeline; GitLab refuses most too.
 * - `refused`: GitLab creates no pipeline from these files.
 * - `not_told`: GitLab may create one, but these files do not define it.
 */
type PipelineErrorCode = 'too_large' | 'refused' | 'not_told';

/** The files cannot become a pipeline. The message has the place, what is wrong with it, and the remedy. */
export class PipelineError extends Error {
  override readonly name = 'PipelineError';
  readonly code: PipelineErrorCode;
  readonly subject: string | undefined;
  constructor(code: PipelineErrorCode, what: string, subject?: string) {
    super(subject === undefined ? what : `${subject}: ${what}`);
    this.code = code;
    this.subject = subject;
  }
}

export const NO_PIPELINE = 'GitLab creates no pipeline';

/** @param subject - the entry of the files, or the place, that is wrong. */
export const refused = (what: string, subject?: string): PipelineError =>
  new PipelineError('refused', `${what}; ${NO_PIPELINE}`, subject);

/** Puts `file:line` or a job's name in front of an error's message. A function replaces the subject that the error has. */
export function withSubject<T>(subject: string | ((own: string) => string | undefined), make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    const { subject: own, code, message } = error;
    const isNamed = own !== undefined;
    const better = typeof subject === 'string' ? !isNamed && subject : isNamed && subject(own);
    throw typeof better === 'string' ? new PipelineError(code, message, better) : error;
  }
}

/** Most values that all steps may read and make. A pipeline of 119 jobs in 20 files takes a tenth of this. */
export const WORK_MAX = 2_000_000;

export type WorkBudget = ReturnType<typeof workBudget>;

/** Work used by the expansion of one pipeline. It is counted before it is done. */
export function workBudget() {
  let used = 0;
  return {
    get used() {
      return used;
    },
    /** @param place - the file, or the job or template, that asks for the work. @throws {PipelineError} `too_large` */
    spend(values: number, place: string): void {
      if (used + values > WORK_MAX)
        throw new PipelineError(
          'too_large',
          `anchors, extends, !reference or matrices multiply to more than ${WORK_MAX} values; nest fewer`,
          place,
        );
      used += values;
    },
  };
}

export type UnreadNotes = ReturnType<typeof unreadNotes>;

export function unreadNotes() {
  const notes = new Map<string, Set<string>>();
  const sources = new Map<string, Set<string>>();
  const add = (map: Map<string, Set<string>>, key: string, value: string): void => {
    map.set(key, (map.get(key) ?? new Set()).add(value));
  };
  return {
    note: (entry: string, what: string): void => add(notes, entry, what),
    /** Says that an entry takes values from another one, by `extends` or `!reference`. */
    takesFrom: (entry: string, other: string): void => add(sources, entry, other),
    of(entries: Iterable<string>): readonly string[] {
      const reached = new Set(entries);
      // A set visits what is added during the loop, too, and everything once.
      for (const entry of reached) for (const other of sources.get(entry) ?? []) reached.add(other);
      return [...new Set([...reached].flatMap((entry) => [...(notes.get(entry) ?? [])]))];
    },
    entries: (): readonly string[] => [...notes.keys()],
  };
}
