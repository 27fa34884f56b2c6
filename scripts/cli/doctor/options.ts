import { ENV_CA_FILE } from '../../../relay/names.ts';
import { UsageError } from '../../terminal/command.ts';
import { flagLines } from '../../terminal/define-command.ts';
import { parseInput, required, text, toggle, type ValuesOf } from '../../terminal/flags.ts';
import { parseDuration } from '../pipeline/durations.ts';

const FLAGS = {
  router: required(
    text('<url>', 'grpc://, grpcs://, ws:// or wss:// (kas.externalUrl of GET /api/v4/metadata)'),
  ),
  'token-file': required(text('<file>', "a file with the controller's token")),
  proto: text('<file>', "descriptor set of your GitLab's version (npm run proto:sync)"),
  'cert-file': text('<file>', 'PEM of a client certificate'),
  'key-file': text('<file>', `its key. ${ENV_CA_FILE} names the PEM file of a private authority`),
  wait: text('<time>', 'how long to wait for a question: 5m, 0s for not at all (default: 60s)', readTime),
  'allow-plaintext': toggle(
    'lets the token and the jobs travel unencrypted (grpc://, ws://) to another host',
  ),
};

export const USAGE = `npm run doctor -- --router <url> --token-file <file> [options]

Checks the way to GitLab's job router step by step, then waits for one question and says whether the schema explains it.
It answers that one question with "admitted": set the controller to dry_run first.

${flagLines(FLAGS)}
  --json               one JSON document instead of lines

Exit code: 0 all well, 1 problems found, 3 wrong usage.`;

export type DoctorOptions = ValuesOf<typeof FLAGS> & {
  readonly json: boolean;
  readonly caFile: string | undefined;
};

/** @throws {UsageError} naming the option and what would be right. */
export function readDoctorOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): DoctorOptions | 'help' {
  if (args.includes('--help')) return 'help';
  const { flags } = parseInput(args, FLAGS, {}, 'no words');
  return { ...flags, caFile: env[ENV_CA_FILE] || undefined };
}

function readTime(value: string, flag: string): number {
  const ms = (parseDuration(value) ?? Number.NaN) * 1_000;
  if (ms <= 3_600_000) return ms;
  throw new UsageError(`--${flag} ${value} is no time up to 60m; write 30s or 5m`);
}
