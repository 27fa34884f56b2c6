import { expect, test } from 'vitest';
import { stackNames } from '../../../cdk/settings/deployment.ts';
import type { Deployment } from '../../../cdk/settings/props.ts';
import { readDeployments } from '../../../cdk/settings/read-deployments.ts';
import { cloudFormation } from '../../../scripts/build/cloudformation.ts';
import { preflight } from '../../../scripts/build/deploy.ts';
import { WATCHED } from '../../cdk/monitored.ts';
import { DEFAULTS, PRIVATE } from '../../cdk/synthesized.ts';

const [STATE, FUNCTIONS, RELAYS] = stackNames('prod');

interface Given {
  /** The states that each stack has in turn: an action or a pause brings the next. */
  readonly stacks?: Readonly<Record<string, readonly string[]>>;
  readonly failures?: Readonly<Record<string, string>>;
  /** The deploying user may not change stacks. */
  readonly isReadOnly?: boolean;
  readonly missing?: readonly string[];
  readonly unreserved?: number;
  readonly reserved?: number;
  readonly unreached?: string;
  readonly region?: string;
  /** Whoever deploys may look at nothing. */
  readonly blind?: boolean;
  readonly deployment?: readonly Deployment[];
}

const settingsOf = (deployment: readonly Deployment[] = DEFAULTS) => {
  const [settings] = readDeployments(deployment, {});
  if (settings === undefined) throw new Error('no settings');
  return settings;
};

async function looked(given: Given) {
  const done: string[] = [];
  const told: string[] = [];
  const asked: string[] = [];
  const states = new Map(Object.entries(given.stacks ?? {}).map(([stack, each]) => [stack, [...each]]));
  const next = (): void => {
    for (const each of states.values()) if (each.length > 1) each.shift();
  };
  const seen = <T>(value: T): Promise<T> =>
    given.blind === true ? Promise.reject(new Error('AccessDenied')) : Promise.resolve(value);
  const goesOn = await preflight(settingsOf(given.deployment), {
    status: (stack) => seen(states.get(stack)?.find((each) => each !== 'GONE')),
    protect: async (stack, on) => {
      done.push(`${on ? 'protect' : 'unprotect'} ${stack}`);
      return true;
    },
    act: async (action, stack) => {
      if (given.isReadOnly === true) throw new Error(`CloudFormation, ${action} of ${stack}: AccessDenied`);
      done.push(`${action} ${stack}`);
      next();
    },
    whyFailed: async (stack) => given.failures?.[stack],
    pause: async () => {
      if (done.at(-1) !== 'pause') done.push('pause');
      next();
    },
    missingParameters: (names) => {
      asked.push(...names);
      return seen(given.missing ?? []);
    },
    unreservedConcurrency: () => seen(given.unreserved ?? 1_000),
    reservedNow: () => seen(given.reserved ?? 0),
    reach: async () => {
      if (given.unreached !== undefined) throw new Error(given.unreached);
    },
    region: given.region ?? 'eu-central-1',
    tell: (text) => told.push(text),
  });
  return { goesOn, done, asked, told: told.join('\n') };
}

test('a first deployment, and every later one, goes on without a word', async () => {
  expect(await looked({})).toMatchObject({ goesOn: true, done: [], told: '' });
  const stacks = {
    [STATE]: ['CREATE_COMPLETE'],
    [FUNCTIONS]: ['UPDATE_COMPLETE'],
    [RELAYS]: ['IMPORT_COMPLETE'],
  };
  expect(await looked({ stacks, unreserved: 100, reserved: 26 })).toMatchObject({
    goesOn: true,
    done: [],
    told: '',
  });
});

test('a router that is not reached from here is named, and stops nothing', async () => {
  const { goesOn, told } = await looked({ unreached: 'getaddrinfo ENOTFOUND kas.gitlab.example.com' });
  expect(goesOn).toBe(true);
  expect(told).toMatch(
    /wss:\/\/kas.* is not reached from here: getaddrinfo ENOTFOUND .*mend gitlab\.routerUrl/,
  );
});

