import { isRecord, type ParseResult } from '../document/reading.ts';
import { withoutAbsent } from '../without-absent.ts';
import type { AdmissionRequest, ServiceRequest } from './request.ts';

type Writable<Shape> = { -readonly [Key in keyof Shape]: Shape[Key] };

const TEXTS = [
  'jobName',
  'jobStage',
  'pipelineSource',
  'scheduleDigest',
  'projectPath',
  'projectVisibility',
  'ref',
  'refType',
  'environment',
  'image',
  'dockerUser',
  'kubernetesUser',
  'runnerUuid',
] as const;

const IDS = [
  'pipelineId',
  'mergeRequestId',
  'projectId',
  'namespaceId',
  'rootNamespaceId',
  'organizationId',
  'userId',
  'runnerId',
] as const;

/** GitLab's longest job timeout is a month; beyond a year the number is not one. */
const TIMEOUT_SECONDS_MAX = 366 * 86_400;
const TAGS_MAX = 200;
const SUSPICIOUS_MAX = 50;
/** More than a policy may compare. */
const HIDDEN_VARIABLES_MAX = 200;
const SERVICES_MAX = 100;
/** GitLab knows three; the relay passes on no longer list. */
const PULL_POLICIES_MAX = 100;

/**
 * Reads one admission request as it comes in JSON. Absent and `null` are the same; fields that are not ours are passed
 * over, so that a newer relay can talk to an older function. Problems begin with the field and never quote text, which
 * could be a secret that went astray.
 */
export function parseAdmissionRequest(input: unknown): ParseResult<AdmissionRequest> {
  if (!isRecord(input)) return { ok: false, problems: ['request: not an object; expected {"jobId": …}'] };
  const read = new FieldReader(input);
  const request: Writable<AdmissionRequest> = { jobId: read.required('jobId') };
  for (const name of TEXTS) {
    const text = read.text(name);
    if (text !== undefined) request[name] = text;
  }
  for (const name of IDS) {
    const id = read.id(name);
    if (id !== undefined) request[name] = id;
  }
  const timeoutSeconds = read.integer('timeoutSeconds', 0, TIMEOUT_SECONDS_MAX);
  if (timeoutSeconds !== undefined) request.timeoutSeconds = timeoutSeconds;
  const refProtected = read.boolean('refProtected');
  if (refProtected !== undefined) request.refProtected = refProtected;
  const byBot = read.boolean('byBot');
  if (byBot !== undefined) request.byBot = byBot;
  const pullPolicies = readPullPolicies(read);
  if (pullPolicies !== undefined) request.pullPolicies = pullPolicies;
  const services = read.records('services', SERVICES_MAX, '{"name": …}', readService);
  if (services !== undefined) request.services = services;
  const jobTags = read.texts('jobTags', TAGS_MAX);
  if (jobTags !== undefined) request.jobTags = jobTags;
  const runnerTags = read.texts('runnerTags', TAGS_MAX);
  if (runnerTags !== undefined) request.runnerTags = runnerTags;
  const suspicious = read.texts('suspicious', SUSPICIOUS_MAX);
  if (suspicious !== undefined) request.suspicious = suspicious;
  const variables = read.variables('variables');
  if (variables !== undefined) request.variables = variables;
  const hiddenVariables = read.texts('hiddenVariables', HIDDEN_VARIABLES_MAX);
  if (hiddenVariables !== undefined) request.hiddenVariables = hiddenVariables;
  return read.problems.length > 0 ? { ok: false, problems: read.problems } : { ok: true, value: request };
}

function readService(read: FieldReader): ServiceRequest | undefined {
  const name = read.requiredText('name', 'an image');
  const more = withoutAbsent({
    alias: read.text('alias'),
    pullPolicies: readPullPolicies(read),
    dockerUser: read.text('dockerUser'),
    kubernetesUser: read.text('kubernetesUser'),
    variables: read.variables('variables'),
  });
  return name === undefined ? undefined : { name, ...more };
}

/** An empty list names none, which is what an absent one says. */
function readPullPolicies(read: FieldReader): readonly string[] | undefined {
  const pullPolicies = read.texts('pullPolicies', PULL_POLICIES_MAX);
  return pullPolicies?.length === 0 ? undefined : pullPolicies;
}

/** Longer than any name, path, ref or image GitLab stores. */
const TEXT_CHARACTERS_MAX = 4_096;
const VARIABLE_CHARACTERS_MAX = 16_384;
const VARIABLES_MAX = 1_000;
const NAME_CHARACTERS_MAX = 255;

/**
 * Reads the fields of one JSON object and collects what is wrong with them. Every admission passes here: it walks
 * known names only, and problems carry kinds and sizes instead of values.
 */
class FieldReader {
  readonly problems: string[];
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #path: string;

