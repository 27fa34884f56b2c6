import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { resolveContainers } from '../../../relay/translate/variables.ts';
import { UsageError } from '../../terminal/command.ts';
import { type FlagValues, readWhole } from '../../terminal/flags.ts';
import { allowedVariables } from '../evaluation/allowed-variables.ts';
import { withClass } from '../evaluation/class-override.ts';
import { PLACE_FLAGS, readRunFlags } from '../evaluation/place-flags.ts';
import { parseDuration } from '../pipeline/durations.ts';
import { runnerVariablesOf } from '../pipeline/variables.ts';
import type { FileRules } from '../rules-flags.ts';

export const REQUEST_FLAGS = {
  ...PLACE_FLAGS,
  image: 'text',
  service: 'texts',
  class: 'text',
  tag: 'texts',
  minutes: 'text',
  timeout: 'text',
  job: 'text',
  environment: 'text',
  'pull-policy': 'texts',
  variable: 'texts',
} as const;

/** One request made up from flags, without its place. */
export interface SyntheticRequest {
  readonly request: AdmissionRequest;
  /** Names of variables that no rule would see. */
  readonly unseen: readonly string[];
}

/** Nothing is written under it. */
const JOB_ID = 1;
/** A year: no job runs longer. */
const MINUTES_MAX = 527_040;

/** @throws {UsageError} for a value that makes no sense. */
export function syntheticRequest(
  flags: FlagValues<typeof REQUEST_FLAGS>,
  documents: FileRules,
  nowMs: number,
): SyntheticRequest {
  const chosen = flags.class === undefined ? undefined : withClass(documents.policy, flags.class, nowMs);
  const variables = readVariables(flags.variable);
  const { kept, hidden, dropped } = allowedVariables(variables, documents.policy.variables);
  const { image, job, environment } = flags;
  const pullPolicies = flags['pull-policy'];
  const timeoutSeconds = flags.timeout === undefined ? undefined : durationOf(flags.timeout);
  const request: AdmissionRequest = {
    ...readRunFlags(flags),
    jobId: JOB_ID,
    ...withoutAbsent({ jobName: job, environment, image }),
    ...(pullPolicies.length > 0 && { pullPolicies }),
    services: flags.service.map((name) => ({ name, variables: {} })),
    // A runner of the class has at least its tags; what others it has only GitLab can say.
    jobTags: [...new Set([...(chosen?.runnerClass.tags ?? []), ...flags.tag])],
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    variables: kept,
    ...(hidden.length > 0 && { hiddenVariables: hidden }),
  };
  resolveContainers(request, runnerVariablesOf(variables).resolve);
  return { request, unseen: dropped };
}

/** @throws {UsageError} */
export const minutesOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : readWhole('minutes', text, 1, MINUTES_MAX);

function durationOf(text: string): number {
  const seconds = parseDuration(text);
  if (seconds !== undefined && seconds > 0) return seconds;
  throw new UsageError(`--timeout "${text}": expected a duration such as 1h or 90m`);
}

/** Messages do not quote values, because they may be secrets. */
function readVariables(texts: readonly string[]): Readonly<Record<string, string>> {
  const entries = texts.map((text): readonly [string, string] => {
    const at = text.indexOf('=');
    const name = at === -1 ? text : text.slice(0, at);
    if (at !== -1 && /^[A-Za-z_]\w*$/.test(name)) return [name, text.slice(at + 1)];
    throw new UsageError(
      `--variable ${at === -1 ? '' : 'NAME'}: expected NAME=value, NAME of letters, digits and _`,
    );
  });
  return Object.fromEntries(entries);
}
