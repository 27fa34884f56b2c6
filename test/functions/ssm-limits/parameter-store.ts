/** A stand-in of Parameter Store over HTTP: the two calls that are used, in the service's own protocol. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Version {
  readonly value: string;
  readonly arn: string;
  readonly atMs: number;
  readonly type: string;
}

export type ParameterStore = Awaited<ReturnType<typeof startParameterStore>>;

const seconds = (atMs: number): number => atMs / 1_000;

export async function startParameterStore() {
  /** Oldest first. */
  const parameters = new Map<string, Version[]>();
  /** Names of errors that the next calls get instead of answers. */
  const errors: string[] = [];
  const asked: { readonly target: string; readonly body: Readonly<Record<string, unknown>> }[] = [];

  const page = ({ Path, NextToken, MaxResults }: Readonly<Record<string, unknown>>): object => {
    const names = [...parameters.keys()]
      .filter((name) => name.startsWith(`${Path}/`) && name > String(NextToken ?? ''))
      .sort();
    const some = names.slice(0, Number(MaxResults));
    return {
      Parameters: some.map((name) => {
        const versions = parameters.get(name) ?? [];
        const last = versions.at(-1);
        const { value: Value, type: Type } = last ?? {};
        return {
          Name: name,
          Type,
          Value,
          Version: versions.length,
          LastModifiedDate: seconds(last?.atMs ?? 0),
        };
      }),
      ...(names.length > some.length && { NextToken: some.at(-1) }),
    };
  };
  /** Two versions a page, whatever was asked for: the service promises no more. */
  const history = ({ Name, NextToken }: Readonly<Record<string, unknown>>): object | undefined => {
    const versions = parameters.get(String(Name));
    const from = Number(NextToken ?? 0);
    return (
      versions && {
        Parameters: versions.slice(from, from + 2).map(({ arn, atMs, type, value }, index) => ({
          Name,
          Type: type,
          Value: value,
          Version: from + index + 1,
          LastModifiedUser: arn,
          LastModifiedDate: seconds(atMs),
        })),
        ...(versions.length > from + 2 && { NextToken: String(from + 2) }),
      }
    );
  };

  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk as Uint8Array);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
    const target = String(request.headers['x-amz-target']).replace('AmazonSSM.', '');
    asked.push({ target, body });
    const error = errors.shift();
    const answer =
      error !== undefined ? undefined : target === 'GetParametersByPath' ? page(body) : history(body);
    response.writeHead(answer === undefined ? 400 : 200, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify(answer ?? { __type: error ?? 'ParameterNotFound', message: 'as told' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    parameters,
    errors,
    asked,
    put: (name: string, value: string, over: Partial<Omit<Version, 'value'>> = {}): void => {
      const version = {
        arn: 'arn:aws:iam::111122223333:user/anna',
        atMs: Date.now(),
        type: 'String',
        ...over,
      };
      parameters.set(name, [...(parameters.get(name) ?? []), { value, ...version }]);
    },
    stop: async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
