import type { RestCallDeps } from '../../../../functions/gitlab/rest-call.ts';

export interface FakeController {
  readonly id: number;
  readonly description: string;
  readonly state: string;
  readonly connected: boolean;
}

/** GitLab's administration of runner controllers, in memory. */
export function fakeRunnerControllers(controllers: readonly FakeController[]) {
  const known = new Map(controllers.map((each) => [each.id, each]));
  let [refuses, ignores, changes, silent] = [false, false, 0, false];
  const answer: typeof fetch = async (input, init) => {
    if (silent) throw new TypeError('fetch failed');
    const { pathname } = new URL(String(input));
    const [, id] = /\/runner_controllers\/(\d+)$/.exec(pathname) ?? [];
    if (id === undefined)
      return Response.json([...known.values()].map(({ connected: _, ...listed }) => listed));
    const controller = known.get(Number(id));
    if (controller === undefined) return Response.json({ message: '404 Not found' }, { status: 404 });
    if (init?.method !== 'PUT') return Response.json(controller);
    if (refuses) return Response.json({ message: '403 Forbidden' }, { status: 403 });
    const { state } = JSON.parse(String(init.body)) as { state: string };
    const changed = ignores ? controller : { ...controller, state };
    changes += 1;
    known.set(changed.id, changed);
    return Response.json(changed);
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
