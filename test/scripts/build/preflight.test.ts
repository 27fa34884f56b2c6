import { expect, test } from 'vitest';
import { stackNames } from '../../../cdk/settings/deployment.ts';
import type { Deployment } from '../../../cdk/settings/props.ts';
import { readDeployments } from '../../../cdk/settings/read-deployments.ts';
import { preflight } from '../../../scripts/build/deploy.ts';
import { WATCHED } from '../../cdk/monitored.ts';
import { DEFAULTS, PRIVATE } from '../../cdk/synthesized.ts';

const [STATE, FUNCTIONS, RELAYS] = stackNames('prod');

interface Given {
  readonly stacks?: Readonly<Record<string, string>>;
  readonly missing?: readonly string[];
  readonly unreserved?: number;
  readonly reserved?: number;
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
  const unprotected: string[] = [];
  const told: string[] = [];
  const asked: string[] = [];
  const seen = <T>(value: T): Promise<T> =>
    given.blind === true ? Promise.reject(new Error('AccessDenied')) : Promise.resolve(value);
  const goesOn = await preflight(settingsOf(given.deployment), {
    status: (stack) => seen(given.stacks?.[stack]),
    protect: async (stack, on) => {
      if (!on) unprotected.push(stack);
      return true;
    },
    missingParameters: (names) => {
      asked.push(...names);
      return seen(given.missing ?? []);
    },
    unreservedConcurrency: () => seen(given.unreserved ?? 1_000),
    reservedNow: () => seen(given.reserved ?? 0),
    region: given.region ?? 'eu-central-1',
    tell: (text) => told.push(text),
  });
  return { goesOn, unprotected, asked, told: told.join('\n') };
}

test('a first deployment, and every later one, goes on without a word', async () => {
  expect(await looked({})).toMatchObject({ goesOn: true, unprotected: [], told: '' });
  const stacks = {
    [STATE]: 'CREATE_COMPLETE',
    [FUNCTIONS]: 'UPDATE_ROLLBACK_COMPLETE',
    [RELAYS]: 'UPDATE_COMPLETE',
  };
  expect(await looked({ stacks, unreserved: 100, reserved: 26 })).toMatchObject({
    goesOn: true,
    unprotected: [],
    told: '',
  });
});

test.each(['ROLLBACK_COMPLETE', 'ROLLBACK_FAILED'])(
  'a first deployment that failed (%s) can be repeated: its stack loses its protection, the books keep theirs',
  async (status) => {
    const found = await looked({ stacks: { [STATE]: 'CREATE_COMPLETE', [RELAYS]: status } });
    expect(found).toMatchObject({ goesOn: true, unprotected: [RELAYS] });
    expect(found.told).toContain(`${RELAYS} is left from a first deployment that failed (${status})`);
  },
);

test.each([
  ['UPDATE_IN_PROGRESS', /is being changed/],
  ['ROLLBACK_IN_PROGRESS', /wait for its end/],
  [
    'UPDATE_ROLLBACK_FAILED',
    /aws cloudformation continue-update-rollback --stack-name Tollgate-prod-Functions/,
  ],
  ['DELETE_FAILED', /aws cloudformation delete-stack --stack-name Tollgate-prod-Functions/],
  ['UPDATE_FAILED', /aws cloudformation rollback-stack --stack-name Tollgate-prod-Functions/],
  ['IMPORT_ROLLBACK_FAILED', /then import again/],
])('a stack that is %s is left alone, with the remedy', async (status, says) => {
  const found = await looked({ stacks: { [FUNCTIONS]: status } });
  expect(found).toMatchObject({ goesOn: false, unprotected: [], told: expect.stringMatching(says) });
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
  expect(found).toMatchObject({ goesOn: true, unprotected: [] });
  expect(found.told.match(/could not be looked at: AccessDenied/g)).toHaveLength(5);
});
