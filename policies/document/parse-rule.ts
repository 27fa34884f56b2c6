import { COUNTED_RULES } from '../kinds/counted-kinds.ts';
import { isCounted, RULE_KINDS, type RuleKind, statelessRuleKind } from '../kinds/kinds.ts';
import type { KnownNames } from '../kinds/rule-kind.ts';
import { OUTAGE_POLICIES } from '../limits/limit.ts';
import { CONDITION_KEYS, readConditions } from '../match/conditions.ts';
import { type Exemption, readMatch } from '../match/match.ts';
import { MODES, type RuleClass } from '../mode.ts';
import { type Platform, platformExemptions } from '../platform.ts';
import type { Rule } from '../rule.ts';
import { readName, readZone, text, word } from './parse-entry.ts';
import type { Reading } from './reading.ts';
import { readInstant } from './values.ts';

const CLASSES: readonly RuleClass[] = ['cost', 'capacity', 'security'];
const EXEMPTIONS_MAX = 1_000;

const NEEDED = { id: readName, mode: word('a mode', MODES) };
const OPTIONAL = {
  onMissing: word('the handling of an absent field', ['admit', 'reject', 'skip']),
  onError: word('the handling of an error', ['open', 'closed']),
  message: text('a text', 500),
};
const OUTAGE = {
  whenUnreachable: word('the decision about jobs while the ledger is unreachable', OUTAGE_POLICIES),
};

export function readRule(reading: Reading, names: KnownNames, platform: Platform): Rule | undefined {
  const kind = reading.at('kind').oneOf('a kind of rule', RULE_KINDS);
  if (kind === undefined) return undefined;
  const stateless = isCounted(kind) ? undefined : statelessRuleKind(kind);
  const found = reading.fields(NEEDED, { ...OPTIONAL, ...(stateless === undefined && OUTAGE) }, [
    ...['kind', 'class', 'match', 'exempt', 'binds_platform'],
    ...(stateless?.keys ?? []),
  ]);
  const ruleClass = readClass(reading.at('class'), kind);
  const match = readMatch(reading.at('match'), names.runnerClasses);
  const exempt = reading
    .at('exempt')
    .each('{groups, …, reason, until}', EXEMPTIONS_MAX, (each) => readExemption(each, names));
  const bindsPlatform = reading.flag('binds_platform');
  const check = stateless?.read(reading, names);
  if (found === undefined) return undefined;
  const { onMissing = 'skip', onError = ruleClass === 'security' ? 'closed' : 'open', ...rest } = found;
  const base = {
    ...rest,
    ...{ match, onMissing, onError, order: Number(reading.path.at(-1)), class: ruleClass },
    compared: [
      ...reading.at('match').at('variables').keys,
      ...reading.at('match').at('not').at('variables').keys,
      ...(stateless?.comparedNames?.(reading) ?? []),
    ],
    exempt: bindsPlatform ? exempt : [...platformExemptions(platform), ...exempt],
  };
  if (isCounted(kind)) return { ...base, stateless: false, kind };
  return check && { ...base, stateless: true, kind, check, readsPlace: stateless?.readsPlace === true };
}

function readClass(reading: Reading, kind: RuleKind): RuleClass {
  const fallback = isCounted(kind) ? COUNTED_RULES[kind].class : statelessRuleKind(kind).class;
  if (!reading.isThere) return fallback;
  // Limits are edited by finance, so that security rules must not use them.
  const allowed = isCounted(kind) ? CLASSES.filter((each) => each !== 'security') : CLASSES;
  return reading.oneOf(`a class for kind ${kind}`, allowed) ?? fallback;
}

function readExemption(reading: Reading, names: KnownNames): Exemption | undefined {
  const zone = readZone(reading, names.zone);
  const found = reading.fields(
    {
      reason: text('a reason', 200),
      until: (each: Reading) =>
        each.value === 'never'
          ? each.value
          : (readInstant(each.asText, 'end', zone) ??
            each.expected(
              "the last day such as 2026-12-31, an instant such as 2026-12-31T18:00Z, or 'never'",
            )),
    },
    { ticket: text('a ticket', 200) },
    [...CONDITION_KEYS, 'zone'],
  );
  // An exemption without conditions would lift the whole rule, which `mode: off` says honestly.
  if (!CONDITION_KEYS.some((key) => reading.at(key).isThere))
    reading.refuse(`names no jobs; expected one of ${CONDITION_KEYS.join(', ')}`);
  const conditions = readConditions(reading, names.runnerClasses);
  if (found === undefined) return undefined;
  const { until, ...rest } = found;
  return { ...rest, conditions, ...(until !== 'never' && { untilMs: until }) };
}
