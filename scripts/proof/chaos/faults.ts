/** Faults of the parts, one at a time: each begins, lasts and ends. */
import { until } from '../relay-process.ts';
import type { ChaosScene, PathState } from './scene.ts';

interface ChaosFault {
  readonly name: string;
  /** Cuts the requests on their way to the part, which get no response. */
  readonly cuts: boolean;
  begin(scene: ChaosScene, relay: number): unknown;
  end(scene: ChaosScene, relay: number): unknown;
}

type SetPaths = (scene: ChaosScene, state: PathState, relay: number) => void;

const tablePaths: SetPaths = ({ admitToTable, settleToTable, relays }, state) => {
  for (const path of [admitToTable, settleToTable, ...relays.map(({ toTable }) => toTable)])
    path.become(state);
};
const admitPaths: SetPaths = ({ relays }, state) => {
  for (const { toAdmit } of relays) toAdmit.become(state);
};
const relayPaths: SetPaths = ({ relays }, state, relay) => {
  relays[relay]?.toAdmit.become(state);
  relays[relay]?.toTable.become(state);
};

const inState = (name: string, set: SetPaths, state: PathState): ChaosFault => ({
  name,
  cuts: false,
  begin: (scene, relay) => set(scene, state, relay),
  end: (scene, relay) => set(scene, 'pass', relay),
});

const signalFunctions = ({ admit, settle }: ChaosScene, name: 'SIGSTOP' | 'SIGCONT'): void => {
  for (const { running } of [admit, settle]) running?.signal(name);
};

const NOTICED_MS_MAX = 10_000;
/** Long enough that the relay has decisions that exist only in its memory. */
const KILLED_AFTER_MS = 700;

/** A request that comes before the router has noticed goes to a dead stream, and is cut as well. */
async function killRelay({ relays, router }: ChaosScene, relay: number): Promise<void> {
  const before = router.connections();
  await relays[relay]?.kill();
  await until(() => router.connections() < before, NOTICED_MS_MAX);
}

/**
 * The table is never lost, as DynamoDB's is not: when it is killed, all connections to it break. A killed relay or function
 * gets SIGKILL and loses its memory.
 */
export const FAULTS: readonly ChaosFault[] = [
  {
    name: 'function killed',
    cuts: false,
    begin: ({ admit, settle }) => Promise.all([admit.kill(), settle.kill()]),
    end: ({ admit, settle }) => Promise.all([admit.start(), settle.start()]),
  },
  {
    name: 'function stalled',
    cuts: false,
    begin: (scene) => signalFunctions(scene, 'SIGSTOP'),
    end: (scene) => signalFunctions(scene, 'SIGCONT'),
  },
  inState('function throttled', admitPaths, 'throttle'),
  inState('function cut off from the relays', admitPaths, 'cut'),
  inState('function cut off from the table', ({ admitToTable }, state) => admitToTable.become(state), 'cut'),
  inState('table killed', tablePaths, 'cut'),
  inState('table stalled', tablePaths, 'stall'),
  inState('table throttled', tablePaths, 'throttle'),
  {
    name: 'function and table gone, and a relay killed',
    cuts: true,
    begin: async (scene, relay) => {
      admitPaths(scene, 'cut', relay);
      tablePaths(scene, 'cut', relay);
      await new Promise((resolve) => setTimeout(resolve, KILLED_AFTER_MS));
      await killRelay(scene, relay);
    },
    end: async (scene, relay) => {
      await scene.relays[relay]?.start();
      admitPaths(scene, 'pass', relay);
      tablePaths(scene, 'pass', relay);
    },
  },
  {
    name: 'relay killed',
    cuts: true,
    begin: killRelay,
    end: (scene, relay) => scene.relays[relay]?.start(),
  },
  {
    name: 'relay stalled',
    cuts: false,
    begin: (scene, relay) => scene.relays[relay]?.running?.signal('SIGSTOP'),
    end: (scene, relay) => scene.relays[relay]?.running?.signal('SIGCONT'),
  },
  inState('relay throttled', ({ relays }, state, relay) => relays[relay]?.toAdmit.become(state), 'throttle'),
  inState('relay cut off from function and table', relayPaths, 'cut'),
  {
    name: 'router cut off from the relays',
    cuts: true,
    begin: async ({ router }) => {
      router.resetConnections();
      await router.until(() => router.waitingStreams() === 0, { timeoutMs: NOTICED_MS_MAX });
    },
    end: () => {},
  },
];

/** Yields all faults in random order, then all again in another order. */
export function* drawFaults(random: () => number): Generator<ChaosFault> {
  for (;;) {
    const order = FAULTS.map((fault) => ({ fault, at: random() })).sort((a, b) => a.at - b.at);
    for (const { fault } of order) yield fault;
  }
}
