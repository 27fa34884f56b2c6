/** Marks beside the books. Nothing is deleted: what is forgotten is emptied and goes by its time to live. */
import { isRecord } from '../../policies/document/reading.ts';
import { atOnce, type LedgerClock } from '../core/environment/index.ts';
import {
  answered,
  getItem,
  type InstanceTable,
  type Item,
  itemAt,
  type Key,
  ledgerKeys,
  PARAMETER_MARK_SK_PREFIX,
  putItem,
  queryAll,
  type TableFailure,
  TimeLimit,
} from '../core/store/index.ts';
import { SK, TTL_ATTRIBUTE } from '../names.ts';
import type { ListingPass, Marks, OwnedLimit, ParameterMark } from './marks.ts';
import { SsmLimitsError } from './ssm-limits-error.ts';

interface DynamoMarksOptions extends InstanceTable {
  readonly clock: Pick<LedgerClock, 'nowMs'>;
}

const TIMEOUT_MS = 5_000;
/** Marks of 10 000 parameters are some pages. */
const READ_TIMEOUT_MS = 30_000;
/** Writes under way at once: an import must not take all connections. */
const AT_ONCE = 8;
/** Long enough to see what was there. */
const FORGOTTEN_KEPT_SECONDS = 7 * 86_400;
const VERSION = 've';
const MODIFIED = 'at';
const OWNED = 'ow';

export function dynamoParameterMarks({ table, instance, clock }: DynamoMarksOptions): Marks {
  const keys = ledgerKeys(instance);
  const failure: TableFailure = (doing, why) =>
    new SsmLimitsError('marks_unavailable', `could not ${doing} in ${table.tableName} (${why})`);
  const put = (key: Key, attributes: Item): Promise<unknown> =>
    answered(`write ${key.sk}`, failure, () =>
      putItem(table, itemAt(key, attributes), new TimeLimit(TIMEOUT_MS)),
    );
  return {
    readAll: () =>
      answered('read all marks', failure, async () => {
        const ask = {
          pk: keys.parameterPass.pk,
          sk: { begins: PARAMETER_MARK_SK_PREFIX },
          consistent: true,
        };
        const items = await queryAll(table, ask, new TimeLimit(READ_TIMEOUT_MS));
        return new Map(items.flatMap((item) => markOf(item) ?? []).map((mark) => [mark.group, mark]));
      }),
    write: (marks) =>
      atOnce(marks, AT_ONCE, async (mark) => {
        await put(keys.parameterMark(mark.group), itemOf(mark));
      }),
    forget: (groups) =>
      atOnce(groups, AT_ONCE, async (group) => {
        const ttl = Math.ceil(clock.nowMs() / 1000) + FORGOTTEN_KEPT_SECONDS;
        await put(keys.parameterMark(group), { [TTL_ATTRIBUTE]: { N: String(ttl) } });
      }),
    async readPass() {
      const item = await answered('read the pass', failure, () =>
        getItem(table, keys.parameterPass, new TimeLimit(TIMEOUT_MS)),
      );
      return item === undefined ? {} : passOf(item);
    },
    async writePass({ completeFromMs, unfinished }) {
      await put(keys.parameterPass, {
        ...(completeFromMs !== undefined && { co: { N: String(completeFromMs) } }),
        ...(unfinished !== undefined && {
          fr: { N: String(unfinished.fromMs) },
          to: { S: unfinished.token },
          se: { S: unfinished.seen.join(' ') },
        }),
      });
    },
  };
}

const itemOf = ({ version, modifiedAtMs, owned }: ParameterMark): Item => ({
  [VERSION]: { N: String(version) },
  [MODIFIED]: { N: String(modifiedAtMs) },
  [OWNED]: { S: JSON.stringify(owned) },
});

/** Undefined: it was forgotten, or is none of ours. */
function markOf(item: Item): ParameterMark | undefined {
  const group = Number(item[SK]?.S?.slice(PARAMETER_MARK_SK_PREFIX.length));
  const version = Number(item[VERSION]?.N);
  const modifiedAtMs = Number(item[MODIFIED]?.N);
  const owned = item[OWNED]?.S;
  if (!Number.isSafeInteger(group) || !Number.isSafeInteger(version) || owned === undefined) return undefined;
  return { group, version, modifiedAtMs, owned: ownedOf(owned) };
}

function ownedOf(text: string): readonly OwnedLimit[] {
  const parsed: unknown = JSON.parse(text);
  if (!Array.isArray(parsed)) return [];
  return parsed.flatMap((each: unknown) =>
    isRecord(each) && typeof each.id === 'string' && Array.isArray(each.entries)
      ? { id: each.id, created: each.created === true, entries: each.entries.filter(isRecord) }
      : [],
  );
}

function passOf({ co, fr, to, se }: Item): ListingPass {
  const seen = (se?.S ?? '').split(' ').flatMap((text) => (text === '' ? [] : Number(text)));
  return {
    ...(co?.N !== undefined && { completeFromMs: Number(co.N) }),
    ...(fr?.N !== undefined &&
      to?.S !== undefined && { unfinished: { fromMs: Number(fr.N), token: to.S, seen } }),
  };
}
