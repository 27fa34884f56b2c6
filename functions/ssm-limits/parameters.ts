export type Parameters = ReturnType<typeof ssmParameters>;

export interface ParameterVersion {
  readonly name: string;
  /** 1, 2, 3 …; a parameter that was deleted and made again begins with 1. */
  readonly version: number;
  readonly modifiedAtMs: number;
}

export interface StoredParameter extends ParameterVersion {
  readonly type: string;
  /** The encrypted text if it is a SecureString. */
  readonly value: string;
  /** `arn:aws:iam::111122223333:user/anna`; undefined if the service does not know. */
  readonly editor: string | undefined;
}

/** All pages of a call, with the client's pauses: it repeats a throttled call seven times. */
const TIMEOUT_MS = 60_000;
const ATTEMPTS = 8;
/** The service gives at most 10 parameters and 50 versions in one page. */
const PAGE = 10;
const HISTORY_PAGE = 50;

/** The client is loaded with the first call, not with every cold start. @param endpoint - only for a stand-in of the service */
export function ssmParameters(endpoint?: string) {
  let loading: ReturnType<typeof load> | undefined;
  const loaded = (): ReturnType<typeof load> => {
    loading ??= load(endpoint);
    return loading;
  };
  return {
    /** Lists the parameters right below a path. @throws {Error} if the service does not respond */
    list: (path: string): Promise<readonly ParameterVersion[]> =>
      answered(`list ${path}`, async (options) => {
        const { client, ssm } = await loaded();
        const input = { Path: path, Recursive: false, WithDecryption: false };
        const found: ParameterVersion[] = [];
        const pages = ssm.paginateGetParametersByPath({ client, pageSize: PAGE }, input, options);
        for await (const { Parameters = [] } of pages)
          for (const { Name: name, Version: version, LastModifiedDate } of Parameters)
            if (name !== undefined && version !== undefined)
              found.push({ name, version, modifiedAtMs: LastModifiedDate?.getTime() ?? 0 });
        return found;
      }),
    read: (name: string): Promise<StoredParameter | undefined> =>
      answered(`read ${name}`, async (options) => {
        const { client, ssm } = await loaded();
        // The history has the value and its author; the parameter itself has only the value.
        const input = { Name: name, WithDecryption: false };
        let newest: StoredParameter | undefined;
        try {
          const pages = ssm.paginateGetParameterHistory({ client, pageSize: HISTORY_PAGE }, input, options);
          for await (const { Parameters = [] } of pages)
            for (const { Version = 0, Type, Value, LastModifiedDate, LastModifiedUser } of Parameters)
              if (Version > (newest?.version ?? 0))
                newest = {
                  name,
                  version: Version,
                  modifiedAtMs: LastModifiedDate?.getTime() ?? 0,
                  type: Type ?? '',
                  value: Value ?? '',
                  editor: LastModifiedUser || undefined,
                };
        } catch (error) {
          if (!(error instanceof ssm.ParameterNotFound)) throw error;
        }
        return newest;
      }),
  };
}

async function load(endpoint: string | undefined) {
  const ssm = await import('@aws-sdk/client-ssm');
  const local = { region: 'local', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
  const at = endpoint === undefined ? {} : { endpoint, ...local };
  return { client: new ssm.SSMClient({ maxAttempts: ATTEMPTS, ...at }), ssm };
}

async function answered<T>(
  doing: string,
  call: (options: { readonly abortSignal: AbortSignal }) => Promise<T>,
): Promise<T> {
  try {
    return await call({ abortSignal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (error) {
    // The client's own errors carry the whole request with its signature: only name and text go on.
    const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    throw new Error(`could not ${doing} (${why})`);
  }
}
