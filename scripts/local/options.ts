import { parseArgs } from 'node:util';
import { ENV_CA_FILE } from '../../relay/names.ts';
import { UsageError } from '../terminal/command.ts';

/** The flags of `npm start`. */
export interface StartOptions {
  /** A real router instead of the local one. */
  readonly router: string | undefined;
  readonly tokenFile: string | undefined;
  /** The GitLab behind the router. */
  readonly gitlabUrl: string | undefined;
  readonly protoFile: string | undefined;
  readonly allowPlaintextRouter: boolean;
  readonly pipeline: string | undefined;
  readonly jobs: number | undefined;
  /** Questions a second. */
  readonly rate: number;
  readonly forever: boolean;
  readonly json: boolean;
  /** The console stays after the jobs. */
  readonly console: boolean;
  readonly memory: boolean;
  readonly fresh: boolean;
  readonly transport: 'ws' | 'grpc';
  readonly policyFile: string;
  readonly limitsFile: string;
  readonly directoryFile: string | undefined;
  readonly seed: number;
}

export const HELP = `Tollgate on this machine: ledger, admit, settle and sweep, a job router with its relay, a GitLab, and a real pipeline.

Usage
  npm start                                  run a pipeline's jobs from the question to their end, exit 0
  npm start -- --router wss://kas.example.com --gitlab https://gitlab.example.com --token-file ./token
                                             the pilot: the same, against a real GitLab (put the controller in dry_run first)

Replay
  --pipeline <dir | .gitlab-ci.yml>   whose jobs to replay (default: scripts/local/pipelines/web-shop)
  --jobs <n>                          how many jobs (default: the pipeline once, or again until 160)
  --rate <n>                          questions a second (default 20)
  --forever                           start over at the end, until interrupted; then the last jobs end, which takes seconds
  --console                           keep the console up after the jobs, until interrupted. Without it the console is
                                      there while the jobs run. It begins with a month of made-up jobs, which count
                                      in the limits; with --json there is neither
  --transport ws | grpc               how the relay reaches the local router (default ws, as GitLab offers it)
  --seed <n>                          which projects the jobs land in (default 1)

Rules and ledger
  --policy <file>, --limits <file>, --directory <file>
                                      instead of policies/policy.yaml, limits.yaml and directory.yaml
  --memory                            keep the ledger in memory and forget it at the end
  --fresh                             forget what earlier runs spent (empties .tollgate/ledger/)

Pilot
  --router <url>                      grpc://, grpcs://, ws:// or wss:// of the job router
  --gitlab <url>                      the GitLab whose jobs these are: its host names the books. Needed the first time, where
                                      it is not the router's host; then it is remembered
  --token-file <file>                 the controller's token (glrct-…), read again when GitLab refuses it
  --proto <file>                      GitLab's real descriptors (see: npm run proto:sync -- --help)
                                      ${ENV_CA_FILE} names the PEM file of a private certificate authority
  --allow-plaintext-router            send the token unencrypted to a router on another machine. Whoever can read
                                      that network can then answer for every job. Never needed with wss:// or grpcs://

Output
  --json                              one JSON object per line: decision, ran_out, figures; the last is the summary
  --help

Exit codes: 0 done, 1 failed, 3 wrong usage or invalid documents`;

/** @throws {UsageError} naming the flag, the value and what would be right. */
export function parseOptions(args: readonly string[], root: string): StartOptions | 'help' {
  const values = readFlags(args);
  if (values.help === true) return 'help';
  if (values.router !== undefined && values['token-file'] === undefined) {
    throw new UsageError("--router needs --token-file with the controller's token (glrct-…)");
  }
  const misplaced =
    values.router === undefined
      ? ['token-file', 'gitlab', 'proto']
      : ['pipeline', 'jobs', 'rate', 'forever', 'transport', 'seed'];
  for (const flag of misplaced) {
    if (values[flag as keyof typeof values] === undefined) continue;
    throw new UsageError(
      values.router === undefined
        ? `--${flag} belongs to --router <url>`
        : `--${flag} has no meaning with --router: GitLab sends the jobs`,
    );
  }
  if (values.console === true && (values.router !== undefined || values.json === true)) {
    throw new UsageError(
      `--console has no meaning with --${values.json === true ? 'json' : 'router'}: the console is for people, beside the local run`,
    );
  }
  if (values.forever === true && values.jobs !== undefined) {
    throw new UsageError('--jobs has no meaning with --forever: it goes on until Ctrl-C');
  }
  const transport = values.transport ?? 'ws';
  if (transport !== 'ws' && transport !== 'grpc') {
    throw new UsageError(`--transport is "${transport}"; expected ws or grpc`);
  }
  return {
    router: values.router,
    tokenFile: values['token-file'],
    gitlabUrl: values.gitlab === undefined ? undefined : plainUrl('gitlab', values.gitlab),
    protoFile: values.proto,
    allowPlaintextRouter: values['allow-plaintext-router'] ?? false,
    pipeline: values.pipeline,
    jobs: values.jobs === undefined ? undefined : wholeNumber('jobs', values.jobs, 1, 1_000_000),
    rate: values.rate === undefined ? 20 : wholeNumber('rate', values.rate, 1, 10_000),
    forever: values.forever ?? false,
    json: values.json ?? false,
    console: values.console ?? false,
    memory: values.memory ?? false,
    fresh: values.fresh ?? false,
    transport,
    policyFile: values.policy ?? `${root}policies/policy.yaml`,
    limitsFile: values.limits ?? `${root}policies/limits.yaml`,
    directoryFile:
      values.directory ?? (values.router === undefined ? `${root}policies/directory.yaml` : undefined),
    seed: values.seed === undefined ? 1 : wholeNumber('seed', values.seed, 0, 2 ** 32 - 1),
  };
}

function readFlags(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        router: text,
        'token-file': text,
        gitlab: text,
        proto: text,
        'allow-plaintext-router': flag,
        pipeline: text,
        jobs: text,
        rate: text,
        forever: flag,
        json: flag,
        console: flag,
        memory: flag,
        fresh: flag,
        transport: text,
        policy: text,
        limits: text,
        directory: text,
        seed: text,
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function wholeNumber(flag: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw new UsageError(`--${flag} is "${text}"; expected a whole number from ${min} to ${max}`);
}

/** Removes a slash at the end. */
function plainUrl(flag: string, text: string): string {
  const url = /^https?:\/\//.test(text) ? URL.parse(text) : null;
  if (url === null || url.username !== '' || url.password !== '')
    throw new UsageError(`--${flag} is "${text}"; expected e.g. https://gitlab.example.com`);
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}
