/** What rules looked at, inside a record: JSON with short names, because it has to fit beside the claims in 1 KB. */
import { isRecord } from '../../../policies/document/reading.ts';
import type { FilledFact, RecordedRequest, RecordedService } from '../../../policies/request/recorded.ts';

/** Never reuse a letter. */
const NAMES: Readonly<Record<keyof RecordedRequest | keyof RecordedService, string>> = {
  image: 'i',
  name: 'n',
  pullPolicies: 'p',
  dockerUser: 'd',
  kubernetesUser: 'k',
  services: 's',
  ref: 'r',
  refProtected: 'rp',
  pipelineSource: 'ps',
  environment: 'e',
  projectVisibility: 'v',
  jobTags: 'jt',
  runnerTags: 't',
  runnerId: 'ri',
  variables: 'va',
  suspicious: 'su',
  filled: 'f',
  jobName: 'jn',
  projectPath: 'pp',
};
const LONG: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(NAMES).map(([long, short]) => [short, long]),
);
const FILLED: Readonly<Record<FilledFact, string>> = {
  namespaceId: 'n',
  rootNamespaceId: 'r',
  projectPath: 'p',
  timeoutSeconds: 't',
};

export const encodeRequest = (request: RecordedRequest): string => JSON.stringify(shortened(request));

/** Nothing for what is not of ours: a record is never refused, it only tells less. */
export function decodeRequest(text: string): RecordedRequest | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isRecord(parsed) ? (lengthened(parsed) as RecordedRequest) : undefined;
}

function shortened(request: RecordedRequest | RecordedService): Readonly<Record<string, unknown>> {
  const short: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(request)) {
    const letter = NAMES[name as keyof typeof NAMES];
    if (name === 'services') short[letter] = (value as readonly RecordedService[]).map(shortened);
    else if (name === 'filled')
      short[letter] = (value as readonly FilledFact[]).map((fact) => FILLED[fact]).join('');
    else if (name === 'variables') short[letter] = value === 'some' ? 1 : 0;
    else short[letter] = value;
  }
  return short;
}

function lengthened(short: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const long: Record<string, unknown> = {};
  for (const [letter, value] of Object.entries(short)) {
    const name = Object.hasOwn(LONG, letter) ? LONG[letter] : undefined;
    if (name === undefined) continue;
    const read = readers[name] ?? ((each: unknown) => each);
    const known = read(value);
    if (known !== undefined) long[name] = known;
  }
  return long;
}

const readText = (value: unknown): unknown => (typeof value === 'string' ? value : undefined);
const readTexts = (value: unknown): unknown =>
  Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : undefined;

const readers: Readonly<Record<string, (value: unknown) => unknown>> = {
  image: readText,
  name: readText,
  pullPolicies: readTexts,
  dockerUser: readText,
  kubernetesUser: readText,
  services: (value) =>
    Array.isArray(value)
      ? value
          .filter(isRecord)
          .map(lengthened)
          .filter((service) => 'name' in service)
      : undefined,
  ref: readText,
  refProtected: (value) => (typeof value === 'boolean' ? value : undefined),
  pipelineSource: readText,
  environment: readText,
  projectVisibility: readText,
  jobTags: readTexts,
  runnerTags: readTexts,
  runnerId: (value) => (Number.isSafeInteger(value) ? value : undefined),
  variables: (value) => (value === 1 ? 'some' : 'none'),
  suspicious: readTexts,
  filled: (value) =>
    (Object.keys(FILLED) as FilledFact[]).filter((fact) => String(value).includes(FILLED[fact])),
  jobName: readText,
  projectPath: readText,
};
