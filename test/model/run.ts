/** A plan from its first action to the last sweep. */
import type { Action, Plan } from './action.ts';
import { audit } from './audit.ts';
import { perform, sweepOnce } from './perform.ts';
import { isOver } from './truth.ts';
import { World } from './world.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Longer than any timeout of the model and the grace after it. */
const EVERYTHING_DUE_MS = 2 * DAY_MS + 60 * MINUTE_MS;
/** What a table without faults works off in one go; more means that it never ends. */
const ROUNDS_MAX = 20;

/** @throws the first promise that was broken. */
export async function run(plan: Plan): Promise<World> {
  const world = new World(plan);
  const all = async (tasks: readonly (() => Promise<unknown>)[]): Promise<void> => {
    const failed = await world.interleaver.run(tasks.map((task) => async () => void (await task()))).then(
      () => [],
      (error: unknown) => [error],
    );
    // What a commit broke comes first: the rest follows from it.
    const [wrong] = [...world.wrongs, ...failed];
    if (wrong !== undefined) throw wrong;
  };
  // From here on the search for jobs without admission looks: what ran before nobody asked about.
  await all([() => sweepOnce('sweep 0', null, world)]);
  world.faults.push(...plan.faults);
  for (const action of plan.actions) {
    const actions: readonly Action[] = action.do === 'together' ? action.actions : [action];
    world.isCalm = actions.length === 1 && world.faults.every((fault) => fault === null);
    await all(
      actions.map((one) => async () => {
        await world.interleaver.turn();
        await perform(one, world);
      }),
    );
  }
  await comeToRest(world, (action) => all([() => perform(action, world)]));
  await all([() => audit(world)]);
  return world;
}

async function comeToRest(world: World, act: (action: Action) => Promise<void>): Promise<void> {
  const { truth, faults, skewMs } = world;
  faults.length = 0;
  skewMs.clear();
  truth.mood = 'answers';
  truth.tokenSees = true;
  truth.endAll();
  for (const relay of [0, 1]) await act({ do: 'postUnmetered', relay, dieAfter: null });
  if (world.plan.lastWords === 'arrive') await arrive(world, act);
  await workOff(world, act);
  // Two runs of the sweep free whatever GitLab says is over; five minutes more for a clock that was stepped back.
  for (const minutes of [8, 3]) {
    world.pass(minutes * MINUTE_MS);
    await act({ do: 'sweep', by: 0, dieAfter: null });
  }
  for (const { jobId, state } of world.books.records.values()) {
    const live = state === 'HELD' || state === 'RUNNING';
    const job = truth.byId(jobId);
    if (live && isOver(job) && !job.removed)
      throw new Error(`job ${jobId} is ${job.status} and still holds after two sweeps`);
  }
  for (let round = 0; round < 3; round += 1) {
    world.pass(EVERYTHING_DUE_MS);
    await act({ do: 'sweep', by: round % 2, dieAfter: null });
  }
  if (world.plan.lastWords === 'arrive late') await arrive(world, act);
  await workOff(world, act);
  await world.usage.rollUpRest();
}

async function arrive({ truth }: World, act: (action: Action) => Promise<void>): Promise<void> {
  while (truth.outbox.length > 0) await act({ do: 'deliver', pick: 0, again: 'no' });
}

async function workOff({ streams }: World, act: (action: Action) => Promise<void>): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX && !streams.isRead; round += 1) {
    await act({ do: 'consume', count: 100, dieAfter: null });
  }
  if (!streams.isRead) throw new Error('what arrived is never worked off');
}
