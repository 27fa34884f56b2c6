import { createHash } from 'node:crypto';
import type { DescMessage } from '@bufbuild/protobuf';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { aliasSources } from './alias-sources.ts';
import { ALIASES, type AliasKind, LIST_LENGTH_MAX, UNKNOWN } from './aliases.ts';
import { type AllowedVariables, variableAllowlist } from './kept-variables.ts';
import { containerText, label, textField, wholeNumber } from './value-reader.ts';
import {
  findVariables,
  type MessageObject,
  readJobVariables,
  resolutionOf,
  resolveContainers,
  type SeenVariables,
  withCompared,
} from './variables.ts';

export type Translation =
  | {
      readonly ok: true;
      readonly request: AdmissionRequest;
      /** Fields about which GitLab and a variable disagree: names, never values. */
      readonly suspicious: readonly string[];
    }
  | {
      readonly ok: false;
      /** All problems, with paths and without values. There are few distinct texts, so they can be counted. */
      readonly problem: string;
      /** `schema`: an id is invalid or missing. `job`: an id in variables came twice. */
      readonly blame: 'schema' | 'job';
    };

export interface TranslatorOptions {
  readonly variables: AllowedVariables;
  readonly trustVariables: boolean;
}

type Draft = { -readonly [Name in keyof AdmissionRequest]?: unknown };

type Field = ReturnType<typeof fieldsOf>[number];

const fieldsOf = (desc: DescMessage) =>
  ALIASES.map((alias) => ({ ...alias, name: alias.field, sources: aliasSources(desc, alias) }));

export function compileTranslator(
  desc: DescMessage,
  options: TranslatorOptions,
): (message: MessageObject) => Translation {
  const fields = fieldsOf(desc);
  const variables = findVariables(desc);
  const fateOf = variableAllowlist(options.variables);
  const { compared = [] } = options.variables;
  const runnerTags = typedRunnerTags(fields);
  const aliasedNames = new Set(ALIASES.flatMap((alias) => alias.variables.map((variable) => variable.name)));

  return (message) => {
    const resolution = resolutionOf(variables, message);
    const seen =
      variables && readJobVariables(variables, message, fateOf, aliasedNames, resolution.valueForPod);
    const problems: string[] = [];
    const suspicious: string[] = [];
    const unknown: string[] = [];
    const request: Draft = {};
    for (const field of fields) {
      const typed = readTyped(field, message, problems);
      if (typed === UNKNOWN) continue;
      if (seen !== undefined) compareWithVariables(field, typed, seen, suspicious);
      const value = typed ?? (seen && readFromVariables(field, seen, options.trustVariables, unknown));
      if (value !== undefined) request[field.name] = value;
    }
    resolveContainers(request, resolution.resolve);
    // Newer GitLab sends both lists. If the runner's tags came, an empty list of job tags means "untagged".
    if (request.jobTags === undefined && runnerTags?.(message) === true) request.jobTags = [];
    if (seen !== undefined) {
      const { kept, contested } = seen;
      const all = withCompared(kept, compared, resolution.received, fateOf, contested);
      request.variables = all.variables;
      if (all.hidden.length > 0) request.hiddenVariables = all.hidden;
    }
    if (unknown.length > 0) request.suspicious = unknown;
    if (problems.length > 0) return { ok: false, problem: problems.join('; '), blame: 'schema' };
    if (request.jobId === undefined)
      return { ok: false, problem: 'no job id came', blame: unknown.includes('jobId') ? 'job' : 'schema' };
    return { ok: true, request: request as unknown as AdmissionRequest, suspicious };
  };
}

function typedRunnerTags(fields: readonly Field[]): ((message: MessageObject) => boolean) | undefined {
  const jobTags = fields.find((field) => field.name === 'jobTags');
  const runnerTags = fields.find((field) => field.name === 'runnerTags');
  if (!jobTags?.sources.length || !runnerTags?.sources.length) return undefined;
  return (message) => readTyped(runnerTags, message, []) !== undefined;
}

export function readTyped(
  { sources }: Pick<Field, 'sources'>,
  message: MessageObject,
  problems: string[],
): unknown {
  for (const source of sources) {
    const value = source.read(source.get(message), problems);
    if (value !== undefined) return value;
  }
  return undefined;
}

function compareWithVariables(field: Field, typed: unknown, seen: SeenVariables, suspicious: string[]): void {
  for (const variable of field.variables) {
    const value = seen.aliased.get(variable.name);
    const disagrees =
      variable.mustAgree && value !== undefined && typed !== undefined && value !== String(typed);
    if (disagrees || seen.contested.has(variable.name)) suspicious.push(field.name);
  }
}

function readFromVariables(field: Field, seen: SeenVariables, trusted: boolean, unknown: string[]): unknown {
  for (const variable of field.variables) {
    if (variable.needsTrust && !trusted) continue;
    if (seen.contested.has(variable.name)) unknown.push(field.name);
    const value = readVariable(field.kind, seen.aliased.get(variable.name));
    if (value !== undefined) return value;
  }
  return undefined;
}

/** A variable with an unexpected value was set by a user, not by GitLab. It is ignored. */
function readVariable(kind: AliasKind, value: string | undefined): unknown {
  if (value === undefined || value === '') return undefined;
  switch (kind) {
    case 'id':
    case 'seconds':
      return /^\d{1,16}$/.test(value) ? wholeNumber(value, '', []) : undefined;
    case 'text': {
      const text = textField(value);
      return text === UNKNOWN ? undefined : text;
    }
    case 'container':
      return containerText(value);
    case 'label':
      return label(value);
    case 'boolean':
      return value === 'true' ? true : value === 'false' ? false : undefined;
    case 'texts':
      return readTags(value);
    case 'digest':
      return createHash('sha256').update(value).digest('hex').slice(0, DIGEST_CHARACTERS);
    case 'bot':
      return BOT_NAME.test(value);
    case 'services':
      return undefined;
  }
}

const DIGEST_CHARACTERS = 12;

/**
 * Names that GitLab generates for access tokens of projects and groups, and for service accounts.
 *
 * @see https://docs.gitlab.com/user/project/settings/project_access_tokens/#bot-users-for-projects
 */
const BOT_NAME = /^(?:(?:project|group)_\d+_bot(?:_?\w*)|service_account_\w+)$/;

/** Reads `CI_RUNNER_TAGS`: documented as `a, b`, sent by some versions as `["a","b"]`. */
function readTags(value: string): readonly string[] | undefined {
  const trimmed = value.trim();
  const tags = trimmed.startsWith('[') ? fromJson(trimmed) : trimmed.split(',').map((tag) => tag.trim());
  const named = tags?.filter((tag) => tag !== '');
  return named === undefined || named.length > LIST_LENGTH_MAX ? undefined : named;
}

function fromJson(text: string): readonly string[] | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) && parsed.every((tag) => typeof tag === 'string') ? parsed : undefined;
  } catch {
    return undefined;
  }
}
