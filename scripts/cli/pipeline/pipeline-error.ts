/**
 * - `too_large`: more work than any real pipeline; GitLab refuses most of them too.
 * - `refused`: GitLab creates no pipeline from these files.
 * - `not_told`: GitLab may create one, but these files do not define it.
 */
type PipelineErrorCode = 'too_large' | 'refused' | 'not_told';

/** The files cannot become a pipeline. The message has the place, what is wrong with it, and the remedy. */
export class PipelineError extends Error {
  override readonly name = 'PipelineError';
  readonly code: PipelineErrorCode;
  readonly subject?: string;
  constructor(code: PipelineErrorCode, what: string, subject?: string) {
    super(subject === undefined ? what : `${subject}: ${what}`);
    this.code = code;
    if (subject !== undefined) this.subject = subject;
  }
}

export function withSubject<T>(subject: string, make: () => T): T {
  return rethrowing(make, (error) =>
    error.subject === undefined ? new PipelineError(error.code, error.message, subject) : error,
  );
}

/**
 * Says of an error where its subject stands.
 *
 * @param placeOf - `file:line`; `undefined` for what is no key of the top level.
 * @throws {PipelineError} what `make` throws, with the place in front.
 */
export function withPlace<T>(placeOf: (subject: string) => string | undefined, make: () => T): T {
  return rethrowing(make, (error) => {
    const place = error.subject === undefined ? undefined : placeOf(error.subject);
    return place === undefined ? error : new PipelineError(error.code, error.message, place);
  });
}

function rethrowing<T>(make: () => T, better: (error: PipelineError) => PipelineError): T {
  try {
    return make();
  } catch (error) {
    throw error instanceof PipelineError ? better(error) : error;
  }
}

/** Most values that all steps may read and make. A pipeline of 119 jobs in 20 files takes a tenth of this. */
export const WORK_MAX = 2_000_000;

/** Work used by the expansion of one pipeline. It is counted before it is done. */
export interface WorkBudget {
  readonly used: number;
  /**
   * @param place - the file, or the job or template, that asks for the work.
   * @throws {PipelineError} `too_large`
   */
  spend(values: number, place: string): void;
}

export function workBudget(max: number = WORK_MAX): WorkBudget {
  let used = 0;
  return {
    get used() {
      return used;
    },
    spend(values, place) {
      if (used + values > max) throw tooMuch(place, max);
      used += values;
    },
  };
}

const tooMuch = (place: string, max: number): PipelineError =>
  new PipelineError(
    'too_large',
    `anchors, extends, !reference or matrices multiply to more than ${max} values; nest fewer of them`,
    place,
  );

/** Keeps what entries of the files rest on and check did not read. */
export interface UnreadNotes {
  note(entry: string, what: string): void;
  /** Says that an entry takes values from another one, by `extends` or `!reference`. */
  takesFrom(entry: string, other: string): void;
  of(entries: Iterable<string>): readonly string[];
  entries(): readonly string[];
}

export function unreadNotes(): UnreadNotes {
  const notes = new Map<string, Set<string>>();
  const sources = new Map<string, Set<string>>();
  const add = (map: Map<string, Set<string>>, key: string, value: string): void => {
    map.set(key, (map.get(key) ?? new Set()).add(value));
  };
  return {
    note: (entry, what) => add(notes, entry, what),
    takesFrom: (entry, other) => add(sources, entry, other),
    of(entries) {
      const reached = new Set(entries);
      // A set visits what is added during the loop, too, and everything once.
      for (const entry of reached) for (const other of sources.get(entry) ?? []) reached.add(other);
      return [...new Set([...reached].flatMap((entry) => [...(notes.get(entry) ?? [])]))];
    },
    entries: () => [...notes.keys()],
  };
}
