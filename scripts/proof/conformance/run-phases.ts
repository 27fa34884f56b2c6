import { systemClock } from '../../../functions/core/environment/index.ts';
import { createLedger, MemoryStore } from '../../../functions/core/ledger/index.ts';
import { DynamoLimitTable } from '../../../functions/core/limits/index.ts';
import { MemoryTable } from '../../../functions/core/store/index.ts';
import { type AdmitServer, serveAdmit } from '../../local/admit-server.ts';
import { type Phase, type PhaseCheck, Scene } from './phase.ts';
import { ageing, crowded, halfOpen, outage, reset, slowEnds, streamLimit } from './phases/connections.ts';
import { drains } from './phases/drains.ts';
import { everyDay, newToken, unproven } from './phases/every-day.ts';
import { hostileQuestions, oddQuestions, wireChange } from './phases/questions.ts';
import { conformanceRules } from './rules.ts';

export interface PhaseResult {
  readonly phase: string;
  readonly seconds: number;
  readonly asked: number;
  readonly lost: number;
  readonly checks: readonly PhaseCheck[];
  /** What the relays wrote last, where something does not hold. */
  readonly lastLines: readonly string[];
}

/** Mostly wait, so they run beside the others; begun first, told last. */
const BESIDE: readonly Phase[] = [halfOpen, crowded];

const ONE_BY_ONE: readonly Phase[] = [
  everyDay('grpc'),
  everyDay('ws'),
  everyDay('grpcs'),
  everyDay('wss'),
  unproven,
  newToken,
  ageing,
  streamLimit,
  outage,
  reset,
  slowEnds,
  oddQuestions,
  hostileQuestions,
  wireChange(
    'moved',
    'job_info gets another number under a relay that knew the old one: 200 questions, none rejected',
  ),
  wireChange(
    'retyped',
    'the job id becomes a text under a relay that knew a number: 200 questions, none rejected',
  ),
  drains('ws'),
];

export const PHASES: readonly Phase[] = [...ONE_BY_ONE, ...BESIDE];

/** Runs the phases whose names hold `wanted` and tells of each as it ends. */
export async function runPhases(
  program: string,
  wanted: string,
  tell: (result: PhaseResult) => void,
): Promise<readonly PhaseResult[]> {
  const chosen = (phases: readonly Phase[]): readonly Phase[] =>
    phases.filter(({ name }) => name.includes(wanted));
  const beside = chosen(BESIDE).map((phase) => runPhase(phase, program));
  const results: PhaseResult[] = [];
  const note = (result: PhaseResult): void => {
    tell(result);
    results.push(result);
  };
  for (const phase of chosen(ONE_BY_ONE)) note(await runPhase(phase, program));
  for (const running of beside) note(await running);
  return results;
}

async function runPhase(phase: Phase, program: string): Promise<PhaseResult> {
  const startedMs = performance.now();
  const scene = new Scene({ program, admit: await openAdmit() });
  try {
    await phase.run(scene);
  } catch (error) {
    scene.expectThat(
      'the phase comes to its end',
      false,
      error instanceof Error ? error.message : error,
      'it does',
    );
  }
  const { asked, lost, checks } = scene;
  const lastLines = checks.every(({ holds }) => holds) ? [] : scene.lastLines();
  await scene.close();
  const seconds = (performance.now() - startedMs) / 1000;
  return { phase: phase.name, seconds, asked, lost, checks, lastLines };
}

/** The admit function on loopback with books of its own: job ids begin anew with every phase. */
function openAdmit(): Promise<AdmitServer> {
  const instance = 'conformance.example.com';
  return serveAdmit(
    createLedger({ store: new MemoryStore({ instance }), clock: systemClock }),
    conformanceRules(),
    new DynamoLimitTable({ table: new MemoryTable(), instance, clock: systemClock, random: Math.random }),
  );
}
