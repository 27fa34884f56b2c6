import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  DescribeParametersCommand,
  GetParameterCommand,
  PutParameterCommand,
  SSMClient,
} from '@aws-sdk/client-ssm';
import { mockClient } from 'aws-sdk-client-mock';
import { expect, onTestFinished } from 'vitest';
import { groupHookKey } from '../../../../functions/core/gitlab/group-hooks.ts';
import { handClock } from '../../../../scripts/local/clock.ts';
import type { InstanceSettings } from '../../../../scripts/local/gitlab/instance.ts';
import { createLocalGitLab } from '../../../../scripts/local/gitlab/local-gitlab.ts';
import type { GitLabVersion } from '../../../../scripts/local/gitlab/webhooks.ts';
import { seededRandom } from '../../../../scripts/local/random.ts';
import { aProject, type DeskRun, runDesk } from '../desk-run.ts';
import { surrounded } from '../stand-ins.ts';

const ADMIN_TOKEN = 'glpat-administrator';
export const HOOK_URL = 'https://hooks.example.com/jobs';
const MINUTE_MS = 60_000;
const START_MS = Date.parse('2026-11-21T12:00:00Z');

export const someGroups = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ id: at + 10, path: `team-${at + 1}` }));

/** Parameter Store in memory, for this test. */
export function memoryParameters() {
  const known = new Map<string, { Value: string; Description?: string }>();
  const ssm = mockClient(SSMClient);
  onTestFinished(() => ssm.restore());
  ssm.on(PutParameterCommand).callsFake(async ({ Name, Value, Description, Type }) => {
    expect(Type).toBe('SecureString');
    known.set(Name, { Value, Description });
    return {};
  });
  ssm.on(GetParameterCommand).callsFake(async ({ Name }) => {
    const found = known.get(Name);
    if (found === undefined) throw Object.assign(new Error('no such'), { name: 'ParameterNotFound' });
    return { Parameter: { Value: found.Value } };
  });
  ssm.on(DescribeParametersCommand).callsFake(async ({ ParameterFilters: [{ Values }] }) => ({
    Parameters: [{ Description: known.get(Values[0])?.Description }],
  }));
  return { known, ssm };
}

interface BenchOptions {
  readonly version?: GitLabVersion;
  readonly administration?: InstanceSettings;
  /** Where calls go. @default without a socket */
  readonly fetch?: typeof fetch;
  /** Whether a relay reads the token's file and uses what it says. @default true */
  readonly relay?: boolean;
  /** What somebody types for the host. */
  readonly typed?: string;
  /** Looks on: at every call of GitLab, and after every minute that is waited. */
  readonly onMoment?: () => void;
}

/** The process dies at the n-th call of GitLab: before it is sent, or once GitLab has done it. */
interface Death {
  readonly at: number;
  readonly when: 'before' | 'after';
}

/** `tollgate gitlab …` in this process, against a local GitLab on a clock that only waiting moves. */
export function setupBench(options: BenchOptions = {}) {
  const hands = handClock(START_MS);
  let received = 200;
  const local = createLocalGitLab({
    clock: hands,
    random: seededRandom(1),
    token: ADMIN_TOKEN,
    version: options.version ?? '19.4',
    administration: { groups: someGroups(3), ...options.administration },
    deliver: async () => new Response(null, { status: received }),
  });
  for (const id of [5, 6, 7]) local.addRunner({ id, tags: id === 7 ? ['linux', 'gpu'] : ['linux'] });
  local.addRunner({ id: 8, type: 'group_type' });
  const root = aProject({ token: `${ADMIN_TOKEN}\n` });
  const secrets = join(root, '.tollgate/secrets');
  const kept = (name: string): string | undefined => {
    try {
      return readFileSync(join(secrets, name), 'utf8').trim();
    } catch {
      return undefined;
    }
  };
  let [calls, death] = [0, undefined as Death | undefined];
  const reach = options.fetch ?? local.fetch;
  const killable: typeof fetch = async (input, init) => {
    calls += 1;
    options.onMoment?.();
    if (death === undefined || calls < death.at) return reach(input, init);
    if (calls === death.at && death.when === 'after') await reach(input, init);
    throw new Error('the process is dead');
  };
  const clock = {
    monotonicMs: hands.monotonicMs,
    sleep: async (delayMs: number) => {
      if (options.relay !== false) local.controllerTokens.use(kept('router-token') ?? '', hands.nowMs());
      for (let leftMs = delayMs; leftMs > 0; leftMs -= MINUTE_MS) {
        hands.advance(Math.min(MINUTE_MS, leftMs));
        options.onMoment?.();
      }
    },
  };
  const run = async (
    words: string | readonly string[],
    url = 'https://gitlab.example.com',
  ): Promise<DeskRun & { calls: number }> => {
    calls = 0;
    const place = ['--gitlab', url, '--token-file', 'token'];
    const told = await runDesk(
      ['gitlab', ...(typeof words === 'string' ? words.split(' ') : words), ...place],
      root,
      {
        nowMs: hands.nowMs,
        ...surrounded({ clock, fetch: killable, answer: () => options.typed }),
      },
    );
    expectNoSecret(told);
    return { ...told, calls };
  };
  const expectNoSecret = ({ out, err }: DeskRun): void => {
    expect(`${out}${err}`).not.toMatch(/glrct-|whsec_|glpat-/);
    for (const name of ['router-token', 'webhook-secrets', 'webhook-tokens']) {
      for (const value of kept(name)?.split('\n') ?? []) expect(`${out}${err}`).not.toContain(value);
    }
  };
  return {
    local,
    clock: hands,
    root,
    run,
    kept,
    rightsOf: (name: string): number => statSync(join(secrets, name)).mode & 0o777,
    enableAnother: (description: string) =>
      local.fetch('https://gitlab.example.com/api/v4/runner_controllers', {
        method: 'POST',
        headers: { 'private-token': ADMIN_TOKEN, 'content-type': 'application/json' },
        body: JSON.stringify({ description, state: 'enabled' }),
      }),
    answerHooks: (status: number): void => {
      received = status;
    },
    dieAt: (next: Death | undefined): void => {
      death = next;
    },
    /** Everything that is set up, without numbers that a second try may change. */
    state: () => ({
      controllers: [1, 2, 3, 4].flatMap((id) => {
        const controller = local.controller(id);
        if (controller === undefined) return [];
        const tokens = local.controllerTokens.of(id);
        return [
          {
            description: controller.description,
            state: controller.state,
            instanceScope: controller.instanceScope,
            runnerScopes: controller.runnerScopes,
            tokens: tokens.map(({ description }) => description.replace(root, '<root>')),
            keptIsValid: tokens.some(({ value }) => value === kept('router-token')),
          },
        ];
      }),
      hooks: (options.administration?.groups ?? someGroups(3)).map(({ id }) =>
        local.groupHooks.of(id).map(({ setting, token, signingToken }) => ({
          url: setting.url,
          events: [setting.job_events, setting.push_events],
          signedByKept:
            signingToken !== undefined && signingToken === groupHookKey(kept('webhook-secrets') ?? '', id),
          tokenKept: token !== undefined && token === groupHookKey(kept('webhook-tokens') ?? '', id),
        })),
      ),
    }),
  };
}
