/** The commands' way to GitLab and to a console: one private authority and the usual variables for proxies. */
import { notReached } from '../../functions/core/contract/network.ts';
import { type TerminalIo, UsageError } from '../terminal/command.ts';
import { readUserFile } from '../terminal/user-file.ts';

const ENV_CA_FILE = 'TOLLGATE_CA_FILE';

/** The PEM text in `TOLLGATE_CA_FILE`; undefined: only public authorities count. @throws {UsageError} */
export function commandAuthority({ env }: Pick<TerminalIo, 'env'>): string | undefined {
  const file = env[ENV_CA_FILE];
  if (file === undefined || file === '') return undefined;
  const ca = readUserFile(file, `${ENV_CA_FILE} ${file}`);
  if (!ca.includes('-----BEGIN CERTIFICATE-----'))
    throw new UsageError(`${ENV_CA_FILE} ${file}: is not PEM; convert it with openssl x509 -inform der`);
  return ca;
}

/** Rejects with one line: address, cause and remedy. @throws {UsageError} for a file that holds no certificate. */
export function commandFetch(io: Pick<TerminalIo, 'env'>): typeof fetch {
  const ca = commandAuthority(io);
  let made: Promise<typeof fetch> | undefined;
  return async (input, init) => {
    // Most commands make no call, and need not load its modules.
    made ??= import('../../functions/core/gitlab/gitlab-fetch.ts').then(({ gitlabFetch }) =>
      gitlabFetch({ ca, env: io.env }),
    );
    return (await made)(input, init).catch((cause: unknown) => {
      const url = input instanceof Request ? input.url : String(input);
      throw new Error(notReached('The server', url, cause), { cause });
    });
  };
}
