/**
 * Reads the value of a parameter. Its name ends with the group's id, its value is YAML or JSON:
 *
 *   # /tollgate/prod/limits/101
 *   path: acme/payments
 *   limits:
 *     - { money: 500, per: month, zone: Europe/Berlin, owner: payments-leads }
 *     - { jobs: 20 }
 *
 * `path` is the group's path as GitLab shows it now: a typo in the id must not give another group money. An entry of `limits`
 * has the fields of limits.yaml without `on`. `limits: []` takes all of them out. `confirm: true` is needed for what the
 * console would ask twice about, such as an amount more than three times the one before.
 */
import { parse } from 'yaml';
import { parseLimitsPart } from '../../policies/document/parse-limits.ts';
import { isRecord, problemText, Reading } from '../../policies/document/reading.ts';
import type { Limit } from '../../policies/limits/limit.ts';
import { type Directory, pathKey } from '../../policies/place/directory.ts';
import type { Policy } from '../../policies/policy.ts';
import { withoutAbsent } from '../../policies/without-absent.ts';
import type { LimitsDocument } from '../core/limits/index.ts';
import type { StoredParameter } from './parameters.ts';

/** An entry of `limits` in limits.yaml, without `on`. */
type SsmLimitEntry = Readonly<Record<string, unknown>>;

export interface WantedLimit {
  readonly entry: SsmLimitEntry;
  /** As it would be read in the live document. */
  readonly limit: Limit;
}

interface WantedLimits {
  readonly limits: readonly WantedLimit[];
  readonly confirmed: boolean;
}

type ReadValue =
  | { readonly ok: true; readonly wanted: WantedLimits }
  | { readonly ok: false; readonly problems: readonly string[] };

interface ValueContext {
  readonly policy: Policy;
  readonly directory: Directory;
  /** Its defaults hold for limits in parameters, too. */
  readonly live: LimitsDocument;
}

const BYTES_MAX = 4_096;
/** The least with a number in it is shorter, but no group has so many kinds and periods. */
const LIMITS_MAX = 50;
const PROBLEM_CHARACTERS_MAX = 300;

const refused = (...problems: readonly string[]): ReadValue => ({ ok: false, problems });

export function readParameterValue(
  group: number,
  { type, value }: Pick<StoredParameter, 'type' | 'value'>,
  context: ValueContext,
): ReadValue {
  if (type !== 'String') {
    return refused(
      `is a ${type || 'parameter without a type'}; expected a String: limits are no secrets, and nothing here may decrypt`,
    );
  }
  const bytes = Buffer.byteLength(value);
  if (bytes > BYTES_MAX) return refused(`has ${bytes} bytes; expected at most ${BYTES_MAX}`);
  const document = documentIn(value);
  return 'problem' in document ? refused(document.problem) : read(group, document.value, context);
}

function documentIn(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    // No aliases: a short text must not unfold to a long one.
    return { value: parse(text, { schema: 'core', maxAliasCount: 0, logLevel: 'error' }) };
  } catch (error) {
    const [first = ''] = error instanceof Error ? error.message.split('\n') : [];
    return { problem: `is no YAML: ${first.slice(0, PROBLEM_CHARACTERS_MAX)}` };
  }
}

function read(group: number, value: unknown, context: ValueContext): ReadValue {
  const reading = Reading.of(value);
  if (!reading.object(['path', 'limits', 'confirm'])) return refused(...reading.problems.map(problemText));
  const path = reading.at('path').text("the group's full path, such as acme/payments");
  if (path !== undefined) checkPath(reading.at('path'), group, path, context.directory);
  const confirm = reading.at('confirm');
  const confirmed = confirm.isThere ? confirm.boolean() : false;
  const limits = reading.at('limits');
  if (!limits.isThere) limits.expected('a list of limits; [] takes all of them out');
  const entries = limits.list('limits', LIMITS_MAX).flatMap((each): readonly SsmLimitEntry[] => {
    const { value: entry } = each;
    if (!isRecord(entry)) {
      each.expected('an object such as { money: 500, per: month }');
      return [];
    }
    if (Object.hasOwn(entry, 'on')) each.at('on').refuse("not here: the parameter's name has the id");
    return [entry];
  });
  if (reading.problems.length > 0) return refused(...reading.problems.map(problemText));
  const parsed = parseEntries(group, entries, context);
  if ('problems' in parsed) return refused(...parsed.problems);
  const wanted = entries.flatMap((entry, index) => {
    const limit = parsed.limits[index];
    return limit === undefined ? [] : { entry, limit };
  });
  return { ok: true, wanted: { limits: wanted, confirmed: confirmed === true } };
}

function checkPath(reading: Reading, group: number, path: string, directory: Directory): void {
  const known = directory.groupById.get(group);
  if (known === undefined) {
    reading.refuse(
      `group ${group} is not in the directory: a wrong id, or a group made within the last minutes`,
    );
  } else if (pathKey(known.path) !== pathKey(path)) {
    reading.expected(`${known.path}, which is the path of group ${group} now; correct the path or the id`);
  }
}

/** Reads entries of a group as they would be read in the live document; one limit each, same order. */
function parseEntries(
  group: number,
  entries: readonly SsmLimitEntry[],
  { policy, live }: Pick<ValueContext, 'policy' | 'live'>,
): { readonly limits: readonly Limit[] } | { readonly problems: readonly string[] } {
  const document = {
    ...withoutAbsent({ fiscal_start: live.fiscal_start, thresholds: live.thresholds }),
    limits: entries.map((entry) => ({ on: { group }, ...entry })),
  };
  const parsed = parseLimitsPart(document, '', policy);
  return parsed.ok
    ? { limits: parsed.value.bySubject.get(`group/${group}`) ?? [] }
    : { problems: parsed.problems.map(problemText) };
}
