import { ESTIMATE_MODES, type EstimateSettings } from '../estimate.ts';
import { statelessKindOf } from '../kinds/kinds.ts';
import type { KnownNames } from '../kinds/rule-kind.ts';
import type { Platform } from '../platform.ts';
import type { Policy, RequeueSettings, VariableAllowlist } from '../policy.ts';
import { runnerClassNames } from '../price.ts';
import { ROLLOUT_DAYS_MAX, ROLLOUT_DEFAULTS, type RolloutSettings } from '../rollout-step.ts';
import type { Rule } from '../rule.ts';
import { ruleIndexOf } from '../rule-index.ts';
import { DISCLOSURES, type DiscloseSettings, type Disclosure } from '../text/reason-text.ts';
import { readZone } from './parse-entry.ts';
import { readPlatform } from './parse-platform.ts';
import { readPrices } from './parse-prices.ts';
import { readRule } from './parse-rule.ts';
import { COMPARED_MAX, looksSecret } from './parse-variables.ts';
import { at, type DocumentProblem, keysOf, type ParseResult, Reading } from './reading.ts';
import { DURATION_EXPECTED, readDurationSeconds } from './values.ts';

const KEYS = [
  'currency',
  'zone',
  'prices',
  'estimate',
  'platform',
  'rules',
  'variables',
  'trust_variables',
  'disclose',
  'rollout',
  'waiting',
  'requeue',
  'request_notes',
];
/** Far above any policy that people review. A job with an unknown group is checked against all rules. */
const RULES_MAX = 20_000;
const VARIABLES_MAX = 200;
const GROUPS_MAX = 100_000;

/**
 * Reads the policy document (see `policies/policy.yaml`). Returns every problem if it is invalid.
 *
 * @param version - a short hash of the document's content.
 */
export function parsePolicy(
  document: unknown,
  version: string,
  options?: { readonly wasAccepted: boolean },
): ParseResult<Policy, DocumentProblem> {
  const reading = Reading.of(document, options);
  if (!reading.object(KEYS)) return { ok: false, problems: reading.problems };
  const currency = reading
    .at('currency')
    .text('a currency code such as EUR', (text) => /^[A-Z]{3}$/.test(text));
  const prices = readPrices(reading.at('prices'));
  const platform = readPlatform(reading.at('platform'));
  const names = { runnerClasses: runnerClassNames(prices), zone: readZone(reading) ?? 'UTC' };
  const rules = readRules(reading.at('rules'), names, platform);
  const trust = reading.at('trust_variables');
  const policy: Policy = {
    version,
    currency: currency ?? '',
    prices,
    estimate: readEstimate(reading.at('estimate')),
    platform,
    rules,
    ruleIndex: ruleIndexOf(rules),
    variables: {
      ...readVariables(reading.at('variables')),
      compared: comparedVariables(reading.at('rules')),
    },
    trustVariables: trust.isThere ? trust.boolean() === true : false,
    disclose: readDisclose(reading.at('disclose')),
    rollout: readRolloutSettings(reading.at('rollout')),
    ...readWaiting(reading.at('waiting')),
    ...readRequeue(reading.at('requeue')),
    ...readRequestNotes(reading.at('request_notes')),
  };
  return reading.problems.length > 0
    ? { ok: false, problems: reading.problems }
    : { ok: true, value: policy };
}

function readRules(reading: Reading, names: KnownNames, platform: Platform): readonly Rule[] {
  if (!reading.isThere) reading.expected('a list of rules, or [] for none');
  const ids = new Set<string>();
  return reading.list('rules', RULES_MAX).flatMap((each, order) => {
    const rule = readRule(each, order, names, platform);
    if (rule === undefined) return [];
    if (ids.has(rule.id)) each.at('id').expected('an id that no other rule has');
    ids.add(rule.id);
    return [rule];
  });
}

function readEstimate(reading: Reading): EstimateSettings {
  reading.object(['mode', 'default', 'timeout']);
  const mode = reading.at('mode');
  const word = mode.isThere ? mode.oneOf('where estimates come from', ESTIMATE_MODES) : undefined;
  const timeout = reading.at('timeout');
  return {
    defaultSeconds: readDuration(reading.at('default')),
    timeoutSeconds: timeout.isThere ? readDuration(timeout) : 3_600,
    ...(word !== undefined && { mode: word }),
  };
}

function readDuration(reading: Reading): number {
  const text = typeof reading.value === 'string' ? reading.value : '';
  const seconds = readDurationSeconds(text);
  if (seconds === undefined) reading.expected(DURATION_EXPECTED);
  return seconds ?? 0;
}

function readVariables(reading: Reading): Omit<VariableAllowlist, 'compared'> {
  const names = reading.list('variable names', VARIABLES_MAX).flatMap((each) => {
    const name = each.text('a variable name, with * at its end for a prefix', (text) =>
      /^[A-Za-z_]\w*\*?$/.test(text),
    );
    if (name === undefined) return [];
    return looksSecret(name)
      ? (each.expected('no name that looks like a secret: it would leave the relay') ?? [])
      : [name];
  });
  return {
    names: names.filter((name) => !name.endsWith('*')),
    prefixes: names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1)),
  };
}

