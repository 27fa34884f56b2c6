import { isRecord, type ParseResult } from '../document/reading.ts';
import type { AdmissionRequest, ServiceRequest } from './request.ts';

const TEXT_CHARACTERS_MAX = 4_096;
const VARIABLE_CHARACTERS_MAX = 16_384;
const VARIABLES_MAX = 1_000;
const NAME_CHARACTERS_MAX = 255;
/** GitLab's longest job timeout is a month; beyond a year the number is not one. */
const TIMEOUT_SECONDS_MAX = 366 * 86_400;

type Read<Value> = (value: unknown, path: string, problems: string[]) => Value | undefined;

/** Problems carry kinds and sizes: a text could be a secret that went astray. */
function refuse(problems: string[], path: string, value: unknown, expected: string): undefined {
  problems.push(`${path}: ${describeKind(value)}; expected ${expected}`);
  return undefined;
}

const isText = (value: unknown, max: number): value is string =>
  typeof value === 'string' && value.length <= max;

const entry: Read<string> = (value, path, problems) =>
  isText(value, TEXT_CHARACTERS_MAX)
    ? value
    : refuse(problems, path, value, `a text of at most ${TEXT_CHARACTERS_MAX} characters`);

/** An empty text says no more than an absent one. */
const text: Read<string> = (value, path, problems) =>
  value === '' ? undefined : entry(value, path, problems);

const integer =
  (max: number): Read<number> =>
  (value, path, problems) =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= max
      ? value
      : refuse(problems, path, value, `a whole number from 0 to ${max}`);

/** GitLab counts from 1; 0 is how its wire format says nothing. */
const id: Read<number> = (value, path, problems) =>
  integer(Number.MAX_SAFE_INTEGER)(value, path, problems) || undefined;

const boolean: Read<boolean> = (value, path, problems) =>
  typeof value === 'boolean' ? value : refuse(problems, path, value, 'true or false');

const listOf =
  <Entry>(max: number, read: Read<Entry>): Read<readonly Entry[]> =>
  (value, path, problems) => {
    if (!Array.isArray(value)) return refuse(problems, path, value, 'a list');
    if (value.length > max)
      return refuse(problems, path, value, `at most ${max} entries, not ${value.length}`);
    return Array.from(value, (each, at) => read(each, `${path}[${at}]`, problems)).filter(
      (each) => each !== undefined,
    );
  };

const variables: Read<Readonly<Record<string, string>>> = (value, path, problems) => {
  if (!isRecord(value)) return refuse(problems, path, value, 'an object of texts');
  const entries = Object.entries(value);
  if (entries.length > VARIABLES_MAX)
    return refuse(problems, path, value, `at most ${VARIABLES_MAX} variables, not ${entries.length}`);
  const texts = entries.filter(([name, each]) => {
    if (name.length <= NAME_CHARACTERS_MAX && isText(each, VARIABLE_CHARACTERS_MAX)) return true;
    // A name is shown only if it is one.
    const isName = name.length <= NAME_CHARACTERS_MAX && /^\w+$/.test(name);
    const expected = `a text of at most ${VARIABLE_CHARACTERS_MAX} characters`;
    refuse(problems, isName ? `${path}.${name}` : path, each, expected);
    return false;
  });
  // Defines own properties, so that a variable called `__proto__` is a variable and nothing else.
  return Object.fromEntries(texts) as Record<string, string>;
};

/** GitLab knows three. An empty list names none, which is what an absent one says. */
const pullPolicies: Read<readonly string[]> = (value, path, problems) => {
  const policies = listOf(100, entry)(value, path, problems);
  return policies?.length === 0 ? undefined : policies;
};

type Fields<Of> = { readonly [Name in keyof Of]-?: Read<NonNullable<Of[Name]>> };

const SERVICE_FIELDS: Fields<Omit<ServiceRequest, 'name'>> = {
  alias: text,
  pullPolicies,
  dockerUser: text,
  kubernetesUser: text,
  variables,
};

const service: Read<ServiceRequest> = (value, path, problems) => {
  if (!isRecord(value)) return refuse(problems, path, value, '{"name": …}');
  const { name } = value;
  const fields = readFields(value, SERVICE_FIELDS, `${path}.`, problems);
  return isText(name, TEXT_CHARACTERS_MAX) && name !== ''
    ? { name, ...fields }
    : refuse(problems, `${path}.name`, name, 'an image');
};

const FIELDS: Fields<Omit<AdmissionRequest, 'jobId'>> = {
  ...{ jobName: text, jobStage: text, pipelineSource: text, scheduleDigest: text, projectPath: text },
  ...{ projectVisibility: text, ref: text, refType: text, environment: text, image: text },
  ...{ dockerUser: text, kubernetesUser: text, runnerUuid: text },
  ...{ pipelineId: id, mergeRequestId: id, projectId: id, namespaceId: id, rootNamespaceId: id },
  ...{ organizationId: id, userId: id, runnerId: id },
  timeoutSeconds: integer(TIMEOUT_SECONDS_MAX),
  ...{ refProtected: boolean, byBot: boolean },
  pullPolicies,
  services: listOf(100, service),
  jobTags: listOf(200, entry),
  runnerTags: listOf(200, entry),
  suspicious: listOf(50, entry),
  variables,
  hiddenVariables: listOf(200, entry),
};

export const ADMISSION_FIELDS: readonly string[] = ['jobId', ...Object.keys(FIELDS)];

function readFields<Of>(
  input: Readonly<Record<string, unknown>>,
  fields: Fields<Of>,
  path: string,
  problems: string[],
): Partial<Of> {
  const found: Partial<Of> = {};
  for (const name in fields) {
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    const read = value === undefined || value === null ? value : fields[name](value, path + name, problems);
    if (read !== undefined && read !== null) found[name] = read;
  }
  return found;
}

/**
 * Reads one admission request as it comes in JSON. Absent and `null` are the same; fields that are not ours are passed
 * over, so that a newer relay can talk to an older function. Problems begin with the field and never quote text.
 */
export function parseAdmissionRequest(input: unknown): ParseResult<AdmissionRequest> {
  if (!isRecord(input)) return { ok: false, problems: ['request: not an object; expected {"jobId": …}'] };
  const problems: string[] = [];
  const jobId = Object.hasOwn(input, 'jobId') ? input.jobId : undefined;
  if (typeof jobId !== 'number' || !Number.isSafeInteger(jobId) || jobId < 1)
    refuse(problems, 'jobId', jobId, 'a whole number from 1 to 2^53 - 1');
  const value = { ...readFields(input, FIELDS, '', problems), jobId: typeof jobId === 'number' ? jobId : 0 };
  return problems.length > 0 ? { ok: false, problems } : { ok: true, value };
}

/** Shows numbers and booleans, which are not secret. For other values it shows type and size. */
function describeKind(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return `a text of ${value.length} characters`;
  return Array.isArray(value) ? `a list of ${value.length}` : `a value of type ${typeof value}`;
}
