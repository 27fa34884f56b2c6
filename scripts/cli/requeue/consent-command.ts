import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathKey } from '../../../policies/place/directory.ts';
import { type Command, EXIT, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import type { SecretStore } from '../gitlab/secret-text.ts';
import { ssmSecretStore } from '../gitlab/ssm-secret-store.ts';
import { RULES_FLAGS, RULES_FLAGS_HELP, readRules } from '../rules-flags.ts';

const HELP = `tollgate requeue consent <group> --tokens <path> --token-from <file> [flags]

Keeps the token that a group gives for its jobs to be retried, as a SecureString of Parameter Store: a group access token of
scope api and role Developer. It is read from a file, never from a flag, and is never printed. The policy's requeue has to name
the group, too. Taken back by revoking the token in GitLab and deleting the parameter.

  <group>              path or number
  --tokens <path>      as the settings say it in parameters.requeueTokens: /tollgate/prod/requeue
  --token-from <file>  the file with the token, - for the standard input
${RULES_FLAGS_HELP}

Exit codes: 0 kept, 1 Parameter Store does not take it, 3 wrong usage`;

const PATH = /^(?:\/[\w.-]+){1,14}$/;
const STANDARD_INPUT = 0;

interface ConsentDeps {
  readonly keep: (path: string) => Pick<SecretStore, 'write' | 'place'>;
  readonly standardInput: () => Promise<string>;
}

export const consentCommandOn = ({ keep, standardInput }: ConsentDeps): Command => ({
  name: 'requeue consent',
  summary: 'Keeps the token that a group gives for its jobs to be retried',
  help: HELP,
  run: async (args, io) => {
    const { values, words } = readFlags(
      args,
      { tokens: 'text', 'token-from': 'text', ...RULES_FLAGS },
      { max: 1, what: 'one group' },
    );
    const [asked = ''] = words;
    if (asked === '') throw new UsageError('which group? tollgate requeue consent <group> …');
    const { tokens: path = '', 'token-from': from } = values;
    if (!PATH.test(path))
      throw new UsageError(`--tokens "${path}": expected a path such as /tollgate/prod/requeue`);
    if (from === undefined)
      throw new UsageError('--token-from is missing: a file, or - for the standard input');
    const { directory } = readRules(values, io);
    const id = /^\d+$/.test(asked) ? Number(asked) : directory.groupByPath.get(pathKey(asked))?.id;
    if (id === undefined)
      throw new UsageError(`group "${asked}" is not in the directory; give its number instead`);
    const token = (
      from === '-' ? await standardInput() : await readFile(resolve(io.cwd, from), 'utf8')
    ).trim();
    // The text itself stays unsaid, whatever it is.
    if (!/^[\x21-\x7e]{8,}$/.test(token))
      throw new UsageError(
        'what was read is no token: expected one line of at least 8 characters without spaces',
      );
    const store = keep(path);
    await store.write(`${id}`, token, `of group ${id}, for retries`);
    io.out(`kept in ${store.place(`${id}`)}\n`);
    return EXIT.ok;
  },
});

export const consentCommand: Command = consentCommandOn({
  keep: (path) => ssmSecretStore(path),
  standardInput: async () => (await import('node:fs')).readFileSync(STANDARD_INPUT, 'utf8'),
});
