/**
 * - `too_large`: the files ask for more work than any real pipeline; GitLab refuses most of them too.
 * - `refused`: GitLab creates no pipeline from these files.
 */
export type PipelineErrorCode = 'too_large' | 'refused';

/** The files cannot become a pipeline. The message has the place, what is wrong with it, and the remedy. */
export class PipelineError extends Error {
  override readonly name = 'PipelineError';
  readonly code: PipelineErrorCode;
  constructor(code: PipelineErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
