import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { COMPOSITE } from '../../cdk/monitoring/admission-alarms.ts';
import type { Deployment } from '../../cdk/settings/props.ts';
import { readDeployments } from '../../cdk/settings/read-deployments.ts';
import { ENV_LIMITS_PATH } from '../../functions/names.ts';
import { reservedConcurrency } from '../../scripts/build/deploy.ts';
import { ALL_ALARMS } from '../support/all-alarms.ts';
import { WATCHED } from './monitored.ts';
import { COMMANDS, HEADINGS, partsOf, RUNBOOK, sectionsUnder } from './runbook-text.ts';
import { DEFAULTS, synthesize } from './synthesized.ts';

const ALARMS = [COMPOSITE.name, ...ALL_ALARMS.map(({ name }) => name)];

test('every alarm has a section, and every section an alarm', () => {
  expect(sectionsUnder('Alarms').map(({ text }) => text)).toEqual(ALARMS);
});

test.each([COMPOSITE, ...ALL_ALARMS])(
  'the section of $name says how bad it is, then symptom, check and act, with a command',
  ({ name, severity }) => {
    const { body = '' } = sectionsUnder('Alarms').find(({ text }) => text === name) ?? {};
    expect(body.trimStart()).toMatch(severity === 'page' ? /^\*Page[.,]/ : /^\*Ticket[.;]/);
    const steps = [...body.matchAll(/^\*\*([A-Z][a-z ]+)\.\*\*/gm)].map(([, step]) => step);
    expect(steps).toEqual(['Symptom', 'Check', 'Act']);
    expect(body).toContain('```sh');
  },
);

describe('commands', () => {
  const parts = COMMANDS.flatMap(partsOf);
  const beginning = (words: string): readonly string[] =>
    parts.filter((part) => part.startsWith(`${words} `));

  test('npx runs nothing that this project has not installed', () => {
    const others = beginning('npx').filter((part) => !/^npx (?:tollgate|cdk|node) /.test(part));
    expect(others).toEqual([]);
    for (const part of beginning('npx node')) {
      expect(existsSync(new URL(`../../${part.split(' ')[2]}`, import.meta.url))).toBe(true);
    }
    const verbs = beginning('npx cdk').map((part) => part.split(' ')[2]);
    expect(new Set(verbs)).toEqual(new Set(['bootstrap', 'import']));
  });

  test('secrets go by files, never by the command line', () => {
    for (const part of beginning('aws ssm put-parameter')) {
      // Limits are no secrets, and are refused as such.
      expect(part).toContain(part.includes('/limits/') ? '--type String ' : '--type SecureString ');
      expect(part).toMatch(/--value file:\/\/[\w-]+(?: |$)/);
    }
    expect(RUNBOOK).not.toMatch(/glrct-\w|glpat-|PRIVATE-TOKEN: [\w<$]/);
  });
});

test('messages of relays in filter patterns are written', () => {
  const sources = ['main.ts', 'monitoring/log.ts'].map((file) =>
    readFileSync(new URL(`../../relay/${file}`, import.meta.url), 'utf8'),
  );
  const written = [...sources.join('\n').matchAll(/'([^'\n]+)'|`([^`\n]+)`/g)].map(
    ([, text = '', template = text]) => new RegExp(`^${template.replaceAll(/\$\{.*?\}/g, '.+')}$`),
  );
  const read = [...RUNBOOK.matchAll(/\$\.message = \\"(.+?)\\"/g)].map(([, message = '']) => message);
  expect(read.length).toBeGreaterThan(5);
  expect(read.filter((message) => !written.some((pattern) => pattern.test(message)))).toEqual([]);
});

describe('names in commands', () => {
  const NAMES = [
    'FunctionName',
    'LogGroupName',
    'QueueName',
    'TopicName',
    'Name',
    'AlarmName',
    'DashboardName',
  ];
  const names = new Set<unknown>(
    synthesize(WATCHED).stacks.flatMap(({ name: stack, template }) => [
      stack,
      ...Object.values(template.Resources).flatMap(({ Properties }) => [
        ...NAMES.map((name) => Properties?.[name]),
        // Editors of limits make this parameter, not a stack. A function has its path.
        Properties?.Environment?.Variables?.[ENV_LIMITS_PATH],
      ]),
    ]),
  );

  test('are those of the stacks', () => {
    const used = [
      ...RUNBOOK.matchAll(/(?:\/tollgate\/|tollgate-|Tollgate-)(?:\$STAGE|<stage>)[/-][\w-]+/g),
    ].map(([name]) => name.replace(/\$STAGE|<stage>/, 'prod'));
    const parameters =
      /^\/tollgate\/prod\/(?:router-token|gitlab-token|webhook-secrets|webhook-tokens|controller-token|hook-token|signin-secret|console-token|chat-webhooks|approval-key|gitlab-ca|proxy)$/;
    const strays = used.filter(
      (name) => !names.has(name) && !parameters.test(name) && name !== 'tollgate-prod-restored',
    );
    expect(used.length).toBeGreaterThan(30);
    expect(strays).toEqual([]);
  });

  test('and the concurrency that they reserve is the number in the text', () => {
    const reserved = (deployments: readonly Deployment[]): number => {
      const sum = synthesize(deployments)
        .resources('AWS::Lambda::Function')
        .reduce((all, [, { Properties }]) => all + (Properties.ReservedConcurrentExecutions ?? 0), 0);
      // `npm run deploy` asks for as much.
      expect(readDeployments(deployments, {}).map(reservedConcurrency)).toEqual([sum]);
      return sum;
    };
    const { body = '' } = HEADINGS.find(({ text }) => text === 'Concurrency of the account') ?? {};
    const most = reserved(WATCHED);
    expect(body).toContain(`reserves ${most} of them`);
    expect(body.replace(/\s+/g, ' ')).toContain(`${reserved(DEFAULTS)} without`);
    expect(body).toContain(`less than ${most + 100} the first`);
  });
});
