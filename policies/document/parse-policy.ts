import { ESTIMATE_MODES, type EstimateSettings } from '../estimate.ts';
import { NO_PLATFORM, type Platform } from '../platform.ts';
import type { Policy, RequeueSettings, VariableAllowlist } from '../policy.ts';
import { runnerClassNames } from '../price.ts';
import { ROLLOUT_DAYS_MAX, ROLLOUT_DEFAULTS, type RolloutSettings } from '../rollout-step.ts';
import { ruleIndexOf } from '../rule-index.ts';
import { DISCLOSURES, type DiscloseSettings } from '../text/reason-text.ts';
import { withoutAbsent } from '../without-absent.ts';
import { gitlabId, readBoolean, readDuration, readZone, word } from './parse-entry.ts';
import { COMPARED_MAX, looksSecret } from './parse-match.ts';
import { readPrices } from './parse-prices.ts';
import { readRule } from './parse-rule.ts';
import { type DocumentProblem, type ParseResult, type Read, Reading } from './reading.ts';

const KEYS = [
  ...['currency', 'zone', 'prices', 'estimate', 'platform', 'rules', 'variables', 'trust_variables'],
  ...['disclose', 'rollout', 'waiting', 'requeue', 'request_notes'],
];
const RULES_MAX = 20_000;
const VARIABLES_MAX = 200;
const GROUPS_MAX = 100_000;
const WAIT_WEIGHT_MAX = 100;
const REQUEUE_GROUPS_MAX = 50;
const WITHIN_SECONDS_MAX = 86_400;
const NOTE_GROUPS_MAX = 200;
const PLATFORM_SUBJECTS_MAX = 100;

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
  if (!reading.object(KEYS)) return reading.result<Policy>(undefined);
  const currency = reading
    .at('currency')
    .text('a currency code such as EUR', (text) => /^[A-Z]{3}$/.test(text));
  const prices = readPrices(reading.at('prices'));
  const platform = reading.optional('platform', readPlatform) ?? NO_PLATFORM;
  const names = { runnerClasses: runnerClassNames(prices), zone: readZone(reading) ?? 'UTC' };
  const list = reading.at('rules');
  if (!list.isThere) list.expected('a list of rules, or [] for none');
  const rules = list.unique('rules', RULES_MAX, 'id', (each) => readRule(each, names, platform));
  const compared = new Set(rules.flatMap((rule) => rule.compared));
  if (compared.size > COMPARED_MAX)
    list.refuse(`compare ${compared.size} variables; expected at most ${COMPARED_MAX}`);
  return reading.result<Policy>({
    version,
    currency: currency ?? '',
    prices,
    estimate: readEstimate(reading.at('estimate')),
    platform,
    rules,
    ruleIndex: ruleIndexOf(rules),
    variables: {
      ...readVariables(reading.at('variables')),
      compared: [...compared],
    },
    trustVariables: reading.flag('trust_variables'),
    disclose: readDisclose(reading.at('disclose')),
    rollout: reading.optional('rollout', readRolloutSettings) ?? ROLLOUT_DEFAULTS,
    ...withoutAbsent({ waitWeights: reading.optional('waiting', readWaitWeights) }),
    ...reading.present({ requeue: readRequeue, requestNotes: readRequestNotes }),
  });
}

function readEstimate(reading: Reading): EstimateSettings {
  const found = reading.fields(
    { defaultSeconds: readDuration },
    { mode: word('the source of estimates', ESTIMATE_MODES), timeoutSeconds: readDuration },
  );
  return { defaultSeconds: 0, timeoutSeconds: 3_600, ...found };
}

function readVariables(reading: Reading): Omit<VariableAllowlist, 'compared'> {
  const names = reading.each('variable names', VARIABLES_MAX, (each) => {
    const name = each.text('a variable name, with * at its end for a prefix', (text) =>
      /^[A-Za-z_]\w*\*?$/.test(text),
    );
    return name !== undefined && looksSecret(name)
      ? each.expected('no name that looks like a secret: it would leave the relay')
      : name;
  });
  return {
    names: names.filter((name) => !name.endsWith('*')),
    prefixes: names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1)),
  };
}

