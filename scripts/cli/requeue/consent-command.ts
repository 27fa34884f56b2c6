import { resolve } from 'node:path';
import { pathKey } from '../../../policies/place/directory.ts';
import { type Command, EXIT, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { readUserFile, STANDARD_INPUT } from '../../terminal/user-file.ts';
import type { SecretStore } from '../gitlab/secret-store.ts';
import { ssmSecretStore } from '../gitlab/secret-store.ts';
import { RULES_FLAGS, RULES_FLAGS_HELP, readRules } from '../rules-flags.ts';

interface Consent {
  readonly command: string;
  /** The permitted use of the group's token: `its jobs to be retried`. */
  readonly lets: string;
  /** In the token's description: `retries`. */
  readonly use: string;
  /** The key of the policy that has to name the group, too. */
  readonly policyKey: string;
  readonly setting: string;
  readonly path: string;
}

const RETRIES: Consent = {
  ...{ command: 'requeue consent', lets: 'its jobs to be retried', use: 'retries' },
  ...{ policyKey: 'requeue', setting: 'requeueTokens', path: '/tollgate/prod/requeue' },
};

const NOTES: Consent = {
  ...{ command: 'notes consent', lets: 'notes in its merge requests', use: 'notes in merge requests' },
  ...{ policyKey: 'request_notes', setting: 'noteTokens', path: '/tollgate/prod/notes' },
};

const helpOf = ({
  command,
  lets,
  policyKey,
  setting,
  path,
}: Consent): string => `tollgate ${command} <group> --tokens <path> --token-from <file> [flags]

Keeps the token that a group gives for ${lets}, as a SecureString of Parameter Store: a group access token of
scope api and role Developer. It is read from a file, never from a flag, and is never printed. The policy's ${policyKey} has to name
the group, too. Taken back by revoking the token in GitLab and deleting the parameter.

  <group>              path or number
  --tokens <path>      as the settings say it in parameters.${setting}: ${path}
  --token-from <file>  the file with the token, - for the standard input
${RULES_FLAGS_HELP}

Exit codes: 0 kept, 1 Parameter Store does not take it, 3 wrong usage`;

const PATH = /^(?:\/[\w.-]+){1,14}$/;

interface ConsentDeps {
  readonly keep: (path: string) => Pick<SecretStore, 'write' | 'place'>;
  readonly standardInput: () => string;
}

export const consentCommandOn = (
  { keep, standardInput }: ConsentDeps,
  consent: Consent = RETRIES,
): Command => ({
  name: consent.command,
  summary: `Keeps the token that a group gives for ${consent.lets}`,
  help: helpOf(consent),
  run: async (args, io) => {
    const { values, words } = readFlags(
      args,
      { tokens: 'text', 'token-from': 'text', ...RULES_FLAGS },
      { max: 1, what: 'one group' },
    );
    const [asked = ''] = words;
    if (asked === '') throw new UsageError(`which group? tollgate ${consent.command} <group> …`);
    const { tokens: path = '', 'token-from': from } = values;
    if (!PATH.test(path)) throw new UsageError(`--tokens "${path}": expected a path such as ${consent.path}`);
    if (from === undefined)
      throw new UsageError('--token-from is missing: a file, or - for the standard input');
    const { directory } = readRules(values, io);
    const id = /^\d+$/.test(asked) ? Number(asked) : directory.groupByPath.get(pathKey(asked))?.id;
    if (id === undefined)
      throw new UsageError(`group "${asked}" is not in the directory; give its number instead`);
    const token = (
      from === '-' ? standardInput() : readUserFile(resolve(io.cwd, from), `--token-from "${from}"`)
    ).trim();
    // Never print the text.
    if (!/^[\x21-\x7e]{8,}$/.test(token))
      throw new UsageError(
        'what was read is no token: expected one line of at least 8 characters without spaces',
      );
    const store = keep(path);
    await store.write(`${id}`, token, `of group ${id}, for ${consent.use}`);
    io.out(`kept in ${store.place(`${id}`)}\n`);
    return EXIT.ok;
  },
});

const deps: ConsentDeps = {
  keep: (path) => ssmSecretStore(path),
  standardInput: () => readUserFile(STANDARD_INPUT, 'the standard input'),
};

export const consentCommand: Command = consentCommandOn(deps);

export const noteConsentOn = (of: ConsentDeps): Command => consentCommandOn(of, NOTES);

export const noteConsentCommand: Command = noteConsentOn(deps);
