import type { SSMClient } from '@aws-sdk/client-ssm';
import { secretMark } from '../../../functions/core/gitlab/index.ts';
import type { SecretStore } from './secret-text.ts';

const TIMEOUT_MS = 10_000;

/** The part of SSM's client that is used. */
type SsmClient = Pick<SSMClient, 'send'>;

const realClient = async (): Promise<SsmClient> => new (await import('@aws-sdk/client-ssm')).SSMClient({});

/** Parameters of one deployment, `<prefix>/router-token` …; the note is the parameter's description, set together with it. */
export function ssmSecretStore(prefix: string, open: () => Promise<SsmClient> = realClient): SecretStore {
  let opened: Promise<SsmClient> | undefined;
  const client = (): Promise<SsmClient> => {
    opened ??= open();
    return opened;
  };
  const failed =
    (did: string, name: string) =>
    (error: unknown): never => {
      const why = error instanceof Error ? error.name : 'unknown error';
      throw new Error(
        `parameter ${prefix}/${name} could not be ${did} (${why}); check region, credentials and rights`,
      );
    };
  const deadline = () => ({ abortSignal: AbortSignal.timeout(TIMEOUT_MS) });
  return {
    kind: 'parameters',
    place: (name) => `ssm:${prefix}/${name}`,
    async read(name) {
      const { DescribeParametersCommand, GetParameterCommand } = await import('@aws-sdk/client-ssm');
      const ssm = await client();
      const value = await ssm
        .send(new GetParameterCommand({ Name: `${prefix}/${name}`, WithDecryption: true }), deadline())
        .then(({ Parameter }) => Parameter?.Value?.trim())
        .catch((error: unknown) =>
          error instanceof Error && error.name === 'ParameterNotFound'
            ? undefined
            : failed('read', name)(error),
        );
      if (value === undefined || value === '') return undefined;
      const filter = { Key: 'Name', Option: 'Equals', Values: [`${prefix}/${name}`] };
      const { Parameters = [] } = await ssm
        .send(new DescribeParametersCommand({ ParameterFilters: [filter] }), deadline())
        .catch(failed('described', name));
      // A replaced value may keep the old description.
      const mark = `${secretMark(value)} `;
      const description = Parameters[0]?.Description;
      return { value, note: description?.startsWith(mark) ? description.slice(mark.length) : undefined };
    },
    async write(name, value, note) {
      const { PutParameterCommand } = await import('@aws-sdk/client-ssm');
      const put = new PutParameterCommand({
        Name: `${prefix}/${name}`,
        Value: value,
        Description: `${secretMark(value)} ${note}`,
        Type: 'SecureString',
        Overwrite: true,
      });
      await (await client()).send(put, deadline()).catch(failed('written', name));
    },
  };
}
