/** The real Parameter Store. */
import type { GetParameterHistoryCommandOutput, SSMClient } from '@aws-sdk/client-ssm';
import type { Editor, ParameterPage, Parameters } from './parameters.ts';
import { SsmLimitsError } from './ssm-limits-error.ts';

/** A page takes some 50 ms. */
const TIMEOUT_MS = 5_000;
/** The most the service gives at once, of parameters and of versions. */
const PAGE = 10;
const HISTORY_PAGE = 50;
/** Parameter Store keeps 100 versions; pages may be shorter than asked for. */
const HISTORY_PAGES_MAX = 10;

interface SsmParametersOptions {
  /** Only for a stand-in of the service. */
  readonly endpoint?: string | undefined;
}

/** The client is loaded with the first call, not with every cold start. It never tries again by itself: the caller does. */
export function ssmParameters({ endpoint }: SsmParametersOptions = {}): Parameters {
  let loading: Promise<Loaded> | undefined;
  const loaded = (): Promise<Loaded> => {
    loading ??= load(endpoint);
    return loading;
  };
  return {
    async page(path, token) {
      const { client, ssm } = await loaded();
      const command = new ssm.GetParametersByPathCommand({
        Path: path,
        Recursive: false,
        WithDecryption: false,
        MaxResults: PAGE,
        NextToken: token,
      });
      const { Parameters: found = [], NextToken } = await answered(`list ${path}`, (abortSignal) =>
        client.send(command, { abortSignal }),
      );
      const parameters = found.flatMap(({ Name, Type, Value, Version, LastModifiedDate }) =>
        Name === undefined || Version === undefined
          ? []
          : {
              name: Name,
              type: Type ?? '',
              value: Value ?? '',
              version: Version,
              modifiedAtMs: LastModifiedDate?.getTime() ?? 0,
            },
      );
      return { parameters, ...(NextToken !== undefined && { next: NextToken }) } satisfies ParameterPage;
    },
    async editorOf(name, version) {
      const { client, ssm } = await loaded();
      let token: string | undefined;
      for (let pages = 0; pages < HISTORY_PAGES_MAX; pages += 1) {
        const command = new ssm.GetParameterHistoryCommand({
          Name: name,
          WithDecryption: false,
          MaxResults: HISTORY_PAGE,
          NextToken: token,
        });
        const page: GetParameterHistoryCommandOutput | undefined = await answered(
          `read the history of ${name}`,
          (abortSignal) =>
            client.send(command, { abortSignal }).catch((error: unknown) => {
              if (error instanceof ssm.ParameterNotFound) return undefined;
              throw error;
            }),
        );
        if (page === undefined) return { found: 'no_parameter' };
        const arn = page.Parameters?.find(({ Version }) => Version === version)?.LastModifiedUser;
        if (arn) return { found: 'editor', arn } satisfies Editor;
        token = page.NextToken;
        if (token === undefined) break;
      }
      return { found: 'nobody' };
    },
  };
}

interface Loaded {
  readonly client: SSMClient;
  readonly ssm: typeof import('@aws-sdk/client-ssm');
}

async function load(endpoint: string | undefined): Promise<Loaded> {
  const ssm = await import('@aws-sdk/client-ssm');
  const local = { region: 'local', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
  const client = new ssm.SSMClient({
    maxAttempts: 1,
    ...(endpoint !== undefined && { endpoint, ...local }),
  });
  return { client, ssm };
}

const THROTTLED = ['ThrottlingException', 'TooManyUpdates', 'RequestLimitExceeded'];
const MISREAD = ['ValidationException', 'InvalidNextToken', 'InvalidFilterKey'];

async function answered<T>(doing: string, call: (abortSignal: AbortSignal) => Promise<T>): Promise<T> {
  try {
    return await call(AbortSignal.timeout(TIMEOUT_MS));
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    // The client's own errors carry the whole request, its signature included: only name and text go on.
    const why = error instanceof Error ? `${name}: ${error.message}` : String(error);
    const code = THROTTLED.includes(name)
      ? 'parameters_throttled'
      : MISREAD.includes(name)
        ? 'parameters_misread'
        : 'parameters_unavailable';
    throw new SsmLimitsError(code, `could not ${doing} (${why})`);
  }
}
