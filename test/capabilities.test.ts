/**
 * Lists what users can do with Tollgate in `capabilities.txt`, generated from the code. A change of that file is a change of
 * the product: `npm test -- --project unit test/capabilities -u` writes it, and the commit says why.
 */

import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { DEPLOYMENT } from '../cdk/settings/deployment.ts';
import { ACCESS } from '../functions/console/api/create-api.ts';
import { PAGE_ACCESS } from '../functions/console/pages/page-access.ts';
import * as functionNames from '../functions/names.ts';
import packageJson from '../package.json' with { type: 'json' };
import { parseLimits } from '../policies/document/parse-limits.ts';
import { parsePolicy } from '../policies/document/parse-policy.ts';
import { RULE_KINDS } from '../policies/kinds/kinds.ts';
import { UNIT_OF } from '../policies/unit.ts';
import { createMetrics } from '../relay/monitoring/metrics.ts';
import * as relayNames from '../relay/names.ts';
import { COMMANDS } from '../scripts/cli/commands.ts';
import { ALL_ALARMS } from './support/all-alarms.ts';

const functionsFolder = fileURLToPath(new URL('../functions', import.meta.url));
const NAMES = { ...functionNames, ...relayNames };
const UNKNOWN_KEY = 'zzzzzzzzzzzzzzzzzzzz';

test('what users can do is what capabilities.txt says', async () => {
  const sections = {
    'npm scripts': Object.keys(packageJson.scripts),
    'deployed functions': readdirSync(functionsFolder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('handler.ts'))
      .map((name) => name.replace(/\/handler\.ts$/, '')),
    'commands and their flags': await commandsWithFlags(),
    'console pages and actions': Object.keys(PAGE_ACCESS),
    'API operations': Object.keys(ACCESS),
    'deployment settings': [...settingsIn(''), ...settingsIn('console')],
    'environment variables': Object.entries(NAMES).flatMap(([name, value]) =>
      name.startsWith('ENV_') && typeof value === 'string' ? [value] : [],
    ),
    alarms: ALL_ALARMS.map(({ name, severity }) => `${name} (${severity})`),
    metrics: [...Object.values(NAMES).flatMap(metricNames), ...(await prometheusNames())],
    'units of limits': Object.values(UNIT_OF).map(String),
    'keys of policy.yaml': policyKeys({ [UNKNOWN_KEY]: 1 }),
    ...Object.fromEntries(
      RULE_KINDS.map((kind) => [
        `keys of a rule of kind ${kind}`,
        policyKeys({ rules: [{ id: 'a', kind, [UNKNOWN_KEY]: 1 }] }),
      ]),
    ),
    'keys of a runner class': policyKeys({ prices: { classes: [{ [UNKNOWN_KEY]: 1 }] } }),
    'keys of match': policyKeys({ rules: [{ id: 'a', kind: 'image', match: { [UNKNOWN_KEY]: 1 } }] }),
    'keys of limits.yaml': limitsKeys({ [UNKNOWN_KEY]: 1 }),
    'keys of a limit': limitsKeys({ limits: [{ [UNKNOWN_KEY]: 1 }] }),
    'keys of a grant': limitsKeys({ grants: [{ [UNKNOWN_KEY]: 1 }] }),
    'keys of a freeze': limitsKeys({ freezes: [{ [UNKNOWN_KEY]: 1 }] }),
  };
  const text = Object.entries(sections)
    .map(([title, lines]) => {
      expect(lines, title).not.toEqual([]);
      return `# ${title}\n${[...new Set(lines)].sort().join('\n')}\n`;
    })
    .join('\n');
  await expect(text).toMatchFileSnapshot('capabilities.txt');
});

const commandsWithFlags = (): Promise<readonly string[]> =>
  Promise.all(
    COMMANDS.map(async ({ name, load }) => {
      const flags = Object.keys({ ...(await load()).flags, json: '' }).map((flag) => `--${flag}`);
      return [name, ...flags.sort()].join(' ');
    }),
  );

const prometheusNames = async (): Promise<readonly string[]> =>
  [...(await createMetrics().render()).matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name);

function metricNames(value: unknown): readonly string[] {
  const metric = value as { readonly name?: unknown; readonly statistic?: unknown } | null;
  if (typeof metric?.name === 'string') return metric.statistic === undefined ? [] : [metric.name];
  // A table of metrics.
  return Object.values(metric ?? {}).flatMap((each) => (typeof each === 'object' ? metricNames(each) : []));
}

/** The settings of a section and of those below it, as the reader itself names them when it meets an unknown one. */
function settingsIn(section: string): readonly string[] {
  const value = section
    .split('.')
    .filter(Boolean)
    .reduceRight<object>((inner, key) => ({ [key]: inner }), { [UNKNOWN_KEY]: 1 });
  const prefix = section === '' ? '' : `${section}.`;
  const unknown = DEPLOYMENT.safeParse(value).error?.issues.find(
    ({ code, path }) => code === 'unrecognized_keys' && path.join('.') === section,
  );
  const names = /here are (.*)$/.exec(unknown?.message ?? '')?.[1]?.split(', ') ?? [];
  return names.flatMap((name) => {
    const inner = settingsIn(`${prefix}${name}`);
    return inner.length > 0 ? inner : [`${prefix}${name}`];
  });
}

const policyKeys = (document: object): readonly string[] => keysNamed(parsePolicy(document, '1'));
const limitsKeys = (document: object): readonly string[] =>
  keysNamed(parseLimits(document, '1', { prices: { classes: [] } } as never));

/** The keys that a document's reader expects in the place of the unknown one. */
function keysNamed(parsed: ReturnType<typeof parsePolicy | typeof parseLimits>): readonly string[] {
  const problems = parsed.ok ? [] : parsed.problems;
  const { message = '' } = problems.find((problem) => problem.message.startsWith('unknown key')) ?? {};
  return /expected one of (.*)$/.exec(message)?.[1]?.split(', ') ?? [];
}
