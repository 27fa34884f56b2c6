/** The relay through GitLab's WebSocket tunnel against the same relay on plain gRPC. */
import { type Figure, inTurns, ratioFigure } from './figure.ts';
import { cpuOf, lapRunner } from './path.ts';
import { clientEnv, withProcesses } from './processes.ts';

const LAP = { inFlight: 64, roots: 1, jobs: 1_000 };
const ROUNDS = 13;

export const tunnelFigures = (): Promise<readonly Figure[]> =>
  withProcesses(async (router, start) => {
    const sides = {
      tunnel: { controller: 1, processes: [await start('inline-relay', clientEnv(router.wsUrl, 1))] },
      direct: { controller: 2, processes: [await start('inline-relay', clientEnv(router.grpcUrl, 2))] },
    };
    const run = lapRunner(router);
    for (const side of Object.values(sides)) await run(side, { ...LAP, jobs: 2_000 });
    const rounds = await inTurns(ROUNDS, sides, (side) => run(side, LAP));
    const rates = rounds.map(({ tunnel, direct }) => direct.seconds / tunnel.seconds);
    const byCpu = rounds.map(({ tunnel, direct }) => cpuOf(direct) / cpuOf(tunnel));
    const name = 'ws tunnel ÷ direct gRPC';
    return [
      ratioFigure(name, rates, { atLeast: 0.7 }, `${LAP.inFlight} in flight`),
      ratioFigure(`${name}, by CPU time`, byCpu, { atLeast: 0.7 }),
    ];
  });
