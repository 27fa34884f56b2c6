import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import type { ServiceRequest } from '../../policies/request/request.ts';
import { withoutAbsent } from '../../policies/without-absent.ts';
import { isScalar, isWholeNumber, type WantedField } from '../wire/plan.ts';
import {
  type AliasKind,
  DOCKER_USER,
  KUBERNETES_USER,
  LABEL_LENGTH_MAX,
  LIST_LENGTH_MAX,
  PULL_POLICY,
  TEXT_LENGTH_MAX,
  UNKNOWN,
  UNKNOWN_END,
} from './aliases.ts';
import {
  findVariables,
  hasPresence,
  type MessageObject,
  type ResolvedPath,
  readServiceVariables,
  resolvePath,
} from './variables.ts';

/**
 * Reads a raw field. Returns undefined for no value and {@link UNKNOWN} for one that is too long. Adds an invalid id to `problems`,
 * without its value.
 */
export type ValueReader = (raw: unknown, problems: string[]) => unknown;

export function valueReader(kind: AliasKind, field: DescField, path: string): Reading | undefined {
  switch (kind) {
    case 'services':
      return servicesReader(field);
    case 'texts':
      return isTexts(field) ? { read: (raw) => readRepeated(raw, label) } : undefined;
    case 'id':
      return isWholeNumber(field) ? { read: (raw, problems) => wholeNumber(raw, path, problems) } : undefined;
    case 'seconds':
      return isWholeNumber(field) ? { read: seconds } : undefined;
    case 'text':
    case 'container':
    case 'label':
      if (field.fieldKind === 'enum') return { read: enumReader(field) };
      return isTextField(field) ? { read: TEXT_READERS[kind] } : undefined;
    case 'boolean':
      return isScalar(field, ScalarType.BOOL)
        ? { read: (raw) => (raw === true || (raw === false && hasPresence(field)) ? raw : undefined) }
        : undefined;
    case 'digest':
    case 'bot':
      return undefined;
  }
}

/** int64 arrives as bigint. Beyond 2^53 a number would silently be the id of another job. */
export function wholeNumber(raw: unknown, path: string, problems: string[]): number | undefined {
  if (raw === undefined || raw === 0 || raw === 0n || raw === '') return undefined;
  const value = Number(raw);
  if (Number.isSafeInteger(value) && value > 0) return value;
  problems.push(`${path} is not a whole number from 1 to 2^53 - 1`);
  return undefined;
}

/** GitLab's longest timeout is one month. */
const TIMEOUT_SECONDS_MAX = 31 * 86_400;

function seconds(raw: unknown): unknown {
  const value = wholeNumber(raw, '', []);
  if (value === undefined) return Number(raw ?? 0) === 0 ? undefined : UNKNOWN;
  return value <= TIMEOUT_SECONDS_MAX ? value : UNKNOWN;
}

const textOf = (raw: unknown): string | undefined =>
  typeof raw === 'string' && raw !== '' ? raw : undefined;

const cut = (text: string, lengthMax: number): string => text.slice(0, lengthMax).toWellFormed();

export function label(raw: unknown): string | undefined {
  const text = textOf(raw);
  return text && cut(text, LABEL_LENGTH_MAX);
}

export function textField(raw: unknown): string | typeof UNKNOWN | undefined {
  const text = textOf(raw);
  return text !== undefined && text.length > TEXT_LENGTH_MAX ? UNKNOWN : text;
}

export function containerText(raw: unknown): string | undefined {
  const text = textOf(raw);
  if (text === undefined || text.length <= TEXT_LENGTH_MAX) return text;
  return `${cut(text, LABEL_LENGTH_MAX)}${UNKNOWN_END}`;
}

const TEXT_READERS = { text: textField, container: containerText, label } as const;

/** An empty repeated field looks like one that was not sent. */
function readRepeated<T>(raw: unknown, read: (entry: unknown) => T | undefined): readonly T[] | undefined {
  if (!Array.isArray(raw) || raw.length === 0) return undefined;
  return raw.slice(0, LIST_LENGTH_MAX).flatMap((entry) => read(entry) ?? []);
}

/** `REF_TYPE_BRANCH` reads as `branch`, as GitLab's JSON spells it. Number 0 is the usual "unspecified". */
function enumReader(field: DescField & { fieldKind: 'enum' }): ValueReader {
  const prefix = field.enum.sharedPrefix?.length ?? 0;
  const names = new Map(
    field.enum.values.map((value) => [value.number, value.name.slice(prefix).toLowerCase()]),
  );
  return (raw) => (raw === 0 ? undefined : names.get(raw as number));
}

const isTexts = (field: DescField): boolean =>
  field.fieldKind === 'list' && field.listKind === 'scalar' && field.scalar === ScalarType.STRING;
const isTextField = (field: DescField): boolean => isScalar(field, ScalarType.STRING);

interface Reading {
  readonly read: ValueReader;
  readonly within?: readonly WantedField[];
}

function servicesReader(field: DescField): Reading | undefined {
  if (field.fieldKind !== 'list' || field.listKind !== 'message') return undefined;
  const desc = field.message;
  const name = firstOf(desc, ['name', 'image'], isTextField);
  if (name === undefined) return undefined;
  const alias = firstOf(desc, ['alias'], isTextField);
  const pullPolicy = firstOf(desc, PULL_POLICY, isTexts);
  const dockerUser = firstOf(desc, DOCKER_USER, isTextField);
  const kubernetesUser = firstOf(desc, KUBERNETES_USER, isTextField);
  const variables = findVariables(desc);

  const single = [name, alias, pullPolicy, dockerUser, kubernetesUser].filter((found) => found !== undefined);
  return {
    /** One entry stands for all services beyond the bound, so that rules do not allow them. */
    read: (raw) => {
      const services = readRepeated(raw, (entry) => readService(entry as MessageObject));
      const isTooLong = Array.isArray(raw) && raw.length > LIST_LENGTH_MAX;
      return isTooLong
        ? [...(services ?? []).slice(0, LIST_LENGTH_MAX - 1), { name: UNKNOWN_END }]
        : services;
    },
    within: [
      ...single.map(({ fields }) => ({ fields, itemsMax: LIST_LENGTH_MAX + 1 })),
      ...(variables === undefined ? [] : [variables.wanted]),
    ],
  };

  function readService(service: MessageObject): ServiceRequest | undefined {
    const textAt = (found: ResolvedPath | undefined): string | undefined =>
      found && containerText(found.get(service));
    const read = {
      name: textAt(name),
      alias: label(alias?.get(service)),
      pullPolicies: pullPolicy && readRepeated(pullPolicy.get(service), label),
      dockerUser: textAt(dockerUser),
      kubernetesUser: textAt(kubernetesUser),
      variables: variables && readServiceVariables(variables, service),
    };
    if (read.name === undefined) return undefined;
    return withoutAbsent(read) as ServiceRequest;
  }
}

function firstOf(
  desc: DescMessage,
  paths: readonly string[],
  fits: (field: DescField) => boolean,
): ResolvedPath | undefined {
  for (const path of paths) {
    const found = resolvePath(desc, path);
    if (found !== undefined && fits(found.leaf)) return found;
  }
  return undefined;
}