test.each(['ROLLBACK_COMPLETE', 'ROLLBACK_FAILED', 'CREATE_FAILED'])(
  'a first deployment that failed (%s) is repeated from its stack on, which the others survive',
  async (status) => {
    const found = await looked({
      stacks: { [STATE]: ['CREATE_COMPLETE'], [FUNCTIONS]: [status, 'DELETE_IN_PROGRESS', 'GONE'] },
      failures: { [FUNCTIONS]: 'Alarms: Invalid metric' },
    });
    const done = [`unprotect ${FUNCTIONS}`, `DeleteStack ${FUNCTIONS}`, 'pause'];
    expect(found).toMatchObject({ goesOn: true, done });
    expect(found.told.split('\n')).toEqual([
      `${FUNCTIONS} (${status}) was never made; it is deleted and created again. It had failed: Alarms: Invalid metric`,
      expect.stringContaining('waiting for its end'),
      `prod: goes on at ${FUNCTIONS}`,
    ]);
  },
);

test('a state stack that was never made is replaced, too: nothing is in its table', async () => {
  const found = await looked({ stacks: { [STATE]: ['ROLLBACK_COMPLETE', 'GONE'] } });
  expect(found).toMatchObject({ goesOn: true, done: [`unprotect ${STATE}`, `DeleteStack ${STATE}`] });
});

test.each([
  [['UPDATE_IN_PROGRESS', 'UPDATE_COMPLETE'], ['pause'], /is being changed; waiting/],
  [['ROLLBACK_IN_PROGRESS', 'ROLLBACK_COMPLETE', 'GONE'], ['pause', 'unprotect', 'DeleteStack'], /deleted/],
  [['UPDATE_ROLLBACK_COMPLETE'], [], /went back after a failed update/],
  [
    ['UPDATE_FAILED', 'UPDATE_ROLLBACK_FAILED', 'UPDATE_ROLLBACK_IN_PROGRESS', 'UPDATE_ROLLBACK_COMPLETE'],
    ['RollbackStack', 'ContinueUpdateRollback', 'pause'],
    /went back after a failed update/,
  ],
  [['REVIEW_IN_PROGRESS'], [], /goes on at/],
])('a stack that is %s is brought back without a hand', async (states, done, says) => {
  const stacks = { [STATE]: ['CREATE_COMPLETE'], [FUNCTIONS]: states, [RELAYS]: ['CREATE_COMPLETE'] };
  const found = await looked({ stacks });
  expect(found).toMatchObject({ goesOn: true, told: expect.stringMatching(says) });
  expect(found.done.map((each) => each.replace(` ${FUNCTIONS}`, ''))).toEqual(done);
});

test.each([
  [
    FUNCTIONS,
    'UPDATE_ROLLBACK_FAILED',
    [`ContinueUpdateRollback ${FUNCTIONS}`],
    /aws cloudformation continue-update-rollback --stack-name Tollgate-prod-Functions --resources-to-skip/,
  ],
  [FUNCTIONS, 'CREATE_FAILED', [`unprotect ${FUNCTIONS}`, `DeleteStack ${FUNCTIONS}`], /delete-stack/],
  [RELAYS, 'DELETE_FAILED', [], /npm run destroy/],
  [FUNCTIONS, 'IMPORT_ROLLBACK_FAILED', [], /then: import again/],
  [FUNCTIONS, 'UPDATE_IN_PROGRESS', ['pause'], /describe-stack-events --stack-name Tollgate-prod-Functions/],
])('%s that stays %s is left to a person, with the command', async (stack, status, done, says) => {
  const found = await looked({ stacks: { [stack]: [status] } });
  expect(found).toMatchObject({ goesOn: false, done, told: expect.stringMatching(says) });
});

test('a user who may not change stacks learns the command', async () => {
  const found = await looked({ stacks: { [FUNCTIONS]: ['UPDATE_FAILED'] }, isReadOnly: true });
  expect(found).toMatchObject({ goesOn: false, done: [] });
  expect(found.told).toMatch(
    /AccessDenied; .*aws cloudformation rollback-stack --stack-name Tollgate-prod-F/,
  );
});

