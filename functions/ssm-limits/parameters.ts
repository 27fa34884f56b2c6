/** Reads parameters from Parameter Store. Nothing is written there. */
import type { GetParameterHistoryCommandOutput, GetParametersByPathCommandOutput } from '@aws-sdk/client-ssm';

export interface Parameters {
  /**
   * Lists the parameters right below a path.
   *
   * @throws {Error} if the service does not answer, or there are more than 10 000.
   */
  list(path: string): Promise<readonly ParameterVersion[]>;
  /** Reads the newest version of a parameter; undefined if there is no such parameter. @throws {Error} */
  read(name: string): Promise<StoredParameter | undefined>;
}

export interface ParameterVersion {
  /** `/tollgate/prod/limits/101` */
  readonly name: string;
  /** 1, 2, 3 …; a parameter that was deleted and made again begins with 1. */
  readonly version: number;
  /** Unix ms. */
  readonly modifiedAtMs: number;
}

export interface StoredParameter extends ParameterVersion {
  readonly type: string;
  /** The encrypted text if it is a SecureString. */
  readonly value: string;
  /** `arn:aws:iam::111122223333:user/anna`; undefined if the service does not know. */
  readonly editor: string | undefined;
}

interface SsmParametersOptions {
  /** Only for a stand-in of the service. */
  readonly endpoint?: string | undefined;
}

/** Includes the client's pauses: it repeats a throttled call seven times. */
const TIMEOUT_MS = 30_000;
const ATTEMPTS = 8;
/** The service gives at most 10 parameters and 50 versions in one page. */
const PAGE = 10;
const HISTORY_PAGE = 50;
/** 10 000 parameters, which is what an account has without advanced ones. */
const PAGES_MAX = 1_000;
/** Parameter Store keeps 100 versions, and a page may be shorter than asked for. */
const HISTORY_PAGES_MAX = 100;

/** The client is loaded with the first call, not with every cold start. */
export function ssmParameters({ endpoint }: SsmParametersOptions = {}): Parameters {
  let loading: ReturnType<typeof load> | undefined;
  const loaded = (): ReturnType<typeof load> => {
    loading ??= load(endpoint);
    return loading;
  };
  return {
    async list(path) {
      const { client, ssm } = await loaded();
      const found: ParameterVersion[] = [];
      let token: string | undefined;
      for (let pages = 0; pages < PAGES_MAX; pages += 1) {
        const command = new ssm.GetParametersByPathCommand({
          Path: path,
          Recursive: false,
          WithDecryption: false,
          MaxResults: PAGE,
          NextToken: token,
        });
        const page: GetParametersByPathCommandOutput = await answered(`list ${path}`, (abortSignal) =>
          client.send(command, { abortSignal }),
        );
        for (const { Name, Version, LastModifiedDate } of page.Parameters ?? [])
          if (Name !== undefined && Version !== undefined)
            found.push({ name: Name, version: Version, modifiedAtMs: LastModifiedDate?.getTime() ?? 0 });
        token = page.NextToken;
        if (token === undefined) return found;
      }
      throw new Error(`${path} has more than ${PAGES_MAX * PAGE} parameters; expected one for each group`);
    },
    async read(name) {
      const { client, ssm } = await loaded();
      let newest: StoredParameter | undefined;
      let token: string | undefined;
      for (let pages = 0; pages < HISTORY_PAGES_MAX; pages += 1) {
        // The history has the value and its author; the parameter itself has only the value.
        const command = new ssm.GetParameterHistoryCommand({
          Name: name,
          WithDecryption: false,
          MaxResults: HISTORY_PAGE,
          NextToken: token,
        });
        const page: GetParameterHistoryCommandOutput | undefined = await answered(
          `read ${name}`,
          (abortSignal) =>
            client.send(command, { abortSignal }).catch((error: unknown) => {
              if (error instanceof ssm.ParameterNotFound) return undefined;
              throw error;
            }),
        );
        if (page === undefined) return undefined;
        for (const { Version = 0, Type, Value, LastModifiedDate, LastModifiedUser } of page.Parameters ?? [])
          if (Version > (newest?.version ?? 0))
            newest = {
              name,
              version: Version,
              modifiedAtMs: LastModifiedDate?.getTime() ?? 0,
              type: Type ?? '',
              value: Value ?? '',
              editor: LastModifiedUser || undefined,
            };
        token = page.NextToken;
        if (token === undefined) return newest;
      }
      throw new Error(`could not read ${name} (its history does not end)`);
    },
  };
}

async function load(endpoint: string | undefined) {
  const ssm = await import('@aws-sdk/client-ssm');
  const local = { region: 'local', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
  const client = new ssm.SSMClient({
    maxAttempts: ATTEMPTS,
    ...(endpoint !== undefined && { endpoint, ...local }),
  });
  return { client, ssm };
}

async function answered<T>(doing: string, call: (abortSignal: AbortSignal) => Promise<T>): Promise<T> {
  try {
    return await call(AbortSignal.timeout(TIMEOUT_MS));
  } catch (error) {
    // The client's own errors carry the whole request with its signature: only name and text go on.
    const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    throw new Error(`could not ${doing} (${why})`);
  }
}