function readRolloutSettings(reading: Reading): RolloutSettings {
  if (!reading.isThere || !reading.object(['days', 'report_days', 'coverage', 'would_fail']))
    return ROLLOUT_DEFAULTS;
  const whole = (key: string, what: string, fallback: number, max: number): number => {
    const at = reading.at(key);
    const value = at.isThere ? at.integer(what, 0) : fallback;
    return value !== undefined && value > max
      ? (at.expected(`at most ${max}`) ?? fallback)
      : (value ?? fallback);
  };
  return {
    days: whole('days', 'days with jobs', ROLLOUT_DEFAULTS.days, ROLLOUT_DAYS_MAX),
    reportDays: whole('report_days', 'days', ROLLOUT_DEFAULTS.reportDays, 365),
    coveragePercent: whole('coverage', 'per cent of jobs', ROLLOUT_DEFAULTS.coveragePercent, 100),
    wouldFailPercent: whole('would_fail', 'per cent of jobs', ROLLOUT_DEFAULTS.wouldFailPercent, 100),
  };
}

function readDisclose(reading: Reading): DiscloseSettings {
  if (!reading.isThere) return { default: 'binding', byGroup: new Map() };
  reading.object(['default', 'groups']);
  const fallback = reading.at('default');
  const byGroup = new Map<number, Disclosure>();
  for (const each of reading.at('groups').list('{group, levels}', GROUPS_MAX)) {
    if (!each.object(['group', 'levels'])) continue;
    const group = each.at('group').integer("GitLab's id of the group", 1);
    const levels = each.at('levels').oneOf('what to disclose', DISCLOSURES);
    if (group === undefined || levels === undefined) continue;
    if (byGroup.has(group)) each.at('group').expected('a group that is named once');
    byGroup.set(group, levels);
  }
  const word = fallback.isThere ? fallback.oneOf('what to disclose', DISCLOSURES) : undefined;
  return { default: word ?? 'binding', byGroup };
}

const WAIT_WEIGHT_MAX = 100;

function readWaiting(reading: Reading): Pick<Policy, 'waitWeights'> {
  if (!reading.isThere || !reading.object(['weights'])) return {};
  const waitWeights = new Map<number, number>();
  for (const each of reading.at('weights').list('{group, weight}', GROUPS_MAX)) {
    if (!each.object(['group', 'weight'])) continue;
    const group = each.at('group').integer("GitLab's id of a top-level group", 1);
    const weight = each.at('weight').integer('turns for one of others', 1, WAIT_WEIGHT_MAX);
    if (group === undefined || weight === undefined) continue;
    if (waitWeights.has(group)) each.at('group').expected('a group that is named once');
    waitWeights.set(group, weight);
  }
  return { waitWeights };
}

/** Each costs a few reads of the table per minute. */
const REQUEUE_GROUPS_MAX = 50;
const RETRIES_MAX = 10;
const PRIORITY_MAX = 100;
/** A pipeline is abandoned after a day. */
const WITHIN_SECONDS_MAX = 86_400;

function readRequeue(reading: Reading): Pick<Policy, 'requeue'> {
  if (!reading.isThere) return {};
  const requeue: RequeueSettings[] = [];
  for (const each of reading.list('{group, retries, within}', REQUEUE_GROUPS_MAX)) {
    if (!each.object(['group', 'retries', 'within', 'priority'])) continue;
    const groupId = each.at('group').integer("GitLab's id of the group", 1);
    const retries = each.at('retries').integer('retries of one job', 1, RETRIES_MAX);
    const withinSeconds = readDuration(each.at('within'));
    if (withinSeconds > WITHIN_SECONDS_MAX) each.at('within').expected('at most 24h');
    const at = each.at('priority');
    const priority = at.isThere ? at.integer('a priority, the highest first', 0, PRIORITY_MAX) : 0;
    if (groupId === undefined || retries === undefined || priority === undefined) continue;
    if (requeue.some((other) => other.groupId === groupId))
      each.at('group').expected('a group that is named once');
    requeue.push({ groupId, retries, withinSeconds, priority });
  }
  return { requeue };
}

/** Each has a token of its own. */
const NOTE_GROUPS_MAX = 200;

function readRequestNotes(reading: Reading): Pick<Policy, 'requestNotes'> {
  if (!reading.isThere) return {};
  const requestNotes: number[] = [];
  for (const each of reading.list('{group}', NOTE_GROUPS_MAX)) {
    if (!each.object(['group'])) continue;
    const groupId = each.at('group').integer("GitLab's id of the group", 1);
    if (groupId === undefined) continue;
    if (requestNotes.includes(groupId)) each.at('group').expected('a group that is named once');
    requestNotes.push(groupId);
  }
  return { requestNotes };
}

/** The names of all variables that rules compare, each once. What is wrong with a name is noted where its rule is read. */
function comparedVariables(rules: Reading): readonly string[] {
  const written = Array.isArray(rules.value) ? (rules.value as readonly unknown[]) : [];
  const names = new Set(written.flatMap(namesIn));
  if (names.size > COMPARED_MAX)
    rules.refuse(`compare ${names.size} variables; expected at most ${COMPARED_MAX}`);
  return [...names];
}

function namesIn(rule: unknown): readonly string[] {
  const match = at(rule, 'match');
  return [
    ...keysOf(at(match, 'variables')),
    ...keysOf(at(at(match, 'not'), 'variables')),
    ...(statelessKindOf(at(rule, 'kind'))?.comparedNames?.(rule) ?? []),
  ];
}