test('no stack is changed while a secret is missing', async () => {
  const found = await looked({ stacks: { [RELAYS]: ['ROLLBACK_COMPLETE', 'GONE'] }, missing: ['/a'] });
  expect(found).toMatchObject({ goesOn: false, done: [] });
});

const member = (type: string, status: string, id: string, reason = '') =>
  `<member><LogicalResourceId>${id}</LogicalResourceId><ResourceType>AWS::${type}</ResourceType>` +
  `<ResourceStatus>${status}</ResourceStatus><ResourceStatusReason>${reason}</ResourceStatusReason></member>`;

test('the reason is the first failure of the last change, on any page of the events', async () => {
  const pages = [
    `${member('SNS::Topic', 'CREATE_FAILED', 'Topic', 'creation cancelled')}<NextToken>2</NextToken>`,
    member('IAM::Role', 'CREATE_FAILED', 'Role', 'not authorized') +
      member('CloudFormation::Stack', 'UPDATE_IN_PROGRESS', 'Stack') +
      member('IAM::Role', 'CREATE_FAILED', 'Older', 'long ago'),
  ];
  const answer = async (_: unknown, { body }: RequestInit = {}) =>
    new Response(pages[String(body).includes('NextToken=2') ? 1 : 0]);
  const { whyFailed } = cloudFormation('https://cloudformation.test', answer);
  expect(await whyFailed(FUNCTIONS)).toBe('Role: not authorized');
});

test('secrets that nobody put into SSM are told before relays fail for want of them', async () => {
  const found = await looked({ missing: ['/tollgate/prod/router-token'] });
  expect(found).toMatchObject({
    goesOn: false,
    told: expect.stringContaining('/tollgate/prod/router-token'),
  });
  expect((await looked({ deployment: WATCHED })).asked).toEqual(
    [
      'router-token',
      'gitlab-token',
      'webhook-secrets',
      'controller-token',
      'signin-secret',
      'console-token',
    ].map((name) => `/tollgate/prod/${name}`),
  );
});

test('the authority and the proxy of a private GitLab are secrets, too', async () => {
  const { asked } = await looked({ deployment: PRIVATE });
  expect(asked).toEqual(expect.arrayContaining(['/corp/ca', '/corp/proxy']));
});

test('a key, a topic or zones elsewhere are told where only the deploying user knows the region', async () => {
  const deployment = PRIVATE.map(({ region: _, ...each }) => each);
  expect(await looked({ deployment })).toMatchObject({ goesOn: true, told: '' });
  const { goesOn, told } = await looked({ deployment, region: 'cn-north-1' });
  expect(goesOn).toBe(false);
  expect(told.match(/(?:state|parameters|alarms|vpc)\.\w+(?=:)/g)).toEqual([
    ...['state.tableKeyArn', 'parameters.keyArn', 'alarms.topicArns', 'vpc.availabilityZones'],
  ]);
  expect((await looked({ region: 'il-central-1' })).told).toContain('no Function URLs in il-central-1');
});

test('an update reserves only what it adds', async () => {
  const deployment = DEFAULTS.map((each) => ({ ...each, webhooks: { jobsPerSecond: 2 } }));
  expect(await looked({ deployment, unreserved: 120, reserved: 26 })).toMatchObject({ goesOn: true });
  const { goesOn, told } = await looked({ deployment, unreserved: 119, reserved: 26 });
  expect({ goesOn, told }).toEqual({ goesOn: false, told: expect.stringContaining('120 are needed') });
});

test('too little concurrency is told before a first deployment, with what is needed', async () => {
  expect(await looked({ unreserved: 126 })).toMatchObject({ goesOn: true });
  const found = await looked({ unreserved: 125 });
  expect(found).toMatchObject({
    goesOn: false,
    told: expect.stringMatching(/125 concurrent functions .* 126 are needed/),
  });
});

test('whoever may look at nothing may deploy all the same, and is told', async () => {
  const found = await looked({ blind: true });
  expect(found).toMatchObject({ goesOn: true, done: [] });
  expect(found.told.match(/could not be looked at: AccessDenied/g)).toHaveLength(5);
});
