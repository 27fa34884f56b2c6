import { parseArgs } from 'node:util';
import { ENV_CA_FILE } from '../../../relay/names.ts';
import { UsageError } from '../../terminal/command.ts';

export interface DoctorOptions {
  readonly router: string;
  readonly tokenFile: string;
  readonly proto: string | undefined;
  /** The rules that will be asked; undefined: those of the project. */
  readonly policy: string | undefined;
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly socketDir: string | undefined;
  /** The token and the jobs may travel unencrypted to another host. */
  readonly allowPlaintext: boolean;
  readonly json: boolean;
  readonly waitMs: number;
  /** Values that may be shown: a project path, an image. */
  readonly show: readonly string[];
}

export const USAGE = `npm run doctor -- --router <url> --token-file <file> [options]

Checks the way to GitLab's job router step by step, then waits for one question and says whether the schema explains it.
It answers that one question with "admitted": set the controller to dry_run first.

  --router <url>       grpc://, grpcs://, ws:// or wss:// (kas.externalUrl of GET /api/v4/metadata)
  --token-file <file>  the controller's token
  --proto <file>       descriptor set of your GitLab's version (npm run proto:sync)
  --policy <file>      the rules that will be asked (default policies/policy.yaml): tells which can never fire
  --cert-file <file>, --key-file <file>
                       PEM of a client certificate. ${ENV_CA_FILE} names the PEM file of a private authority
  --wait <time>        how long to wait for a question: 60s, 5m, 0s for not at all (default 60s)
  --show <text>        a project path or image that may be shown as it is; may be repeated
  --socket-dir <dir>   writable folder for the WebSocket tunnel's socket
  --allow-plaintext    let the token and the jobs travel unencrypted (grpc://, ws://) to another host
  --json               one JSON document instead of lines

Exit code: 0 all well, 1 problems found, 3 wrong usage.`;

const TIME = /^(\d+)(ms|s|m)?$/;
const UNIT_MS = { ms: 1, s: 1_000, m: 60_000 } as const;
const WAIT_MS_MAX = 3_600_000;

/** @throws {UsageError} naming the option and what would be right. */
export function readDoctorOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): DoctorOptions | 'help' {
  const text = { type: 'string' } as const;
  let values: ReturnType<typeof parse>['values'];
  const parse = () =>
    parseArgs({
      args: [...args],
      options: {
        router: text,
        'token-file': text,
        proto: text,
        policy: text,
        'cert-file': text,
        'key-file': text,
        'socket-dir': text,
        wait: { type: 'string', default: '60s' },
        show: { type: 'string', multiple: true },
        'allow-plaintext': { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  try {
    ({ values } = parse());
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  if (values.help) return 'help';
  if (values.router === undefined) throw new UsageError('--router is missing');
  if (values['token-file'] === undefined) throw new UsageError('--token-file is missing');
  const waitMs = readTime(values.wait);
  if (waitMs === undefined)
    throw new UsageError(`--wait ${values.wait} is no time up to 60m; write 30s or 5m`);
  return {
    router: values.router,
    tokenFile: values['token-file'],
    proto: values.proto,
    policy: values.policy,
    caFile: env[ENV_CA_FILE] || undefined,
    certFile: values['cert-file'],
    keyFile: values['key-file'],
    socketDir: values['socket-dir'],
    allowPlaintext: values['allow-plaintext'],
    json: values.json,
    waitMs,
    show: values.show ?? [],
  };
}

function readTime(value: string): number | undefined {
  const [, digits, unit = 's'] = TIME.exec(value) ?? [];
  if (digits === undefined) return undefined;
  const ms = Number(digits) * UNIT_MS[unit as keyof typeof UNIT_MS];
  return ms <= WAIT_MS_MAX ? ms : undefined;
}
