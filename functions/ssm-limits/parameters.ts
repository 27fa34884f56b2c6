/** What is needed of Parameter Store. Every call is one request; its quotas are the caller's to keep. */
export interface Parameters {
  /**
   * The parameters right below a path, a page of them.
   *
   * @param token - `next` of the page before.
   * @throws {SsmLimitsError} `parameters_throttled`, `parameters_unavailable`; `parameters_misread`: the token is no good
   */
  page(path: string, token?: string): Promise<ParameterPage>;
  /**
   * Who wrote a version. Nobody is known for a version that history has dropped.
   *
   * @throws {SsmLimitsError} `parameters_throttled`, `parameters_unavailable`
   */
  editorOf(name: string, version: number): Promise<Editor>;
}

export interface ParameterPage {
  readonly parameters: readonly StoredParameter[];
  /** There may be more, also after a page without any. */
  readonly next?: string;
}

export interface StoredParameter {
  /** `/tollgate/prod/limits/101` */
  readonly name: string;
  readonly type: string;
  /** The encrypted text if it is a SecureString. */
  readonly value: string;
  /** 1, 2, 3 …; anew from 1 when it was deleted and made again. */
  readonly version: number;
  /** Unix ms. */
  readonly modifiedAtMs: number;
}

export type Editor =
  /** `arn:aws:iam::111122223333:user/anna` */
  | { readonly found: 'editor'; readonly arn: string }
  /** There is such a parameter, but nobody knows who wrote this version. */
  | { readonly found: 'nobody' }
  /** No parameter has this name any more. */
  | { readonly found: 'no_parameter' };