const whole =
  (what: string, max: number): Read<number> =>
  (reading) =>
    reading.integer(`${what}, at most ${max}`, 0, max);

function readRolloutSettings(reading: Reading): RolloutSettings {
  const found = reading.fields(
    {},
    {
      days: whole('days with jobs', ROLLOUT_DAYS_MAX),
      reportDays: whole('days', 365),
      coveragePercent: whole('per cent of jobs', 100),
      wouldFailPercent: whole('per cent of jobs', 100),
    },
  );
  return { ...ROLLOUT_DEFAULTS, ...found };
}

const GROUP = { groupId: gitlabId('group') };

function readDisclose(reading: Reading): DiscloseSettings {
  const levels = word('the levels to disclose', DISCLOSURES);
  if (reading.isThere) reading.object(['default', 'groups']);
  const byGroup = reading
    .at('groups')
    .unique('{group, levels}', GROUPS_MAX, 'groupId', (each) => each.fields({ ...GROUP, levels }));
  return {
    default: reading.optional('default', levels) ?? 'binding',
    byGroup: new Map(byGroup.map((each) => [each.groupId, each.levels])),
  };
}

function readWaitWeights(reading: Reading): ReadonlyMap<number, number> | undefined {
  if (!reading.object(['weights'])) return undefined;
  const weight: Read<number> = (each) => each.integer('turns for one of others', 1, WAIT_WEIGHT_MAX);
  const byGroup = reading
    .at('weights')
    .unique('{group, weight}', GROUPS_MAX, 'groupId', (each) => each.fields({ ...GROUP, weight }));
  return new Map(byGroup.map((each) => [each.groupId, each.weight]));
}

function readRequeue(reading: Reading): readonly RequeueSettings[] {
  return reading.unique('{group, retries, within}', REQUEUE_GROUPS_MAX, 'groupId', (each) => {
    const found = each.fields(
      { ...GROUP, retries: (at) => at.integer('retries of one job', 1, 10), withinSeconds: readDuration },
      { priority: (at: Reading) => at.integer('a priority, the highest first', 0, 100) },
    );
    if (found !== undefined && found.withinSeconds > WITHIN_SECONDS_MAX)
      each.at('within').expected('at most 24h');
    return found && { priority: 0, ...found };
  });
}

const readRequestNotes = (reading: Reading): readonly number[] =>
  reading
    .unique('{group}', NOTE_GROUPS_MAX, 'groupId', (each) => each.fields(GROUP))
    .map(({ groupId }) => groupId);

function readPlatform(reading: Reading): Platform | undefined {
  const ids: Read<readonly number[]> = (each) =>
    each.each('ids', PLATFORM_SUBJECTS_MAX, (id) => id.integer("GitLab's id", 1));
  const found = reading.fields({}, { groups: ids, projects: ids, job: readPlatformJob });
  if (found === undefined) return undefined;
  const { groups = [], projects = [], job = PLATFORM_JOB } = found;
  if (groups.length + projects.length === 0) reading.refuse('is empty; expected groups, projects or both');
  return { groups, projects, job };
}

/** GitLab always sends these fields, so that their absence would test nothing. */
const PLATFORM_JOB = { pipelineSource: 'push', variables: {} };

function readPlatformJob(reading: Reading): Platform['job'] | undefined {
  const texts: Read<readonly string[]> = (each) => each.each('texts', 50, (entry) => entry.text('a text'));
  const found = reading.fields(
    {},
    {
      image: (each: Reading) => each.text('an image'),
      services: texts,
      tags: texts,
      timeoutSeconds: readDuration,
      ref: (each: Reading) => each.text('a branch or tag'),
      protected: readBoolean,
    },
  );
  if (found === undefined) return undefined;
  const { services, tags, protected: refProtected, ...rest } = found;
  return {
    ...PLATFORM_JOB,
    ...rest,
    ...(services !== undefined && { services: services.map((name) => ({ name })) }),
    ...(tags !== undefined && { jobTags: tags, runnerTags: tags }),
    ...(refProtected !== undefined && { refProtected }),
  };
}
