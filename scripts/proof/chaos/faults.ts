/** What is done to the parts, one at a time: each is begun, lasts, and is over. */
import { until } from '../conformance/until.ts';
import type { WayState } from './fault-proxy.ts';
import type { ChaosScene } from './scene.ts';

interface ChaosFault {
  readonly name: string;
  /** Cuts the questions that are on their way to the part: nobody can answer those. */
  readonly cuts: boolean;
  begin(scene: ChaosScene, relay: number): Promise<void> | void;
  end(scene: ChaosScene, relay: number): Promise<void> | void;
}

const tableWays = (scene: ChaosScene, state: WayState): void => {
  const ways = [scene.admitToTable, scene.settleToTable, ...scene.relays.map(({ toTable }) => toTable)];
  for (const way of ways) way.become(state);
};
const admitWays = (scene: ChaosScene, state: WayState): void => {
  for (const { toAdmit } of scene.relays) toAdmit.become(state);
};

/** All ways to a part are in a state for a while. */
const inState = (
  name: string,
  set: (scene: ChaosScene, state: WayState, relay: number) => void,
  state: WayState,
): ChaosFault => ({
  name,
  cuts: false,
  begin: (scene, relay) => set(scene, state, relay),
  end: (scene, relay) => set(scene, 'pass', relay),
});

const relayWays = (scene: ChaosScene, state: WayState, relay: number): void => {
  scene.relays[relay]?.toAdmit.become(state);
  scene.relays[relay]?.toTable.become(state);
};

const signalFunctions = ({ admit, settle }: ChaosScene, name: 'SIGSTOP' | 'SIGCONT'): void => {
  admit.signal(name);
  settle.signal(name);
};

/**
 * A table is not lost, as DynamoDB's is not: killed, all connections to it break at once, with what was on them done or not done.
 * A relay is killed with SIGKILL, and what it had in memory is gone; both functions are killed likewise.
 */
export const FAULTS: readonly ChaosFault[] = [
  {
    name: 'function killed',
    cuts: false,
    begin: async ({ admit, settle }) => void (await Promise.all([admit.kill(), settle.kill()])),
    end: async ({ admit, settle }) => void (await Promise.all([admit.start(), settle.start()])),
  },
  {
    name: 'function stalled',
    cuts: false,
    begin: (scene) => signalFunctions(scene, 'SIGSTOP'),
    end: (scene) => signalFunctions(scene, 'SIGCONT'),
  },
  inState('function throttled', admitWays, 'throttle'),
  inState('function cut off from the relays', admitWays, 'cut'),
  inState('function cut off from the table', ({ admitToTable }, state) => admitToTable.become(state), 'cut'),
  inState('table killed', tableWays, 'cut'),
  inState('table stalled', tableWays, 'stall'),
  inState('table throttled', tableWays, 'throttle'),
  {
    name: 'function and table gone, and a relay killed',
    cuts: true,
    begin: async (scene, relay) => {
      admitWays(scene, 'cut');
      tableWays(scene, 'cut');
      await new Promise((resolve) => setTimeout(resolve, KILLED_AFTER_MS));
      await killRelay(scene, relay);
    },
    end: async (scene, relay) => {
      await scene.relays[relay]?.start();
      admitWays(scene, 'pass');
      tableWays(scene, 'pass');
    },
  },
  {
    name: 'relay killed',
    cuts: true,
    begin: (scene, relay) => killRelay(scene, relay),
    end: (scene, relay) => scene.relays[relay]?.start(),
  },
  {
    name: 'relay stalled',
    cuts: false,
    begin: (scene, relay) => scene.relays[relay]?.relay?.signal('SIGSTOP'),
    end: (scene, relay) => scene.relays[relay]?.relay?.signal('SIGCONT'),
  },
  inState('relay throttled', ({ relays }, state, relay) => relays[relay]?.toAdmit.become(state), 'throttle'),
  inState('relay cut off from function and table', relayWays, 'cut'),
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

/** What is asked before the router has noticed goes to a stream that is dead: it is cut like what was asked before. */
async function killRelay({ relays, router }: ChaosScene, relay: number): Promise<void> {
  const before = router.connections();
  await relays[relay]?.kill();
  await until(async () => router.connections() < before, NOTICED_MS_MAX);
}

const NOTICED_MS_MAX = 10_000;
/** Long enough that the relay has answers that nobody else knows. */
const KILLED_AFTER_MS = 700;

/** All of them in random order, then all again in another. */
export function* drawFaults(random: () => number): Generator<ChaosFault> {
  for (;;) {
    const order = FAULTS.map((fault) => ({ fault, at: random() })).sort((a, b) => a.at - b.at);
    for (const { fault } of order) yield fault;
  }
}
