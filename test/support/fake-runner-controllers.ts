import type { RestCallDeps } from '../../functions/core/gitlab/rest-call.ts';

export interface FakeController {
  readonly id: number;
  readonly description: string;
  readonly state: string;
  /** Absent: GitLab before 18.10 does not say. */
  readonly connected?: boolean;
  /** @default the whole instance */
  readonly scopes?: { readonly instance: boolean; readonly runnerIds: readonly number[] };
}

export function fakeRunnerControllers(controllers: readonly FakeController[]) {
  const known = new Map(controllers.map((each) => [each.id, each]));
  let [refuses, ignores, changes, silent] = [false, false, 0, false];
  const answer: typeof fetch = async (input, init) => {
    if (silent) throw new TypeError('fetch failed');
    const { pathname } = new URL(String(input));
    if (pathname.endsWith('/metadata')) return Response.json({ version: '19.4.0-ee' });
    const [, id, scopes] = /\/runner_controllers\/(\d+)(\/scopes)?$/.exec(pathname) ?? [];
    if (id === undefined)
      return Response.json([...known.values()].map(({ connected: _, scopes: __, ...listed }) => listed));
    const controller = known.get(Number(id));
    if (controller === undefined) return Response.json({ message: '404 Not found' }, { status: 404 });
    if (scopes !== undefined) return Response.json(scopesOf(controller));
    const { scopes: _, ...shown } = controller;
    if (init?.method !== 'PUT') return Response.json(shown);
    if (refuses) return Response.json({ message: '403 Forbidden' }, { status: 403 });
    const { state } = JSON.parse(String(init.body)) as { state: string };
    const changed = ignores ? controller : { ...controller, state };
    changes += 1;
    known.set(changed.id, changed);
    const { scopes: __, ...answered } = changed;
    return Response.json(answered);
  };
  const clock = { nowMs: () => 0, monotonicMs: () => 0, sleep: async () => {} };
  return {
    deps: { fetch: answer, clock, random: () => 0 } satisfies Partial<RestCallDeps>,
    stateOf: (id: number): string | undefined => known.get(id)?.state,
    changes: (): number => changes,
    refuseChanges: (): void => {
      refuses = true;
    },
    ignoreChanges: (): void => {
      ignores = true;
    },
    goSilent: (): void => {
      silent = true;
    },
  };
}

const scopesOf = ({ scopes = { instance: true, runnerIds: [] } }: FakeController): object => ({
  instance_level_scopings: scopes.instance ? [{ created_at: '2026-11-21T12:00:00Z' }] : [],
  runner_level_scopings: scopes.runnerIds.map((runner_id) => ({ runner_id })),
});