  /** @param path - goes before the names in problems, e.g. `services[0].`, which are then noted with the others. */
  constructor(fields: Readonly<Record<string, unknown>>, path = '', problems: string[] = []) {
    this.#fields = fields;
    this.#path = path;
    this.problems = problems;
  }

  /** A positive safe integer that must be there; 0 stands in for it when it is not. */
  required(name: string): number {
    const value = this.#own(name);
    if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
    this.#refuse(name, value, 'a whole number from 1 to 2^53 - 1');
    return 0;
  }

  integer(name: string, min: number, max: number): number | undefined {
    const value = this.#own(name);
    if (value === undefined || value === null) return undefined;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max)
      return value;
    return this.#refuse(name, value, `a whole number from ${min} to ${max}`);
  }

  /** GitLab counts from 1; 0 is how its wire format says nothing. */
  id(name: string): number | undefined {
    const value = this.integer(name, 0, Number.MAX_SAFE_INTEGER);
    return value === 0 ? undefined : value;
  }

  boolean(name: string): boolean | undefined {
    const value = this.#own(name);
    if (value === undefined || value === null) return undefined;
    return typeof value === 'boolean' ? value : this.#refuse(name, value, 'true or false');
  }

  /** A text that must be there. */
  requiredText(name: string, what: string): string | undefined {
    const value = this.#own(name);
    return isText(value, TEXT_CHARACTERS_MAX) && value !== '' ? value : this.#refuse(name, value, what);
  }

  /** An empty text says no more than an absent one. */
  text(name: string): string | undefined {
    const value = this.#own(name);
    if (value === undefined || value === null || value === '') return undefined;
    if (isText(value, TEXT_CHARACTERS_MAX)) return value;
    return this.#refuse(name, value, `a text of at most ${TEXT_CHARACTERS_MAX} characters`);
  }

  texts(name: string, max: number): readonly string[] | undefined {
    return this.#list(name, max, (value, at) =>
      isText(value, TEXT_CHARACTERS_MAX)
        ? value
        : this.#refuse(`${name}[${at}]`, value, `a text of at most ${TEXT_CHARACTERS_MAX} characters`),
    );
  }

  /** The entries of a list of objects; each is read by its own reader. */
  records<Entry>(
    name: string,
    max: number,
    example: string,
    readEntry: (fields: FieldReader) => Entry | undefined,
  ): readonly Entry[] | undefined {
    return this.#list(name, max, (value, at) =>
      isRecord(value)
        ? readEntry(new FieldReader(value, `${this.#path}${name}[${at}].`, this.problems))
        : this.#refuse(`${name}[${at}]`, value, example),
    );
  }

  variables(name: string): Readonly<Record<string, string>> | undefined {
    const value = this.#own(name);
    if (value === undefined || value === null) return undefined;
    if (!isRecord(value)) return this.#refuse(name, value, 'an object of texts');
    const entries = Object.entries(value);
    if (entries.length > VARIABLES_MAX) {
      return this.#refuse(name, value, `at most ${VARIABLES_MAX} variables, not ${entries.length}`);
    }
    const texts: [string, string][] = [];
    for (const [key, text] of entries) {
      if (key.length <= NAME_CHARACTERS_MAX && isText(text, VARIABLE_CHARACTERS_MAX)) texts.push([key, text]);
      else
        this.#refuse(
          variablePath(name, key),
          text,
          `a text of at most ${VARIABLE_CHARACTERS_MAX} characters`,
        );
    }
    // Defines own properties, so that a variable called `__proto__` is a variable and nothing else.
    return Object.fromEntries(texts);
  }

  #list<Entry>(
    name: string,
    max: number,
    read: (value: unknown, at: number) => Entry | undefined,
  ): readonly Entry[] | undefined {
    const value = this.#own(name);
    if (value === undefined || value === null) return undefined;
    if (!Array.isArray(value)) return this.#refuse(name, value, 'a list');
    if (value.length > max) return this.#refuse(name, value, `at most ${max} entries, not ${value.length}`);
    const entries: Entry[] = [];
    for (let at = 0; at < value.length; at += 1) {
      const entry = read(value[at], at);
      if (entry !== undefined) entries.push(entry);
    }
    return entries;
  }

  #own(name: string): unknown {
    return Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined;
  }

  #refuse(path: string, value: unknown, expected: string): undefined {
    this.problems.push(`${this.#path}${path}: ${kindOf(value)}; expected ${expected}`);
    return undefined;
  }
}

const isText = (value: unknown, max: number): value is string =>
  typeof value === 'string' && value.length <= max;

/** Shows the name only if it is a valid variable name. */
const variablePath = (name: string, key: string): string =>
  key.length <= NAME_CHARACTERS_MAX && /^\w+$/.test(key) ? `${name}.${key}` : name;

/** Shows numbers and booleans, which are not secret. For other values it shows type and size. */
function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return `a text of ${value.length} characters`;
  return Array.isArray(value) ? `a list of ${value.length}` : `a value of type ${typeof value}`;
}
