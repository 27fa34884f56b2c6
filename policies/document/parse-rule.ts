import { COUNTED_RULES } from '../kinds/counted-kinds.ts';
import { isCounted, RULE_KINDS, type RuleKind, statelessRuleKind } from '../kinds/kinds.ts';
import type { KnownNames } from '../kinds/rule-kind.ts';
import { OUTAGE_POLICIES } from '../limits/limit.ts';
import type { Exemption } from '../match/match.ts';
import { MODES, type RuleClass } from '../mode.ts';
import { type Platform, platformExemptions } from '../platform.ts';
import type { MissingFieldPolicy, OnError, Rule } from '../rule.ts';
import { isName, NAME_EXPECTED, readZone } from './parse-entry.ts';
import { CONDITION_KEYS, readConditions, readMatch } from './parse-match.ts';
import type { Reading } from './reading.ts';
import { readInstant } from './values.ts';

const MESSAGE_CHARACTERS_MAX = 500;
const BASE_KEYS = [
  'id',
  'kind',
  'class',
  'match',
  'mode',
  'on_missing',
  'on_error',
  'message',
  'exempt',
  'binds_platform',
];
const CLASSES: readonly RuleClass[] = ['cost', 'capacity', 'security'];
const ON_MISSING: readonly MissingFieldPolicy[] = ['admit', 'reject', 'skip'];
const ON_ERROR: readonly OnError[] = ['open', 'closed'];

/** Reads one entry of `rules`. */
export function readRule(
  reading: Reading,
  order: number,
  names: KnownNames,
  platform: Platform,
): Rule | undefined {
  const kind = reading.at('kind').oneOf('a kind of rule', RULE_KINDS);
  if (kind === undefined || !reading.object(keysOf(kind))) return undefined;
  const id = reading.at('id').text(NAME_EXPECTED, isName);
  const mode = reading.at('mode').oneOf('a mode', MODES);
  const match = readMatch(reading.at('match'), names.runnerClasses);
  const message = readMessage(reading.at('message'));
  const ruleClass = readClass(reading.at('class'), kind);
  const onMissing = optional(reading.at('on_missing'), 'what an absent field means', ON_MISSING) ?? 'skip';
  const onError =
    optional(reading.at('on_error'), 'what an error means', ON_ERROR) ??
    (ruleClass === 'security' ? 'closed' : 'open');
  const exempt = readExempt(reading.at('exempt'), names);
  const binds = reading.at('binds_platform');
  const bindsPlatform = binds.isThere && binds.boolean() === true;
  const whenUnreachable = optional(
    reading.at('when_unreachable'),
    'what becomes of jobs while no limit can be asked',
    OUTAGE_POLICIES,
  );
  const check = isCounted(kind) ? undefined : statelessRuleKind(kind).read(reading, names);
  if (id === undefined || mode === undefined) return undefined;
  const base = {
    id,
    class: ruleClass,
    match,
    mode,
    onMissing,
    onError,
    exempt: bindsPlatform ? exempt : [...platformExemptions(platform), ...exempt],
    order,
    ...(message !== undefined && { message }),
  };
  if (isCounted(kind))
    return { ...base, stateless: false, kind, ...(whenUnreachable !== undefined && { whenUnreachable }) };
  const readsPlace = statelessRuleKind(kind).readsPlace === true;
  return check && { ...base, stateless: true, kind, check, readsPlace };
}

const keysOf = (kind: RuleKind): readonly string[] =>
  isCounted(kind) ? [...BASE_KEYS, 'when_unreachable'] : [...BASE_KEYS, ...statelessRuleKind(kind).keys];

function readClass(reading: Reading, kind: RuleKind): RuleClass {
  const fallback = isCounted(kind) ? COUNTED_RULES[kind].class : statelessRuleKind(kind).class;
  if (!reading.isThere) return fallback;
  // Limits are edited by finance, so that security rules must not use them.
  const allowed = isCounted(kind) ? CLASSES.filter((each) => each !== 'security') : CLASSES;
  return reading.oneOf(`a class for kind ${kind}`, allowed) ?? fallback;
}

const readMessage = (reading: Reading): string | undefined =>
  reading.isThere
    ? reading.text(`a text of at most ${MESSAGE_CHARACTERS_MAX} characters`, isMessage)
    : undefined;

const optional = <Word extends string>(
  reading: Reading,
  what: string,
  words: readonly Word[],
): Word | undefined => (reading.isThere ? reading.oneOf(what, words) : undefined);

const isMessage = (text: string): boolean => text.trim() !== '' && text.length <= MESSAGE_CHARACTERS_MAX;

/** A rule with more exemptions should be rewritten. */
const EXEMPTIONS_MAX = 1_000;
const TEXT_CHARACTERS_MAX = 200;

/**
 * Reads `exempt`: conditions as in `match` (all must hold), a reason, an end, an optional ticket,
 * and a zone for the end if it differs from the policy's.
 */
const readExempt = (reading: Reading, names: KnownNames): readonly Exemption[] =>
  reading
    .list('{groups, …, reason, until}', EXEMPTIONS_MAX)
    .flatMap((each) => readExemption(each, names) ?? []);

function readExemption(
  reading: Reading,
  { runnerClasses, zone: ofPolicy }: KnownNames,
): Exemption | undefined {
  if (!reading.object([...CONDITION_KEYS, 'reason', 'until', 'zone', 'ticket'])) return undefined;
  const conditions = readConditions(reading, runnerClasses);
  // An exemption without conditions would lift the whole rule, which `mode: off` says honestly.
  if (!CONDITION_KEYS.some((key) => reading.at(key).isThere))
    reading.refuse(`names no jobs; expected one of ${CONDITION_KEYS.join(', ')}`);
  const reason = reading.at('reason').text(`a reason of at most ${TEXT_CHARACTERS_MAX} characters`, isText);
  const zone = readZone(reading, ofPolicy) ?? ofPolicy;
  const untilMs = readUntil(reading.at('until'), zone);
  const ticket = reading.at('ticket').isThere ? reading.at('ticket').text('a ticket', isText) : undefined;
  if (reason === undefined || untilMs === undefined) return undefined;
  return {
    conditions,
    reason,
    ...(untilMs !== 'never' && { untilMs }),
    ...(ticket !== undefined && { ticket }),
  };
}

function readUntil(reading: Reading, zone: string): number | 'never' | undefined {
  if (reading.value === 'never') return 'never';
  const untilMs = typeof reading.value === 'string' ? readInstant(reading.value, 'end', zone) : undefined;
  return (
    untilMs ??
    reading.expected("the last day such as 2026-12-31, an instant such as 2026-12-31T18:00Z, or 'never'")
  );
}

const isText = (text: string): boolean => text.trim() !== '' && text.length <= TEXT_CHARACTERS_MAX;
