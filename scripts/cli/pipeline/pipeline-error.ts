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
  /** The job, template or file it is about; the message begins with it. */
  readonly subject?: string;
  constructor(code: PipelineErrorCode, what: string, subject?: string) {
    super(subject === undefined ? what : `${subject}: ${what}`);
    this.code = code;
    if (subject !== undefined) this.subject = subject;
  }
}

/**
 * Says of an error which job it came up in, unless it knows.
 *
 * @throws {PipelineError} what `make` throws, with the subject.
 */
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
